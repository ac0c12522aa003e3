//! `NamedLayout`: a name with a type and sizes.

use core::fmt;
use core::str::FromStr;

use tensor_layout::checked::{self, BYTES};
use tensor_layout::cursor::Cursor;
use tensor_layout::plan::{Besides, StorageRule, read_type_and_sizes};
use tensor_layout::strided::Slice;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, Error, IndexMap, LayoutClass, ToIndexMap};

use super::expression::refused;
use super::memory::{LayoutPart, Rule};
use super::table::{Row, find};

/// A layout for which a device or a library has a name: `tensorrt.kCHW32:s8[2,33,3,2]`.
///
/// Its text is the name, the numbers that some names take, the type, and the logical sizes. The system may be
/// left out if the rest of the name is unambiguous (`kCHW32`). `Display` writes the full name.
///
/// ```
/// use tensor_layout::ToIndexMap;
/// use tensor_layout_text::named::NamedLayout;
///
/// let layout: NamedLayout = "nvidia.sf_128x4:f8e4m3fn[200,10]".parse()?;
/// assert_eq!(layout.shape.as_ref().unwrap().to_string(), "f8e4m3fn[200,10]{1,0:T(128,4)(32,4)(4,1,1,4)}");
/// let map = layout.to_index_map()?;
/// assert_eq!((layout.name().as_str(), map.offset(&[130, 5])?), ("nvidia.sf_128x4", 2081));
///
/// let error = "aiter.shuffle_weight_16x16:bf16[33,64]".parse::<NamedLayout>().unwrap_err();
/// assert!(error.to_string().ends_with("aiter.shuffle_weight_16x16 needs N % 16 = 0, and N is 33"), "{error}");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct NamedLayout {
    /// The row of the table that has this name and the rule for its layouts.
    pub row: &'static Row,
    numbers: Vec<u64>,
    data_type: DataType,
    sizes: Vec<u64>,
    /// The layout as XLA's tiles, if tiles can express it.
    pub shape: Option<ArrayShape>,
    desc: Option<BufferTensorDesc>,
    /// The parts of the layout, which together hold each index once. There is one part unless no single index
    /// map can express the layout.
    pub parts: Vec<LayoutPart>,
}

impl NamedLayout {
    /// Returns the layout with this name, such as `ggml.q8_0x4.qs<8>`, for a tensor.
    ///
    /// # Errors
    ///
    /// `parse` for a name that is not in the table, or that is ambiguous. `not_expressible`
    /// for a type or for sizes that the system does not accept. `overflow` if an offset or a size in
    /// bytes passes 64 bits.
    pub fn new(name: &str, data_type: DataType, sizes: &[u64]) -> Result<NamedLayout, Error> {
        let (rows, numbers) = read_name(name)?;
        let (mut refusal, full) = (None, rows.first().map_or("", |row| row.name.as_str()));
        let all = |cell: fn(&Row) -> &'static str| {
            let mut cells: Vec<&str> = rows.iter().map(|row| cell(row)).collect();
            cells.dedup();
            cells.join(" or ")
        };
        for row in &rows {
            let rank = sizes.len();
            if !row.has_rank(rank) {
                let sentence = || format!("{full} has the axes {}, and there are {rank} sizes", all(|row| row.axes));
                refusal.get_or_insert_with(sentence);
            } else if !row.is_for(data_type) {
                refusal = Some(format!(
                    "{full} is for {} elements, not {data_type}",
                    all(|row| row.types).replace(' ', " or ")
                ));
            } else if let Some(need) = row.unmet(&row.values(data_type, sizes, &numbers))? {
                refusal = Some(format!("{full} {need}"));
            } else {
                return NamedLayout::of_row(row, data_type, sizes, &numbers);
            }
        }
        Err(refused(refusal.unwrap_or_default()))
    }

    /// Returns the layout of a row that accepts this type, these sizes and these numbers.
    pub(super) fn of_row(
        row: &'static Row,
        data_type: DataType,
        sizes: &[u64],
        numbers: &[u64],
    ) -> Result<Self, Error> {
        let rule = Rule { row, values: row.values(data_type, sizes, numbers), data_type, sizes: sizes.to_vec() };
        let (shape, desc, parts) = (None, None, Vec::new());
        let mut layout =
            NamedLayout { row, numbers: numbers.to_vec(), data_type, sizes: sizes.to_vec(), shape, desc, parts };
        if row.tiles == "-" {
            layout.parts = rule.parts()?;
            if let [LayoutPart { map, .. }] = layout.parts.as_slice()
                && map.class() == LayoutClass::Affine
                && !map.is_part()
                && map.physical_elements() == map.span_elements()
            {
                let desc = BufferTensorDesc::new(data_type, sizes, map.strides().as_deref())?;
                let alignment = checked::narrow(alignment(row, data_type), BYTES)?;
                layout.desc = Some(if alignment > 1 { desc.with_base_offset_alignment(alignment)? } else { desc });
            }
        } else {
            let shape = rule.shape()?;
            let (slices, map) = (vec![Slice::ALL; sizes.len()], shape.to_index_map()?);
            (layout.shape, layout.parts) = (Some(shape), vec![LayoutPart { slices, map }]);
        }
        Ok(layout)
    }

    /// The full name with its numbers: `ggml.q8_0x4.qs<8>`. An example is at [`KnownAs`](super::KnownAs).
    #[must_use]
    pub fn name(&self) -> String {
        with_numbers(&self.row.name, &self.numbers)
    }
}

