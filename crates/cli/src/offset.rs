//! `offset`: index to offset and back.

use clap::Args;
use serde_json::json;
use tensor_layout::element::BlockField;
use tensor_layout::{AnyLayout, Error};
use tensor_layout_text::Layout;
use tensor_layout_text::layout::{Place, Plane};

use crate::answer::Answer;
use crate::describe::bits_in_words;
use crate::output::{Output, Stop, Verdict, each_line, refused, two_columns};
use crate::parts::{indices_of, name_of};
use crate::table::{read_list, read_number, write_list};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout, or `-` to read lines of a layout, a tab and an index from standard input.
    layout: String,
    /// The index, as [2,3] or 2,3 ([] for rank 0), or u:2,3 in a plane of a frame or a field of pages, or
    /// 'scales per 32:2,3' in a field of blocks; with --inverse the offset in elements, of pages in bytes.
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
    let (planes, mut answer) = (layout.planes(), output.new_answer("offset"));
    answer.key("input", text);
    let has_names = planes.iter().any(|plane| plane.role().name().is_some());
    let one_of = match (place.split_once(':').filter(|_| has_names), planes) {
        (Some((name, index)), _) => {
            let plane = layout.component(name.trim()).ok_or_else(|| {
                let names: Vec<String> = planes.iter().map(name_of).collect();
                Stop::Unusable(format!("{text} has the planes {}, and no `{}`", names.join(", "), name.trim()))
            })?;
            Some((plane, index))
        }
        (None, [plane]) if !layout.is_tuple() => Some((plane, place)),
        _ => None,
    };
    if let Some((plane, place)) = one_of {
        let found = match plane.blocks().is_some() && !arguments.inverse && place.contains(':') {
            true => Found::in_field(plane, text, place)?,
            false => Found::of(plane, place, arguments.inverse).map_err(refused(text))?,
        };
        found.say(arguments, &mut answer);
        return output.answer(&answer);
    }
    if arguments.inverse && has_names {
        say_component_at(&layout, place, &mut answer).map_err(refused(text))?;
        return output.answer(&answer);
    }
    if arguments.inverse {
        let sentence = "--inverse takes the layout of one plane, because each plane has offsets of its own";
        return Err(Stop::Unusable(sentence.into()));
    }
    let index = read_list(place, "an index").map_err(refused(text))?;
    let places = layout.places(&index).map_err(refused(text))?;
    let mut objects = Vec::new();
    for (plane, place) in planes.iter().zip(places) {
        let found = Found::at(plane, &plane.index_of_value(&index), place, None);
        let mut of_plane = output.new_answer("offset");
        of_plane.key("input", plane.to_string());
        found.say(arguments, &mut of_plane);
        match arguments.explain {
            true => answer.lines(of_plane.words()),
            false => answer.line(format_args!("{} {}{}", name_of(plane), found.offset, found.bits)),
        }
        objects.push(of_plane.into_object());
    }
    answer.key("index", index);
    answer.key("planes", objects);
    output.answer(&answer)
}

/// Says which component of a frame is at an offset, or which field of pages at a byte. The planes are in one
/// buffer.
fn say_component_at(layout: &Layout, place: &str, answer: &mut Answer) -> Result<(), Error> {
    let offset = read_number(place, "an offset in elements")?;
    let mut found = None;
    for plane in layout.planes() {
        let bits = plane.parts().first().map_or(8, |part| u64::from(part.map.element_bits()));
        let offset = match layout.pages() {
            Some(_) => offset.saturating_mul(8).checked_div(bits).unwrap_or(0),
            None => offset,
        };
        let index = plane.index_at(offset)?;
        found = found.or(index.map(|index| (name_of(plane), index)));
    }
    let (name, index) = found.unzip();
    answer.keys(|| json!({ "index": index, "offset": offset, "padding": index.is_none(), "plane": name }));
    answer.line(
        name.zip(index).map_or_else(|| "padding".into(), |(name, index)| format!("{name} {}", write_list(&index))),
    );
    Ok(())
}

struct Found<'l> {
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

