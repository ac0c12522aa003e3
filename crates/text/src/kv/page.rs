//! `kv page`: pages that hold several kinds of state, one behind another.
//!
//! A hybrid model has layers of attention beside layers that keep a state, and an engine gives all of them
//! pages of one size from one pool. A page of a layer with a state holds what the layer needs, such as the
//! last inputs of a convolution and the state of a recurrence, and ends with padding up to the size of a page
//! of attention. Values of 4 bits with their scales are such pages too: a region for each side and kind.
//!
//! ```text
//! kv page B=128 { conv: bf16[3,2048], ssm: f32[8,64,128] } to 274432
//! kv page B=512 { k: f4e2m1fn[8,16,128], ks: f8e4m3fn[8,16,8], v: f4e2m1fn[8,16,128], vs: f8e4m3fn[8,16,8] }
//! ```
//!
//! # Grammar
//!
//! ```text
//! kv page B=PAGES { NAME: TYPE[SIZE,..] at BYTES, .. } to BYTES
//!
//! B=128               the number of pages, which is the first size of every field; B=2:4/128 and
//!                     B=[7,2,3]/512 have some of them, as in a cache
//! at BYTES            the byte of a page at which a field begins. Without it, a field lies behind the one
//!                     before it, at a multiple of the bytes of its element
//! to BYTES            the distance of pages, which must hold the fields. Without it, it is the least
//! ```
//!
//! The fields are row-major inside a page.

use core::fmt;

use tensor_layout::checked::{self, BYTES, PHYSICAL};
use tensor_layout::cursor::Cursor;
use tensor_layout::plan::read_type_and_sizes;
use tensor_layout::strided::{GapOwner, Slice};
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};

use super::layout::{Field, refused};
use super::runs_of;
use crate::numbers::list;
use crate::part::Part;

/// One field of [`Pages`]: what a page holds of one kind of state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PageField {
    /// The name.
    pub name: String,
    /// The type of an element.
    pub data_type: DataType,
    /// The sizes in one page.
    pub sizes: Vec<u64>,
    /// The byte of a page at which the field begins.
    pub offset: u64,
    /// The bytes that the field takes in a page.
    pub bytes: u64,
}

/// Pages of several kinds of state: `kv page B=128 { conv: bf16[3,2048], ssm: f32[8,64,128] } to 274432`.
///
/// Each field has a name, a type and the sizes in a page. It lies behind the one before it, or `at` a byte of
/// the page, and `to` is the distance of pages in bytes. A [`Layout`](crate::Layout) is made of pages by
/// `TryFrom`, with a plane for each field, and [`Layout::pages`](crate::Layout::pages) gives them back.
///
/// ```
/// use tensor_layout_text::Layout;
///
/// // Qwen3.5 35B on one of 8 ranks: a convolution of 3 inputs, and 8 heads of a state.
/// let layout: Layout = "kv page B=128 { conv: bf16[3,2048], ssm: bf16[8,128,128] } to 524288".parse()?;
/// let planes: Vec<String> = layout.planes().iter().map(ToString::to_string).collect();
/// assert_eq!(planes, [
///     "bf16[128,3,2048]:[262144,2048,1]+0",
///     "bf16[128,8,128,128]:[262144,16384,128,1]+6144",
/// ]);
/// let pages = layout.pages().unwrap();
/// assert_eq!((pages.stored_bytes(), pages.distance(), pages.padding()), (274_432, 524_288, 249_856));
/// assert_eq!(layout.component("ssm").unwrap().place(&[3, 1, 2, 0])?.offset, 3 * 262_144 + 6144 + 16_640);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Pages {
    pages: Field,
    fields: Vec<PageField>,
    distance: u64,
}

impl Pages {
    /// Whether a text begins with `kv page`, so that it is read as pages.
    pub(crate) fn begins(text: &str) -> bool {
        text.strip_prefix("kv").is_some_and(|rest| {
            let name = rest.trim_start();
            name.len() < rest.len() && name.starts_with("page")
        })
    }

