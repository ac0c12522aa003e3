//! `Description`: what `describe` prints about one array.

use std::ops::Range;

use serde_json::{Value, json};
use tensor_layout::AnyLayout;
use tensor_layout::bridge::{Lowering, Split, lower};
use tensor_layout::element::BlockField;
use tensor_layout::map::Fingerprint;
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::tiled::memory_space_name;
use tensor_layout::{DataType, Error, IndexMap, LayoutClass, ToIndexMap};
use tensor_layout_text::layout::Plane;
use tensor_layout_text::named::names_of;
use tensor_layout_text::{Layout, Line, Notation};

use crate::answer::Answer;
use crate::parts::reversed_line;
use crate::table::{counted, long_bytes, percent_wasted, write_list};
use crate::terminal::{Ink, painted};

pub(super) struct Description<'l> {
    plane: &'l Plane,
    /// The plane in its notation, in canonical form.
    text: String,
    /// The layout in every notation except names.
    lines: Vec<Line>,
    with_names: bool,
    /// The index map, or the reason why there is none: if an array is divided among memories, it has no
    /// single buffer.
    map: Result<Mapped, Error>,
    data_type: DataType,
    sizes: Vec<u64>,
    element_bits: u32,
    pub(super) logical_elements: u64,
    pub(super) physical_elements: u64,
    pub(super) physical_size_in_bytes: u64,
}

/// The facts that only an array in a single buffer has.
struct Mapped {
    map: IndexMap,
    lowering: Lowering,
    min_size_in_bytes: u64,
}

/// Returns the size of the buffer by DirectML's rule, in bytes: the end of the last element, rounded up to a
/// multiple of 4 bytes.
pub(crate) fn min_size_in_bytes(map: &IndexMap) -> Result<u64, Error> {
    let bits = u128::from(map.span_elements()) * u128::from(map.element_bits());
    let bytes = bits.div_ceil(8).next_multiple_of(4);
    u64::try_from(bytes).map_err(|_| Error::overflow("the size in bytes", 64))
}

