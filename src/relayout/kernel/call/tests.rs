use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::super::Relayout;
use crate::element::DataType;
use crate::map::IndexMap;

use super::super::super::plan::nest::Stride;
use super::super::Machine;
use super::super::level::KernelLevel;
use super::*;

/// A program that streams runs its fence also when `progress` panics, and what was written can be read.
#[test]
fn a_panicking_progress_leaves_a_fence_and_whole_lines() {
    // u8[64,1048576], packed and in tiles of 8 x 128.
    let map = |tiles: &[_]| {
        IndexMap::from_tiles(DataType::U8, 8, &[64, 1 << 20], [0, 1].into_iter().collect(), tiles, 1).unwrap()
    };
    let tile = [8, 128].map(std::num::NonZeroU64::new).into_iter().collect();
    let (from, to) = (map(&[]), map(&[tile]));
    let source: Vec<u8> = (0..64 << 20).map(|i: u32| i.to_le_bytes()[0] ^ i.to_le_bytes()[1]).collect();
    for level in KernelLevel::ALL.into_iter().filter(|level| level.is_available()) {
        let relayout = Relayout::new(&from, &to).unwrap().with_streaming(true).with_kernel_level(level);
        let mut whole = vec![0; 64 << 20];
        relayout.run(&source, &mut whole).unwrap();
        let before = FENCES.with(|fences| fences.get());
        let mut destination = vec![0; 64 << 20];
        let mut reported = 0;
        let result = catch_unwind(AssertUnwindSafe(|| {
            relayout.run_with_progress(&source, &mut destination, &mut |bytes| {
                reported = bytes;
                assert!(bytes < 4 << 20, "enough");
            })
        }));
        assert!(result.is_err() && (4 << 20..64 << 20).contains(&reported));
        let fences = FENCES.with(|fences| fences.get()) - before;
        assert_eq!(fences, usize::from(level != KernelLevel::Portable), "{level}");
        let written = usize::try_from(reported).unwrap();
        let same = destination.iter().zip(&whole).filter(|(a, b)| a == b).count();
        assert!(same >= written, "{level}: {same} of the {written} bytes reported");
    }
}

/// Does the nest run with a source and a destination of so many bytes?
fn runs(nest: &Nest, source: usize, destination: usize, level: KernelLevel) -> bool {
    let (source, mut memory) = (vec![0; source], vec![0; destination]);
    let mut call = Call {
        source: &source,
        destination: Destination::from(&mut memory[..]),
        streaming: None,
        prefetch: false,
        level: Available::up_to(level),
        knobs: &Machine::this().knobs,
    };
    catch_unwind(AssertUnwindSafe(|| call.run(nest))).is_ok()
}

/// Buffers that end one byte early, or a source that is left in front.
#[test]
fn a_planned_nest_that_leaves_its_buffers_is_not_run() {
    let kernel = MicroKernel::Copy { run: 4, count: Stride { extent: 3, source: 5, destination: 6 } };
    let reversed = |start| {
        let step = NestLoop::Reversed(Stride { extent: 3, source: 20, destination: 30 });
        Nest::new(kernel.clone(), [step].into_iter().collect(), start, 7)
    };
    for level in KernelLevel::ALL.into_iter().filter(|level| level.is_available()) {
        let nest = reversed(40);
        let (source, destination) = (40 + 2 * 5 + 4, 7 + 60 + 2 * 6 + 4);
        assert!(runs(&nest, source, destination, level), "{level}");
        assert!(!runs(&nest, source - 1, destination, level), "{level}");
        assert!(!runs(&nest, source, destination - 1, level), "{level}");
        assert!(!runs(&reversed(39), source, destination, level), "{level}");
        let empty = MicroKernel::Copy { run: 0, count: Stride::ONCE };
        assert!(!runs(&Nest::new(empty, [].into_iter().collect(), 0, 0), 9, 9, level), "{level}");
    }
}

#[test]
#[should_panic(expected = "a loop nest leaves its buffers")]
fn a_nest_that_leaves_its_buffers_is_not_run() {
    let kernel = MicroKernel::Copy { run: 4, count: Stride { extent: 3, source: 4, destination: usize::MAX / 2 } };
    let mut memory = [0; 12];
    let mut call = Call {
        source: &[0; 12],
        destination: Destination::from(&mut memory[..]),
        streaming: None,
        prefetch: false,
        level: Available::in_use(),
        knobs: &Machine::this().knobs,
    };
    call.run_at(&kernel, &[], (0, 0));
}
