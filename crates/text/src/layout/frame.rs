//! Frames: pictures in memory, as decoders, cameras and graphics APIs have them.
//!
//! ```text
//! frame.NAME<pitch=BYTES,rows=N>:TYPE[H,W]    planes y [H,W], u and v, each with a size of its own
//! frame.NAME<..>:TYPE[H,W,C]                  red, green, blue and alpha: one plane, C in this order
//! frame.NAME<planes>:TYPE[H,W]                the same planes packed, one behind another, y first
//! ```
//!
//! The table `frames.txt` says which surfaces a frame has, and in which order each has its elements. `pitch`
//! is the distance between rows of the first surface, in bytes. The pitches of the other surfaces are in
//! proportion to it. `rows` is the number of rows from the start of the first surface to that of the next
//! one, in proportion too. Halves of odd sizes are rounded up.
//!
//! ```text
//! frame.nv12<pitch=8,rows=4>:u8[2,6]     y y y y y y . .     planes   y [2,6]:[8,1]
//!                                        y y y y y y . .              u [1,3]:[8,2]+32
//!                                        . . . . . . . .              v [1,3]:[8,2]+33
//!                                        . . . . . . . .
//!                                        u v u v u v . .
//!                                        . . . . . . . .
//! ```

use core::fmt;
use std::sync::LazyLock;

use tensor_layout::checked::{self, BYTES, OFFSET};
use tensor_layout::cursor::Cursor;
use tensor_layout::plan::{Code, read_type_and_sizes};
use tensor_layout::strided::GapOwner;
use tensor_layout::upload::DeviceLimits;
use tensor_layout::{AnyLayout, BufferTensorDesc, DataType, Error, ToIndexMap};

use super::{Layout, Part, Plane, Role, Whole};
use crate::named::{TableRow, nearest, sections};
use crate::notation::Notation;
use crate::numbers::list;

/// A row of the table of frames, `crates/text/src/layout/frames.txt`.
#[derive(Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct FrameFormat {
    /// The name after `frame.`.
    pub name: &'static str,
    /// The type of an element. `None` for a name that is refused.
    pub data_type: Option<DataType>,
    /// The surfaces, as in `y; 2x2 u v`: a u and a v for each 2 columns and 2 rows of pixels.
    pub surfaces: &'static str,
    /// The names in FourCC, DXGI, Vulkan and FFmpeg, with blanks between them.
    pub other: &'static str,
    /// How the offsets of the format are known.
    pub known: &'static str,
}

/// Returns the rows of the table of frames.
///
/// ```
/// use tensor_layout_text::layout::frames;
///
/// let nv12 = frames().iter().find(|format| format.name == "nv12").unwrap();
/// assert!(nv12.other.contains("DXGI_FORMAT_NV12"));
/// assert_eq!(nv12.surfaces, "y; 2x2 u v");
/// ```
#[must_use]
pub fn frames() -> &'static [FrameFormat] {
    static FRAMES: LazyLock<Vec<FrameFormat>> = LazyLock::new(|| {
        let row = |(_, [known], [name, data_type, surfaces, other, ..]): TableRow<1>| FrameFormat {
            name,
            data_type: data_type.parse().ok(),
            surfaces,
            other,
            known,
        };
        sections(include_str!("frames.txt"), &["known"]).into_iter().map(row).collect()
    });
    &FRAMES
}

/// A picture in memory: `frame.nv12<pitch=2048,rows=1088>:u8[1080,1920]`. The
/// [table](frames) has the formats. A [`Layout`] is made of it by `TryFrom`.
///
/// ```
/// use tensor_layout_text::Layout;
///
/// let layout: Layout = "frame.nv12<pitch=2048,rows=1088>:u8[1080,1920]".parse()?;
/// let planes: Vec<String> = layout.planes().iter().map(ToString::to_string).collect();
/// assert_eq!(planes, ["u8[1080,1920]:[2048,1]+0", "u8[540,960]:[2048,2]+2228224", "u8[540,960]:[2048,2]+2228225"]);
/// assert_eq!(layout.frame().unwrap().size_in_bytes()?, 2048 * 1088 * 3 / 2);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    format: &'static FrameFormat,
    data_type: DataType,
    sizes: Vec<u64>,
    /// The distance between rows of the first surface, in bytes. `None` for the smallest that holds a row.
    pitch: Option<u64>,
    rows: Option<u64>,
    is_planes: bool,
}

