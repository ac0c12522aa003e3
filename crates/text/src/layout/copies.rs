//! Copies between layouts of any kind.
//!
//! The planes are copied one by one, and the parts of both sides are cut at their common indices: each copy
//! moves the elements that a part of one side and a part of the other have in common. A view may begin inside
//! a block of tokens, but then ends with it, so a run is also cut at the blocks of a side where its view
//! would not exist.
//!
//! ```text
//! from, blocks of 2 tokens    |7 7|2 2 3 3 4 4|9 9|          runs of 2, 6 and 2 tokens
//! to, blocks of 4 tokens      |5 5 5 5|6 6 6 6 1|            runs of 8 and 2 tokens
//! copies                       0-1 2-7         8-9           3 copies
//! ```

use std::sync::Arc;

use tensor_layout::checked;
use tensor_layout::plan::Code;
use tensor_layout::relayout::{Padding, Relayout, Settings};
use tensor_layout::strided::GapOwner;
use tensor_layout::upload::DeviceLimits;
use tensor_layout::{DataType, Error, IndexMap};

use crate::kv::block_copies;
use crate::numbers::list;

use super::group_copy::GroupCopy;
use super::pixels::together;
use super::{Layout, Plane, Role};
use crate::part::common;
use crate::part::{Part, Run, Runs};

/// The copies that together are the copy of one layout to another, as [`copies`] returns them.
#[derive(Debug, Clone)]
pub struct Copies {
    list: Vec<PartCopy>,
    /// The sizes of the source and of the destination, in bytes, and the offset of each plane in them.
    bytes: [u64; 2],
    planes: [Vec<u64>; 2],
    /// If one side is groups of scales and then values, the copy of all groups at once, and whether the rows
    /// are its destination.
    groups: Option<(GroupCopy, bool)>,
}

/// One copy of [`Copies`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PartCopy {
    /// How the copy is done. Copies that differ only in their offsets may share one plan.
    pub plan: Arc<Relayout>,
    /// The bytes that are added to the offsets of the plan, on the source and on the destination.
    pub at: [u64; 2],
    /// The bits that the copy flips in every byte.
    pub flip: u8,
    /// The index of the plane that the copy belongs to.
    pub plane: usize,
}

