//! `OutOfMemoryReport`: the report that XLA prints if a program does not fit.

use std::fmt;
use std::io::{self, BufRead};

use tensor_layout::ArrayShape;

use crate::lines::Lines;

/// An out-of-memory report of XLA (`RESOURCE_EXHAUSTED`), as a log or an exception contains it: of a TPU's
/// compiler, of a TPU's allocator, or of the GPU backend. Other text around it, and in front of each line, is
/// skipped.
///
/// ```
/// use tensor_layout_hlo::OutOfMemoryReport;
///
/// let log = "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 20.00G of 15.75G hbm.
///   Largest program allocations in hbm:
///   1. Size: 2.44M
///      Shape: f32[5000,1]{1,0:T(8,128)}
///      Unpadded size: 19.5K
///      XLA label: %copy.1 = f32[5000,1]{1,0:T(8,128)} copy(f32[5000,1]{0,1:T(1,128)} %x)
///      Allocation type: HLO temp
/// ";
/// let report = OutOfMemoryReport::read(log.as_bytes())?;
/// let (used, capacity) = (report.used.ok_or("no size")?, report.capacity.ok_or("no capacity")?);
/// assert_eq!((used.bytes, capacity.bytes, used.to_string().as_str()), (20 << 30, 63 << 28, "20.00G"));
/// let array = &report.allocations[0];
/// assert_eq!((array.bytes, array.unpadded_bytes), (2_560_000, 20_000));
/// assert_eq!((array.instruction.as_str(), array.kind.as_str()), ("copy.1", "HLO temp"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfMemoryReport {
    /// The memory that was too small, as the report names it: `hbm`, `vmem`. It is empty if the report names
    /// none.
    pub memory: String,
    /// The memory that the program needs.
    pub used: Option<ReportedSize>,
    /// The size of the memory.
    pub capacity: Option<ReportedSize>,
    /// What is missing: what the report says, else the difference of `used` and `capacity`.
    pub missing: Option<ReportedSize>,
    /// What the last allocation asked for, if an allocation failed when the program ran or was loaded.
    pub asked: Option<ReportedSize>,
    /// The memory that was free when an allocation failed.
    pub free: Option<ReportedSize>,
    /// All memory that the program takes, as the report adds it up.
    pub total: Option<ReportedSize>,
    /// The parts of `total` by their names: `arguments`, `program`, `reserved`.
    pub parts: Vec<(String, ReportedSize)>,
    /// The instruction for which memory was allocated when there was none left. Its size is that of the
    /// failed allocation, which is not the size of its array.
    pub failed: Option<ReportedArray>,
    /// The largest allocations, in the order of the report. Reports of newer compilers do not list them.
    pub allocations: Vec<ReportedArray>,
}

/// A size in a report. It is printed as the report writes it: `76.58M`.
///
/// ```
/// use tensor_layout_hlo::{OutOfMemoryReport, ReportedSize};
///
/// let report = OutOfMemoryReport::read(&b"Used 76.58M of 64.00M vmem."[..])?;
/// let used: ReportedSize = report.used.ok_or("no size")?;
/// assert_eq!((used.bytes, used.to_string().as_str()), (80_299_950, "76.58M"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportedSize {
    /// The size in bytes. Reports round sizes to one or two decimals.
    pub bytes: u64,
    /// The size of one step of the last decimal, in bytes.
    step: u64,
    text: String,
}

/// One of the largest allocations of an [`OutOfMemoryReport`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportedArray {
    /// The size of the allocation, as the report writes it.
    pub size: Option<ReportedSize>,
    /// The size of the allocation in bytes, with padding. It is exact if the shape has the size that the
    /// report states; otherwise it is rounded as in the report.
    pub bytes: u64,
    /// The size of the array without padding, in bytes.
    pub unpadded_bytes: u64,
    /// The shape of the array, as the report writes it. It is empty where the report has none.
    pub shape: String,
    /// The shape of the array. `None` if it is a tuple or cannot be read.
    pub array: Option<ArrayShape>,
    /// The name of the instruction that makes the array, without the `%`. The whole label where that names no
    /// instruction: `register allocator spill slots call depth 2`.
    pub instruction: String,
    /// The operation of the source program that the instruction comes from. It is empty if the report names
    /// none.
    pub op_name: String,
    /// What the array is used for, as the report writes it: `HLO temp`, `arguments`.
    pub kind: String,
    unpadded: Option<ReportedSize>,
}

impl OutOfMemoryReport {
    /// Whether a text contains words of an out-of-memory report.
    #[must_use]
    pub fn is_in(text: &str) -> bool {
        let words = [
            "an out of memory",
            "Out of memory allocating ",
            "Largest program allocations",
            "RESOURCE_EXHAUSTED",
            "Resource exhausted",
            "That was not possible",
            "exceeded scoped vmem limit",
            "Failed to allocate request for ",
            " usage >= ",
        ];
        words.iter().any(|words| text.contains(words))
    }

