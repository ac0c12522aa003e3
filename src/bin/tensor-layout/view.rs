//! `view`: the layout of a permuted, reshaped, sliced or repeated tensor on the same data.

use clap::Args;
use tensor_layout::map::SliceRange;
use tensor_layout::notation::{AnyLayout, Notated, text_of};
use tensor_layout::strided::Slice;
use tensor_layout::tiled::Layout;
use tensor_layout::{ArrayShape, Error, LayoutClass, ToIndexMap};

use crate::index_text::{read_list, read_number};
use crate::output::{Object, Output, Stop, Verdict};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout.
    layout: String,
    #[command(flatten)]
    operation: Operation,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Operation {
    /// Other sizes for the same elements: 6,4.
    #[arg(long, value_name = "SIZES")]
    reshape: Option<String>,
    /// The axes in another order: 1,0.
    #[arg(long, value_name = "AXES")]
    permute: Option<String>,
    /// A part, as start:end:step for each axis: 0:2,:,1:9:2.
    #[arg(long, value_name = "SLICES")]
    slice: Option<String>,
    /// Axes repeated up to these sizes: 8,3,4.
    #[arg(long, value_name = "SIZES")]
    broadcast: Option<String>,
}

/// What one of the options asks for.
enum Wish {
    Reshape(Vec<u64>),
    Permute(Vec<usize>),
    Slice(Vec<Slice>),
    Broadcast(Vec<u64>),
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let operation = &arguments.operation;
    let text = [&operation.reshape, &operation.permute, &operation.slice, &operation.broadcast];
    let text = text.into_iter().flatten().next().map_or("", String::as_str);
    let wish = match operation.wish() {
        Ok(wish) => wish,
        Err(error) => return output.refuse(text, &error),
    };
    let layout: Notated = match arguments.layout.parse() {
        Ok(layout) => layout,
        Err(error) => return output.refuse(&arguments.layout, &error),
    };
    let view = wish.view(layout.layout());
    if output.is_json() {
        let object = Object::default().with("ok", view.is_ok());
        output.line(match &view {
            Ok((layout, class)) => {
                object.with("layout", layout.as_deref()).with("class", class.name()).with("reason", None::<String>)
            }
            Err(error) => object
                .with("layout", None::<String>)
                .with("class", None::<String>)
                .with("reason", error.to_string())
                .with("code", error.code()),
        })?;
    } else {
        match &view {
            Ok((Some(layout), _)) => output.line(layout)?,
            Ok((None, class)) => {
                output.line(format_args!("a view of class {}, which no notation here spells", class.name()))?
            }
            Err(error) => return output.refuse(&arguments.layout, error),
        }
    }
    Ok(Verdict::well_if(view.is_ok()))
}

impl Operation {
    fn wish(&self) -> Result<Wish, Error> {
        let sizes = |text: &str| read_list(text, "a size");
        match (&self.reshape, &self.permute, &self.slice, &self.broadcast) {
            (Some(text), ..) => sizes(text).map(Wish::Reshape),
            (_, Some(text), ..) => {
                let axes = read_list(text, "an axis")?;
                Ok(Wish::Permute(axes.into_iter().map(|axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect()))
            }
            (_, _, Some(text), _) => {
                text.split(',').map(|part| slice(part, text)).collect::<Result<_, _>>().map(Wish::Slice)
            }
            (_, _, _, text) => sizes(text.as_deref().unwrap_or("")).map(Wish::Broadcast),
        }
    }
}

/// `1:9:2`, with any of the three left out, or the end and the step.
fn slice(part: &str, whole: &str) -> Result<Slice, Error> {
    let refuse = || Error::Parse {
        text: whole.to_owned(),
        column: whole.find(part).unwrap_or(0).saturating_add(1),
        expected: "start:end:step for each axis, such as 0:4, 1:9:2 or :".into(),
        found: format!("`{part}`"),
    };
    let mut numbers = part.split(':').map(|number| match number.trim() {
        "" => Ok(None),
        number => read_number(number, "a number").map(Some).map_err(|_| refuse()),
    });
    let mut next = || numbers.next().transpose().map(Option::flatten);
    let (start, end, step) = (next()?, next()?, next()?);
    if !part.contains(':') || numbers.next().is_some() {
        return Err(refuse());
    }
    Ok(Slice { start: start.unwrap_or(0), end, step: step.unwrap_or(1) })
}

impl Wish {
    /// The layout of the view as text, if it has a spelling, and its class.
    fn view(&self, layout: &AnyLayout) -> Result<(Option<String>, LayoutClass), Error> {
        if let AnyLayout::Strided(desc) = layout {
            let view = match self {
                Wish::Reshape(sizes) => desc.reshape(sizes),
                Wish::Permute(axes) => desc.permute(axes),
                Wish::Slice(slices) => desc.slice(slices),
                Wish::Broadcast(sizes) => desc.broadcast_to(sizes),
            }?;
            return Ok((Some(view.to_string()), view.to_index_map()?.class()));
        }
        let map = layout.to_index_map()?;
        let view = match self {
            Wish::Reshape(sizes) => map.reshape(sizes),
            Wish::Permute(axes) => map.permute(axes),
            Wish::Slice(slices) => map.slice(&ranges(slices, map.sizes())?),
            Wish::Broadcast(sizes) => map.broadcast_to(sizes),
        }?;
        let text = match (layout, self) {
            (AnyLayout::Tiled(shape), Wish::Permute(axes)) => Some(permute_tiled(shape, axes)?.to_string()),
            _ => text_of(&view).ok(),
        };
        Ok((text, view.class()))
    }
}

fn ranges(slices: &[Slice], sizes: &[u64]) -> Result<Vec<SliceRange>, Error> {
    if slices.len() != sizes.len() {
        return Err(Error::RankMismatch { what: "slices", expected: sizes.len(), found: slices.len() });
    }
    let range = |(slice, &size): (&Slice, &u64)| SliceRange {
        start: slice.start,
        end: slice.end.unwrap_or(size),
        step: slice.step,
    };
    Ok(slices.iter().zip(sizes).map(range).collect())
}

/// The same tiles on the same memory; only the numbers of the dimensions change.
fn permute_tiled(shape: &ArrayShape, axes: &[usize]) -> Result<ArrayShape, Error> {
    let old = shape.layout();
    let place = |dim: &usize| axes.iter().position(|axis| axis == dim);
    let order: Vec<usize> = old.minor_to_major().iter().filter_map(place).collect();
    let sizes: Vec<u64> = axes.iter().filter_map(|&axis| shape.sizes().get(axis).copied()).collect();
    let layout = Layout::new(&order)?
        .with_tiles(old.tiles())
        .with_tail_padding_alignment(old.tail_padding_alignment())?
        .with_element_bits(old.element_bits().unwrap_or(0))
        .with_memory_space(old.memory_space());
    ArrayShape::new(shape.data_type(), &sizes, layout)
}