    /// Reads pages at the cursor, which is at `kv page`.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Pages, Error> {
        cursor.expect("kv", "`kv page`")?;
        let at = cursor.position();
        if cursor.word() != "page" {
            return Err(cursor.error_at(at, "`page` and the number of pages, as in B=128"));
        }
        let (at, pages) = Field::read(cursor)?;
        if pages.name != "B" || pages.bytes.is_some() {
            return Err(cursor.error_at(at, "the number of pages, as in B=128"));
        }
        cursor.expect("{", "`{` and the fields of a page, as in conv: bf16[3,2048]")?;
        let mut fields: Vec<PageField> = Vec::new();
        cursor.list("}", |cursor| {
            let field = read_field(cursor, &fields)?;
            fields.push(field);
            Ok(())
        })?;
        if fields.is_empty() {
            return Err(refused("a page has no field"));
        }
        let mut made = Pages { pages, distance: least_distance(&fields)?, fields };
        if cursor.peek().is_some() {
            cursor.expect("to", "`to` and the distance of pages in bytes, or nothing more")?;
            let at = cursor.position();
            made.distance = cursor.number("the distance of pages in bytes")?;
            let end = end_of(&made.fields)?;
            if made.distance < end {
                return Err(cursor.error_at(at, &format!("at least {end}, the bytes that the fields of a page take")));
            }
            let torn = made.fields.iter().find(|field| !is_whole(made.distance, field.data_type));
            if let Some(PageField { name, data_type, .. }) = torn {
                let expected = format!("a multiple of the bytes of {name}'s elements, which are {data_type}");
                return Err(cursor.error_at(at, &expected));
            }
        }
        made.checked()
    }

    /// Refuses pages that are not there, and sizes that pass 64 bits.
    fn checked(self) -> Result<Pages, Error> {
        for field in &self.fields {
            self.parts(field)?;
        }
        Ok(self)
    }

    /// The fields of a page, in the order of their bytes.
    #[must_use]
    pub fn fields(&self) -> &[PageField] {
        &self.fields
    }

    /// The bytes from one page to the next.
    #[must_use]
    pub fn distance(&self) -> u64 {
        self.distance
    }

    /// The bytes of a page that hold elements.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.fields.iter().fold(0, |sum: u64, field| sum.saturating_add(field.bytes))
    }

    /// The bytes of a page that hold no element: between its fields, and behind the last one.
    #[must_use]
    pub fn padding(&self) -> u64 {
        self.distance.saturating_sub(self.stored_bytes())
    }

    /// The number of pages that belong to the layout.
    #[must_use]
    pub fn count(&self) -> u64 {
        match (self.pages.table.as_slice(), self.pages.part) {
            ([], Some((start, end))) => end.saturating_sub(start),
            ([], None) => self.pages.size,
            (table, _) => checked::len_u64(table.len()),
        }
    }

    /// The number of pages in memory.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.pages.size
    }

    /// Returns the same fields in pages that lie one behind another, without padding but for alignment.
    ///
    /// # Errors
    ///
    /// `overflow` if a size passes 64 bits.
    pub fn packed(&self) -> Result<Pages, Error> {
        let mut fields: Vec<PageField> = Vec::new();
        for field in &self.fields {
            let offset = behind(&fields, field.data_type)?;
            fields.push(PageField { offset, ..field.clone() });
        }
        let pages = Field::new("B", self.count())?;
        Pages { pages, distance: least_distance(&fields)?, fields }.checked()
    }

    /// Returns the same pages with one field alone, at its place.
    pub(crate) fn alone(&self, field: &PageField) -> Pages {
        Pages { fields: vec![field.clone()], ..self.clone() }
    }

    /// Returns some of the pages.
    ///
    /// # Errors
    ///
    /// `slice_out_of_range` for pages that are not there, and `not_expressible` for more than a million pages
    /// that are no neighbours.
    pub fn slice(&self, slice: Slice) -> Result<Pages, Error> {
        const MOST: u64 = 1 << 20;
        let view = BufferTensorDesc::packed(DataType::U8, &[self.count()])?.slice(&[slice])?;
        let count = view.sizes().iter().product();
        let first = self.pages.part.map_or(0, |(start, _)| start).saturating_add(slice.start);
        let numbers = || (0..count).map(|number| number.saturating_mul(slice.step.max(1)));
        let mut pages = Field { table: Vec::new(), part: None, ..self.pages.clone() };
        if !self.pages.table.is_empty() {
            let page = |number: u64| {
                let place = usize::try_from(slice.start.saturating_add(number)).ok()?;
                self.pages.table.get(place).copied()
            };
            pages.table = numbers().filter_map(page).collect();
        } else if slice.step > 1 && count > 1 {
            if count > MOST {
                return Err(refused(format!("{count} pages that are no neighbours are more than {MOST}")));
            }
            pages.table = numbers().map(|number| first.saturating_add(number)).collect();
        }
        if pages.table.is_empty() && (first, count) != (0, pages.size) {
            pages.part = Some((first, first.saturating_add(count)));
        }
        Pages { pages, ..self.clone() }.checked()
    }

    /// Returns the parts of a field, one for each run of neighbouring pages.
    ///
    /// # Errors
    ///
    /// `slice_out_of_range` for pages that are not there, and `overflow`.
    pub(crate) fn parts(&self, field: &PageField) -> Result<Vec<Part>, Error> {
        let whole = self.map(field)?;
        let rank = whole.sizes().len();
        let part = |first: Slice, taken: Slice| {
            let slices =
                |slice| core::iter::once(slice).chain(core::iter::repeat_n(Slice::ALL, rank.saturating_sub(1)));
            let map = whole.slice(&slices(taken).collect::<Vec<_>>())?;
            Ok(Part { indices: slices(first).collect(), map: map.with_gap_owner(GapOwner::Others), flip: 0 })
        };
        match (self.pages.table.as_slice(), self.pages.part) {
            ([], None) => Ok(vec![Part::whole(whole)]),
            ([], Some((start, end))) => Ok(vec![part(Slice::ALL, (start..end).into())?]),
            (table, _) => {
                let runs = runs_of(table, 1).map(|(start, run)| {
                    let (first, count) = (run.first().copied().unwrap_or(0), checked::len_u64(run.len()));
                    part((start..start.saturating_add(count)).into(), (first..first.saturating_add(count)).into())
                });
                runs.collect()
            }
        }
    }

    /// Returns the offsets of a field in all pages in memory.
    fn map(&self, field: &PageField) -> Result<IndexMap, Error> {
        let bits = u64::from(field.data_type.bits());
        let elements = |bytes: u64| {
            let bits_of = checked::mul(bytes, 8, BYTES)?;
            let whole = bits_of.checked_div(bits).filter(|_| is_whole(bytes, field.data_type));
            whole.ok_or_else(|| refused(format!("{bytes} bytes are no whole elements of {}", field.data_type)))
        };
        let mut strides = vec![1_u64];
        for &size in field.sizes.iter().rev() {
            let inner = strides.last().copied().unwrap_or(1);
            strides.push(checked::mul(inner, size.max(1), PHYSICAL)?);
        }
        strides.pop();
        strides.push(elements(self.distance)?);
        strides.reverse();
        let sizes: Vec<u64> = core::iter::once(self.pages.size).chain(field.sizes.iter().copied()).collect();
        let total = elements(checked::mul(self.distance, self.pages.size, BYTES)?)?;
        let base = if sizes.contains(&0) { 0 } else { elements(field.offset)? };
        let desc = BufferTensorDesc::new(field.data_type, &sizes, Some(&strides))?.with_base_offset(base)?;
        Ok(desc.to_index_map()?.with_physical_elements(total)?.with_gap_owner(GapOwner::Others))
    }
}