impl<'l> Found<'l> {
    fn of(plane: &'l Plane, place: &str, inverse: bool) -> Result<Found<'l>, Error> {
        if !inverse {
            let index = read_list(place, "an index")?;
            return Ok(Found::at(plane, &index, plane.place(&index)?, None));
        }
        let offset = read_number(place, "an offset in elements")?;
        let Some(index) = plane.index_at(offset)? else {
            let sizes = write_list(plane.sizes());
            let steps = vec![format!("no element of {sizes} is stored at offset {offset}: it is padding")];
            return Ok(Found { plane, index: None, offset, values: None, bits: String::new(), steps });
        };
        let values = values_at(plane, &index);
        let held = plane
            .parts()
            .iter()
            .enumerate()
            .find_map(|(number, part)| Some((number, part.inside(&plane.forwards_index(&index))?)));
        let mut steps: Vec<String> = values.iter().cloned().collect();
        steps.extend(held.into_iter().flat_map(|(part, inside)| steps_of(plane, &index, part, &inside)));
        Ok(Found { plane, index: Some(index), offset, values, bits: String::new(), steps })
    }

    /// Returns the place of a number of a field of blocks. The name may lack `per 32` if there is no other.
    fn in_field(plane: &'l Plane, text: &str, place: &str) -> Result<Found<'l>, Stop> {
        let (name, index) = place.rsplit_once(':').unwrap_or_default();
        let (name, fields) = (name.trim(), plane.block_fields().collect::<Vec<_>>());
        let with_role = |(own, _): &&(String, _)| own.split(' ').next() == Some(name);
        let only = fields.iter().find(with_role).filter(|_| fields.iter().filter(with_role).count() == 1);
        let Some((own, field)) = fields.iter().find(|(own, _)| own == name).or(only) else {
            let names: Vec<&str> = fields.iter().map(|(own, _)| own.as_str()).collect();
            let names = names.join(", ");
            return Err(Stop::Unusable(format!("{text} has the fields {names}, and no single one named `{name}`")));
        };
        let found = read_list(index, "an index")
            .and_then(|index| Ok(Found::at(plane, &index, plane.place_in(field, &index)?, Some(own))));
        found.map_err(refused(text))
    }

    fn at(plane: &'l Plane, index: &[u64], place: Place, field: Option<&str>) -> Found<'l> {
        let values = place.in_block.as_ref().map(|(number, bits)| {
            let bits: Vec<String> = bits.iter().map(bits_in_words).collect();
            let bits = if bits.is_empty() {
                "it shares bits with others, so the offset is that of the block".into()
            } else {
                bits.join(" and ")
            };
            let what =
                field.map_or_else(|| format!("value {number}"), |field| format!("number {number} of the {field}"));
            format!("{} is {what} of its {} block: {bits}", write_list(index), plane.type_name())
        });
        let mut steps: Vec<String> = values.iter().cloned().collect();
        steps.extend(steps_of(plane, index, place.part, &place.index));
        let byte = plane.parts().get(place.part).filter(|_| values.is_some()).map(|part| part.outside(&place.index));
        let index = byte.unwrap_or_else(|| index.to_vec());
        Found { plane, index: Some(index), offset: place.offset, values, bits: bits_beside(&place), steps }
    }

    fn say(&self, arguments: &Arguments, answer: &mut Answer) {
        answer.keys(|| json!({ "index": self.index, "offset": self.offset, "padding": self.index.is_none() }));
        if let Some(values) = &self.values {
            answer.key("values", values);
        }
        if arguments.explain {
            answer.key("steps", &self.steps);
            answer.line(self.plane);
            answer.lines(self.steps.iter().map(|step| format!("  {step}")));
        }
        let index = || self.index.as_deref().map_or_else(|| "padding".into(), write_list);
        match arguments.inverse {
            true => answer.line(self.values.clone().unwrap_or_else(index)),
            false => answer.line(format_args!("{}{}", self.offset, self.bits)),
        }
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

/// Returns the values that have bits in a byte of a tensor of blocks, in words, or the numbers of other
/// fields. `None` for other tensors.
fn values_at(plane: &Plane, index: &[u64]) -> Option<String> {
    let (of, [outer @ .., block, byte]) = (plane.blocks()?.block_type(), index) else { return None };
    let name = |per: u64, number: u64| {
        let count = of.values().checked_div(per).unwrap_or(0);
        write_list(&[outer, &[block.saturating_mul(count).saturating_add(number)]].concat())
    };
    let in_field = |(field, pieces, numbers): (String, &[BlockField], Vec<u64>)| {
        let per = pieces.first().map_or(1, |piece| piece.per);
        let names: Vec<String> = numbers.into_iter().map(|number| name(per, number)).collect();
        let names = names.join(" and ");
        if per == 1 { names } else { format!("{field} {names}") }
    };
    let held: Vec<String> = plane.numbers_in_byte(*byte).into_iter().map(in_field).collect();
    Some(match held.as_slice() {
        [] => {
            let last = of.values().saturating_sub(1);
            format!("byte {byte} of the block of {} to {}, which no value has alone", name(1, 0), name(1, last))
        }
        held => held.join(", "),
    })
}
