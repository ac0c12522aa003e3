//! `offset`: index to offset and back.

use clap::Args;
use serde_json::{Value, json};
use tensor_layout::AnyLayout;
use tensor_layout::strided::{BlockTensorDesc, Slice};
use tensor_layout::{BufferTensorDesc, DataType, Error, ToIndexMap};
use tensor_layout_text::layout::Part;
use tensor_layout_text::named::NamedLayout;
use tensor_layout_text::{Notated, Scaled};

use crate::describe::bits_in_words;
use crate::output::{Output, Stop, Verdict, each_line, refused, two_columns};
use crate::scaled;
use crate::table::{read_list, read_number, write_list};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout, or `-` to read lines of a layout, a tab and an index from standard input.
    layout: String,
    /// The index, as [2,3] or 2,3 ([] for rank 0); with --inverse the offset in elements.
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
    let one = |layout: &str, place: &str, output: &mut Output| {
        if let Some(scaled) = scaled::read(layout) {
            return of_planes(&scaled.map_err(refused(layout))?, (layout, place), arguments, output);
        }
        let answer = Answer::of(layout, place, arguments.inverse).map_err(refused(layout))?;
        output.answer(|| answer.object(layout, arguments.explain), || answer.text(arguments))
    };
    match (arguments.layout.as_str(), &arguments.place) {
        ("-", None) => each_line(output, |line, output| {
            let (layout, place) = two_columns(line, what)?;
            one(layout, place, output)
        }),
        ("-", Some(_)) => Err(Stop::Unusable(format!("with `-` the layout and {what} come from standard input"))),
        (layout, Some(place)) => one(layout, place, output),
        (_, None) => Err(Stop::Unusable(format!("{what} is missing after the layout"))),
    }
}

/// Answers for a value and its scales, each in elements of its plane.
fn of_planes(
    scaled: &Scaled,
    (input, place): (&str, &str),
    arguments: &Arguments,
    output: &mut Output,
) -> Result<Verdict, Stop> {
    if arguments.inverse {
        let sentence = "--inverse takes the layout of one plane, because each plane has offsets of its own";
        return Err(Stop::Unusable(sentence.into()));
    }
    let index = read_list(place, "an index").map_err(refused(input))?;
    // The sizes of the values bound the index; the last block of scales may be narrower.
    scaled.tensor().and_then(|tensor| tensor.offsets(&index)).map_err(refused(input))?;
    let mut answers = Vec::new();
    for (layout, index) in scaled::places(scaled, &index) {
        answers.push(Answer::of(&layout, &write_list(&index), false).map_err(refused(&layout))?);
    }
    if output.is_json() {
        let planes: Vec<Value> =
            answers.iter().map(|answer| answer.object(&answer.layout.text, arguments.explain)).collect();
        output.line(json!({ "type": "offset", "input": input, "index": index, "planes": planes }))?;
        return Ok(Verdict::Well);
    }
    for (name, answer) in std::iter::once("value").chain(std::iter::repeat("scale")).zip(&answers) {
        match arguments.explain {
            true => output.line(answer.text(arguments))?,
            false => output.line(format_args!("{name} {}", answer.offset))?,
        }
    }
    Ok(Verdict::Well)
}

/// A layout as one or more parts. Only some named layouts have several parts.
struct Layout {
    text: String,
    /// The layout, if it is one part.
    whole: Option<AnyLayout>,
    sizes: Vec<u64>,
    parts: Vec<Part>,
    /// The packed tensor of blocks whose bytes are laid out. Indices then count values.
    blocks: Option<BlockTensorDesc>,
}

impl Layout {
    fn read(text: &str) -> Result<Layout, Error> {
        let error = match text.parse::<Notated>().and_then(|layout| Ok((layout.to_index_map()?, layout))) {
            Ok((map, layout)) => {
                let (text, sizes, blocks) = (layout.to_string(), map.sizes().to_vec(), layout.blocks().cloned());
                let whole = Some(layout.layout().clone());
                return Ok(Layout { text, whole, sizes, parts: vec![Part::whole(map)], blocks });
            }
            Err(error) => error,
        };
        let named = text.parse::<NamedLayout>().ok().filter(|named| !named.has_map()).ok_or(error)?;
        let (text, sizes, blocks) = (named.to_string(), named.sizes().to_vec(), named.blocks().cloned());
        Ok(Layout { text, whole: None, sizes, parts: named.parts, blocks })
    }

    fn part(&self, index: &[u64]) -> Option<(usize, &Part, Vec<u64>)> {
        self.parts.iter().enumerate().find_map(|(number, part)| Some((number, part, inside(part, index)?)))
    }

    /// Returns the index of the first byte of a value of a tensor of blocks, and says where its bits are. Any
    /// other index is returned as it is.
    fn byte_of(&self, mut index: Vec<u64>) -> Result<(Vec<u64>, Option<String>), Error> {
        let Some(blocks) = &self.blocks else { return Ok((index, None)) };
        let (place, of) = (blocks.place(&index)?, blocks.block_type());
        let bits: Vec<String> = place.bits.iter().map(bits_in_words).collect();
        let bits = if bits.is_empty() {
            "it shares bits with others, so the offset is that of the block".into()
        } else {
            bits.join(" and ")
        };
        let values = format!("{} is value {} of its {of} block: {bits}", write_list(&index), place.value);
        if let Some(last) = index.last_mut() {
            *last = last.div_euclid(of.values());
        }
        index.push(place.bits.first().map_or(0, |bits| bits.start.div_euclid(8)));
        Ok((index, Some(values)))
    }

