//! `NamedLayout`: a name with a type and sizes, and the names that a layout has.

use core::fmt;
use core::str::FromStr;

use tensor_layout::checked::{self, BYTES};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::BlockType;
use tensor_layout::map::same_layout;
use tensor_layout::plan::{read_blocks_after_type, read_type_and_sizes};
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, LayoutClass, ToIndexMap};

use crate::numbers::joined;
use crate::part::Part;

use super::repack;
use super::rule::Rule;
use super::{Row, find, refused, rows};

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
/// assert_eq!((layout.name().as_str(), layout.offset(&[130, 5])?), ("nvidia.sf_128x4", 2081));
/// assert_eq!((layout.size_in_bytes(), layout.to_index_map()?.physical_elements()), (3072, 3072));
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
    pub(super) numbers: Vec<u64>,
    pub(super) data_type: DataType,
    pub(super) sizes: Vec<u64>,
    blocks: Option<BlockTensorDesc>,
    desc: Option<BufferTensorDesc>,
    /// The parts of the layout, which together hold each index once. There is one part unless no single index
    /// map can express the layout. Those of blocks are parts of their bytes.
    pub parts: Vec<Part>,
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
        Self::of(name, data_type, sizes, None)
    }

    /// Returns the layout with this name, such as `ggml.q8_0x4<8>`, for the bytes of a packed tensor of
    /// blocks.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new).
    pub fn of_blocks(name: &str, blocks: &BlockTensorDesc) -> Result<NamedLayout, Error> {
        let blocks = BlockTensorDesc::packed(blocks.block_type(), blocks.sizes())?;
        let layout = Self::of(name, DataType::U8, blocks.bytes().sizes(), Some(blocks.block_type()))?;
        Ok(NamedLayout { blocks: Some(blocks), ..layout })
    }

    fn of(name: &str, data_type: DataType, sizes: &[u64], blocks: Option<BlockType>) -> Result<NamedLayout, Error> {
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
            } else if !row.is_for(data_type, blocks) {
                let given = blocks.map_or_else(|| data_type.to_string(), |block_type| block_type.to_string());
                refusal =
                    Some(format!("{full} is for {} elements, not {given}", all(|row| row.types).replace(' ', " or ")));
            } else if let Some(need) = row.unmet(&row.values(data_type, sizes, &numbers))? {
                refusal = Some(format!("{full} {need}"));
            } else {
                return NamedLayout::of_row(row, data_type, sizes, &numbers);
            }
        }
        Err(refused(refusal.unwrap_or_default()))
    }

    fn of_row(row: &'static Row, data_type: DataType, sizes: &[u64], numbers: &[u64]) -> Result<Self, Error> {
        let values = row.values(data_type, sizes, numbers);
        let mut parts = match row.memory.strip_prefix("group of ") {
            Some(text) => repack::parts(text, &values, sizes, row.flip)?,
            None => Rule { row, values, data_type, sizes: sizes.to_vec() }.parts()?,
        };
        let (alignment, has_zero_padding) = (alignment(row, data_type), row.padding == "must be zero");
        for part in &mut parts {
            let map = part.map.clone().with_alignment(alignment);
            part.map = if has_zero_padding { map.with_zero_padding() } else { map };
        }
        let mut desc = None;
        if let [Part { map, .. }] = parts.as_slice()
            && !has_zero_padding
            && map.class() == LayoutClass::Affine
            && !map.is_part()
            && map.physical_elements() == map.span_elements()
        {
            let strided = BufferTensorDesc::new(data_type, sizes, map.strides().as_deref())?;
            let alignment = checked::narrow(alignment, BYTES)?;
            desc = Some(if alignment > 1 { strided.with_base_offset_alignment(alignment)? } else { strided });
        }
        Ok(NamedLayout { row, numbers: numbers.to_vec(), data_type, sizes: sizes.to_vec(), blocks: None, desc, parts })
    }

    /// The logical sizes, in the order of the row's axes.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Whether one index map describes the layout.
    #[must_use]
    pub fn has_map(&self) -> bool {
        self.parts.len() == 1
    }

    /// Returns a tensor of these sizes and this type in row-major order.
    pub(super) fn packed(&self) -> Result<BufferTensorDesc, Error> {
        BufferTensorDesc::packed(self.data_type, &self.sizes)
    }

    /// For groups of scales and then values, their four numbers (see `repack::scales_then_values`) and the
    /// bits that are flipped in the values.
    pub(crate) fn groups(&self) -> Option<([u64; 4], u8)> {
        let values = self.row.values(self.data_type, &self.sizes, &self.numbers);
        let form = repack::scales_then_values(self.row.memory.strip_prefix("group of ")?, &values)?;
        Some((form, self.row.flip))
    }

    /// The sizes in values: those of the tensor of blocks, if there is one, else [`sizes`](Self::sizes).
    #[must_use]
    pub fn logical_sizes(&self) -> &[u64] {
        self.blocks.as_ref().map_or(&self.sizes, BlockTensorDesc::sizes)
    }

    /// The name of the type or of the block type.
    #[must_use]
    pub fn type_name(&self) -> String {
        self.blocks.as_ref().map_or_else(|| self.data_type.to_string(), |blocks| blocks.block_type().to_string())
    }

    /// The packed tensor of blocks whose bytes are laid out, if the text has a block type. The
    /// [sizes](Self::sizes) are then those of its bytes.
    #[must_use]
    pub fn blocks(&self) -> Option<&BlockTensorDesc> {
        self.blocks.as_ref()
    }

    /// The size of the buffer in bytes, with everything that is stored beside the elements.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.map.physical_size_in_bytes()).max().unwrap_or(0)
    }

    /// Returns the offset of an element, in elements, also in a layout of several parts.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` and `index_out_of_range` for an index outside the sizes.
    pub fn offset(&self, index: &[u64]) -> Result<u64, Error> {
        // An index out of range is refused with its axis.
        self.packed()?.offset(index)?;
        let held = self.parts.iter().find_map(|part| Some((part, part.inside(index)?)));
        let (part, inside) = held.ok_or_else(|| refused(format!("no part of {self} has the index")))?;
        part.map.offset(&inside)
    }

    /// The full name with its numbers: `ggml.q8_0x4.qs<8>`. An example is at [`NameMatch`].
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
pub fn full_name(name: &str) -> Result<String, Error> {
    let (rows, numbers) = read_name(name)?;
    Ok(with_numbers(rows.first().map_or("", |row| row.name.as_str()), &numbers))
}

