//! What proofs/lemmas.py proves of models, asked of the functions at the edges of the range.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use strided_copy::kernel::{Kernel, Loop, Runs, Stride};
use strided_copy::{Access, Available, Copy, Destination, Level, PlainNest};

/// Small numbers, and 2^31, 2^32, 2^63 and 2^64 with their neighbours, as far as they fit an address.
fn edges() -> Vec<usize> {
    let around = [31, 32, 63].into_iter().flat_map(|bits| [(1_u64 << bits) - 1, 1 << bits, (1 << bits) + 1]);
    let all = [0, 1, 2, 3, 5, 255, 4096].into_iter().chain(around);
    all.filter_map(|number| usize::try_from(number).ok()).chain([usize::MAX - 1, usize::MAX]).collect()
}

#[track_caller]
fn lemma(name: &str, holds: bool, what: impl std::fmt::Debug) {
    assert!(holds, "{name} does not hold for {what:?}");
}

fn wide(number: usize) -> i128 {
    i128::try_from(number).unwrap()
}

fn strides() -> Vec<isize> {
    edges().into_iter().flat_map(|edge| [edge.cast_signed(), edge.cast_signed().wrapping_neg()]).collect()
}

#[test]
fn last_iterations() {
    for extent in edges() {
        for source in strides() {
            let exact = wide(extent.saturating_sub(1)) * i128::try_from(source).unwrap();
            let fits = isize::try_from(exact).is_ok();
            match (Stride { extent, source, destination: 0 }).last() {
                Some((last, _)) => {
                    lemma("stride_last.fits", i128::try_from(last).unwrap() == exact, (extent, source));
                    for i in [0, extent / 2, extent.saturating_sub(1)] {
                        let at = wide(i) * i128::try_from(source).unwrap();
                        let between = at >= exact.min(0) && at <= exact.max(0) || i > extent.saturating_sub(1);
                        lemma("stride_last.between", between, (extent, source, i));
                    }
                }
                // The number of iterations alone may be too large for a distance.
                None => {
                    let passes = !fits || isize::try_from(extent.saturating_sub(1)).is_err();
                    lemma("stride_last.error", passes, (extent, source));
                }
            }
        }
    }
}

#[test]
fn reaches() {
    let level = Available::up_to(Level::Portable);
    for start in edges() {
        for source in strides() {
            for (extent, more) in [(1, 0), (2, 0), (3, 1), (2, -1)] {
                let loops =
                    [(extent, source), (2, more)].map(|(extent, source)| Stride { extent, source, destination: 8 });
                let last = |step: &Stride| wide(step.extent - 1) * i128::try_from(step.source).unwrap();
                let low = wide(start) + loops.iter().map(|step| last(step).min(0)).sum::<i128>();
                let high = wide(start) + loops.iter().map(|step| last(step).max(0)).sum::<i128>() + 4;
                let is_far = loops.iter().any(|step| isize::try_from(last(step)).is_err());
                let kernel = Kernel::Runs { run: 4, count: Stride::ONCE, by: Runs::Memcpy };
                let nest = loops.map(Loop::Strided).to_vec();
                let copy = Copy::new(kernel, nest, (start, 0), Access::PLAIN, level).ok().map(|copy| copy.reach().0);
                let plain = PlainNest::new(4, (start, 0), &loops[..]).map(|nest| nest.reach().0);
                for reach in [copy, plain] {
                    let at = (start, loops, reach);
                    let Some(reach) = reach else {
                        lemma("reach.error", low < 0 || high > wide(usize::MAX) || is_far, at);
                        continue;
                    };
                    lemma("reach.reached", wide(reach) == high, at);
                    lemma("reach.inside", low >= 0, at);
                    lemma("reach.fits", !is_far, at);
                }
            }
        }
    }
}