    /// Returns the values of which a byte of a tensor of blocks has bits, in words.
    fn values_at(&self, index: &[u64]) -> Option<String> {
        let of = self.blocks.as_ref()?.block_type();
        let (mut values, mut others) = (Vec::new(), Vec::new());
        for bit in 0..8 {
            let [outer @ .., block, byte] = index else { return None };
            let (bit, first) = (byte.saturating_mul(8).saturating_add(bit), block.saturating_mul(of.values()));
            let name = |k: u64| write_list(&[outer, &[first.saturating_add(k)]].concat());
            let held = (0..of.values()).find(|&k| of.value_bits(k).iter().any(|bits| bits.contains(&bit)));
            match held {
                Some(k) => values.push(name(k)),
                None => others.push(format!(
                    "byte {byte} of the block of {} to {}",
                    name(0),
                    name(of.values().saturating_sub(1))
                )),
            }
        }
        values.dedup();
        others.dedup();
        if values.is_empty() {
            return Some(format!("{}, which no value has alone", others.join(" and ")));
        }
        Some(values.join(" and "))
    }

    fn offset(&self, index: &[u64]) -> Result<u64, Error> {
        match (self.part(index), self.parts.as_slice()) {
            (Some((_, part, inside)), _) => part.map.offset(&inside),
            (None, [part]) => part.map.offset(index),
            // No part holds the index. An array with these sizes returns the error that says on which axis
            // the index is out of range.
            _ => BufferTensorDesc::packed(DataType::U8, &self.sizes)?.to_index_map()?.offset(index),
        }
    }

    fn index(&self, offset: u64) -> Result<Option<Vec<u64>>, Error> {
        let longest = self.parts.iter().map(|part| part.map.physical_elements()).max().unwrap_or(0);
        let holds = |part: &&Part| offset < part.map.physical_elements() || offset >= longest;
        for part in self.parts.iter().filter(holds) {
            if let Some(inside) = part.map.inverse(offset)? {
                let place = |(&i, slice): (&u64, &Slice)| slice.start.saturating_add(i.saturating_mul(slice.step));
                return Ok(Some(inside.iter().zip(&part.indices).map(place).collect()));
            }
        }
        Ok(None)
    }

    /// Returns the steps, in words, from an index to its offset. The index must be in range.
    fn steps(&self, index: &[u64]) -> Vec<String> {
        let Some((number, part, inside)) = self.part(index) else { return Vec::new() };
        let slices: Vec<String> = part.indices.iter().map(ToString::to_string).collect();
        let head = format!(
            "part {} of {}, which holds [{}]: there it is index {}",
            number.saturating_add(1),
            self.parts.len(),
            slices.join(","),
            write_list(&inside)
        );
        let layout = self.whole.clone().unwrap_or_else(|| part.map.clone().into());
        let steps = tensor_layout_text::offset_steps(&layout, &inside).unwrap_or_default();
        Some(head).filter(|_| self.whole.is_none()).into_iter().chain(steps).collect()
    }
}

/// Converts an index of the tensor to an index of the part. `None` if the part does not hold it.
fn inside(part: &Part, index: &[u64]) -> Option<Vec<u64>> {
    let place = |(&i, (slice, &size)): (&u64, (&Slice, &u64))| {
        let from_start = i.checked_sub(slice.start)?;
        let is_taken = from_start.checked_rem(slice.step) == Some(0);
        from_start.checked_div(slice.step).filter(|&place| is_taken && place < size)
    };
    let axes = part.indices.iter().zip(part.map.sizes());
    index.iter().zip(axes).map(place).collect::<Option<Vec<u64>>>().filter(|_| index.len() == part.indices.len())
}

struct Answer {
    layout: Layout,
    /// The index that is stored at the offset; `None` if padding is there.
    index: Option<Vec<u64>>,
    offset: u64,
    /// What a byte of a tensor of blocks has of the values, in words.
    values: Option<String>,
}

impl Answer {
    fn of(layout: &str, place: &str, inverse: bool) -> Result<Answer, Error> {
        let layout = Layout::read(layout)?;
        let (index, offset, values) = if inverse {
            let offset = read_number(place, "an offset in elements")?;
            let index = layout.index(offset)?;
            let values = index.as_deref().and_then(|index| layout.values_at(index));
            (index, offset, values)
        } else {
            let index = read_list(place, "an index")?;
            let (index, values) = layout.byte_of(index)?;
            (Some(index.clone()), layout.offset(&index)?, values)
        };
        Ok(Answer { layout, index, offset, values })
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
            object["steps"] = self.steps().into();
        }
        object
    }

    fn text(&self, arguments: &Arguments) -> String {
        let index = self.index.as_deref().map_or_else(|| "padding".into(), write_list);
        let index = self.values.clone().unwrap_or(index);
        let answer = if arguments.inverse { index } else { self.offset.to_string() };
        if !arguments.explain {
            return answer;
        }
        let steps: String = self.steps().iter().map(|step| format!("\n  {step}")).collect();
        format!("{}{steps}\n{answer}", self.layout.text)
    }

    fn steps(&self) -> Vec<String> {
        match &self.index {
            Some(index) => self.values.iter().cloned().chain(self.layout.steps(index)).collect(),
            None => {
                let sizes = write_list(&self.layout.sizes);
                vec![format!("no element of {sizes} is stored at offset {}: it is padding", self.offset)]
            }
        }
    }
}
