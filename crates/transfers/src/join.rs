//! Nests that continue each other become one nest.
//!
//! The copy planner gives the ragged edge of a tile a nest of its own, and a table one nest for each entry.
//! `B` *continues* `A` along a loop if it begins where the next step of the loop would, and has the same
//! other loops. Two equal nests at a distance become a loop of two steps, which a third one continues.

use super::nest::{Loop, Nest};

/// Joins the last nest of a list with the one before it, as often as possible.
pub(crate) fn last(nests: &mut Vec<Nest>) {
    while let [.., first, second] = nests.as_slice() {
        let Some(joined) = continued(first, second).or_else(|| repeated(first, second)) else { return };
        nests.truncate(nests.len() - 2);
        nests.push(joined);
    }
}

/// Returns `first` and `second` as one nest, if the second continues the first along one of its loops.
pub(crate) fn continued(first: &Nest, second: &Nest) -> Option<Nest> {
    let distance = distance(first, second);
    let (place, along) = first.loops.iter().enumerate().find(|(_, step)| step.whole() == distance)?;
    let mut loops = second.loops.clone();
    let more = match loops.iter().position(|step| step.strides() == along.strides()) {
        Some(place) => loops.remove(place).count,
        None => 1,
    };
    let others = first.loops.iter().enumerate().filter(|&(other, _)| other != place).map(|(_, step)| step);
    if !others.eq(&loops) {
        return None;
    }
    loops.push(Loop { count: along.count + more, ..*along });
    Some(Nest::new(first.source, first.destination, loops))
}

/// Returns two equal nests as one nest with a loop of two steps.
fn repeated(first: &Nest, second: &Nest) -> Option<Nest> {
    let distance = distance(first, second);
    if first.loops != second.loops || distance.1 <= 0 {
        return None;
    }
    let mut loops = first.loops.clone();
    loops.push(Loop::of(2, distance.0, distance.1));
    Some(Nest::new(first.source, first.destination, loops))
}

fn distance(first: &Nest, second: &Nest) -> (i64, i64) {
    let between = |from: u64, to: u64| to.wrapping_sub(from).cast_signed();
    (between(first.source, second.source), between(first.destination, second.destination))
}