pub(crate) fn is_for(name: &str, data_type: DataType) -> bool {
    read_name(name).is_ok_and(|(rows, _)| rows.iter().any(|row| row.is_for(data_type, None)))
}

fn with_numbers(name: &str, numbers: &[u64]) -> String {
    if numbers.is_empty() { name.to_owned() } else { format!("{name}<{}>", joined(numbers)) }
}

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
    let mut keys = Vec::new();
    let mut value = |number: &'_ str| {
        let (key, number) = number.split_once('=').map_or((None, number), |(key, number)| (Some(key.trim()), number));
        keys.push(key.map(str::to_owned));
        number.trim().parse().ok()
    };
    let numbers: Option<Vec<u64>> = match given.trim_end().strip_suffix('>') {
        Some(given) => given.split([',', ';']).map(&mut value).collect(),
        None if given.is_empty() => Some(Vec::new()),
        None => None,
    };
    let has_keys = |row: &Row| {
        let mut words = row.numbers.iter().map(|(word, _)| *word).zip(&keys);
        words.all(|(word, key)| key.as_ref().is_none_or(|key| key.eq_ignore_ascii_case(word)))
    };
    let fitting =
        |numbers: &Vec<u64>| rows.iter().copied().filter(|row| row.takes(numbers) && has_keys(row)).collect::<Vec<_>>();
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
        let mut cursor = Cursor::new(text);
        let layout = NamedLayout::read(&mut cursor)?;
        cursor.end("nothing more")?;
        Ok(layout)
    }
}

impl NamedLayout {
    /// Reads the name, `:`, and the type and the sizes at the cursor.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Self, Error> {
        let (start, rest) = (cursor.position(), cursor.rest());
        let (name, _) = rest.split_once(':').ok_or_else(|| cursor.error("the name of a layout and `:`"))?;
        cursor.move_to(start.saturating_add(name.len()).saturating_add(1));
        let at = cursor.position();
        let layout = if let Ok(block_type) = cursor.word().parse::<BlockType>() {
            let blocks = read_blocks_after_type(cursor, block_type)?;
            NamedLayout::of_blocks(name.trim(), &blocks)
        } else {
            cursor.move_to(at);
            let (data_type, sizes) = read_type_and_sizes(cursor)?;
            NamedLayout::new(name.trim(), data_type, &sizes)
        };
        layout.map_err(|error| match error.column() {
            // Columns of the name are counted from the beginning of the name.
            Some(column) => Error::parse(
                cursor.text().to_owned(),
                start.saturating_add(column),
                error.expected().to_owned(),
                error.found().to_owned(),
            ),
            None => error,
        })
    }
}

impl fmt::Display for NamedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}[{}]", self.name(), self.type_name(), joined(self.logical_sizes()))
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

fn alignment(row: &Row, data_type: DataType) -> u64 {
    if row.align == 0 { data_type.bits().div_ceil(8).into() } else { row.align }
}

