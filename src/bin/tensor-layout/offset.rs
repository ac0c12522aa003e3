//! `offset`: index to offset and back.

use clap::Args;
use tensor_layout::map::{Chain, Component};
use tensor_layout::notation::{AnyLayout, Notated};
use tensor_layout::tiled::TileSize;
use tensor_layout::{ArrayShape, Error, IndexMap, LayoutClass, ToIndexMap};

use crate::index_text::{read_list, read_number, write_list};
use crate::output::{Object, Output, Stop, Verdict, each_line, two_columns};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout, or `-` to read lines of a layout, a tab and an index from standard input.
    layout: String,
    /// The index, as [2,3] or 2,3 ([] for rank 0); with --inverse the offset in elements.
    #[arg(value_name = "INDEX", allow_hyphen_values = true)]
    place: Option<String>,
    /// From an offset to the index that lies there, or to "padding".
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
        (_, None) => Err(Stop::Unusable(format!("{what} is missing behind the layout"))),
    }
}

/// A place in a layout, seen from both sides.
struct Answer {
    layout: Notated,
    map: IndexMap,
    /// `None` for padding.
    index: Option<Vec<u64>>,
    offset: u64,
}

impl Answer {
    fn of(layout: &str, place: &str, inverse: bool) -> Result<Answer, Error> {
        let layout: Notated = layout.parse()?;
        let map = layout.to_index_map()?;
        let (index, offset) = if inverse {
            let offset = read_number(place, "an offset in elements")?;
            (map.inverse(offset)?.map(|index| index.to_vec()), offset)
        } else {
            let index = read_list(place, "an index")?;
            let offset = map.offset(&index)?;
            (Some(index), offset)
        };
        Ok(Answer { layout, map, index, offset })
    }

    fn object(&self, input: &str, explain: bool) -> Object {
        let object = Object::default()
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
        let mut lines = vec![self.layout.to_string()];
        lines.extend(self.steps().iter().map(|step| format!("  {step}")));
        lines.push(answer);
        lines.join("\n")
    }

    /// The calculation in words.
    fn steps(&self) -> Vec<String> {
        let Some(index) = &self.index else {
            return vec![format!(
                "no index of {} lies at offset {}: it is padding",
                write_list(self.map.sizes()),
                self.offset
            )];
        };
        let mut steps = match self.layout.layout() {
            AnyLayout::Tiled(shape) if self.map.class() == LayoutClass::Irreducible => level_steps(shape, index),
            _ => digit_steps(&self.map, index),
        };
        let bits = u128::from(self.offset) * u128::from(self.map.element_bits());
        let place = match bits % 8 {
            0 => format!("byte {}", bits / 8),
            bit => format!("bit {bit} of byte {}", bits / 8),
        };
        steps.push(format!("element {} of the buffer, at {place}", self.offset));
        steps
    }
}

/// One line for each component: the number, its digits, and what each is worth.
fn digit_steps(map: &IndexMap, index: &[u64]) -> Vec<String> {
    let mut steps = Vec::new();
    if map.base() > 0 {
        steps.push(format!("the first element lies at {}", map.base()));
    }
    for component in map.components() {
        let (name, number) = number_of(component, index, map.sizes());
        // Cannot fail: the number lies inside its extent.
        let Ok(offset) = component.chain().offset(number) else { continue };
        let (digits, worth) = digits_of(component.chain(), number);
        steps.push(match component.chain().digits() {
            [_] => format!("{name}: {worth} = {offset}"),
            _ => format!("{name} = {digits}: {worth} = {offset}"),
        });
    }
    steps
}

/// `dimension 0: 2`, or `dimensions 3, 4 together: 1*10 + 2 = 12`, and the number.
fn number_of(component: &Component, index: &[u64], sizes: &[u64]) -> (String, u64) {
    let at = |dim: usize| index.get(dim).copied().unwrap_or(0);
    if let [dim] = component.dims() {
        return (format!("dimension {dim} at {}", at(*dim)), at(*dim));
    }
    let number = component.dims().iter().fold(0, |number: u64, &dim| {
        number.saturating_mul(sizes.get(dim).copied().unwrap_or(1)).saturating_add(at(dim))
    });
    let dims: Vec<String> = component.dims().iter().map(usize::to_string).collect();
    (format!("dimensions {} together at {number}", dims.join(", ")), number)
}

/// `1*2 + 0*1` and `1*12 + 0*2`: the digits by their divisors, then by their strides.
fn digits_of(chain: &Chain, number: u64) -> (String, String) {
    let (mut by_divisor, mut by_stride, mut rest) = (Vec::new(), Vec::new(), number);
    for digit in chain.digits() {
        let value = rest.checked_div(digit.divisor()).unwrap_or(0);
        rest = rest.checked_rem(digit.divisor()).unwrap_or(0);
        by_divisor.push(format!("{value}*{}", digit.divisor()));
        by_stride.push(format!("{value}*{}", digit.stride()));
    }
    (by_divisor.join(" + "), by_stride.join(" + "))
}

/// The index after each tile: what is left to do where no digits exist.
fn level_steps(shape: &ArrayShape, index: &[u64]) -> Vec<String> {
    let physical = |of: &[u64]| -> Vec<u64> {
        shape.layout().minor_to_major().iter().rev().filter_map(|&dim| of.get(dim).copied()).collect()
    };
    let (mut at, mut bounds) = (physical(index), physical(shape.sizes()));
    let mut steps = vec![format!("major to minor: index {} of {}", write_list(&at), write_list(&bounds))];
    for tile in shape.layout().tiles() {
        let new_axes = tile.entries().len().saturating_sub(bounds.len());
        bounds.splice(0..0, std::iter::repeat_n(1, new_axes));
        at.splice(0..0, std::iter::repeat_n(0, new_axes));
        let prefix = bounds.len().saturating_sub(tile.entries().len());
        let tiled = at.split_off(prefix).into_iter().zip(bounds.split_off(prefix));
        let (mut number, mut extent) = (0_u64, 1_u64);
        let (mut places, mut tile_sizes) = (Vec::new(), Vec::new());
        for ((i, bound), entry) in tiled.zip(tile.entries()) {
            number = number.saturating_mul(bound).saturating_add(i);
            extent = extent.saturating_mul(bound);
            if let TileSize::Size(size) = entry {
                at.push(number / size.get());
                bounds.push(extent.div_ceil(size.get()));
                places.push(number % size.get());
                tile_sizes.push(size.get());
                (number, extent) = (0, 1);
            }
        }
        at.append(&mut places);
        bounds.append(&mut tile_sizes);
        steps.push(format!("after tile {tile}: index {} of {}", write_list(&at), write_list(&bounds)));
    }
    steps
}
