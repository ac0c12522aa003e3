//! `offset`: index to offset and back.

use clap::Args;
use serde_json::{Value, json};
use tensor_layout::{AnyLayout, Error};
use tensor_layout_text::Layout;
use tensor_layout_text::layout::{Place, Plane};

use crate::describe::bits_in_words;
use crate::output::{Output, Stop, Verdict, each_line, refused, two_columns};
use crate::parts::{indices_of, name_of};
use crate::table::{read_list, read_number, write_list};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout, or `-` to read lines of a layout, a tab and an index from standard input.
    layout: String,
    /// The index, as [2,3] or 2,3 ([] for rank 0), or u:2,3 in a plane of a frame or a field of pages; with
    /// --inverse the offset in elements, of pages in bytes.
    #[arg(value_name = "INDEX", allow_hyphen_values = true)]
    place: Option<String>,
    /// Print the index at an offset, or "padding".
    #[arg(long)]
    inverse: bool,
    /// Show every step of the calculation.
    #[arg(long)]
    explain: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let what = if arguments.inverse { "an offset" } else { "an index" };
    match (arguments.layout.as_str(), &arguments.place) {
        ("-", None) => each_line(output, |line, output| {
            let (layout, place) = two_columns(line, what)?;
            one(layout, place, arguments, output)
        }),
        ("-", Some(_)) => Err(Stop::Unusable(format!("with `-` the layout and {what} come from standard input"))),
        (layout, Some(place)) => one(layout, place, arguments, output),
        (_, None) => Err(Stop::Unusable(format!("{what} is missing after the layout"))),
    }
}

fn one(text: &str, place: &str, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let layout: Layout = text.parse().map_err(refused(text))?;
    let explain = arguments.explain;
    let has_names = layout.planes().iter().any(|plane| plane.role().name().is_some());
    if let (Some((name, index)), true) = (place.split_once(':'), has_names) {
        let Some(plane) = layout.component(name.trim()) else {
            let names: Vec<String> = layout.planes().iter().map(name_of).collect();
            let sentence = format!("{text} has the planes {}, and no `{}`", names.join(", "), name.trim());
            return Err(Stop::Unusable(sentence));
        };
        let answer = Answer::of(plane, index, arguments.inverse).map_err(refused(text))?;
        return output.answer(|| answer.object(text, explain), || answer.text(arguments));
    }
    if let ([plane], false) = (layout.planes(), layout.is_tuple()) {
        let answer = Answer::of(plane, place, arguments.inverse).map_err(refused(text))?;
        return output.answer(|| answer.object(text, explain), || answer.text(arguments));
    }
    if arguments.inverse && has_names {
        return component_at(&layout, text, place, output);
    }
    if arguments.inverse {
        let sentence = "--inverse takes the layout of one plane, because each plane has offsets of its own";
        return Err(Stop::Unusable(sentence.into()));
    }
    let index = read_list(place, "an index").map_err(refused(text))?;
    let places = layout.places(&index).map_err(refused(text))?;
    let answers = layout.planes().iter().zip(places);
    let answers: Vec<Answer> =
        answers.map(|(plane, place)| Answer::at(plane, &plane.index_of_value(&index), place)).collect();
    if output.is_json() {
        let planes: Vec<Value> =
            answers.iter().map(|answer| answer.object(&answer.plane.to_string(), explain)).collect();
        output.line(json!({ "type": "offset", "input": text, "index": index, "planes": planes }))?;
        return Ok(Verdict::Well);
    }
    for answer in &answers {
        let name = name_of(answer.plane);
        match explain {
            true => output.line(answer.text(arguments))?,
            false => output.line(format_args!("{name} {}{}", answer.offset, answer.bits))?,
        }
    }
    Ok(Verdict::Well)
}

/// Prints the component of a frame at an offset, or the field of pages at a byte. The planes are in one
/// buffer.
fn component_at(layout: &Layout, text: &str, place: &str, output: &mut Output) -> Result<Verdict, Stop> {
    let offset = read_number(place, "an offset in elements").map_err(refused(text))?;
    let mut found = None;
    for plane in layout.planes() {
        let bits = plane.parts().first().map_or(8, |part| u64::from(part.map.element_bits()));
        let offset = match layout.pages() {
            Some(_) => offset.saturating_mul(8).checked_div(bits).unwrap_or(0),
            None => offset,
        };
        let index = plane.index_at(offset).map_err(refused(text))?;
        found = found.or(index.map(|index| (name_of(plane), index)));
    }
    let (name, index) = found.unzip();
    let object = json!({
        "type": "offset", "input": text, "index": index, "offset": offset, "padding": index.is_none(), "plane": name,
    });
    let words =
        name.zip(index).map_or_else(|| "padding".into(), |(name, index)| format!("{name} {}", write_list(&index)));
    output.answer(|| object, || words)
}

struct Answer<'l> {
    plane: &'l Plane,
    /// The index that is stored at the offset. `None` if padding is stored there. In a tensor of blocks it is
    /// the index of a byte.
    index: Option<Vec<u64>>,
    offset: u64,
    /// In a tensor of blocks, the values that have bits in the byte, in words.
    values: Option<String>,
    /// The bits of a value that shares its byte with others, in words.
    bits: String,
    steps: Vec<String>,
}