/// Returns the copies of one layout to another: one copy, unless a side has several planes or parts. The
/// planes of a side are in one buffer, one after the other, as [`Layout::packed`] places them without a
/// device.
///
/// # Errors
///
/// `not_expressible` for a tuple, for blocks whose [fields](Plane::block_fields) are not the planes of the
/// other side, for planes that differ in number or in the values that have one scale, and if an axis that
/// runs backwards is cut into parts; `data_type_mismatch` for blocks of another type,
/// `size_mismatch` for other sizes, `overlapping_destination` if a block of the destination is there twice,
/// `not_a_view` for tiles that cannot be cut where the parts end, and the errors of
/// [`Relayout::with_settings`].
///
/// ```
/// use tensor_layout::relayout::Settings;
/// use tensor_layout_text::Layout;
/// use tensor_layout_text::layout::copies;
///
/// // The 7 tokens of a sequence in blocks 3, 0 and 1, to one dense tensor.
/// let cache: Layout = "kv:LBNHC:u8[L=1,B=[3,0,1]/4,T=7,H=1,N=3,C=2]".parse()?;
/// let copies = copies(&cache, &"u8[1,7,1,2]:[14,2,2,1]".parse()?, &Settings::default())?;
/// let (memory, mut sequence) = ((0..24).collect::<Vec<u8>>(), [0; 14]);
/// copies.run(&memory, &mut sequence)?;
/// assert_eq!(sequence, [18, 19, 20, 21, 22, 23, 0, 1, 2, 3, 4, 5, 6, 7]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn copies(from: &Layout, to: &Layout, settings: &Settings) -> Result<Copies, Error> {
    let refused = |reason: String| Err(Error::not_expressible("copy", reason));
    if let Some(tuple) = [from, to].into_iter().find(|side| side.is_tuple()) {
        return refused(format!(
            "{tuple} is a tuple, a table of pointers to the buffers of its elements, and each element is copied alone"
        ));
    }
    // Blocks are copied to planes, and from them, field by field.
    let (from, to) = (&*from.like(to)?, &*to.like(from)?);
    let per = |side: &Layout| {
        let scales = side.planes.iter().filter_map(|plane| match &plane.role {
            Role::Scales { per } => Some(list(per)),
            _ => None,
        });
        scales.collect::<Vec<_>>().join(" and ")
    };
    if per(from) != per(to) {
        let named = |per: String| if per.is_empty() { "no scales".into() } else { format!("a scale per {per}") };
        return refused(format!("one side has {} and the other {}", named(per(from)), named(per(to))));
    }
    let names = [from, to].map(|side| side.planes.iter().filter_map(|plane| plane.role.name()).collect::<Vec<_>>());
    if names[0].iter().any(|name| !names[1].contains(name)) || names[0].len() != names[1].len() {
        let in_words = |names: Vec<_>| if names.is_empty() { "none with a name".to_owned() } else { names.join(", ") };
        let [from, to] = names.map(in_words);
        return refused(format!("one side has the planes {from}, and the other {to}"));
    }
    let packed = [from.packed(&DeviceLimits::none())?, to.packed(&DeviceLimits::none())?];
    let mut list = Vec::new();
    for (number, one) in from.planes.iter().enumerate() {
        // Planes with names may be in another order on the other side.
        let is_same = |(place, other): (usize, &Plane)| match one.role.name() {
            Some(name) => other.role.name() == Some(name),
            None => place == number,
        };
        let Some(place) = to.planes.iter().enumerate().position(is_same) else { continue };
        let at = [(&packed[0], number), (&packed[1], place)];
        let at = at.map(|(packed, place)| packed.offsets.get(place).copied().unwrap_or(0));
        if let Some(other) = to.planes.get(place) {
            plane_copies((one, other), (number, at), settings, &mut list)?;
        }
    }
    let bytes = [from.size_in_bytes()?, to.size_in_bytes()?];
    let groups = match (from.planes.as_slice(), to.planes.as_slice()) {
        ([one], [other]) => {
            groups_to_rows(one, other).or_else(|| groups_to_rows(other, one).map(|(copy, _)| (copy, false)))
        }
        _ => None,
    };
    Ok(Copies { list, groups, bytes, planes: packed.map(|packed| packed.offsets) })
}