impl<'l> Description<'l> {
    /// Describes a plane of at most one part. With `with_names` the names of the layout are looked up,
    /// which takes most of the time.
    pub(super) fn of(plane: &'l Plane, layout: &AnyLayout, with_names: bool) -> Result<Description<'l>, Error> {
        let notations: Vec<Notation> =
            Notation::LISTED.iter().copied().filter(|&notation| notation != Notation::Named).collect();
        let lines = plane.in_notations(&notations);
        // The shape of a divided array has the sizes that an index map would have.
        let (map, (data_type, sizes, element_bits), [logical_elements, physical_elements, physical_size_in_bytes]) =
            match (layout.to_index_map(), layout) {
                (Ok(map), _) => {
                    let facts = (map.data_type(), map.sizes().to_vec(), map.element_bits());
                    let sums = [map.element_count(), map.physical_elements(), map.physical_size_in_bytes()];
                    let (lowering, min_size_in_bytes) = (lower(layout)?, min_size_in_bytes(&map)?);
                    (Ok(Mapped { map, lowering, min_size_in_bytes }), facts, sums)
                }
                (Err(error), AnyLayout::Tiled(shape)) if !shape.layout().split_configs.is_empty() => {
                    let facts = (shape.data_type(), shape.sizes().to_vec(), shape.element_bits());
                    let (physical, bytes) = (shape.physical_elements()?, shape.physical_size_in_bytes()?);
                    (Err(error), facts, [shape.element_count(), physical, bytes])
                }
                (Err(error), _) => return Err(error),
            };
        Ok(Description {
            plane,
            text: plane.to_string(),
            lines,
            with_names,
            map,
            data_type,
            sizes,
            element_bits,
            logical_elements,
            physical_elements,
            physical_size_in_bytes,
        })
    }

    pub(super) fn logical_size_in_bytes(&self) -> u64 {
        let bits = u128::from(self.logical_elements).saturating_mul(self.element_bits.into());
        u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
    }

    pub(super) fn class(&self) -> String {
        self.map.as_ref().map_or_else(|_| "divided".into(), |mapped| mapped.map.class().to_string())
    }

    /// Says everything about the array; docs/JSON.md documents the keys.
    pub(super) fn say(&self, answer: &mut Answer) {
        let (logical, physical, bits) = (self.logical_elements, self.physical_elements, self.element_bits);
        let (mapped, blocks) = (self.map.as_ref().ok(), self.plane.blocks());
        answer.key("notation", self.plane.notation().to_string());
        answer.key("canonical", &self.text);
        answer.line(painted(&self.text, Ink::Bold));
        answer.says("notation", self.plane.notation().title());
        answer.keys(|| self.keys());
        match blocks {
            Some(blocks) => say_blocks(self.plane, blocks, answer),
            None => {
                let sizes = if self.sizes.is_empty() { "none: one element".into() } else { write_list(&self.sizes) };
                let unit = if bits == 1 { "bit" } else { "bits" };
                answer.says("sizes", format_args!("{sizes}, {} with {bits} {unit} an element", self.data_type));
            }
        }
        answer.key(
            "memory_space",
            self.memory_space().map(|space| json!({ "number": space, "name": memory_space_name(space) })),
        );
        answer.key("base_offset", mapped.map(|mapped| mapped.map.base()));
        answer.key("reversed", self.plane.reversed());
        answer.keys(|| json!({ "axis_orders": self.axis_orders(), "notations": self.notations() }));
        let known_as = self.known_as();
        answer.key("known_as", &known_as);
        answer.fact("axes", self.axes(), "axes", |axes| axes.join(" "));
        let memory = long_bytes(self.physical_size_in_bytes);
        match (blocks, &self.map) {
            (Some(_), _) => {
                let padding = padding(logical, physical).replace("elements", "blocks");
                answer.says("memory", format_args!("{memory}: {padding}"));
            }
            (None, Ok(_)) => {
                let padding = padding(logical, physical);
                answer.says("elements", format_args!("{logical} logical, {physical} physical: {padding}"));
            }
            (None, Err(_)) => {
                answer.says("elements", format_args!("{logical} logical, the largest part {physical} physical"));
            }
        }
        if blocks.is_none() {
            answer.says("memory", format_args!("{memory}{}", self.space_in_words()));
        }
        match &self.map {
            Ok(mapped) => {
                match blocks {
                    Some(blocks) => answer.says("bytes", blocks.bytes()),
                    None => mapped.say(answer),
                }
                answer.lines(self.fingerprint().map(|tag| format!("  tag        {tag}, the fingerprint")));
                answer.lines(reversed_line(self.plane));
            }
            Err(error) => answer.says("no map", reason(error)),
        }
        let swapped = self.swapped_sizes();
        answer.key("note", &swapped);
        if let Some(blocks) = blocks {
            let (of, sizes, strides) = (blocks.block_type(), blocks.sizes(), blocks.strides());
            answer.keys(|| {
                json!({
                    "data_type": of.to_string(), "sizes": sizes, "strides": strides, "element_bits": null,
                    "logical_elements": sizes.iter().product::<u64>(), "physical_elements": null,
                    "blocks": { "values": of.values(), "bytes": of.bytes(), "layout": blocks.bytes().to_string() },
                })
            });
        }
        if answer.is_json() {
            return;
        }
        let (written, refused) = self.other_notations();
        let lists = [
            ("also", written),
            ("not as", refused),
            ("known as", known_as.unwrap_or_default()),
            ("note", swapped.into_iter().collect()),
        ];
        for (head, notations) in lists {
            let heads = std::iter::once(head).chain(std::iter::repeat(""));
            heads.zip(notations).for_each(|(head, line)| answer.says(head, line));
        }
    }

    /// The keys that only programs read, in their order between `canonical` and `memory_space`.
    fn keys(&self) -> Value {
        let mapped = self.map.as_ref().ok();
        let split = match mapped.map(|mapped| &mapped.lowering) {
            Some(Lowering::Split(Split { desc, dims, .. })) => {
                json!({ "sizes": desc.sizes(), "strides": desc.strides(), "dims": dims })
            }
            _ => Value::Null,
        };
        let reason = match &self.map {
            Ok(mapped) => mapped.lowering.reason(),
            Err(error) => Some(error.to_string()),
        };
        json!({
            "data_type": self.data_type.to_string(), "sizes": self.sizes,
            "logical_elements": self.logical_elements, "physical_elements": self.physical_elements,
            "min_size_in_bytes": mapped.map(|mapped| mapped.min_size_in_bytes),
            "physical_size_in_bytes": self.physical_size_in_bytes,
            "class": mapped.map(|mapped| mapped.map.class().to_string()), "fingerprint": self.fingerprint(),
            "lowering": mapped.map(|mapped| mapped.lowering.name()),
            "strides": mapped.and_then(Mapped::strides), "split": split, "reason": reason,
            "element_bits": self.element_bits,
        })
    }

    /// The memory space that `S(n)` names. `None` for the main memory, and for texts that name none.
    fn memory_space(&self) -> Option<u64> {
        match self.plane.any()? {
            AnyLayout::Tiled(shape) => Some(shape.layout().memory_space).filter(|&space| space != 0),
            _ => None,
        }
    }

    fn space_in_words(&self) -> String {
        let Some(space) = self.memory_space() else { return String::new() };
        let name = memory_space_name(space).unwrap_or("which has no name here");
        format!(" in memory space {space}, {name}")
    }

    /// Returns the letters of an axis order or of a oneDNN tag in the order of the sizes, each with its size:
    /// `N=1`.
    fn axes(&self) -> Option<Vec<String>> {
        if !matches!(self.plane.notation(), Notation::AxisOrder | Notation::OneDnn) {
            return None;
        }
        let order: String = order_of(&self.text)?.chars().filter(char::is_ascii_alphabetic).collect();
        let order = order.to_ascii_uppercase();
        // Sizes are in the order of these letters, whatever the order in memory is. Weights of oneDNN begin
        // with the groups.
        let letters = ["NCDHW", "GOIDHW", "LDNCIGO", "TNC", "PZYX", "ABCDEFGHIJKL"];
        let letters = letters.into_iter().find(|letters| order.chars().all(|letter| letters.contains(letter)))?;
        let letters: Vec<char> = letters.chars().filter(|&letter| order.contains(letter)).collect();
        let pair = |(letter, size): (&char, &u64)| format!("{letter}={size}");
        (letters.len() == self.sizes.len()).then(|| letters.iter().zip(&self.sizes).map(pair).collect())
    }

    /// Returns a remark if the sizes look like an image in NHWC order, so that the height would be taken for
    /// C and the channels for W.
    fn swapped_sizes(&self) -> Option<String> {
        let &[n, height, width, channels] = self.sizes.as_slice() else { return None };
        let is_image = height >= 16 && width >= 16 && (1..=4).contains(&channels);
        let order = order_of(&self.text).filter(|_| self.plane.notation() == Notation::AxisOrder && is_image)?;
        Some(format!(
            "C={height} looks like a height: sizes stay in the order N,C,H,W. For images of {height} x {width} with \
             {channels} channels write {}[{n},{channels},{height},{width}]:{order}",
            self.data_type
        ))
    }

    /// Returns the fingerprint. `None` if the layout has no normal form, or if axes run backwards, which no
    /// layout says.
    fn fingerprint(&self) -> Option<String> {
        let map = &self.map.as_ref().ok().filter(|_| self.plane.reversed().is_empty())?.map;
        Fingerprint::of(map).ok().map(|tag| tag.to_string())
    }

    /// Returns the names of this layout: none if axes run backwards. `None` if names were not looked up.
    fn known_as(&self) -> Option<Vec<String>> {
        if !self.with_names {
            return None;
        }
        let map = self.map.as_ref().ok().filter(|_| self.plane.reversed().is_empty());
        let known = map.map(|mapped| names_of(&mapped.map)).unwrap_or_default();
        Some(known.iter().map(ToString::to_string).filter(|name| *name != self.text).collect())
    }

    /// Returns the axis orders that describe the layout, without the type and the sizes.
    fn axis_orders(&self) -> Vec<String> {
        let lines = self.lines.iter().filter(|line| line.notation == Notation::AxisOrder);
        lines.filter_map(|line| order_of(line.text.as_ref().ok()?).map(str::to_owned)).collect()
    }

    fn notations(&self) -> Value {
        let entry = |line: Line| {
            let reason = line.reason();
            (line.notation.to_string(), json!({ "text": line.text.ok(), "reason": reason }))
        };
        let mut lines = self.lines.clone();
        // Only the first of several axis orders is listed.
        lines.dedup_by_key(|line| line.notation);
        Value::Object(lines.into_iter().map(entry).collect())
    }

    /// Returns two lists of lines: the texts in the other notations, each with the padding that it loses, and
    /// the reasons why other notations have no text. Notations with the same reason share a line.
    fn other_notations(&self) -> (Vec<String>, Vec<String>) {
        let because = self.map.as_ref().ok().and_then(|mapped| mapped.lowering.reason());
        let (mut written, mut refused) = (Vec::new(), Vec::<(String, Vec<&str>)>::new());
        let (own, is_blocks) = (Ok(self.text.clone()), self.plane.blocks().is_some());
        // For the bytes of blocks, only NumPy's text is listed, because a program can read a file of blocks
        // with it. For an axis that runs backwards, the text of the own notation is left out, because it
        // lacks the signs.
        let is_own = |line: &Line| {
            line.text == own || !self.plane.reversed().is_empty() && line.notation == self.plane.notation()
        };
        let is_listed = |line: &&Line| !is_own(line) && (!is_blocks || line.notation == Notation::Numpy);
        for line in self.lines.iter().filter(is_listed) {
            let title = line.notation.title();
            if let Ok(text) = &line.text {
                let column = if is_blocks { title.len() } else { 18 };
                written.push(format!("{title:<column$} {text}{}", self.loss(line.notation, text)));
                continue;
            }
            let reason = line.reason().unwrap_or_default();
            match refused.iter_mut().find(|(other, _)| *other == reason) {
                Some((_, titles)) => titles.push(title),
                None => refused.push((reason, vec![title])),
            }
        }
        let sentence = |(reason, titles): &(String, Vec<&str>)| match &because {
            Some(because) if because == reason => format!("{}: for the same reason", titles.join(", ")),
            _ => format!("{}: {reason}", titles.join(", ")),
        };
        (written, refused.iter().map(sentence).collect())
    }

    /// Returns a note that says by how many bytes the buffer of `text` is shorter than the buffer of this
    /// layout. The note is empty if it is not shorter.
    fn loss(&self, notation: Notation, text: &str) -> String {
        let Ok(mapped) = &self.map else { return String::new() };
        if mapped.map.span_elements() == self.physical_elements {
            // The buffer ends with the last element, as it does in every notation.
            return String::new();
        }
        let bytes = match notation {
            // Tiles and blocks may store padding after the last element.
            Notation::Xla | Notation::OneDnn => {
                let map = text.parse::<Layout>().and_then(|layout| layout.to_index_map());
                map.map(|map| map.physical_size_in_bytes()).unwrap_or(self.physical_size_in_bytes)
            }
            // A descriptor of DirectML states the size of the whole buffer, so it loses no padding.
            Notation::Directml => return String::new(),
            // Strides alone store no padding after the last element.
            _ => {
                let bits = u128::from(mapped.map.span_elements()) * u128::from(self.element_bits);
                u64::try_from(bits.div_ceil(8)).unwrap_or(u64::MAX)
            }
        };
        match self.physical_size_in_bytes.checked_sub(bytes) {
            None | Some(0) => String::new(),
            Some(less) => format!("  (without the last {} of padding)", counted(less, "byte")),
        }
    }
}

fn say_blocks(plane: &Plane, blocks: &BlockTensorDesc, answer: &mut Answer) {
    let (of, sizes) = (blocks.block_type(), blocks.sizes());
    let (axis, bits) = (sizes.len().saturating_sub(1), of.bytes() as f64 * 8.0 / of.values() as f64);
    let list = write_list(sizes);
    answer.says("sizes", format_args!("{list}, {of}: {} values of axis {axis} in {} bytes", of.values(), of.bytes()));
    let values: u64 = sizes.iter().product();
    let number = counted(values.checked_div(of.values()).unwrap_or(0), "block");
    answer.says("values", format_args!("{values} in {number}, {bits} bits each with the scales"));
    if of.value_bits(0).is_empty() {
        answer.says("", "values share bits, so no value is stored alone");
    }
    for k in [0, 1, of.values().saturating_sub(1)].into_iter().filter(|&k| !of.value_bits(k).is_empty()) {
        let bits: Vec<String> = of.value_bits(k).iter().map(bits_in_words).collect();
        answer.says(&format!("value {k}"), bits.join(" and "));
    }
    let mut objects = Vec::new();
    for (name, field) in plane.block_fields() {
        for piece in field {
            let layout = strides_of(blocks, piece);
            let label = if piece.lowest_bit == 0 { name.clone() } else { format!("  from bit {}", piece.lowest_bit) };
            let head = if objects.is_empty() { "fields" } else { "" };
            objects.push(json!({
                "name": name, "data_type": piece.data_type.to_string(), "lowest_bit": piece.lowest_bit,
                "per": piece.per, "flip": piece.flip, "layout": layout.as_ref().ok(),
            }));
            answer.says(head, format_args!("{label:<15} {}", layout.unwrap_or_else(|error| reason(&error))));
        }
    }
    answer.key("fields", objects);
}

/// Returns the layout of a field of blocks as strides, with an axis for each digit of an index.
fn strides_of(blocks: &BlockTensorDesc, piece: &BlockField) -> Result<String, Error> {
    Ok(match lower(&blocks.field(piece)?)? {
        Lowering::Split(split) => split.desc.to_string(),
        Lowering::Strided(desc) => desc.to_string(),
        other => other.reason().unwrap_or_default(),
    })
}

/// Names the bits of a byte, `bits 4 to 7 of byte 3`, for a range of bits of a block.
pub(crate) fn bits_in_words(bits: &Range<u64>) -> String {
    let (byte, first, last) =
        (bits.start.div_euclid(8), bits.start.rem_euclid(8), bits.end.saturating_sub(1).rem_euclid(8));
    match (first, last) {
        _ if bits.end.saturating_sub(byte.saturating_mul(8)) > 8 => {
            format!("bytes {byte} to {}", bits.end.saturating_sub(1).div_euclid(8))
        }
        (0, 7) => format!("byte {byte}"),
        _ if first == last => format!("bit {first} of byte {byte}"),
        _ => format!("bits {first} to {last} of byte {byte}"),
    }
}

fn reason(error: &Error) -> String {
    if error.code() == "not_expressible" { error.found().to_owned() } else { error.to_string() }
}

impl Mapped {
    /// Returns the strides of an Affine layout. They may be strides that a descriptor cannot hold, but an
    /// index map can.
    fn strides(&self) -> Option<Vec<u64>> {
        match &self.lowering {
            Lowering::Strided(desc) => Some(desc.strides().to_vec()),
            Lowering::IndexMap { map, .. } => map.strides(),
            _ => None,
        }
    }

