//! Elements that are not whole bytes.

use smallvec::SmallVec;

use crate::element::{read_bits, write_bits};
use crate::map::{CopyBox, Loop};

use super::execute::each_element;
use super::kernel::{BitPlane, BitRows, Buffers, Job, copy_element};
use super::schedule::{Kernel, LONGEST_TRANSPOSED, Nest, Step, Stride, Turns, along_source};

/// A plane of fewer elements is copied sooner one by one.
const LEAST_PLANE: usize = 128;

/// The same box over whole bytes, if nothing in it begins or ends inside one.
///
/// The innermost loop must be packed on both sides and fill whole bytes; every other stride and both bases must be
/// whole bytes as well.
pub(super) fn in_whole_bytes(copy: &CopyBox, bits: u32) -> Option<CopyBox> {
    let in_bytes = |elements: u64| whole_bytes(elements, bits);
    let (last, outer) = copy.loops.split_last()?;
    let Loop::Strided { extent, source: 1, destination: 1 } = last else { return None };
    let mut whole =
        CopyBox { source: in_bytes(copy.source)?, destination: in_bytes(copy.destination)?, loops: copy.loops.clone() };
    whole.loops.clear();
    for step in outer {
        whole.loops.push(match step {
            Loop::Strided { extent, source, destination } => {
                Loop::Strided { extent: *extent, source: in_bytes(*source)?, destination: in_bytes(*destination)? }
            }
            Loop::Table(entries) => {
                Loop::Table(entries.iter().map(|&(a, b)| Some((in_bytes(a)?, in_bytes(b)?))).collect::<Option<_>>()?)
            }
        });
    }
    whole.loops.push(Loop::Strided { extent: in_bytes(*extent)?, source: 1, destination: 1 });
    Some(whole)
}

/// The nest of a box of rows that take turns on one side, if it is one, and all begin and end at whole bytes.
pub(super) fn in_turns(copy: &CopyBox, bits: u32) -> Option<Nest> {
    let (place_across, place_along, BitPlane { across, along, .. }) = plane(copy, bits)?;
    let in_bytes = |elements: u64| whole_bytes(elements, bits).and_then(|bytes| usize::try_from(bytes).ok());
    let few = |rows: &Stride| Turns::ROWS.contains(&rows.extent);
    let (apart, rows, columns, pitch) = if few(&along) && across.destination == along.extent {
        (false, along.extent, across.extent, along.source)
    } else if few(&across) && along.source == across.extent {
        (true, across.extent, along.extent, across.destination)
    } else {
        return None;
    };
    let in_own_bytes = |elements: usize| in_bytes(u64::try_from(elements).ok()?);
    let (row, pitch) = (in_own_bytes(columns)?, in_own_bytes(pitch)?);
    let turns = Turns { bits: usize::try_from(bits).ok()?, rows, row, pitch, apart };
    let mut loops = SmallVec::new();
    for (i, step) in copy.loops.iter().enumerate() {
        match step {
            _ if i == place_across || i == place_along => {}
            Loop::Strided { extent, source, destination } => loops.push(Step::Strided(Stride {
                extent: usize::try_from(*extent).ok()?,
                source: in_bytes(*source)?,
                destination: in_bytes(*destination)?,
            })),
            Loop::Table(entries) => {
                let entries = entries.iter().map(|&(a, b)| Some((in_bytes(a)?, in_bytes(b)?)));
                loops.push(Step::Table(entries.collect::<Option<_>>()?));
            }
        }
    }
    if !apart && rows.saturating_mul(row) > LONGEST_TRANSPOSED {
        along_source(&mut loops);
    }
    Some(Nest::around(Kernel::Turns(turns), loops, in_bytes(copy.source)?, in_bytes(copy.destination)?))
}

/// The bytes that so many elements fill, if they are whole.
fn whole_bytes(elements: u64, bits: u32) -> Option<u64> {
    let total = elements.checked_mul(bits.into())?;
    total.is_multiple_of(8).then_some(total / 8)
}

/// A box of elements that are not whole bytes, and begin anywhere: what is copied at a time, inside the other loops.
#[derive(Debug, Clone)]
pub(super) struct Small {
    /// The loops outside, and where the first element lies.
    outer: CopyBox,
    elements: u64,
    inner: Inner,
}

#[derive(Debug, Clone)]
enum Inner {
    /// Elements that are packed on both sides.
    Rows(BitRows),
    /// Packed on either side in another order.
    Plane(BitPlane),
    Element,
}

