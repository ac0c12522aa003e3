//! Kernels store whole cache lines with non-temporal stores, each line once. Vectors in plain Rust record
//! their stores.

#![cfg(feature = "software")]

use strided_copy::take_streamed;
use tensor_layout::relayout::{Level, Relayout};
use tensor_layout_text::Layout;

use crate::literal::replanned::Replanned;

/// A buffer whose first byte is `shift` bytes after the beginning of a line.
struct Buffer {
    bytes: Vec<u8>,
    start: usize,
}

impl Buffer {
    /// The bytes repeat a pattern whose length is no power of two.
    fn new(length: usize, shift: usize, pattern: &[u8]) -> Buffer {
        let mut bytes = vec![0; length + 128];
        let start = bytes.as_ptr().align_offset(64) + shift;
        let places = bytes[start..start + length].chunks_mut(pattern.len());
        places.for_each(|places| places.copy_from_slice(&pattern[..places.len()]));
        Buffer { bytes, start }
    }
}

/// Runs a streamed copy with vectors of half a line, and compares the bytes with the safe kernels. Returns
/// the addresses of the streamed vectors. `None` if the copy takes steps.
fn streamed(from: &str, to: &str, shift: usize) -> Option<Vec<usize>> {
    let (from, to): (Layout, Layout) = (from.parse().unwrap(), to.parse().unwrap());
    let relayout = Relayout::new(&from, &to).unwrap().with_streaming(true);
    let size = |bytes: u64| usize::try_from(bytes).unwrap();
    let pattern: Vec<u8> = (0..4099_u16).map(|i| i.to_le_bytes()[0] ^ i.to_le_bytes()[1]).collect();
    let source = Buffer::new(size(relayout.source_size_in_bytes()), 0, &pattern);
    let mut expected = vec![0; size(relayout.destination_size_in_bytes())];
    let own = &source.bytes[source.start..source.start + size(relayout.source_size_in_bytes())];
    relayout.clone().with_kernel_level(Level::Portable).run(own, &mut expected).unwrap();
    let mut destination = Buffer::new(expected.len(), shift, &[0; 4096]);
    let nests = !relayout.explain().contains("StepBox");
    let _ = take_streamed();
    let software = relayout.clone().with_kernel_level(Level::Software32);
    software.run(own, &mut destination.bytes[destination.start..][..expected.len()]).unwrap();
    assert!(destination.bytes[destination.start..][..expected.len()] == expected, "{}", relayout.explain());
    Some(take_streamed()).filter(|_| nests)
}

/// The number of runs of streamed vectors that begin or end inside a line, so that the line is written twice.
fn broken_lines(streamed: &[usize]) -> usize {
    let (mut broken, mut rest) = (0, streamed);
    while let Some((&start, after)) = rest.split_first() {
        // `more` vectors follow the first vector without a gap.
        let more = after.iter().zip(1..).take_while(|&(&place, i)| place == start + 32 * i).count();
        let end = start + 32 * (more + 1);
        rest = &after[more..];
        // A long row may begin and end inside lines, so runs of 256 bytes and more are not counted.
        if end - start < 256 && (!start.is_multiple_of(64) || !end.is_multiple_of(64)) {
            broken += 1;
        }
    }
    broken
}

/// A layout of the suite, with every size limited to `most`.
fn shrunk(layout: &str, most: &[u64]) -> String {
    let (head, rest) = layout.split_once('[').unwrap();
    let (sizes, tail) = rest.split_once(']').unwrap();
    let sizes: Vec<u64> = sizes.split(',').map(|size| size.parse().unwrap()).collect();
    let limits = most.iter().skip(most.len() - sizes.len());
    let sizes: Vec<String> = sizes.iter().zip(limits).map(|(size, most)| size.min(most).to_string()).collect();
    format!("{head}[{}]{tail}", sizes.join(","))
}

#[test]
fn every_plan_of_the_suite_streams_whole_lines() {
    let (mut cases, mut lines) = (0, 0);
    for line in include_str!("../../../benches/relayout_suite.tsv").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, name, from, to] = fields[..] else { panic!("{line}") };
        // Layouts in CuTe's notation with nested sizes are left out.
        if !from.contains('[') {
            continue;
        }
        // The sizes are long enough for whole vectors on either side. Ragged edges stay ragged, and strides
        // do not change.
        for most in [[2, 3, 20, 35, 70, 136], [2, 2, 18, 67, 40, 263]] {
            for shift in [0, 16, 32] {
                let Some(streamed) = streamed(&shrunk(from, &most), &shrunk(to, &most), shift) else { continue };
                assert_eq!(broken_lines(&streamed), 0, "{name} at {shift} with {most:?}");
                cases += 1;
                lines += streamed.len() / 2;
            }
        }
    }
    assert!(cases > 300 && lines > 100_000, "{cases} cases streamed {lines} lines");
}

/// Tiles are copied to rows that end inside lines. A line that two tiles share is stored once, with a
/// non-temporal store. Only the ends of rows are stored through the cache.
#[test]
fn lines_that_two_tiles_share_are_streamed() {
    for pitch in [512, 513, 517, 527] {
        for shift in [0, 16, 20, 63] {
            let streamed = streamed("f32[16,512]{1,0:T(8,128)}", &format!("f32[16,512]:[{pitch},1]"), shift).unwrap();
            let rows = (0..16).map(|row| shift + row * 4 * pitch);
            let lines: usize = rows.map(|row| (row + 2048) / 64 - row.div_ceil(64)).sum();
            assert_eq!(streamed.len() / 2, lines, "{pitch} at {shift}");
        }
    }
}

/// Planes are transposed to rows that begin anywhere in a line. Only the ends of rows are not streamed. Short
/// rows that follow each other count as one row.
#[test]
fn rows_that_begin_inside_lines_are_streamed() {
    for (sizes, from, to, rows, row) in [
        ("601,20", "1,0", "0,1", 20, 2404),
        ("521,37", "1,0", "0,1", 37, 2084),
        ("49,40", "1,0", "0,1", 1, 40 * 196),
        ("300,20,5", "2,1,0", "2,0,1", 20, 6000),
        ("211,9,8", "2,1,0", "2,0,1", 9, 6752),
        ("7,40,5", "2,1,0", "2,0,1", 1, 40 * 140),
    ] {
        for shift in [0, 4, 16, 60, 63] {
            let streamed =
                streamed(&format!("f32[{sizes}]{{{from}}}"), &format!("f32[{sizes}]{{{to}}}"), shift).unwrap();
            let starts = (0..rows).map(|i| shift + i * row);
            let lines: usize = starts.map(|start| (start + row) / 64 - start.div_ceil(64)).sum();
            assert_eq!(streamed.len() / 2, lines, "{sizes} at {shift}");
            assert_eq!(broken_lines(&streamed), 0, "{sizes} at {shift}");
        }
    }
}

#[test]
fn half_lines_to_several_rows_are_noticed() {
    assert_eq!(broken_lines(&[0, 32, 64, 96]), 0);
    assert_eq!(broken_lines(&[0, 32, 640, 672]), 0);
    assert_eq!(broken_lines(&[0, 640, 32, 672]), 4);
    let long: Vec<usize> = (1..12).map(|i| 32 * i).collect();
    assert_eq!(broken_lines(&long), 0);
}
