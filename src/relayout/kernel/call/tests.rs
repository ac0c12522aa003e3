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
    call.run(&kernel, &[], (0, 0));
}