/// A matrix of a frame. Sizes are in elements of the frame.
struct Surface {
    /// The columns and rows of pixels that have the elements.
    per: [u64; 2],
    elements: Vec<char>,
    /// The number of groups of elements in a row. `rows` is the number of rows.
    columns: u64,
    rows: u64,
    offset: u64,
    pitch: u64,
}

impl Frame {
    /// Reads a frame at the cursor, which is at `frame.`.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Frame, Error> {
        cursor.expect("frame.", "`frame.`")?;
        let (start, word) = (cursor.position(), cursor.word());
        let format = format(cursor, start, word)?;
        let Some(data_type) = format.data_type else {
            let reason = format.surfaces.trim_start_matches("- ");
            return Err(Error::not_expressible("frame", format!("`{word}` {reason}")));
        };
        let mut frame = Frame { format, data_type, sizes: Vec::new(), pitch: None, rows: None, is_planes: false };
        let (mut pitch, mut rows) = (None, None);
        if cursor.eat("<") {
            cursor.list(">", |cursor| {
                let at = cursor.position();
                let field = match cursor.word() {
                    "planes" => {
                        frame.is_planes = true;
                        return Ok(());
                    }
                    "pitch" => &mut pitch,
                    "rows" => &mut rows,
                    _ => return Err(cursor.error_at(at, "pitch=, rows= or planes")),
                };
                cursor.expect("=", "`=`")?;
                let at = cursor.position();
                *field = Some((at, cursor.number("a number")?));
                Ok(())
            })?;
        }
        cursor.expect(":", "`:`, or `<` with pitch=, rows= or planes")?;
        let at = cursor.position();
        let (read, sizes) = read_type_and_sizes(cursor)?;
        if read != data_type {
            return Err(cursor.error_at(at, &format!("{data_type}, the type of {}", format.name)));
        }
        frame.sizes = sizes.to_vec();
        let end = cursor.position();
        frame.check_sizes(cursor, at)?;
        let (bytes, first) = (frame.element_bytes(), frame.surfaces()?.into_iter().next());
        let (least, height) = first.map_or((0, 0), |first| (first.pitch, first.rows));
        let least = checked::mul(least, bytes, BYTES)?;
        for (field, least, multiple, what) in
            [(pitch, least, bytes, "pitch of bytes"), (rows, height, 1, "number of rows")]
        {
            let is_refused =
                |(_, number): &(usize, u64)| frame.is_planes || *number < least || !number.is_multiple_of(multiple);
            if let Some((at, _)) = field.filter(is_refused) {
                let expected = match frame.is_planes {
                    true => format!("no {what}, because planes are packed"),
                    false if multiple == 1 => format!("a {what} of at least {least}"),
                    false => format!("a {what} of at least {least} and a multiple of {multiple}"),
                };
                return Err(cursor.error_at(at, &expected));
            }
        }
        cursor.move_to(end);
        let other =
            |field: Option<(usize, u64)>, least| field.map(|(_, number)| number).filter(|&number| number != least);
        (frame.pitch, frame.rows) = (other(pitch, least), other(rows, height));
        Ok(frame)
    }

    fn check_sizes(&self, cursor: &mut Cursor<'_>, at: usize) -> Result<(), Error> {
        let channels = self.channels().map(|channels| checked::len_u64(channels.len()));
        let (is_right, sizes) = match (self.sizes.as_slice(), channels) {
            (sizes, None) => (sizes.len() == 2, "H,W".to_owned()),
            (sizes, Some(count)) => (sizes.len() == 3 && sizes.last() == channels.as_ref(), format!("H,W,{count}")),
        };
        let expected = || format!("{}[{sizes}], the sizes of {}", self.data_type, self.format.name);
        if is_right { Ok(()) } else { Err(cursor.error_at(at, &expected())) }
    }

    /// The format of the frame.
    #[must_use]
    pub fn format(&self) -> &'static FrameFormat {
        self.format
    }

    /// The type of an element.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// Returns the same planes, packed, one behind another in the order of their names.
    #[must_use]
    pub fn in_planes(&self) -> Frame {
        Frame { pitch: None, rows: None, is_planes: true, ..self.clone() }
    }

    fn element_bytes(&self) -> u64 {
        u64::from(self.data_type.bits().div_ceil(8)).max(1)
    }

    /// The channels of colours, which are one axis: red, green, blue, and alpha if it is there.
    fn channels(&self) -> Option<Vec<char>> {
        let channels: Vec<char> = self.names();
        channels.contains(&'r').then_some(channels)
    }

    /// The names of the planes or channels, in order.
    fn names(&self) -> Vec<char> {
        "yuvrgba".chars().filter(|&name| self.format.surfaces.contains(name)).collect()
    }

    /// For each surface, the columns and rows of pixels that share a group of elements, and the names of the
    /// elements.
    fn forms(&self) -> Vec<([u64; 2], Vec<char>)> {
        let form = |text: &str| {
            let (mut per, mut elements) = ([1, 1], Vec::new());
            for word in text.split_whitespace() {
                match word.split_once('x') {
                    Some(numbers) => per = [numbers.0, numbers.1].map(|number| number.parse().unwrap_or(1)),
                    None => elements.extend(word.chars()),
                }
            }
            (per, elements)
        };
        let forms: Vec<([u64; 2], Vec<char>)> = self.format.surfaces.split(';').map(form).collect();
        match (self.is_planes, self.channels()) {
            (false, _) => forms,
            (true, Some(channels)) => vec![([1, 1], channels)],
            (true, None) => {
                let alone = |name: char| {
                    let ([columns, rows], elements) = forms.iter().find(|(_, elements)| elements.contains(&name))?;
                    let count = elements.iter().filter(|&&other| other == name).count();
                    Some(([columns.checked_div(checked::len_u64(count))?, *rows], vec![name]))
                };
                self.names().into_iter().filter_map(alone).collect()
            }
        }
    }

    fn surfaces(&self) -> Result<Vec<Surface>, Error> {
        let [height, width] = [0, 1].map(|axis| self.sizes.get(axis).copied().unwrap_or(0));
        let (mut surfaces, mut offset): (Vec<Surface>, u64) = (Vec::new(), 0);
        let forms = self.forms();
        let first =
            forms.first().map_or((1, 1), |([columns, _], elements)| (*columns, checked::len_u64(elements.len())));
        for (per, elements) in forms {
            let (columns, rows) = (width.div_ceil(per[0]), height.div_ceil(per[1]));
            let length = checked::len_u64(elements.len());
            let least = checked::mul(columns, length, OFFSET)?;
            let in_proportion = |pitch: u64| {
                let pitch = pitch.div_ceil(self.element_bytes());
                let scaled = checked::mul(checked::mul(pitch, length, OFFSET)?, first.0, OFFSET)?;
                Ok::<_, Error>(scaled.div_ceil(checked::mul(per[0], first.1, OFFSET)?).max(least))
            };
            let pitch = self.pitch.map_or(Ok(least), in_proportion)?;
            surfaces.push(Surface { per, elements, columns, rows, offset, pitch });
            let all = self.rows.map_or(rows, |all| all.div_ceil(per[1]));
            offset = checked::add(offset, checked::mul(pitch, all, OFFSET)?, OFFSET)?;
        }
        Ok(surfaces)
    }

    /// The size of the frame in bytes: every surface with whole rows.
    ///
    /// # Errors
    ///
    /// `overflow` if the size passes 64 bits.
    pub fn size_in_bytes(&self) -> Result<u64, Error> {
        checked::mul(self.elements()?, self.element_bytes(), BYTES)
    }

    fn elements(&self) -> Result<u64, Error> {
        let Some(last) = self.surfaces()?.pop() else { return Ok(0) };
        let rows = self.rows.map_or(last.rows, |all| all.div_ceil(last.per[1]));
        checked::add(last.offset, checked::mul(last.pitch, rows, OFFSET)?, OFFSET)
    }

    /// What an interface of textures is given: for each surface its names, the byte at which it begins, and
    /// its rows. The elements that one place of a surface has are one element of the rows.
    ///
    /// # Errors
    ///
    /// `overflow` if a size passes 64 bits.
    ///
    /// ```
    /// use tensor_layout_text::Layout;
    ///
    /// let layout: Layout = "frame.nv12<pitch=2048>:u8[1080,1920]".parse()?;
    /// let surfaces = layout.frame().unwrap().textures()?;
    /// assert_eq!((surfaces[1].0.as_str(), surfaces[1].1), ("u v", 2048 * 1080));
    /// assert_eq!(surfaces[1].2.to_string(), "u16[540,960]:[1024,1]");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn textures(&self) -> Result<Vec<(String, u64, Plane)>, Error> {
        let texture = |surface: Surface| {
            let bytes = self.element_bytes();
            let [offset, pitch] = [surface.offset, surface.pitch].map(|number| checked::mul(number, bytes, BYTES));
            let (offset, pitch, texel) =
                (offset?, pitch?, checked::mul(checked::len_u64(surface.elements.len()), bytes, BYTES)?);
            let types = [(2, DataType::U16), (4, DataType::U32), (8, DataType::U64)];
            let found = types.into_iter().find(|(size, _)| *size == texel && pitch.is_multiple_of(*size));
            let (size, data_type) = found.unwrap_or((1, DataType::U8));
            let columns = checked::mul(surface.columns, texel.checked_div(size).unwrap_or(1), OFFSET)?;
            let strides = [pitch.checked_div(size).unwrap_or(0), 1];
            let rows = BufferTensorDesc::new(data_type, &[surface.rows, columns], Some(&strides))?;
            let names: Vec<String> = surface.elements.iter().map(char::to_string).collect();
            Ok((names.join(" "), offset, Plane::one(rows.into(), Notation::Strides, None)))
        };
        self.surfaces()?.into_iter().map(texture).collect()
    }

    /// Returns the rules of a device on the sizes of frames that this one breaks.
    #[must_use]
    pub fn broken_rules(&self, limits: &DeviceLimits) -> Vec<Error> {
        let mut multiples = [1, 1];
        for (per, _) in self.forms().iter().filter(|_| limits.even_frames) {
            multiples = [multiples[0].max(per[1]), multiples[1].max(per[0])];
        }
        let sizes = self.sizes.iter().zip(multiples).enumerate();
        let broken = sizes.filter(|(_, (size, multiple))| !size.is_multiple_of(*multiple));
        broken.map(|(axis, (&size, multiple))| Code::SizeUnaligned.on_axis(axis, size, multiple)).collect()
    }

    fn plane(&self, name: char, surface: &Surface, total: u64) -> Result<Plane, Error> {
        let places =
            || surface.elements.iter().enumerate().filter(|(_, other)| **other == name).map(|(place, _)| place);
        let (count, place) =
            (checked::len_u64(places().count()).max(1), checked::len_u64(places().next().unwrap_or(0)));
        let per = [surface.per[1], surface.per[0].checked_div(count).unwrap_or(1)];
        let sizes: Vec<u64> = self.sizes.iter().zip(per).map(|(size, per)| size.div_ceil(per)).collect();
        let step = checked::len_u64(surface.elements.len()).checked_div(count).unwrap_or(1);
        let base = if sizes.contains(&0) { 0 } else { checked::add(surface.offset, place, OFFSET)? };
        let map = self.map((&sizes, &[surface.pitch, step]), base, total, true)?;
        let (role, records) = (Role::Component { name, per: per.to_vec() }, Some(self.to_string()));
        Ok(Plane { role, records, ..Plane::one(map, Notation::Strides, None) })
    }

    fn map(
        &self,
        (sizes, strides): (&[u64], &[u64]),
        base: u64,
        total: u64,
        is_part: bool,
    ) -> Result<AnyLayout, Error> {
        let desc = BufferTensorDesc::new(self.data_type, sizes, Some(strides))?.with_base_offset(base)?;
        let map = desc.to_index_map()?.with_physical_elements(total)?;
        Ok(AnyLayout::Mapped(if is_part { map.with_gap_owner(GapOwner::Others) } else { map }))
    }

    /// The one plane of a frame of channels, whose order in memory is `stored`.
    fn channels_plane(&self, channels: &[char], surface: &Surface, total: u64) -> Result<Plane, Error> {
        let (sizes, step) = (self.sizes.as_slice(), checked::len_u64(channels.len()));
        let strides = [surface.pitch, step, 1];
        let is_reversed = surface.elements.iter().rev().eq(channels);
        if is_reversed || surface.elements == channels {
            let map = self.map((sizes, &strides), 0, total, false)?;
            let reversed = if is_reversed { vec![2] } else { Vec::new() };
            return Ok(Plane { reversed, ..Plane::one(map, Notation::Named, Some(self.to_string())) });
        }
        let part = |(channel, name): (usize, &char)| {
            let place = surface.elements.iter().position(|other| other == name).unwrap_or(0);
            let (channel, mut sizes) = (checked::len_u64(channel), sizes.to_vec());
            sizes.iter_mut().skip(2).for_each(|size| *size = 1);
            let map = self.map((&sizes, &strides), checked::len_u64(place), total, true)?.to_index_map()?;
            let mut part = Part::whole(map);
            part.indices.iter_mut().skip(2).for_each(|slice| *slice = (channel..channel.saturating_add(1)).into());
            Ok(part)
        };
        let parts = channels.iter().enumerate().map(part).collect::<Result<Vec<Part>, Error>>()?;
        Ok(Plane::in_parts(sizes.to_vec(), parts, Some(self.to_string())))
    }
}

