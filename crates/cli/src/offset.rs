//! `offset`: index to offset and back.

use clap::Args;
use serde_json::{Value, json};
use tensor_layout::AnyLayout;
use tensor_layout::strided::{BlockTensorDesc, Slice};
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};
use tensor_layout_text::Notated;
use tensor_layout_text::named::{LayoutPart, NamedLayout};

use crate::describe::bits_in_words;
use crate::output::{Output, Stop, Verdict, each_line, refused, two_columns};
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
        let answer = Answer::of(layout, place, arguments.inverse).map_err(refused(layout))?;
        if output.is_json() {
            output.line(answer.object(layout, arguments.explain))?;
        } else {
            output.line(answer.text(arguments))?;
        }
        Ok(Verdict::Well)
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

/// A layout as one or more parts. Only some named layouts have several parts.
struct Layout {
    text: String,
    sizes: Vec<u64>,
    parts: Vec<Part>,
    /// The packed tensor of blocks whose bytes are laid out. Indices then count values.
    blocks: Option<BlockTensorDesc>,
}

/// A part of a layout: a slice of the tensor, and the layout of its elements.
struct Part {
    layout: AnyLayout,
    map: IndexMap,
    /// The slice of each axis. The list is empty if the part is the whole tensor.
    slices: Vec<Slice>,
}

impl Layout {
    fn read(text: &str) -> Result<Layout, Error> {
        let error = match text.parse::<Notated>().and_then(|layout| Ok((layout.to_index_map()?, layout))) {
            Ok((map, layout)) => {
                let (text, sizes) = (layout.to_string(), map.sizes().to_vec());
                let part = Part { layout: layout.layout().clone(), map, slices: Vec::new() };
                let blocks = layout.blocks().cloned();
                return Ok(Layout { text, sizes, parts: vec![part], blocks });
            }
            Err(error) => error,
        };
        let named = text.parse::<NamedLayout>().ok().filter(|named| named.parts.len() > 1).ok_or(error)?;
        let sizes = named.sizes().to_vec();
        let text = named.to_string();
        let part = |part: LayoutPart| Part { layout: part.map.clone().into(), map: part.map, slices: part.slices };
        let blocks = named.blocks().cloned();
        Ok(Layout { text, sizes, parts: named.parts.into_iter().map(part).collect(), blocks })
    }

    /// Returns the part that holds an index: the number of the part, the part, and the index inside it.
    fn part(&self, index: &[u64]) -> Option<(usize, &Part, Vec<u64>)> {
        self.parts.iter().enumerate().find_map(|(number, part)| Some((number, part, part.inside(index)?)))
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
        let (of, [outer @ .., block, byte]) = (self.blocks.as_ref()?.block_type(), index) else { return None };
        let first = block.saturating_mul(of.values());
        let name = |k: u64| write_list(&[outer, &[first.saturating_add(k)]].concat());
        let is_here = |k: &u64| of.value_bits(*k).into_iter().flatten().any(|bit| bit.div_euclid(8) == *byte);
        let values: Vec<String> = (0..of.values()).filter(is_here).map(name).collect();
        Some(match values.as_slice() {
            [] => {
                let last = name(of.values().saturating_sub(1));
                format!("byte {byte} of the block of {} to {last}, which no value has alone", name(0))
            }
            values => values.join(" and "),
        })
    }

    fn offset(&self, index: &[u64]) -> Result<u64, Error> {
        match self.part(index) {
            Some((_, part, inside)) => part.map.offset(&inside),
            // No part holds the index. An array with these sizes returns the error that says on which axis
            // the index is out of range.
            None => BufferTensorDesc::packed(DataType::U8, &self.sizes)?.to_index_map()?.offset(index),
        }
    }

    fn index(&self, offset: u64) -> Result<Option<Vec<u64>>, Error> {
        let is_single = self.parts.len() == 1;
        for part in self.parts.iter().filter(|part| is_single || offset < part.map.physical_elements()) {
            if let Some(inside) = part.map.inverse(offset)? {
                return Ok(Some(part.outside(&inside)));
            }
        }
        Ok(None)
    }

    /// Returns the steps, in words, from an index to its offset. The index must be in range.
    fn steps(&self, index: &[u64]) -> Vec<String> {
        let Some((number, part, inside)) = self.part(index) else { return Vec::new() };
        let slices: Vec<String> = part.slices.iter().map(ToString::to_string).collect();
        let head = format!(
            "part {} of {}, which holds [{}]: there it is index {}",
            number.saturating_add(1),
            self.parts.len(),
            slices.join(","),
            write_list(&inside)
        );
        let steps = tensor_layout_text::offset_steps(&part.layout, &inside).unwrap_or_default();
        Some(head).filter(|_| self.parts.len() > 1).into_iter().chain(steps).collect()
    }
}

impl Part {
    /// Converts an index of the tensor to an index of the part. `None` if the part does not hold it.
    fn inside(&self, index: &[u64]) -> Option<Vec<u64>> {
        if self.slices.is_empty() {
            return Some(index.to_vec());
        }
        let place = |(&i, (slice, &size)): (&u64, (&Slice, &u64))| {
            let from_start = i.checked_sub(slice.start)?;
            let is_taken = from_start.checked_rem(slice.step) == Some(0);
            from_start.checked_div(slice.step).filter(|&place| is_taken && place < size)
        };
        let inside =
            index.iter().zip(self.slices.iter().zip(self.map.sizes())).map(place).collect::<Option<Vec<u64>>>();
        inside.filter(|_| index.len() == self.slices.len())
    }

    fn outside(&self, inside: &[u64]) -> Vec<u64> {
        if self.slices.is_empty() {
            return inside.to_vec();
        }
        let place = |(&i, slice): (&u64, &Slice)| slice.start.saturating_add(i.saturating_mul(slice.step));
        inside.iter().zip(&self.slices).map(place).collect()
    }
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
            let offset = layout.offset(&index)?;
            (Some(index), offset, values)
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
