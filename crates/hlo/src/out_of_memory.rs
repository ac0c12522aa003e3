//! `OutOfMemoryReport`: the report that XLA prints if a program does not fit.

use std::io::{self, BufRead};

use tensor_layout::ArrayShape;

use crate::lines::Lines;

/// An out-of-memory report of XLA (`RESOURCE_EXHAUSTED`), as a log or an exception contains it. Other text
/// around it, and in front of each line, is skipped.
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
/// assert_eq!((report.used_bytes, report.capacity_bytes), (Some(20 << 30), Some(63 << 28)));
/// let array = &report.allocations[0];
/// assert_eq!((array.bytes, array.unpadded_bytes), (2_560_000, 20_000));
/// assert_eq!((array.instruction.as_str(), array.kind.as_str()), ("copy.1", "HLO temp"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutOfMemoryReport {
    /// The bytes that the program needs. The report rounds them to two decimals, as in `20.00G`.
    pub used_bytes: Option<u64>,
    /// The size of the memory, in bytes. The report rounds it to two decimals.
    pub capacity_bytes: Option<u64>,
    /// The largest allocations, in the order of the report. Reports of newer compilers do not list them.
    pub allocations: Vec<ReportedArray>,
}

/// One of the largest allocations of an [`OutOfMemoryReport`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportedArray {
    /// The size of the array in bytes, with padding. It is exact if the shape could be read; otherwise it is
    /// rounded as in the report.
    pub bytes: u64,
    /// The size of the array without padding, in bytes.
    pub unpadded_bytes: u64,
    /// The shape of the array, as the report writes it.
    pub shape: String,
    /// The shape of the array. `None` if it is a tuple or cannot be read.
    pub array: Option<ArrayShape>,
    /// The name of the instruction that makes the array, without the `%`.
    pub instruction: String,
    /// The operation of the source program that the instruction comes from. It is empty if the report names
    /// none.
    pub op_name: String,
    /// What the array is used for, as the report writes it: `HLO temp`, `arguments`.
    pub kind: String,
}

impl OutOfMemoryReport {
    /// Whether a text contains words of an out-of-memory report.
    #[must_use]
    pub fn is_in(text: &str) -> bool {
        ["Ran out of memory", "Largest program allocations", "RESOURCE_EXHAUSTED"]
            .iter()
            .any(|words| text.contains(words))
    }

    /// Reads the report in a log.
    ///
    /// # Errors
    ///
    /// Returns an error of the stream itself.
    pub fn read(log: impl BufRead) -> io::Result<OutOfMemoryReport> {
        let mut report = OutOfMemoryReport::default();
        let mut lines = Lines::new(log);
        while let Some(line) = lines.next()? {
            report.add(&line.text);
        }
        Ok(report)
    }

    fn add(&mut self, line: &str) {
        let after = |words: &str| line.split_once(words).map(|(_, after)| after.trim());
        let number = |words: &str| after(words).and_then(bytes);
        // The sizes are in a line `Used 41.74G of 16.00G hbm`, or in a line `required for HLO temporaries
        // (18.36G) exceeds available HBM (15.75G)`.
        self.used_bytes =
            self.used_bytes.or_else(|| number("Used ")).or_else(|| number("required for HLO temporaries ("));
        let capacity = || after("Used ")?.split_once(" of ").and_then(|(_, after)| bytes(after));
        self.capacity_bytes = self.capacity_bytes.or_else(capacity).or_else(|| number("exceeds available HBM ("));
        if let Some(bytes) = number(". Size: ") {
            self.allocations.push(ReportedArray { bytes, unpadded_bytes: bytes, ..ReportedArray::default() });
        }
        let Some(array) = self.allocations.last_mut() else { return };
        if let Some(shape) = after(" Shape: ") {
            array.array = shape.parse().ok();
            shape.clone_into(&mut array.shape);
            let sizes = array
                .array
                .as_ref()
                .and_then(|shape| Some((shape.buffer_size_in_bytes().ok()?, shape.logical_size_in_bytes().ok()?)));
            (array.bytes, array.unpadded_bytes) = sizes.unwrap_or((array.bytes, array.bytes));
        } else if let Some(unpadded) = number("Unpadded size: ").filter(|_| array.array.is_none()) {
            array.unpadded_bytes = unpadded.min(array.bytes);
        } else if let Some(label) = after("XLA label: ") {
            label.split(' ').next().unwrap_or("").trim_start_matches('%').clone_into(&mut array.instruction);
        } else if let Some(kind) = after("Allocation type: ") {
            kind.clone_into(&mut array.kind);
        } else if let Some((name, _)) =
            after("Operator: ").and_then(|text| text.split_once("op_name=\"")?.1.split_once('"'))
        {
            name.clone_into(&mut array.op_name);
        }
    }
}

/// Reads a size such as `41.74G`, `530.00M`, `4.0K` or `0B`. Text after it is ignored.
fn bytes(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at_checked(end)?;
    let shift = ["B", "K", "M", "G", "T", "P"].iter().position(|found| unit.starts_with(found))?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let scale = 10_u128.checked_pow(u32::try_from(decimals.len()).ok()?)?;
    let digits: u128 = format!("{whole}{decimals}").parse().ok()?;
    let bytes = digits.checked_mul(1_u128.checked_shl(u32::try_from(shift).ok()?.saturating_mul(10))?)?;
    u64::try_from(bytes.checked_div(scale)?).ok()
}
