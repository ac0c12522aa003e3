//! `offset`: index to offset and back.

use clap::Args;
use tensor_layout::named::{LayoutPart, NamedLayout};
use tensor_layout::notation::{AnyLayout, Notated};
use tensor_layout::strided::Slice;
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};

use crate::index_text::{read_list, read_number, write_list};
use crate::output::{Object, Output, Stop, Verdict, each_line, two_columns};

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
        let answer = Answer::of(layout, place, arguments.inverse);
        match answer {
            Ok(answer) if output.is_json() => output.line(answer.object(layout, arguments.explain))?,
            Ok(answer) => output.line(answer.text(arguments))?,
            Err(error) => return output.refuse(layout, &error),
        }
        Ok(Verdict::Well)
    };
    match (arguments.layout.as_str(), &arguments.place) {
        ("-", None) => each_line(output, |line, output| match two_columns(line, what) {
            Ok((layout, place)) => one(layout, place, output),
            Err(error) => output.refuse(line, &error),
        }),
        ("-", Some(_)) => Err(Stop::Unusable(format!("with `-` the layout and {what} come from standard input"))),
        (layout, Some(place)) => one(layout, place, output),
        (_, None) => Err(Stop::Unusable(format!("{what} is missing after the layout"))),
    }
}

/// A layout: one index map, or the parts of a named layout, each with its own index map.
enum Layout {
    One(Box<Notated>, IndexMap),
    Parts(Box<NamedLayout>, Vec<u64>),
}

impl Layout {
    fn read(text: &str) -> Result<Layout, Error> {
        let error = match text.parse::<Notated>().and_then(|layout| Ok((layout.to_index_map()?, layout))) {
            Ok((map, layout)) => return Ok(Layout::One(Box::new(layout), map)),
            Err(error) => error,
        };
        let named = text.parse::<NamedLayout>().ok().filter(|named| named.parts.len() > 1).ok_or(error)?;
        let ends = |axis: usize| {
            let ends = named.parts.iter().filter_map(|part| {
                let start = part.slices.get(axis)?.start;
                start.checked_add(*part.map.sizes().get(axis)?)
            });
            ends.max().unwrap_or(0)
        };
        let sizes = (0..named.parts.first().map_or(0, |part| part.slices.len())).map(ends).collect();
        Ok(Layout::Parts(Box::new(named), sizes))
    }

    fn sizes(&self) -> &[u64] {
        match self {
            Layout::One(_, map) => map.sizes(),
            Layout::Parts(_, sizes) => sizes,
        }
    }

    fn text(&self) -> String {
        match self {
            Layout::One(layout, _) => layout.to_string(),
            Layout::Parts(named, _) => named.to_string(),
        }
    }

    /// The part of a named layout that holds an index: its number, the part, and the index inside the part.
    fn part(&self, index: &[u64]) -> Option<(usize, &LayoutPart, Vec<u64>)> {
        let Layout::Parts(named, _) = self else { return None };
        named.parts.iter().enumerate().find_map(|(number, part)| {
            let inside: Option<Vec<u64>> = index
                .iter()
                .zip(part.slices.iter().zip(part.map.sizes()))
                .map(|(&i, (slice, &size))| {
                    let from_start = i.checked_sub(slice.start)?;
                    let is_taken = from_start.checked_rem(slice.step) == Some(0);
                    from_start.checked_div(slice.step).filter(|&place| is_taken && place < size)
                })
                .collect();
            inside.filter(|inside| inside.len() == part.slices.len()).map(|inside| (number, part, inside))
        })
    }

    fn offset(&self, index: &[u64]) -> Result<u64, Error> {
        match (self, self.part(index)) {
            (Layout::One(_, map), _) => map.offset(index),
            (_, Some((_, part, inside))) => part.map.offset(&inside),
            (Layout::Parts(_, sizes), None) => {
                // No part holds the index, and this error says on which axis it is out of range.
                BufferTensorDesc::packed(DataType::U8, sizes)?.to_index_map()?.offset(index)
            }
        }
    }

    fn index(&self, offset: u64) -> Result<Option<Vec<u64>>, Error> {
        let Layout::Parts(named, _) = self else {
            return match self {
                Layout::One(_, map) => Ok(map.inverse(offset)?.map(|index| index.to_vec())),
                Layout::Parts(..) => Ok(None),
            };
        };
        for part in named.parts.iter().filter(|part| offset < part.map.physical_elements()) {
            if let Some(inside) = part.map.inverse(offset)? {
                let outside = |(&i, slice): (&u64, &Slice)| slice.start.saturating_add(i.saturating_mul(slice.step));
                return Ok(Some(inside.iter().zip(&part.slices).map(outside).collect()));
            }
        }
        Ok(None)
    }

    /// The steps that lead from an index, which is in range, to its offset.
    fn steps(&self, index: &[u64]) -> Vec<String> {
        match (self, self.part(index)) {
            (Layout::One(layout, _), _) => layout.layout().offset_steps(index).unwrap_or_default(),
            (Layout::Parts(named, _), Some((number, part, inside))) => {
                let slices: Vec<String> = part.slices.iter().map(ToString::to_string).collect();
                let head = format!(
                    "part {} of {}, which holds [{}]: there it is index {}",
                    number.saturating_add(1),
                    named.parts.len(),
                    slices.join(","),
                    write_list(&inside)
                );
                let steps = AnyLayout::from(part.map.clone()).offset_steps(&inside).unwrap_or_default();
                std::iter::once(head).chain(steps).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The answer of `offset`: an index and its offset.
struct Answer {
    layout: Layout,
    sizes: Vec<u64>,
    /// `None` for padding.
    index: Option<Vec<u64>>,
    offset: u64,
}

impl Answer {
    fn of(layout: &str, place: &str, inverse: bool) -> Result<Answer, Error> {
        let layout = Layout::read(layout)?;
        let sizes = layout.sizes().to_vec();
        let (index, offset) = if inverse {
            let offset = read_number(place, "an offset in elements")?;
            (layout.index(offset)?, offset)
        } else {
            let index = read_list(place, "an index")?;
            let offset = layout.offset(&index)?;
            (Some(index), offset)
        };
        Ok(Answer { layout, sizes, index, offset })
    }

    fn object(&self, input: &str, explain: bool) -> Object {
        let object = Object::of("offset")
            .with("input", input)
            .with("index", self.index.clone())
            .with("offset", self.offset)
            .with("padding", self.index.is_none());
        if explain { object.with("steps", self.steps()) } else { object }
    }

    fn text(&self, arguments: &Arguments) -> String {
        let index = self.index.as_deref().map_or_else(|| "padding".into(), write_list);
        let answer = if arguments.inverse { index } else { self.offset.to_string() };
        if !arguments.explain {
            return answer;
        }
        let mut lines = vec![self.layout.text()];
        lines.extend(self.steps().iter().map(|step| format!("  {step}")));
        lines.push(answer);
        lines.join("\n")
    }

    /// The steps of the calculation, in words.
    fn steps(&self) -> Vec<String> {
        let Some(index) = &self.index else {
            return vec![format!(
                "no element of {} is stored at offset {}: it is padding",
                write_list(&self.sizes),
                self.offset
            )];
        };
        self.layout.steps(index)
    }
}