/// Returns the full name for a name that may be short: `tensorrt.kCHW32` for `kCHW32`. Numbers of the name
/// are included.
///
/// # Errors
///
/// `parse`. For a name that is not in the table, the message has the nearest name. For an ambiguous
/// name, the message has all candidates.
///
/// ```
/// use tensor_layout_text::named::full_name;
///
/// assert_eq!(full_name("kCHW32")?, "tensorrt.kCHW32");
/// assert_eq!(full_name("TensorNCxHWx32")?, full_name("TensorNCxHWx<x=32>")?);
/// assert!(full_name("kCHW64").unwrap_err().to_string().contains("the nearest is tensorrt.kCHW4"));
/// assert!(full_name("NC4HW4").unwrap_err().to_string().contains("mnn.C4NHW4 or mnn.NC4HW4_per_batch"));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn full_name(name: &str) -> Result<String, Error> {
    let (rows, numbers) = read_name(name)?;
    Ok(with_numbers(rows.first().map_or("", |row| row.name.as_str()), &numbers))
}

fn with_numbers(name: &str, numbers: &[u64]) -> String {
    if numbers.is_empty() { name.to_owned() } else { format!("{name}<{}>", list(numbers)) }
}

/// Reads a name and the numbers after it, if there are any. Returns the rows with this name, and the numbers.
fn read_name(text: &str) -> Result<(Vec<&'static Row>, Vec<u64>), Error> {
    let wrong = |column: usize, expected: String| {
        let found = text.get(column..).unwrap_or("").to_owned();
        Error::parse(text.to_owned(), column.saturating_add(1), expected, format!("`{found}`"))
    };
    let (name, given) = text.split_once('<').unwrap_or((text, ""));
    let rows = match find(name.trim()) {
        Ok(rows) => rows,
        // CUTLASS also writes `TensorNCxHWx<32>` without brackets, as `TensorNCxHWx32`.
        Err(expected) => {
            let stem = text.trim().trim_end_matches(|c: char| c.is_ascii_digit());
            let number = text.trim().get(stem.len()..).and_then(|digits| digits.parse::<u64>().ok());
            let rows =
                find(stem).ok().zip(number).filter(|(rows, number)| rows.iter().any(|row| row.takes(&[*number])));
            return match rows {
                Some((_, number)) => read_name(&format!("{stem}<{number}>")),
                None => Err(wrong(0, expected)),
            };
        }
    };
    // `<32>` and `<x=32>` are equivalent.
    let value = |number: &str| number.rsplit('=').next().and_then(|number| number.trim().parse().ok());
    let numbers: Option<Vec<u64>> = match given.trim_end().strip_suffix('>') {
        Some(given) => given.split([',', ';']).map(value).collect(),
        None if given.is_empty() => Some(Vec::new()),
        None => None,
    };
    let fitting = |numbers: &Vec<u64>| rows.iter().copied().filter(|row| row.takes(numbers)).collect::<Vec<_>>();
    match numbers.as_ref().map(fitting) {
        Some(fitting) if !fitting.is_empty() => Ok((fitting, numbers.unwrap_or_default())),
        _ => {
            let takes: Vec<String> = rows.iter().map(|row| row.to_string()).collect();
            Err(wrong(name.len(), format!("the numbers that it takes: {}", takes.join(" or "))))
        }
    }
}

