//! What would make a list shorter: a change of one side, with the number of transfers it would leave.

use tensor_layout::IndexMap;
use tensor_layout::map::Mode;
use tensor_layout::plan::DigitPlace;
use tensor_layout::relayout::{Relayout, Settings};

use super::executor::Executor;
use super::list::Transfers;

/// A change of one side of a copy after which the copy takes fewer transfers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fewer {
    /// Whether the destination is changed, and not the source.
    pub is_destination: bool,
    /// What is changed.
    pub change: Change,
    /// The layout of that side after the change, which the executor accepts.
    pub layout: IndexMap,
    /// The number of transfers after the change.
    pub count: u64,
}

/// A change of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Change {
    /// Nothing is padded.
    Padding,
    /// One axis, or the number of a block or the places in it, is moved in the order of memory.
    Order,
    /// An axis is cut into blocks of the size that the other side has, or not cut.
    Blocks,
}

impl Change {
    /// The name of the change: `padding`, `order` or `blocks`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Change::Padding => "padding",
            Change::Order => "order",
            Change::Blocks => "blocks",
        }
    }
}

/// The most digits of a layout that is changed.
const DIGITS: usize = 8;

/// The most nests of a copy that is changed.
const NESTS: usize = 64;

/// The most runs that are visited to count a list.
const VISITS: u64 = 1 << 16;

/// The digits of a layout, from outer to inner: the axis and the number of values.
type Digits = Vec<(usize, u64)>;

/// Finds changes of one side that leave fewer transfers: the best of each kind for each side, the fewest
/// transfers first. The new layouts are packed.
///
/// Layouts whose digits are no rectangle (ragged tiles, fused dimensions) or more than 8 are not changed, nor
/// are copies of more than 64 nests. About 60 copies are planned for each side, and no list is visited that
/// is longer than 65,536.
#[must_use]
pub fn fewer(plan: &Relayout, executor: &Executor) -> Vec<Fewer> {
    let sides = [plan.source(), plan.destination()];
    let settings = Settings { reversed: plan.reversed_axes().to_vec(), ..Settings::default() };
    let count = |from: &IndexMap, to: &IndexMap| {
        let plan = Relayout::with(from, to, &settings).ok()?;
        Some(Transfers::of(&[&plan], executor).ok()?.summary_within(VISITS)?.count)
    };
    let list = match Transfers::of(&[plan], executor) {
        // Blocks that do not divide each other do not in another order either.
        Ok(list) if list.nests().count() <= NESTS => list,
        _ => return Vec::new(),
    };
    let now = list.summary_within(VISITS).map_or(u64::MAX, |summary| summary.count);
    let mut found: Vec<Fewer> = Vec::new();
    for (place, (side, other)) in [(sides[0], sides[1]), (sides[1], sides[0])].into_iter().enumerate() {
        let (Some(own), is_destination) = (digits(side), place == 1) else { continue };
        let theirs = digits(other);
        let changed = changes(&own, theirs.as_ref()).into_iter();
        let changed = changed.filter_map(|(change, digits)| Some((change, packed(side, &digits)?)));
        for (change, layout) in changed {
            let pair = if is_destination { [sides[0], &layout] } else { [&layout, sides[1]] };
            let Some(count) = count(pair[0], pair[1]).filter(|&count| count < now) else { continue };
            match found.iter_mut().find(|other| other.is_destination == is_destination && other.change == change) {
                Some(best) if best.count <= count => {}
                Some(best) => (best.layout, best.count) = (layout, count),
                None => found.push(Fewer { is_destination, change, layout, count }),
            }
        }
    }
    // The new layouts are packed, so what is left without padding is no merit of another change.
    let padding = |of: &Fewer, one: &Fewer| {
        one.change == Change::Padding && one.is_destination == of.is_destination && one.count <= of.count
    };
    let all = found.clone();
    found.retain(|of| of.change == Change::Padding || !all.iter().any(|one| padding(of, one)));
    found.sort_by_key(|one| (one.is_destination, one.count, one.change));
    // Two changes may end in one layout.
    found.dedup_by(|next, one| next.is_destination == one.is_destination && next.layout == one.layout);
    found.sort_by_key(|one| (one.count, one.change));
    found
}

/// Returns the digits of a layout, if their values form a rectangle.
fn digits(map: &IndexMap) -> Option<Digits> {
    let components = map.components();
    if map.levels().is_some() || components.iter().any(|component| component.dims().len() != 1) {
        return None;
    }
    let places: Vec<DigitPlace> = map.digit_places();
    let count: u64 = places.iter().map(|place| place.count).product();
    let axis = |place: &DigitPlace| Some((*components.get(place.component)?.dims().first()?, place.count));
    (count == map.element_count() && places.len() <= DIGITS).then(|| places.iter().filter_map(axis).collect())
}

fn changes(own: &Digits, other: Option<&Digits>) -> Vec<(Change, Digits)> {
    let mut changes = vec![(Change::Padding, own.clone())];
    for (from, to) in
        (0..own.len()).flat_map(|from| (0..own.len()).map(move |to| (from, to))).filter(|(from, to)| from != to)
    {
        let mut moved = own.clone();
        let digit = moved.remove(from);
        moved.insert(to, digit);
        changes.push((Change::Order, moved));
    }
    let of = |digits: &Digits, axis| digits.iter().copied().filter(|digit| digit.0 == axis).collect::<Digits>();
    for axis in own.iter().map(|digit| digit.0) {
        let (mine, theirs) = (of(own, axis), other.map_or(Digits::new(), |other| of(other, axis)));
        if mine == theirs || theirs.is_empty() {
            continue;
        }
        // The blocks of the other side take the places of the own ones, or those next to the first or last.
        let is_own = |digit: &(usize, u64)| digit.0 == axis;
        if mine.len() == theirs.len() {
            let mut next = theirs.iter().copied();
            let digits = own.iter().map(|digit| if is_own(digit) { next.next().unwrap_or(*digit) } else { *digit });
            changes.push((Change::Blocks, digits.collect()));
        }
        for kept in [own.iter().position(is_own), own.iter().rposition(is_own)].into_iter().flatten() {
            let digits = own.iter().enumerate().flat_map(|(place, digit)| match is_own(digit) {
                true if place == kept => theirs.clone(),
                true => Digits::new(),
                false => vec![*digit],
            });
            changes.push((Change::Blocks, digits.collect()));
        }
    }
    changes
}

/// Returns the layout of these digits without padding, for the sizes of `like`.
fn packed(like: &IndexMap, digits: &Digits) -> Option<IndexMap> {
    let mut modes = vec![Vec::new(); like.sizes().len()];
    let mut stride = 1;
    for &(axis, count) in digits.iter().rev() {
        modes.get_mut(axis)?.insert(0, Mode::new(count, stride));
        stride *= count;
    }
    let map = IndexMap::from_digits(like.data_type(), like.element_bits(), &modes).ok()?;
    (map.sizes() == like.sizes()).then_some(map)
}
