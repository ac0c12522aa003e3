//! Rows of every short length, and planes of 16-byte chunks: copied exactly, with nothing written beside them.

use tensor_layout::relayout::{KernelLevel, Relayout};
use tensor_layout::{BufferTensorDesc, DataType};

/// Copies `[sizes]` bytes between strides at every level and in buffers just as long as they must be, and compares with a
/// loop over the indices.
fn check(sizes: [u64; 3], from: [u64; 3], to: [u64; 3]) {
    let desc = |strides: [u64; 3]| BufferTensorDesc::new(DataType::U8, &sizes, Some(&strides)).unwrap();
    let (from, to) = (desc(from), desc(to));
    let source: Vec<u8> = (1..=255).cycle().take(usize::try_from(from.min_elements()).unwrap()).collect();
    let mut expected = vec![0; usize::try_from(to.min_elements()).unwrap()];
    for (from, to) in from.offsets().zip(to.offsets()) {
        expected[usize::try_from(to).unwrap()] = source[usize::try_from(from).unwrap()];
    }
    for level in KernelLevel::ALL.into_iter().filter(|level| level.is_available()) {
        for stream in [false, true] {
            let relayout = Relayout::new(&from, &to).unwrap().with_kernel_level(level).with_streaming(stream);
            let mut destination = vec![0; expected.len()];
            relayout.run(&source, &mut destination).unwrap();
            assert!(destination == expected, "{sizes:?} at {level}:\n{}", relayout.explain());
        }
    }
}

#[test]
fn rows_of_every_short_length() {
    for length in 1..=300 {
        check([1, 5, length], [1, length, 1], [1, length + 3, 1]);
        check([3, 5, length], [6 * length, length + 1, 1], [5 * length, length, 1]);
    }
}

#[test]
fn planes_of_chunks() {
    for (rows, columns) in [(2, 2), (5, 7), (8, 8), (33, 31), (33, 32), (1, 40)] {
        for chunk in [8, 12, 16, 24, 32] {
            let packed = [columns * chunk, chunk, 1];
            check([rows, columns, chunk], packed, [chunk, rows * chunk, 1]);
            check([rows, columns, chunk], [columns * chunk + 5, chunk, 1], [chunk, rows * chunk + 16, 1]);
        }
    }
}