impl TryFrom<Frame> for Layout {
    type Error = Error;

    fn try_from(frame: Frame) -> Result<Layout, Error> {
        frame.layout()
    }
}

impl Frame {
    fn layout(self) -> Result<Layout, Error> {
        let (surfaces, total) = (self.surfaces()?, self.elements()?);
        let plane = |name: char| {
            let surface = surfaces.iter().find(|surface| surface.elements.contains(&name))?;
            Some(self.plane(name, surface, total))
        };
        let planes = match (self.channels(), surfaces.as_slice(), self.names().as_slice()) {
            (Some(channels), [surface], _) => [self.channels_plane(&channels, surface, total)].into_iter().collect(),
            (None, [surface], [_]) => {
                let map = self.map((&self.sizes, &[surface.pitch, 1]), 0, total, false)?;
                [Ok(Plane::one(map, Notation::Named, Some(self.to_string())))].into_iter().collect()
            }
            (_, _, names) => names.iter().copied().filter_map(plane).collect::<Result<_, Error>>(),
        };
        Ok(Layout::with(planes?, Whole::Frame(self)))
    }
}

fn format(cursor: &mut Cursor<'_>, start: usize, word: &str) -> Result<&'static FrameFormat, Error> {
    let names = |format: &'static FrameFormat| core::iter::once(format.name).chain(format.other.split_whitespace());
    let found = frames().iter().find(|format| names(format).any(|name| name.eq_ignore_ascii_case(word)));
    found.ok_or_else(|| {
        let near =
            nearest("; ", word, frames().iter().flat_map(|format| names(format).map(|name| (name, format.name))));
        let all: Vec<&str> = frames().iter().filter(|row| row.data_type.is_some()).map(|row| row.name).collect();
        cursor.error_at(start, &format!("the name of a frame ({}{near})", all.join(", ")))
    })
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = [self.pitch.map(|pitch| format!("pitch={pitch}")), self.rows.map(|rows| format!("rows={rows}"))];
        let mut fields: Vec<String> = fields.into_iter().flatten().collect();
        fields.extend(self.is_planes.then(|| "planes".to_owned()));
        let fields = if fields.is_empty() { String::new() } else { format!("<{}>", fields.join(",")) };
        write!(f, "frame.{}{fields}:{}{}", self.format.name, self.data_type, list(&self.sizes))
    }
}