fn plane_copies(
    (from, to): (&Plane, &Plane),
    (plane, at): (usize, [u64; 2]),
    settings: &Settings,
    list: &mut Vec<PartCopy>,
) -> Result<(), Error> {
    // A plan sees only the bytes of blocks. It would accept two block types of equal size, so the types are
    // compared here.
    let (types, blocks) = ([from.type_name(), to.type_name()], [from.blocks.is_some(), to.blocks.is_some()]);
    let is_bytes = blocks[0] != blocks[1] && types.iter().any(|name| *name == DataType::U8.to_string());
    if blocks.contains(&true) && types[0] != types[1] && !is_bytes {
        let [expected, found] = types;
        return Err(Error::data_type_mismatch(expected, found));
    }
    // An axis that both sides walk backwards is copied forwards.
    let turned = |one: &Plane, other: &Plane| -> Vec<usize> {
        one.reversed.iter().copied().filter(|axis| !other.reversed.contains(axis)).collect()
    };
    let reversed = [turned(from, to), turned(to, from)].concat();
    let settings = Settings { reversed, ..settings.clone() };
    if let (Some(one), Some(other), [], true) =
        (from.cache(), to.cache(), settings.reversed.as_slice(), from.part_count().max(to.part_count()) > 1)
        && let Some(copies) = block_copies(one, other, &Settings { padding: Padding::Keep, ..settings.clone() })?
    {
        let placed = |(plan, own): (Arc<Relayout>, [u64; 2])| PartCopy {
            plan,
            at: [at[0].saturating_add(own[0]), at[1].saturating_add(own[1])],
            flip: 0,
            plane,
        };
        list.extend(copies.into_iter().map(placed));
        return Ok(());
    }
    if let Some(([source, destination], axes)) = together(from, to)? {
        let reversed = [settings.reversed.as_slice(), &axes].concat();
        let settings = Settings { reversed, ..settings };
        let plan = Relayout::with_settings(&source, &destination, &settings)?;
        list.push(PartCopy { plan: Arc::new(plan), at, flip: 0, plane });
        return Ok(());
    }
    if let ([one], [other]) = (from.parts(), to.parts()) {
        let plan = Relayout::with_settings(&in_own_bytes(&one.map)?, &in_own_bytes(&other.map)?, &settings)?;
        list.push(PartCopy { plan: Arc::new(plan), at, flip: one.flip ^ other.flip, plane });
        return Ok(());
    }
    if let Some(side) = [from, to].into_iter().find(|side| side.parts().is_empty()) {
        return Err(side.why_without_map());
    }
    check_sizes(from.map_sizes(), to.map_sizes())?;
    let is_cut = |axis: &usize| {
        let parts = from.parts().iter().chain(to.parts());
        parts.filter_map(|part| part.indices.get(*axis)).any(|slice| *slice != tensor_layout::strided::Slice::ALL)
    };
    if let Some(axis) = settings.reversed.iter().find(|axis| is_cut(axis)) {
        let reason = format!("axis {axis} runs backwards on one side, and is cut into parts");
        return Err(Error::not_expressible("copy", reason));
    }
    refuse_repeated(to)?;
    let mut shared = Shared { plans: Vec::new(), settings: Settings { padding: Padding::Keep, ..settings } };
    let mut last: Option<Last<'_>> = None;
    for (one, runs, other) in common(from.parts(), to.parts()) {
        let copy = |plan, own: [u64; 2]| {
            let at = [at[0].saturating_add(own[0]), at[1].saturating_add(own[1])];
            PartCopy { plan, at, flip: one.flip ^ other.flip, plane }
        };
        if let Some((last, own)) = last.as_ref().and_then(|last| Some((last, last.moved_to([one, other], &runs)?))) {
            list.push(copy(last.plan.clone(), own));
            continue;
        }
        let pieces = pieces(one, other, &runs)?;
        let is_one = pieces.len() == 1;
        for (source, destination) in pieces {
            let (plan, own) = shared.plan(source, destination)?;
            list.push(copy(plan.clone(), own));
            last = is_one.then(|| Last { parts: [one, other], runs: runs.clone(), plan, own });
        }
    }
    Ok(())
}

/// Returns the copy of all groups of one plane to the rows of the other, if the two have this form.
fn groups_to_rows(groups: &Plane, rows: &Plane) -> Option<(GroupCopy, bool)> {
    let ((form, flip), [part]) = (groups.groups?, rows.parts()) else { return None };
    let runs_forwards = groups.reversed.is_empty() && rows.reversed.is_empty() && part.flip == 0;
    GroupCopy::new(form, flip, &part.map).filter(|_| runs_forwards).map(|copy| (copy, true))
}

fn check_sizes(from: &[u64], to: &[u64]) -> Result<(), Error> {
    if from.len() != to.len() {
        let reason = format!("one side has {} axes and the other {}", from.len(), to.len());
        return Err(Error::not_expressible("copy", reason));
    }
    match from.iter().zip(to).enumerate().find(|(_, (from, to))| from != to) {
        Some((axis, (&from, &to))) => Err(Code::SizeMismatch.on_axis(axis, to, from)),
        None => Ok(()),
    }
}

/// Returns the map with a buffer that ends after its last element, as a file stores it. The buffer of a
/// descriptor is rounded up to 4 bytes for DirectML.
///
/// # Errors
///
/// `overflow` if the size of the buffer passes 64 bits.
///
/// ```
/// use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
///
/// let map = BufferTensorDesc::packed(DataType::U8, &[6])?.to_index_map()?;
/// let own = tensor_layout_text::layout::in_own_bytes(&map)?;
/// assert_eq!((map.total_size_in_bytes(), own.total_size_in_bytes()), (8, 6));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn in_own_bytes(map: &IndexMap) -> Result<IndexMap, Error> {
    let elements = map.physical_elements();
    Ok(map.clone().with_physical_elements(elements)?.with_gap_owner(map.gap_owner()))
}

/// The plans that were made last. Many copies of a block table differ only in their offsets, so few plans do
/// for all of them.
struct Shared {
    plans: Vec<(IndexMap, IndexMap, Arc<Relayout>)>,
    settings: Settings,
}

impl Shared {
    const MOST: usize = 4;