impl Small {
    pub(super) fn new(copy: CopyBox, bits: u32) -> Small {
        let mut outer = copy;
        let elements = outer.loops.iter().fold(1, |elements: u64, step| elements.saturating_mul(extent(step)));
        let width = u64::from(bits);
        let inner = if let Some(place) = packed(&outer, |source, destination| source == 1 && destination == 1) {
            let row = extent(&outer.loops.remove(place));
            let (count, source, destination) = match outer.loops.pop() {
                Some(Loop::Strided { extent, source, destination }) => (extent, source, destination),
                table => {
                    outer.loops.extend(table);
                    (1, 0, 0)
                }
            };
            // Nothing saturates: these are lengths of pieces of the buffers.
            let [bits, source, destination] = [row, source, destination].map(|n| n.saturating_mul(width));
            Inner::Rows(BitRows { bits, count, source, destination })
        } else if let Some((across, along, plane)) = plane(&outer, bits)
            && plane.across.extent.saturating_mul(plane.along.extent) >= LEAST_PLANE
        {
            outer.loops.remove(across.max(along));
            outer.loops.remove(across.min(along));
            Inner::Plane(plane)
        } else {
            Inner::Element
        };
        Small { outer, elements, inner }
    }

    /// Copies the box, and says how many bytes that were.
    pub(super) fn run(&self, bits: u32, job: &mut Job<'_>) -> u64 {
        let Small { outer, elements, inner } = self;
        let width = u64::from(bits);
        let each = |visit: &mut dyn FnMut(u64, u64)| {
            each_element(&outer.loops, outer.source, outer.destination, &mut |from, to| {
                visit(from.saturating_mul(width), to.saturating_mul(width));
            });
        };
        match inner {
            Inner::Rows(rows) => each(&mut |from, to| job.run_bits(rows, (from, to))),
            Inner::Plane(plane) => {
                let mut buffers = Buffers::new();
                each(&mut |from, to| plane.run(job, &mut buffers, (from, to)));
            }
            Inner::Element if 8_u32.is_multiple_of(bits) => {
                each(&mut |from, to| copy_element(job.source, from, job.destination, to, width));
            }
            Inner::Element => each(&mut |from, to| {
                // `None` only past the end of a buffer, and the buffers were measured.
                if let Some(value) = read_bits(job.source, from, bits) {
                    let _ = write_bits(job.destination, to, bits, value);
                }
            }),
        }
        elements.saturating_mul(width).div_ceil(8)
    }

    /// What is copied at a time.
    pub(super) fn in_words(&self, bits: u32) -> String {
        match self.inner {
            Inner::Rows(BitRows { bits, count, .. }) => {
                format!("rows of {bits} bits that begin anywhere, {count} at a time")
            }
            Inner::Plane(BitPlane { across, along, .. }) => {
                format!("transpose {} x {} elements of {bits} bits that begin anywhere", along.extent, across.extent)
            }
            Inner::Element => format!("elements of {bits} bits, one by one"),
        }
    }
}

fn extent(step: &Loop) -> u64 {
    match step {
        Loop::Strided { extent, .. } => *extent,
        Loop::Table(entries) => u64::try_from(entries.len()).unwrap_or(u64::MAX),
    }
}

/// A loop whose strides pass a test, source and destination.
fn packed(copy: &CopyBox, test: fn(u64, u64) -> bool) -> Option<usize> {
    copy.loops
        .iter()
        .position(|step| matches!(step, Loop::Strided { source, destination, .. } if test(*source, *destination)))
}

/// The loops that are packed on the source and on the destination, and their plane.
fn plane(copy: &CopyBox, bits: u32) -> Option<(usize, usize, BitPlane)> {
    let stride = |place: usize| match *copy.loops.get(place)? {
        Loop::Strided { extent, source, destination } => Some(Stride {
            extent: usize::try_from(extent).ok()?,
            source: usize::try_from(source).ok()?,
            destination: usize::try_from(destination).ok()?,
        }),
        Loop::Table(_) => None,
    };
    let (across, along) = (packed(copy, |source, _| source == 1)?, packed(copy, |_, destination| destination == 1)?);
    if across == along || ![1, 2, 4].contains(&bits) {
        return None;
    }
    let bits = usize::try_from(bits).ok()?;
    Some((across, along, BitPlane { bits, across: stride(across)?, along: stride(along)? }))
}