impl FromStr for NamedLayout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let colon = text.find(':').ok_or_else(|| Cursor::new(text).error("the name of a layout and `:`"))?;
        let mut cursor = Cursor::new(text);
        cursor.move_to(colon.saturating_add(1));
        let (data_type, sizes) = read_type_and_sizes(&mut cursor)?;
        cursor.end("nothing more")?;
        let name = text.get(..colon).unwrap_or("").trim();
        NamedLayout::new(name, data_type, &sizes).map_err(|error| match error.column() {
            // The text begins with the name, so columns of the name are columns of the text.
            Some(column) => Error::parse(text, column, error.expected().to_owned(), error.found().to_owned()),
            None => error,
        })
    }
}

impl fmt::Display for NamedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}[{}]", self.name(), self.data_type, list(&self.sizes))
    }
}

impl ToIndexMap for NamedLayout {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        match self.parts.as_slice() {
            [part] => Ok(part.map.clone()),
            parts => {
                let reason = format!("{self} is stored in {} parts, each with a map of its own", parts.len());
                Err(Error::not_expressible("single index map", reason))
            }
        }
    }

    fn as_descriptor(&self) -> Option<&BufferTensorDesc> {
        self.desc.as_ref()
    }
}

impl Besides for NamedLayout {
    fn storage_rule(&self) -> StorageRule {
        StorageRule { alignment: alignment(self.row, self.data_type), zero_padding: self.row.padding == "must be zero" }
    }
}

/// Returns the alignment of a row's buffers: the start of a buffer must be a multiple of this number, in
/// bytes.
fn alignment(row: &Row, data_type: DataType) -> u64 {
    if row.align == 0 { data_type.bits().div_ceil(8).into() } else { row.align }
}

impl Rule<'_> {
    fn shape(&self) -> Result<ArrayShape, Error> {
        let inside = self.row.tiles.trim_start_matches('{').trim_end_matches('}');
        let (axes, tiles) = inside.split_once(':').unwrap_or((inside, ""));
        let mut minor_to_major = Vec::new();
        for word in axes.split(',') {
            match word {
                ".." => minor_to_major.extend((0..self.row.leading(self.sizes.len())).rev()),
                word => minor_to_major.push(self.axis(word)?),
            }
        }
        // The tiles in XLA's notation, with each expression replaced by its value.
        let mut text = String::new();
        for piece in tiles.split_inclusive(['(', ',', ')']) {
            match piece.split_at_checked(piece.len().saturating_sub(1)) {
                Some(("" | "T" | "L" | "*", _)) | None => text.push_str(piece),
                Some((sum, mark)) => {
                    text.push_str(&self.values.evaluate(sum)?.to_string());
                    text.push_str(mark);
                }
            }
        }
        if self.data_type.bits() < 8 {
            text.push_str(&format!("E({})", self.data_type.bits()));
        }
        let colon = if text.is_empty() { "" } else { ":" };
        let order: Vec<String> = minor_to_major.iter().map(usize::to_string).collect();
        format!("{}[{}]{{{}{colon}{text}}}", self.data_type, list(&self.sizes), order.join(",")).parse()
    }
}

/// Formats numbers with commas between them: `2,33,3,2`.
fn list(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}