impl<'l> Answer<'l> {
    fn of(plane: &'l Plane, place: &str, inverse: bool) -> Result<Answer<'l>, Error> {
        if !inverse {
            let index = read_list(place, "an index")?;
            return Ok(Answer::at(plane, &index, plane.place(&index)?));
        }
        let offset = read_number(place, "an offset in elements")?;
        let Some(index) = plane.index_at(offset)? else {
            let sizes = write_list(plane.sizes());
            let steps = vec![format!("no element of {sizes} is stored at offset {offset}: it is padding")];
            return Ok(Answer { plane, index: None, offset, values: None, bits: String::new(), steps });
        };
        let values = values_at(plane, &index);
        let held = plane
            .parts()
            .iter()
            .enumerate()
            .find_map(|(number, part)| Some((number, part.inside(&plane.forwards_index(&index))?)));
        let mut steps: Vec<String> = values.iter().cloned().collect();
        steps.extend(held.into_iter().flat_map(|(part, inside)| steps_of(plane, &index, part, &inside)));
        Ok(Answer { plane, index: Some(index), offset, values, bits: String::new(), steps })
    }

    fn at(plane: &'l Plane, index: &[u64], place: Place) -> Answer<'l> {
        let values = place.in_block.as_ref().map(|(value, bits)| {
            let bits: Vec<String> = bits.iter().map(bits_in_words).collect();
            let bits = if bits.is_empty() {
                "it shares bits with others, so the offset is that of the block".into()
            } else {
                bits.join(" and ")
            };
            format!("{} is value {value} of its {} block: {bits}", write_list(index), plane.type_name())
        });
        let mut steps: Vec<String> = values.iter().cloned().collect();
        steps.extend(steps_of(plane, index, place.part, &place.index));
        let byte = plane.parts().get(place.part).filter(|_| values.is_some()).map(|part| part.outside(&place.index));
        let index = byte.unwrap_or_else(|| index.to_vec());
        Answer { plane, index: Some(index), offset: place.offset, values, bits: bits_beside(&place), steps }
    }

    fn object(&self, input: &str, explain: bool) -> Value {
        let mut object = json!({
            "type": "offset", "input": input, "index": self.index, "offset": self.offset,
            "padding": self.index.is_none(),
        });
        if let Some(values) = &self.values {
            object["values"] = values.as_str().into();
        }
        if explain {
            object["steps"] = self.steps.as_slice().into();
        }
        object
    }

    fn text(&self, arguments: &Arguments) -> String {
        let index = self.index.as_deref().map_or_else(|| "padding".into(), write_list);
        let index = self.values.clone().unwrap_or(index);
        let answer = if arguments.inverse { index } else { format!("{}{}", self.offset, self.bits) };
        if !arguments.explain {
            return answer;
        }
        let steps: String = self.steps.iter().map(|step| format!("\n  {step}")).collect();
        format!("{}{steps}\n{answer}", self.plane)
    }
}

/// Returns where the bits of a value are if they do not fill whole bytes: `, bits 4 to 7`, followed by the
/// offset and the bits of every further byte.
fn bits_beside(place: &Place) -> String {
    let whole = place.bits.iter().all(|(_, bits)| bits.end.saturating_sub(bits.start).is_multiple_of(8));
    let mut words = String::new();
    for (number, (offset, bits)) in place.bits.iter().filter(|_| !whole).enumerate() {
        let other = if number > 0 { format!(", and {offset}") } else { String::new() };
        let (first, last) = (bits.start, bits.end.saturating_sub(1));
        let bits = if first == last { format!("bit {first}") } else { format!("bits {first} to {last}") };
        words.push_str(&format!("{other}, {bits}"));
    }
    words
}

/// Returns the steps from an index to its offset, in words. The part with number `part` holds the element, at
/// its own index `inside`.
fn steps_of(plane: &Plane, index: &[u64], part: usize, inside: &[u64]) -> Vec<String> {
    let Some(own) = plane.parts().get(part) else { return Vec::new() };
    let mut steps = Vec::new();
    if !plane.reversed().is_empty() {
        let (index, inside) = (write_list(index), write_list(inside));
        steps.push(format!("from the lowest address on, index {index} is index {inside}"));
    }
    if plane.parts().len() > 1 {
        let (number, count) = (part.saturating_add(1), plane.parts().len());
        let (indices, inside) = (indices_of(own), write_list(inside));
        steps.push(format!("part {number} of {count}, which holds {indices}: there it is index {inside}"));
    }
    let whole = plane.any().cloned().unwrap_or_else(|| AnyLayout::Mapped(own.map.clone()));
    steps.extend(tensor_layout_text::offset_steps(&whole, inside).unwrap_or_default());
    steps
}

/// Returns the values that have bits in a byte of a tensor of blocks, in words. `None` for other tensors.
fn values_at(plane: &Plane, index: &[u64]) -> Option<String> {
    let (values, [outer @ .., block, byte]) = (plane.blocks()?.block_type().values(), index) else { return None };
    let name = |k: u64| write_list(&[outer, &[block.saturating_mul(values).saturating_add(k)]].concat());
    let held: Vec<String> = plane.values_in_byte(*byte).into_iter().map(name).collect();
    Some(match held.as_slice() {
        [] => {
            let last = values.saturating_sub(1);
            format!("byte {byte} of the block of {} to {}, which no value has alone", name(0), name(last))
        }
        held => held.join(" and "),
    })
}