    fn say(&self, answer: &mut Answer) {
        let base = self.map.base();
        answer.says("", format_args!("{}, DirectML's minimum", long_bytes(self.min_size_in_bytes)));
        answer.says("class", class_sentence(self.map.class()));
        match &self.lowering {
            Lowering::Split(split) => {
                let dims: Vec<String> = split.dims.iter().map(usize::to_string).collect();
                answer.says("lowers to", format_args!("sizes   {}", write_list(split.desc.sizes())));
                answer.says("", format_args!("strides {}", write_list(split.desc.strides())));
                answer.says("", format_args!("dims    [{}], the dimension each axis is a digit of", dims.join(",")));
            }
            Lowering::Strided(desc) => {
                let base = if base > 0 { format!(", base offset {base}") } else { String::new() };
                answer.says("lowers to", format_args!("strides {}{base}", write_list(desc.strides())));
            }
            _ => answer.says("lowers to", "no strides"),
        }
        answer.lines(self.lowering.reason().map(|reason| format!("  because    {reason}")));
    }
}

fn padding(logical: u64, physical: u64) -> String {
    if physical == logical {
        "no padding".into()
    } else if physical > logical {
        format!("{} ({}) padding", physical.saturating_sub(logical), percent_wasted(logical, physical))
    } else {
        "elements share memory".into()
    }
}

fn class_sentence(class: LayoutClass) -> &'static str {
    match class {
        LayoutClass::Affine => "affine: one stride for each dimension",
        LayoutClass::Split => "split: some dimensions are cut into digits, each with its stride",
        LayoutClass::RaggedSplit => "ragged_split: digits that do not divide each other",
        LayoutClass::Fused => "fused: dimensions that are joined and then cut across",
        LayoutClass::Swizzled => "swizzled: digits, and then bits of the offset that higher bits flip",
        LayoutClass::Irreducible => "irreducible: evaluated tile by tile",
        _ => "other",
    }
}

/// Returns the axis order or tag of a text, without the axes that run backwards.
fn order_of(text: &str) -> Option<&str> {
    text.rsplit(':').next()?.split(',').next()
}