/// The memory is reserved and never touched.
#[test]
fn parts_of_destinations() {
    let longest = if cfg!(miri) || usize::BITS < 64 { 5000 } else { 1_usize << 32 };
    for length in edges().into_iter().filter(|&length| length <= longest) {
        let mut memory = Box::<[MaybeUninit<u8>]>::new_uninit_slice(length);
        let start = NonNull::new(memory.as_mut_ptr()).unwrap().cast::<u8>();
        // SAFETY: the bytes are those of the box, and nothing else accesses them.
        let whole = || unsafe { Destination::write_only(NonNull::slice_from_raw_parts(start, length)) };
        for first in edges() {
            for end in edges() {
                let mut whole = whole();
                let part = whole.part(first..end).map(|part| part.len());
                lemma("part.error", part.is_some() == (first <= end && end <= length), (length, first, end));
                lemma("part.inside", part.is_none_or(|part| first + part == end), (length, first, end));
            }
            if first <= length {
                let (a, b) = whole().split_at(first);
                lemma("split_at.inside", a.len() <= length && b.len() <= length, (length, first));
                lemma("split_at.apart", a.len() == first, (length, first));
                lemma("split_at.covers", a.len() + b.len() == length, (length, first));
            } else {
                let refused = std::panic::catch_unwind(|| drop(whole().split_at(first))).is_err();
                lemma("split_at.error", refused, (length, first));
            }
        }
    }
}

/// What fits the staging buffers, asked of kernels over vectors.
#[cfg(feature = "software")]
#[test]
fn staging_buffers() {
    use strided_copy::kernel::{Axis, Panels, Plane, Rows, Stage, Transpose};

    let level = Available::up_to(Level::Software32);
    for lines in 0..=255_u8 {
        for unit in [1, 2, 4, 8, 16] {
            let axis = || Axis::new(1 << 10, 1 << 16);
            let plane = Plane { unit, columns: axis(), rows: axis(), micro_tile: None };
            let stage = Stage::Lines(lines);
            let panels = Panels {
                height: 64,
                width: 64,
                kept: 1024,
                ahead: 0,
                stage,
                whole_lines: false,
                near: false,
                scattered: false,
            };
            let kernel = Kernel::Transpose { plane, by: Transpose::Panels(panels) };
            let fits = Copy::new(kernel, Vec::new(), (0, 0), Access::PLAIN, level).is_ok();
            // 64 rows of eight lines, or fewer rows of more lines, and a line more in each row.
            let pitch = ((usize::from(lines) + 1) * 64).max(9 * 64);
            lemma("panels.stage", !fits || 64 / unit * pitch <= 64 * 9 * 64, (lines, unit));
            lemma("panels.rows", !fits || (1..=16).contains(&lines) && pitch > usize::from(lines) * 64, (lines, unit));
        }
    }
    for runs in [0, 1, 2, 3, 4, 16, 64, 255, u16::MAX] {
        for columns in [1, 3, 4, 60, 64, 100, 256, 512, 1024, 1025] {
            // One row of pairs of bytes becomes two rows, and the rows of neighbouring iterations follow each
            // other.
            let row = columns;
            let plane =
                Plane { unit: 1, columns: Axis::new(2, 1 << 20), rows: Axis::new(columns, 2), micro_tile: None };
            let kernel = Kernel::Transpose { plane, by: Transpose::Deinterleave(Rows::Joined(runs)) };
            let (runs, extent) = (usize::from(runs), usize::from(runs).max(1) * 2);
            let stride = Stride { extent, source: (2 * row).cast_signed(), destination: row.cast_signed() };
            let access = Access { streaming: true, ..Access::PLAIN };
            let fits = Copy::new(kernel, vec![Loop::Strided(stride)], (0, 0), access, level).is_ok();
            lemma("joined.stage", !fits || runs >= 2 && runs * row <= 1024, (runs, row));
            lemma("joined.accepts", fits || runs < 2 || runs * row > 1024, (runs, row));
        }
    }
}
