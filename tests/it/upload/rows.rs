//! The rows of rows.txt, a layout, a device and a buffer with what the check finds, and those of
//! bindings.txt.

use super::named;
use tensor_layout::upload::{
    Binding, Errors, Role, UploadBuffer, UploadReport, suggest, validate, validate_bindings, validate_description,
};
use tensor_layout::{AnyLayout, BufferTensorDesc, TensorFlags, ToIndexMap};

/// The layout of a text with what is set besides: `f32[4]:[1] align=64`.
fn layout(text: &str) -> AnyLayout {
    let (text, changes) = text.split_once(' ').unwrap_or((text, ""));
    let changed = |desc: BufferTensorDesc, change: &str| match change.split_once('=').unwrap_or((change, "")) {
        ("align", bytes) => desc.with_base_offset_alignment(bytes.parse().unwrap()).unwrap(),
        ("total", bytes) => desc.with_total_size_in_bytes(bytes.parse().unwrap()).unwrap(),
        ("slice", of) => {
            let [axis, start, end] = of.split([',', '.']).filter(|number| !number.is_empty()).collect::<Vec<_>>()[..]
            else {
                panic!("{of}")
            };
            desc.slice_axis(axis.parse().unwrap(), start.parse().unwrap()..end.parse::<u64>().unwrap()).unwrap()
        }
        ("owned", _) => desc.with_flags(TensorFlags::OwnedByDirectml),
        ("part", _) => desc.as_part(),
        other => panic!("{other:?}"),
    };
    match text.parse().unwrap_or_else(|error| panic!("{error}")) {
        AnyLayout::Strided(desc) => AnyLayout::Strided(changes.split_whitespace().fold(desc, changed)),
        other => other,
    }
}

/// The codes, and the numbers of the report.
fn found(result: Result<UploadReport, Errors>) -> (String, String) {
    let first = |errors: &Errors| format!("value={:?} limit={:?}", errors[0].value(), errors[0].limit());
    let (codes, of_error, report) = match result {
        Ok(report) => ("ok".to_owned(), String::new(), report),
        Err(errors) => (errors.codes().join(" "), first(&errors), *errors.report),
    };
    let UploadReport { padding, bound, gap_bits, overwrites_gaps, .. } = &report;
    let numbers = format!(
        "elements={} span={} bits={} exact={} rounded={} cpu={} padding={padding:?} bound={bound:?} alignment={} found={:?} \
         width={} copies={} total={} gaps={gap_bits} overwrites={overwrites_gaps} warnings={} warning={:?} {of_error}",
        report.element_count,
        report.span_elements,
        report.exact_bits,
        report.exact_bytes,
        report.rounded_bytes,
        report.cpu_bytes,
        report.alignment_required,
        report.alignment_found,
        report.index_width,
        report.copies,
        report.total_bytes,
        report.warnings.len(),
        report.warnings.first().and_then(|warning| warning.value()),
    );
    (codes, numbers.replace("Some(", "").replace(')', ""))
}

#[test]
fn every_row_is_found() {
    let (mut rows, mut wrong) = (0, Vec::new());
    for row in include_str!("rows.txt").lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let [text, limits, buffer, expected] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let (layout, limits) = (layout(text), named(limits));
        let (codes, numbers) = match buffer {
            "alone" => found(validate_description(&layout, &limits)),
            "suggest" => match suggest(layout.as_descriptor().unwrap(), &limits) {
                Ok(Some(found)) => (found.desc.to_string(), format!("moves={}", found.moves_bytes())),
                Ok(None) => (text.to_owned(), String::new()),
                Err(errors) => (errors.codes().join(" "), String::new()),
            },
            _ => {
                let (range, role) = buffer.split_once(' ').unwrap();
                let (length, offset) = range.split_once('@').unwrap();
                let role = if role == "out" { Role::Output } else { Role::Input };
                let buffer = UploadBuffer::new(length.parse().unwrap(), offset.parse().unwrap(), role);
                found(validate(&layout, &buffer, &limits))
            }
        };
        let (wanted, other): (Vec<&str>, Vec<&str>) = expected.split(' ').partition(|word| word.contains('='));
        let is_accepted = other.is_empty() && (codes == "ok" || buffer == "suggest");
        let all: Vec<&str> = numbers.split(' ').collect();
        if !(is_accepted || other.join(" ") == codes) || !wanted.iter().all(|number| all.contains(number)) {
            wrong.push(format!("{row}\n    found {codes} {numbers}"));
        }
        rows += 1;
    }
    assert!(wrong.is_empty() && rows > 120, "{} of {rows} rows:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_dispatch_is_found() {
    for row in include_str!("bindings.txt").lines().filter(|row| !row.is_empty() && !row.starts_with('#')) {
        let [limits, bindings, expected] = row.split(" | ").collect::<Vec<_>>()[..] else { panic!("{row}") };
        let of_text = |text: &str| {
            let (tensor, place) = text.split_once(" @").unwrap();
            let words: Vec<String> = place.split(' ').map(str::to_owned).collect();
            (layout(tensor), words)
        };
        let read: Vec<(AnyLayout, Vec<String>)> = bindings.split(" ; ").map(of_text).collect();
        let bound = read.iter().map(|(layout, words)| {
            let number = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)?.parse::<u64>().ok());
            let role = if words[1] == "out" { Role::Output } else { Role::Input };
            let buffer = UploadBuffer::new(1 << 20, words[0].parse().unwrap(), role);
            let binding = Binding::new(layout, number("buffer=").unwrap_or(0), buffer);
            number("aliasing=").map_or(binding.clone(), |other| binding.aliasing(other.try_into().unwrap()))
        });
        let results = validate_bindings(&bound.collect::<Vec<_>>(), &named(limits)).into_iter().map(found);
        let codes: Vec<String> = results.map(|(codes, _)| codes).collect();
        assert_eq!(codes.join(" ; "), expected, "{row}");
    }
}