/// Reads `conv: bf16[3,2048] at 0`, which lies behind the fields before it.
fn read_field(cursor: &mut Cursor<'_>, before: &[PageField]) -> Result<PageField, Error> {
    let at = cursor.position();
    let name = cursor.word().to_owned();
    if name.is_empty() || before.iter().any(|field| field.name == name) {
        return Err(cursor.error_at(at, "a name for the field, each once, as in conv: bf16[3,2048]"));
    }
    cursor.expect(":", "`:` and the type and sizes of the field in a page")?;
    let (data_type, sizes) = read_type_and_sizes(cursor)?;
    let end = end_of(before)?;
    let mut offset = behind(before, data_type)?;
    let start = cursor.position();
    if cursor.word() == "at" {
        let start = cursor.position();
        offset = cursor.number("the byte of a page at which the field begins")?;
        if offset < end {
            return Err(cursor.error_at(start, &format!("at least {end}, where the field before it ends")));
        }
        if !is_whole(offset, data_type) {
            return Err(cursor.error_at(start, &format!("a multiple of the bytes of an element, which is {data_type}")));
        }
    } else {
        cursor.move_to(start);
    }
    let elements = sizes.iter().try_fold(1, |product, &size| checked::mul(product, size, PHYSICAL))?;
    let bytes = checked::bytes_for(elements, data_type.bits())?;
    checked::add(offset, bytes, BYTES)?;
    Ok(PageField { name, data_type, sizes: sizes.to_vec(), offset, bytes })
}