    /// Reads the report in a log.
    ///
    /// # Errors
    ///
    /// Returns an error of the stream itself.
    pub fn read(log: impl BufRead) -> io::Result<OutOfMemoryReport> {
        let mut report = OutOfMemoryReport::default();
        let mut lines = Lines::new(log);
        let mut in_parts = false;
        while let Some(line) = lines.next()? {
            report.add_totals(&line.text);
            report.add_array(&line.text);
            in_parts = report.add_part(&line.text, in_parts);
        }
        if report.missing.is_none()
            && let (Some(used), Some(capacity)) = (&report.used, &report.capacity)
        {
            report.missing = used.bytes.checked_sub(capacity.bytes).map(ReportedSize::rounded);
        }
        report.allocations.iter_mut().chain(&mut report.failed).for_each(ReportedArray::finish);
        Ok(report)
    }

    /// Whether the report states a size of anything.
    #[must_use]
    pub fn has_sizes(&self) -> bool {
        [&self.used, &self.capacity, &self.asked, &self.free, &self.total].into_iter().any(Option::is_some)
    }

    /// Reads the sizes of a sentence: how much is needed, how much there is.
    fn add_totals(&mut self, line: &str) {
        let number = |words: &[&str]| words.iter().find_map(|words| ReportedSize::read(line.split_once(words)?.1));
        let first = |place: &mut Option<ReportedSize>, found: Option<ReportedSize>| {
            if place.is_none() {
                *place = found;
            }
        };
        first(&mut self.used, number(&["Used ", "required for HLO temporaries (", "allocation with size "]));
        let of = || ReportedSize::read(line.split_once("Used ")?.1.split_once(" of ")?.1);
        first(
            &mut self.capacity,
            of().or_else(|| number(&["exceeds available HBM (", " and limit ", "HBM capacity "])),
        );
        let exceeded = || ReportedSize::read(line.split_once("xceeded ")?.1.split_once(" by ")?.1);
        first(&mut self.missing, exceeded().or_else(|| number(&["Available after request:   -"])));
        first(&mut self.free, number(&["There are "]));
        let asked = number(&[
            "Program requirement: ",
            "trying to allocate ",
            "Out of memory allocating ",
            "Failed to allocate request for ",
            "Attempting to reserve ",
            "Attempting to allocate ",
        ]);
        // The number with the exact bytes beside it replaces the rounded one.
        if asked.as_ref().is_some_and(|asked| asked.step == 1) || self.asked.is_none() {
            self.asked = asked.or(self.asked.take());
        }
        if let Some((_, after)) = line.split_once("in memory space ")
            && self.memory.is_empty()
        {
            let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
            after.get(..end).unwrap_or_default().clone_into(&mut self.memory);
        }
        if let Some((_, after)) = line.split_once(" on stack for %")
            && let Some((label, _)) = after.split_once(". Scoped allocation")
        {
            let mut failed = ReportedArray { kind: "stack".to_owned(), size: self.used.clone(), ..Default::default() };
            failed.add_label(label);
            failed.shape = label.split_once(" = ").map_or("", |(_, text)| shape_at_start(text)).to_owned();
            self.failed = Some(failed);
        }
    }

    /// Reads a line of the sum that the report makes, and returns whether the next line may be one more.
    fn add_part(&mut self, line: &str, in_parts: bool) -> bool {
        if let Some((_, after)) = line.split_once(" usage >= ") {
            self.total = ReportedSize::read(after);
            self.parts.clear();
            return true;
        }
        if line.trim_end().ends_with("BufferAssignment stats:") {
            return true;
        }
        let text = line.rsplit_once("] ").map_or(line, |(_, text)| text);
        let ends = text.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at);
        let mut sizes = ends.filter(|&at| text[..at].ends_with([' ', '\t']));
        let found = sizes
            .find_map(|at| Some((text.get(..at)?.trim().trim_end_matches(':'), ReportedSize::read(text.get(at..)?)?)));
        match found.filter(|(name, _)| in_parts && !name.is_empty() && !name.starts_with("Output size")) {
            Some(("total allocation", size)) => self.total = Some(size),
            Some((name, size)) if size.bytes > 0 => self.parts.push((name.to_owned(), size)),
            found => return found.is_some(),
        }
        true
    }

    /// Reads a line of one of the largest allocations.
    fn add_array(&mut self, line: &str) {
        let after = |words: &str| line.split_once(words).map(|(_, after)| after.trim());
        // Lists lose their numbers in Markdown, and others have bullets: the line begins with the words, or
        // what is in front of them is no word.
        let in_front = line.split_once("Size: ").map(|(front, _)| front.trim_end_matches([' ', '\t']));
        if in_front.is_some_and(|front| !front.ends_with(|c: char| c.is_alphabetic())) {
            let Some(size) = after("Size: ").and_then(ReportedSize::read) else { return };
            let array = ReportedArray { size: Some(size), ..ReportedArray::default() };
            self.allocations.push(array);
        }
        let Some(array) = self.allocations.last_mut() else { return };
        if let Some(shape) = after("Entry Parameter Subshape: ") {
            shape.clone_into(&mut array.shape);
            "argument".clone_into(&mut array.kind);
        } else if let Some(shape) = after("Shape: ") {
            shape.clone_into(&mut array.shape);
        } else if let Some(unpadded) = after("Unpadded size: ") {
            array.unpadded = ReportedSize::read(unpadded);
        } else if let Some(label) = after("XLA label: ").or_else(|| after("XLA Label: ")) {
            array.add_label(label);
        } else if let Some(kind) = after("Allocation type: ") {
            kind.clone_into(&mut array.kind);
        } else if let Some((name, _)) =
            after("Operator: ").and_then(|text| text.split_once("op_name=\"")?.1.split_once('"'))
        {
            name.clone_into(&mut array.op_name);
        }
    }
}