/// A name of a layout, perhaps with its axes in another order.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct NameMatch {
    /// The layout with this name.
    pub layout: NamedLayout,
    /// For each axis of the named layout, the number of the matching axis in the layout that was passed.
    /// `None` if the axes are in the same order.
    pub axes: Option<Vec<usize>>,
}

impl fmt::Display for NameMatch {
    /// Writes `hipblaslt.COL16_4R8:bf16[64,32] on axes 1,0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout.fmt(f)?;
        let Some(axes) = &self.axes else { return Ok(()) };
        write!(f, " on axes {}", joined(axes))
    }
}

/// Returns every name in the table that a layout has. Names on its own axes come first. Layouts are compared,
/// not texts: type, sizes, the offset of every element, and the size of the buffer.
///
/// A row-major packed layout has no names here, because nearly every system has a name for it.
///
/// Matrices are also looked up with the last two axes exchanged, and images with the channels last or first.
/// For example, hipBLASLt's orders are AITER's with rows and columns exchanged.
///
/// ```
/// use tensor_layout::{ArrayShape, ToIndexMap};
/// use tensor_layout_text::named::names_of;
///
/// let names = |text: &str| -> Result<Vec<String>, tensor_layout::Error> {
///     Ok(names_of(&text.parse::<ArrayShape>()?.to_index_map()?).iter().map(ToString::to_string).collect())
/// };
/// let vectors = names("f16[2,33,3,2]{3,2,1,0:T(16,1,1)}")?;
/// assert_eq!(vectors[..2], ["tensorrt.kCHW16:f16[2,33,3,2]", "openvino.b_fs_yx_fsv16:f16[2,33,3,2]"]);
/// let shuffled = names("bf16[32,64]{1,0:T(16,8)}")?;
/// assert_eq!(shuffled, ["aiter.shuffle_weight_16x16:bf16[32,64]", "hipblaslt.COL16_4R8:bf16[64,32] on axes 1,0"]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[must_use]
pub fn names_of(map: &IndexMap) -> Vec<NameMatch> {
    let rank = map.sizes().len();
    if is_row_major(map) {
        return Vec::new();
    }
    let same: Vec<usize> = (0..rank).collect();
    let mut orders = vec![same.clone()];
    if let Some(last) = rank.checked_sub(2) {
        // Other orders of the axes to look up: the last two axes exchanged, the first of the last three axes
        // moved to the end, and the last axis moved in front of the other two.
        let exchanged = |turn: fn(&mut [usize]), from: usize| {
            let mut order = same.clone();
            order.get_mut(from..).map(turn);
            order
        };
        orders.push(exchanged(|axes| axes.rotate_left(1), last));
        if let Some(from) = rank.checked_sub(3) {
            orders.push(exchanged(|axes| axes.rotate_left(1), from));
            orders.push(exchanged(|axes| axes.rotate_right(1), from));
        }
    }
    let mut known = Vec::new();
    for order in orders {
        let Ok(turned) = map.permute(&order) else { continue };
        if is_row_major(&turned) {
            continue;
        }
        let axes = (order != same).then_some(&order);
        let is_plain = turned.strides().is_some();
        for row in rows().iter().filter(|row| row.has_rank(rank) && row.is_for(map.data_type(), None)) {
            // A row may have a rule for whole blocks and a packed rest. A small tensor has only the packed
            // rest, so it does not get this name.
            if is_plain && row.memory.contains(" then ") {
                continue;
            }
            let named = every_choice(row).into_iter().filter_map(|numbers| named_like(row, &numbers, &turned).ok()?);
            known.extend(named.map(|layout| NameMatch { layout, axes: axes.cloned() }));
        }
    }
    known
}

fn is_row_major(map: &IndexMap) -> bool {
    let packed = BufferTensorDesc::packed(map.data_type(), map.sizes()).and_then(|packed| packed.to_index_map());
    packed.is_ok_and(|packed| packed == *map)
}

fn every_choice(row: &Row) -> Vec<Vec<u64>> {
    row.numbers.iter().fold(vec![Vec::new()], |choices, (_, values)| {
        let longer =
            |choice: &Vec<u64>| values.iter().map(|&value| [choice.as_slice(), &[value]].concat()).collect::<Vec<_>>();
        choices.iter().flat_map(longer).collect()
    })
}

fn named_like(row: &'static Row, numbers: &[u64], map: &IndexMap) -> Result<Option<NamedLayout>, Error> {
    let (data_type, sizes) = (map.data_type(), map.sizes());
    if row.unmet(&row.values(data_type, sizes, numbers))?.is_some() {
        return Ok(None);
    }
    let layout = NamedLayout::of_row(row, data_type, sizes, numbers)?;
    let [part] = layout.parts.as_slice() else { return Ok(None) };
    let ends_alike = part.map.physical_elements() == map.physical_elements();
    Ok((ends_alike && same_layout(&part.map, map)?).then_some(layout))
}