/// Whether this many bytes are whole elements. Elements below a byte share bytes.
fn is_whole(bytes: u64, data_type: DataType) -> bool {
    let bits = u64::from(data_type.bits());
    u128::from(bytes).saturating_mul(8).is_multiple_of(u128::from(bits.max(1)))
}

fn element_bytes(data_type: DataType) -> u64 {
    u64::from(data_type.bits().div_ceil(8)).max(1)
}

/// Returns the offset behind the last field of a page, in bytes.
fn end_of(fields: &[PageField]) -> Result<u64, Error> {
    fields.last().map_or(Ok(0), |last| checked::add(last.offset, last.bytes, BYTES))
}

/// The byte at which a field of this type lies behind others: a multiple of the bytes of its element.
fn behind(fields: &[PageField], data_type: DataType) -> Result<u64, Error> {
    let mut offset = checked::round_up(end_of(fields)?, element_bytes(data_type), BYTES)?;
    // Elements of 3, 5, 6 or 7 bits are whole at some bytes alone.
    while !is_whole(offset, data_type) {
        offset = checked::add(offset, 1, BYTES)?;
    }
    Ok(offset)
}

/// The least distance that holds the fields and is a multiple of the bytes of each element.
fn least_distance(fields: &[PageField]) -> Result<u64, Error> {
    let mut distance = end_of(fields)?.max(1);
    while let Some(field) = fields
        .iter()
        .find(|field| !distance.is_multiple_of(element_bytes(field.data_type)) || !is_whole(distance, field.data_type))
    {
        let next = checked::round_up(checked::add(distance, 1, BYTES)?, element_bytes(field.data_type), BYTES)?;
        distance = next;
    }
    Ok(distance)
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kv page {} {{ ", self.pages)?;
        for (number, field) in self.fields.iter().enumerate() {
            let PageField { name, data_type, sizes, offset, .. } = field;
            f.write_str(if number == 0 { "" } else { ", " })?;
            write!(f, "{name}: {data_type}{}", list(sizes))?;
            let before = self.fields.get(..number).unwrap_or_default();
            if behind(before, *data_type) != Ok(*offset) {
                write!(f, " at {offset}")?;
            }
        }
        write!(f, " }} to {}", self.distance)
    }
}
