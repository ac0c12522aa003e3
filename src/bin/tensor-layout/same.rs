//! `same`: do two layouts put every element at the same place?

use clap::Args;
use tensor_layout::map::{Chain, Component};
use tensor_layout::notation::Notated;
use tensor_layout::{Error, IndexMap, ToIndexMap};

use crate::index_text::write_list;
use crate::output::{Object, Output, Stop, Verdict};

/// How many indices are compared one by one where digits do not tell.
const SEARCH_LIMIT: u64 = 1 << 28;

#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(value_name = "LAYOUT")]
    first: String,
    #[arg(value_name = "LAYOUT")]
    second: String,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let mut maps = Vec::new();
    for text in [&arguments.first, &arguments.second] {
        match text.parse().and_then(|layout: Notated| layout.to_index_map()) {
            Ok(map) => maps.push(map),
            Err(error) => return output.refuse(text, &error),
        }
    }
    let [first, second] = maps.as_slice() else { return Ok(Verdict::Failed) };
    let answer = match compare(first, second) {
        Ok(answer) => answer,
        Err(error) => return output.refuse("", &error),
    };
    if output.is_json() {
        let object = Object::default().with("same", answer.same).with("index", answer.index);
        output.line(object.with("reason", answer.reason))?;
    } else {
        let no = |reason: String| format!("no: {reason}");
        output.line(answer.reason.map_or_else(|| "yes: every element lies at the same place".into(), no))?;
    }
    Ok(Verdict::well_if(answer.same))
}

struct Answer {
    same: bool,
    /// The first index that lies at different places.
    index: Option<Vec<u64>>,
    reason: Option<String>,
}

fn compare(first: &IndexMap, second: &IndexMap) -> Result<Answer, Error> {
    let differ = |reason: String| Ok(Answer { same: false, index: None, reason: Some(reason) });
    if first.sizes() != second.sizes() {
        return differ(format!("the sizes are {} and {}", write_list(first.sizes()), write_list(second.sizes())));
    }
    if first.element_bits() != second.element_bits() {
        let (a, b) = (first.element_bits(), second.element_bits());
        return differ(format!("an element takes {a} bits in one and {b} bits in the other"));
    }
    if first.same_places(second) {
        return Ok(Answer { same: true, index: None, reason: None });
    }
    let found = match first_by_digits(first, second) {
        None if first.logical_elements() <= SEARCH_LIMIT => first.first_difference(second),
        found => found,
    };
    let Some(index) = found else { return differ("some elements lie at different places".into()) };
    let (a, b) = (first.offset(&index)?, second.offset(&index)?);
    let reason = format!("index {} lies at {a} in one and at {b} in the other", write_list(&index));
    Ok(Answer { same: false, index: Some(index), reason: Some(reason) })
}

/// The first difference of two layouts that treat each dimension by itself, without a walk.
///
/// The offsets differ by a sum of one function for each dimension, so the first difference lies on an axis: the last
/// dimension whose two chains differ, at the first number where they do.
fn first_by_digits(first: &IndexMap, second: &IndexMap) -> Option<Vec<u64>> {
    let mut index = vec![0; first.sizes().len()];
    if first.offset(&index).ok()? != second.offset(&index).ok()? {
        return Some(index);
    }
    for dim in (0..first.sizes().len()).rev() {
        let (a, b) = (chain_of(first, dim)?, chain_of(second, dim)?);
        if let Some(number) = first_in_chains(a, b, *first.sizes().get(dim)?)? {
            *index.get_mut(dim)? = number;
            return Some(index);
        }
    }
    None
}

/// The chain of a dimension, the empty one if it is never looked at; `None` if it is tied to other dimensions.
fn chain_of(map: &IndexMap, dim: usize) -> Option<Option<&Chain>> {
    let size = map.sizes().get(dim).copied()?;
    match map.components().iter().find(|component: &&Component| component.dims().contains(&dim)) {
        Some(component) if component.dims().len() == 1 && component.chain().is_exact() => Some(Some(component.chain())),
        None if size <= 1 => Some(None),
        _ => None,
    }
}

/// The first number two exact chains send to different places; `Some(None)` if there is none.
///
/// From one number to the next an exact chain moves by an amount that depends only on which of its divisors divide
/// the next one. So the first difference stands at the least common multiple of a divisor of each.
fn first_in_chains(a: Option<&Chain>, b: Option<&Chain>, size: u64) -> Option<Option<u64>> {
    let (Some(a), Some(b)) = (a, b) else { return Some(None) };
    let mut first: Option<u64> = None;
    for p in a.digits() {
        for q in b.digits() {
            let Some(number) = least_common_multiple(p.divisor(), q.divisor()) else { continue };
            if number < size && first.is_none_or(|first| number < first) && a.offset(number) != b.offset(number) {
                first = Some(number);
            }
        }
    }
    Some(first)
}

fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x.checked_rem(y)?);
    }
    a.checked_div(x)?.checked_mul(b)
}