    /// Returns the plan of a copy between two maps, and the bytes that are added to its offsets.
    fn plan(&mut self, source: IndexMap, destination: IndexMap) -> Result<(Arc<Relayout>, [u64; 2]), Error> {
        let ((source, from), (destination, to)) = (moved(source)?, moved(destination)?);
        let known = self.plans.iter().find(|(one, other, _)| *one == source && *other == destination);
        if let Some((_, _, plan)) = known {
            return Ok((plan.clone(), [from, to]));
        }
        let plan = Arc::new(Relayout::with_settings(&source, &destination, &self.settings)?);
        self.plans.truncate(Self::MOST);
        self.plans.insert(0, (source, destination, plan.clone()));
        Ok((plan, [from, to]))
    }
}

/// A copy between two parts. The next one often differs in the first offsets of its parts alone, as that of
/// the next block of a table does.
struct Last<'p> {
    parts: [&'p Part; 2],
    runs: Runs,
    plan: Arc<Relayout>,
    own: [u64; 2],
}

impl Last<'_> {
    /// Returns the bytes that are added to the offsets of the plan for the copy between two other parts of
    /// the same planes. `None` if that copy may have another plan.
    fn moved_to(&self, parts: [&Part; 2], runs: &[Run]) -> Option<[u64; 2]> {
        let mut own = self.own;
        for ((part, before), own) in parts.into_iter().zip(self.parts).zip(&mut own) {
            let (map, other) = (&part.map, &before.map);
            let has_form = !map.components().is_empty() && map.swizzle().is_none() && map.element_bits() % 8 == 0;
            let taken = part.runs().zip(runs).map(|(whole, run)| run.within(whole));
            let taken_before = before.runs().zip(&self.runs).map(|(whole, run)| run.within(whole));
            if !has_form
                || map.sizes() != other.sizes()
                || map.components() != other.components()
                || !taken.eq(taken_before)
            {
                return None;
            }
            let bytes = |elements: u64| elements.checked_mul(u64::from(map.element_bits().div_euclid(8)));
            *own = own.checked_add(bytes(map.base())?)?.checked_sub(bytes(other.base())?)?;
        }
        Some(own)
    }
}

/// Moves a map to the start of its buffer, so that copies at different offsets can share a plan. Returns the
/// map and the number of bytes that it was moved by. A map that does not begin at a whole byte is not moved.
fn moved(map: IndexMap) -> Result<(IndexMap, u64), Error> {
    let bits = checked::wide_product(map.base(), map.element_bits());
    let Some(bytes) = bits.checked_div(8).filter(|_| bits.is_multiple_of(8)) else { return Ok((map, 0)) };
    let map = map.with_base(0)?;
    let elements = map.span_elements();
    let map = map.with_physical_elements(elements)?.with_gap_owner(GapOwner::Others);
    Ok((map, checked::narrow(bytes, checked::BYTES)?))
}

/// Returns the maps of the common indices of two parts, cut where a view would not exist.
fn pieces(from: &Part, to: &Part, runs: &Runs) -> Result<Vec<(IndexMap, IndexMap)>, Error> {
    let both = |runs: &[Run]| Ok::<_, Error>((from.map_of(runs)?, to.map_of(runs)?));
    let error = match both(runs) {
        Ok(pair) => return Ok(vec![pair]),
        Err(error) => error,
    };
    let Some(axis) = error.axis().filter(|&axis| runs.get(axis).is_some_and(|run| run.step == 1)) else {
        return Err(error);
    };
    let (mut pairs, mut at) = (Vec::new(), runs.get(axis).map_or(0, |run| run.start));
    let end = runs.get(axis).map_or(0, |run| run.start.saturating_add(run.count));
    while at < end {
        // The ends of the blocks of either side after `at`, the furthest end first, so that the longest piece
        // that has a view is taken.
        let blocks = [from, to].into_iter().flat_map(|part| {
            let start = part.indices.get(axis).map_or(0, |slice| slice.start);
            let components = part.map.components().iter().filter(|component| component.dims().contains(&axis));
            let divisors = components.flat_map(|component| component.chain.digits()).map(|digit| digit.divisor.get());
            divisors.filter_map(move |block| {
                let number = at.saturating_sub(start).checked_div(block)?.saturating_add(1);
                Some(start.saturating_add(number.saturating_mul(block)))
            })
        });
        let mut ends: Vec<u64> = blocks.filter(|&block| block < end).chain([end]).collect();
        ends.sort_unstable();
        let cut = |end: u64| {
            let mut runs = runs.clone();
            runs.get_mut(axis).into_iter().for_each(|run| (run.start, run.count) = (at, end.saturating_sub(at)));
            runs
        };
        let found = ends.iter().rev().find_map(|&end| Some((end, both(&cut(end)).ok()?)));
        let (next, pair) = found.ok_or_else(|| error.clone())?;
        pairs.push(pair);
        at = next;
    }
    Ok(pairs)
}