impl ReportedArray {
    fn add_label(&mut self, label: &str) {
        label.split(" = ").next().unwrap_or("").trim_start_matches('%').clone_into(&mut self.instruction);
    }

    /// Computes exact sizes of the shape. Where the report states others, the report is right: an element of
    /// `pred[8]{0:E(32)}` is stored in 4 bytes, and its array without padding has 1.
    fn finish(&mut self) {
        self.array = self.shape.parse().ok();
        let size = |size: &Option<ReportedSize>, exact: Option<u64>| match size {
            Some(size) => exact.filter(|&exact| size.agrees(exact)).unwrap_or(size.bytes),
            None => exact.unwrap_or(0),
        };
        let array = self.array.as_ref();
        self.bytes = size(&self.size, array.and_then(|array| array.buffer_size_in_bytes().ok()));
        let logical = array.and_then(|array| array.logical_size_in_bytes().ok()).filter(|&bytes| bytes <= self.bytes);
        self.unpadded_bytes = size(&self.unpadded, Some(logical.unwrap_or(self.bytes))).min(self.bytes);
    }
}

/// Returns the shape with its layout at the start of the text of an instruction.
fn shape_at_start(text: &str) -> &str {
    text.split([' ', '\t']).next().unwrap_or("")
}

impl ReportedSize {
    /// Reads a size such as `41.74G`, `530.00M`, `384.0KiB`, `6291456 bytes` or `0B`. Where the bytes follow
    /// in parentheses, as in `3.95G (   4,237,689,856 bytes)`, the size is exact. Text after the size is
    /// ignored.
    fn read(text: &str) -> Option<ReportedSize> {
        let text = text.trim_start();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = text.split_at_checked(end)?;
        let letters = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
        let (shift, length) = match unit.get(..letters)? {
            "" if unit.starts_with(" bytes") => (0, " bytes".len()),
            "B" => (0, 1),
            word => {
                let shift = ["K", "M", "G", "T", "P", "E"].iter().position(|found| word.starts_with(found))?;
                ["", "B", "iB"].contains(&word.get(1..)?).then_some((shift.checked_add(1)?, letters))?
            }
        };
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let scale = 10_u128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
        let digits: u128 = format!("{whole}{decimals}").parse().ok()?;
        let unit_bytes = 1_u128.checked_shl(u32::try_from(shift).ok()?.checked_mul(10)?)?;
        let bytes = u64::try_from(digits.checked_mul(unit_bytes)?.checked_div(scale)?).ok()?;
        let step = u64::try_from(unit_bytes.checked_div(scale)?).ok()?.max(1);
        let end = end.checked_add(length)?;
        let exact = text.get(end..).and_then(|rest| rest.trim_start().strip_prefix('(')?.split_once(')'));
        let exact = exact.and_then(|(text, _)| text.strip_suffix(" bytes").or(text.strip_suffix("B")));
        let exact = exact.and_then(|digits| digits.trim().replace([',', '-'], "").trim().parse().ok());
        let (bytes, step) = exact.map_or((bytes, step), |exact| (exact, 1));
        Some(ReportedSize { bytes, step, text: text.get(..end)?.to_owned() })
    }

    /// A size that the report does not state, written as a TPU's reports write theirs: two decimals and a
    /// letter.
    fn rounded(bytes: u64) -> ReportedSize {
        let units = (1_u32..).map(|unit| unit.saturating_mul(10)).zip(["K", "M", "G", "T", "P", "E"]);
        let found = units.take_while(|&(shift, _)| bytes.checked_shr(shift).unwrap_or(0) > 0).last();
        let text = found.map_or_else(
            || format!("{bytes}B"),
            |(shift, letter)| {
                let half = 1_u128.checked_shl(shift.saturating_sub(1)).unwrap_or(0);
                let hundredths = u128::from(bytes).saturating_mul(100).saturating_add(half) >> shift;
                format!("{}.{:02}{letter}", hundredths.div_euclid(100), hundredths.rem_euclid(100))
            },
        );
        ReportedSize { bytes, step: 1, text }
    }

    /// Whether an exact size is what the report rounded.
    fn agrees(&self, exact: u64) -> bool {
        exact.abs_diff(self.bytes) <= self.step
    }
}

impl fmt::Display for ReportedSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