/// Refuses parts of a destination that share an element. A part of a block table is a range of blocks, so two
/// parts that share a block are neighbours in the order of their first offsets.
fn refuse_repeated(plane: &Plane) -> Result<(), Error> {
    let zeros = vec![0; plane.map_sizes().len()];
    let first = |part: &Part| part.map.offset(&zeros);
    let stored = plane.parts().iter().filter(|part| plane.parts().len() > 1 && part.map.element_count() > 0);
    let mut starts = stored.map(|part| Ok((first(part)?, part))).collect::<Result<Vec<_>, Error>>()?;
    starts.sort_by_key(|start| start.0);
    for (&(_, before), &(offset, part)) in starts.iter().zip(starts.iter().skip(1)) {
        if offset < before.map.span_elements()
            && let Some(found) = before.map.inverse(offset)?
        {
            let own = part.outside(&vec![0; found.len()]);
            return Err(Error::overlapping_destination(&before.outside(&found), &own, offset));
        }
    }
    Ok(())
}

impl Copies {
    /// The copies, in the order of the planes and of the indices.
    #[must_use]
    pub fn list(&self) -> &[PartCopy] {
        &self.list
    }

    /// The plan of the only copy. `None` if there are several copies, if bytes are added to the offsets of
    /// the plan, or if the copy flips bits.
    #[must_use]
    pub fn only(&self) -> Option<&Relayout> {
        match self.list.as_slice() {
            [PartCopy { plan, at: [0, 0], flip: 0, .. }] => Some(plan),
            _ => None,
        }
    }

    /// The size of the source, in bytes.
    #[must_use]
    pub fn source_size_in_bytes(&self) -> u64 {
        self.bytes[0]
    }

    /// The size of the destination, in bytes.
    #[must_use]
    pub fn destination_size_in_bytes(&self) -> u64 {
        self.bytes[1]
    }

    /// The byte of the source and of the destination at which each plane begins.
    #[must_use]
    pub fn planes(&self) -> [&[u64]; 2] {
        [&self.planes[0], &self.planes[1]]
    }

    /// Runs every copy. Bytes that hold no element are kept.
    ///
    /// # Errors
    ///
    /// `buffer_too_short` for a source or a destination that is too short.
    pub fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        let ends = [("source", self.bytes[0], source.len()), ("destination", self.bytes[1], destination.len())];
        for (what, needed, found) in ends {
            if checked::len_u64(found) < needed {
                return Err(Error::buffer_too_short(what, needed, checked::len_u64(found)));
            }
        }
        if let Some((groups, to_rows)) = &self.groups {
            let copied = groups.run(source, destination, *to_rows);
            return copied.ok_or_else(|| Error::overflow("an offset of the copy", usize::BITS));
        }
        for PartCopy { plan, at, flip, .. } in &self.list {
            let [from, to] = at.map(|at| usize::try_from(at).unwrap_or(usize::MAX));
            let length = usize::try_from(plan.destination_size_in_bytes()).unwrap_or(usize::MAX);
            let end = to.saturating_add(length).min(destination.len());
            let own = destination.get_mut(to..end).unwrap_or_default();
            // All bytes are flipped before the copy and again after it. Bytes that the copy writes are
            // therefore flipped once, and all others keep their values.
            flip_bits(own, *flip);
            plan.run(source.get(from..).unwrap_or_default(), &mut *own)?;
            flip_bits(own, *flip);
        }
        Ok(())
    }
}

fn flip_bits(bytes: &mut [u8], flip: u8) {
    if flip != 0 {
        bytes.iter_mut().for_each(|byte| *byte ^= flip);
    }
}
