//! Copies between buffers that end where no byte may be read or written. The tests run every kernel, at every
//! level, with elements of every size, at both ends of both buffers. An access to one byte outside ends the
//! process.
//!
//! With `--nocapture`, each copy is named before it runs. The last name is the copy that faulted.
#![cfg(unix)]
#![allow(unsafe_code, reason = "pages without access")]

use crate::literal::replanned::{CACHES, Replanned, levels, reversing, write_only};
use std::collections::BTreeSet;
use std::process::Command;

use crate::guarded::{End, Guarded};
use crate::literal::cases;
use crate::literal::pairs::{Side, literal_copy, noise, padding, pair, with_own_bits, within};
use proptest::prelude::*;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};

/// The number of bytes that the elements of a side need. The whole layout may need more.
fn needs(side: &Side) -> usize {
    let elements = usize::try_from(side.map.span_elements()).unwrap();
    (elements * side.map.element_bits() as usize).div_ceil(8)
}

/// The memory of the copies. There is a source for each end, and one destination that is used at either end.
struct Buffers {
    sources: [Guarded; 2],
    destination: Guarded,
    /// The lines of all explanations, which name the innermost loops.
    words: BTreeSet<String>,
}

impl Buffers {
    fn new(bytes: usize) -> Buffers {
        let new = || Guarded::new(bytes);
        Buffers { sources: [new(), new()], destination: new(), words: BTreeSet::new() }
    }

    /// Runs a copy at every level, with non-temporal and ordinary stores, whole and in pieces, with the
    /// buffers at all ends.
    fn check(
        &mut self,
        name: &str,
        (from, to): (&Side, &Side),
        relayout: &Relayout,
        expected_from: &Side,
        padding: Padding,
    ) {
        let words = relayout.explain();
        self.words.extend(words.split("kernels:").next().unwrap().lines().map(str::to_owned));
        // If padding is kept, no byte after the last element is needed.
        let (reads, writes) = (needs(from), if padding == Padding::Keep { needs(to) } else { to.bytes() });
        let source = noise(from.bytes().max(reads), 1);
        let before = noise(to.bytes().max(writes), 2);
        let mut expected = before.clone();
        literal_copy(expected_from, to, &source, &mut expected, padding);
        let (before, expected) = (&before[..writes], &expected[..writes]);
        let ends = End::BOTH;
        let [front, back] = &mut self.sources;
        let sources = [front.sealed(ends[0], &source[..reads]), back.sealed(ends[1], &source[..reads])];
        let pieces = relayout.cut(3, 1);
        for (source, at) in sources.into_iter().zip(ends) {
            for end in ends {
                for (level, streaming) in levels().into_iter().flat_map(|level| [(level, false), (level, true)]) {
                    println!("{name}: {level}, streaming {streaming}, source at {at:?}, destination at {end:?}");
                    let relayout = relayout.clone().with_kernel_level(level).with_streaming(streaming);
                    let destination = self.destination.bytes(end, writes);
                    destination.copy_from_slice(before);
                    relayout.run(source, &mut *destination).unwrap();
                    assert!(destination == expected, "{name} at {level}: {words}");
                    destination.copy_from_slice(before);
                    match relayout.run(source, write_only(&mut *destination)) {
                        Ok(()) => assert!(destination == expected, "{name} at {level}, write-only: {words}"),
                        Err(error) => assert_eq!(error.code(), "destination_read", "{name}"),
                    }
                }
                for piece in &pieces {
                    let range = piece.destination_range();
                    let range = range.start.min(writes)..range.end.min(writes);
                    let destination = self.destination.bytes(end, range.len());
                    destination.copy_from_slice(&before[range.clone()]);
                    piece.run(source, &mut *destination).unwrap();
                    assert!(*destination == expected[range], "{name}, a piece: {words}");
                }
            }
        }
    }

    /// Checks that the plan of some copy has each of these names.
    fn has_met(&self, named: &[&str]) {
        for name in named {
            assert!(
                self.words.iter().any(|line| line.contains(name)),
                "no copy was made by `{name}`: {:#?}",
                self.words
            );
        }
    }

    fn copy(&mut self, from: &Side, to: &Side) {
        let plan = Relayout::new(&from.map, &to.map);
        let Ok(plan) = plan else { return };
        for padding in [Padding::Keep, Padding::Zero] {
            if padding == Padding::Keep || to.bytes() * 8 > to.offsets.len() * to.map.element_bits() as usize {
                let relayout = plan.clone().with_padding_of_whole_buffer(padding).unwrap();
                let name = format!("{:?} to {:?}, padding {padding:?}", from.map, to.map);
                self.check(&name, (from, to), &relayout, from, padding);
            }
        }
    }

    /// Makes the copy with some axes backwards.
    fn copy_reversed(&mut self, from: &Side, to: &Side, axes: &[usize]) {
        let sizes = from.map.sizes();
        let number = |index: &[u64]| index.iter().zip(sizes).fold(0, |number, (i, size)| number * size + i) as usize;
        let flipped = |mut index: Vec<u64>| {
            axes.iter().for_each(|&axis| index[axis] = sizes[axis] - 1 - index[axis]);
            from.offsets[number(&index)]
        };
        let read = Side { offsets: crate::literal::indices(sizes).map(flipped).collect(), ..from.clone() };
        let relayout = reversing(&from.map, &to.map, axes).unwrap();
        let name = format!("{:?} to {:?}, {axes:?} backwards", from.map, to.map);
        self.check(&name, (from, to), &relayout, &read, Padding::Keep);
    }
}

/// A layout in either notation, with elements as wide as their type.
fn side(text: &str) -> Side {
    match text.parse::<ArrayShape>() {
        Ok(shape) if text.contains("E(") => Side::tiled(&shape),
        Ok(shape) => Side::tiled(&with_own_bits(shape)),
        Err(_) => Side::strided(&text.parse::<BufferTensorDesc>().unwrap()),
    }
}

/// Rows and columns around the lengths of registers and lines. Each pair is used both ways.
const PLANES: &[(u64, u64)] =
    &[(1, 1), (1, 7), (2, 33), (3, 64), (4, 130), (8, 8), (9, 15), (16, 16), (17, 31), (31, 65), (5, 300), (64, 64)];

/// Pairs of layouts for elements of one type. Each kernel has at least one pair.
fn pairs(data_type: DataType) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for &(a, b) in PLANES {
        for (rows, columns) in BTreeSet::from([(a, b), (b, a)]) {
            let sizes = format!("{data_type}[{rows},{columns}]");
            let whole = rows * columns;
            for (from, to) in [
                // These are runs, repeated runs and transposes, packed and with gaps, at the start of the
                // buffer and after it.
                (format!("{sizes}{{1,0}}"), format!("{sizes}:[{},1]+1", columns + 1)),
                (format!("{sizes}:[{},1]", columns + 3), format!("{sizes}{{1,0}}")),
                (format!("{sizes}:[0,1]"), format!("{sizes}{{1,0}}")),
                (format!("{sizes}:[1,0]"), format!("{sizes}:[{},1]", columns + 8)),
                (format!("{sizes}{{1,0}}"), format!("{sizes}{{0,1}}")),
                (format!("{sizes}:[{},1]+2", columns + 5), format!("{sizes}:[1,{}]+3", rows + 2)),
                // These are rows in twos, fours and threes; tiles; and tiles of tiles on both sides.
                (format!("{sizes}{{1,0}}"), format!("{sizes}{{1,0:T(2,{columns})(2,1)}}")),
                (format!("{sizes}{{1,0:T(4,{columns})(4,1)}}"), format!("{sizes}{{1,0}}")),
                (format!("{sizes}{{1,0}}"), format!("{sizes}{{1,0:T(3,{columns})(3,1)}}")),
                (format!("{sizes}{{1,0}}"), format!("{sizes}{{1,0:T(8,16)}}")),
                (format!("{sizes}{{0,1:T(8,16)(2,1)}}"), format!("{sizes}{{1,0:T(8,16)(2,1)}}")),
            ] {
                pairs.push((from, to));
            }
            if whole <= 600 {
                // These are pixels of a few channels, and layouts that fuse several dimensions.
                for channels in [2, 3, 5] {
                    let sizes = format!("{data_type}[{rows},{columns},{channels}]");
                    for (from, to) in [("2,1,0", "2,0,1"), ("2,1,0", "1,0,2"), ("1,0,2", "2,1,0"), ("0,2,1", "2,1,0")] {
                        pairs.push((format!("{sizes}{{{from}}}"), format!("{sizes}{{{to}}}")));
                    }
                }
            }
        }
    }
    for length in [96, 100, 193] {
        let table = |tile: u64| format!("{data_type}[{length},3]{{1,0:T({tile},1)}}");
        pairs.push((table(48), table(32)));
        let runs = |tile: u64| format!("{data_type}[3,{length}]{{1,0:T(1,{tile})}}");
        pairs.push((runs(48), runs(32)));
        let long = |tile: u64| format!("{data_type}[{length},80]{{1,0:T({tile},80)}}");
        pairs.push((long(48), long(32)));
    }
    let sizes = format!("{data_type}[6,5,4]");
    pairs.push((format!("{sizes}{{2,1,0}}"), format!("{sizes}{{2,1,0:T(2,3,2)(*,2,1)}}")));
    pairs.push((format!("{sizes}{{2,1,0:T(2,3,2)(*,2,1)}}"), format!("{sizes}{{0,1,2}}")));
    let sizes = format!("{data_type}[2,3,2,3,2,3]");
    pairs.push((format!("{sizes}{{5,4,3,2,1,0}}"), format!("{sizes}{{0,1,2,3,4,5}}")));
    pairs
}

/// Makes copies at all ends for each of these types.
fn every_kernel_of(types: &[DataType], named: &[&str]) {
    let mut buffers = Buffers::new(1 << 19);
    for &data_type in types {
        for (from, to) in pairs(data_type) {
            buffers.copy(&side(&from), &side(&to));
        }
        for (from, to) in
            [("{1,0}", "{1,0}"), ("{1,0}", "{0,1}"), ("{1,0:T(8,16)}", "{1,0:T(2,16)}"), ("{1,0}", ":[310,1]+1")]
        {
            for &(rows, columns) in PLANES {
                let [from, to] = [from, to].map(|layout| side(&format!("{data_type}[{rows},{columns}]{layout}")));
                for axes in [&[0][..], &[1], &[0, 1]] {
                    buffers.copy_reversed(&from, &to, axes);
                }
            }
        }
    }
    buffers.has_met(named);
}

/// What plans of copies of whole bytes say of their loops and kernels.
const BYTES: &[&str] =
    &["Runs {", "by: Repeat", "table of ", "Transpose {", "micro_tile: Some", " x -", "blocks of ", "pass 2 of "];

#[test]
fn elements_of_1_to_4_bits() {
    let bits = ["InterleaveBits {", "Bits(", "Staged {", "Transpose {", "pass 2 of "];
    every_kernel_of(&[DataType::S1, DataType::U2, DataType::S4], &bits);
}

#[test]
fn elements_of_1_and_2_bytes() {
    every_kernel_of(&[DataType::U8, DataType::BF16], BYTES);
}

#[test]
fn elements_of_4_to_16_bytes() {
    every_kernel_of(&[DataType::F32, DataType::F64, DataType::C128], BYTES);
}

/// Elements have any width that a layout can require.
#[test]
fn elements_of_every_width() {
    let mut buffers = Buffers::new(1 << 16);
    for bits in 1..=128 {
        let shape = |layout: &str| Side::tiled(&format!("u8[9,13]{{{layout}E({bits})}}").parse().unwrap());
        for (from, to) in [("1,0:", "0,1:"), ("1,0:", "1,0:T(2,3)"), ("0,1:T(2,8)", "1,0:")] {
            buffers.copy(&shape(from), &shape(to));
        }
    }
}

/// Tiles in which each word of 32 bits holds one element of every row. The elements have 4, 2 and 1 bits.
const WORDS: [&str; 3] = ["1,0:T(8,128)(8,1)", "1,0:T(16,128)(16,1)", "1,0:T(32,128)(32,1)"];

/// Elements of 1, 2 and 4 bits are unpacked to bytes, and packed.
#[test]
fn elements_that_change_their_width() {
    let mut buffers = Buffers::new(1 << 18);
    for (data_type, bits) in [("s4", 4), ("u4", 4), ("s2", 2), ("u1", 1)] {
        for &(a, b) in PLANES {
            for (rows, columns) in BTreeSet::from([(a, b), (b, a)]) {
                for (packed, bytes) in [
                    ("1,0", "1,0"),
                    ("1,0", "0,1"),
                    ("1,0", "1,0:T(8,128)"),
                    ("1,0:T(8,32)", "1,0"),
                    ("0,1:T(4,8)(2,1)", "1,0"),
                    (WORDS[usize::from(bits == 2) + 2 * usize::from(bits == 1)], "1,0"),
                ] {
                    let colon = if packed.contains(':') { "" } else { ":" };
                    let packed = side(&format!("{data_type}[{rows},{columns}]{{{packed}{colon}E({bits})}}"));
                    let bytes = Side::tiled(&format!("{data_type}[{rows},{columns}]{{{bytes}}}").parse().unwrap());
                    buffers.copy(&packed, &bytes);
                    buffers.copy(&bytes, &packed);
                }
            }
        }
    }
    buffers.has_met(&["signed: true", "signed: false", "Pack", "Staged {", "WidthRows {"]);
}

/// Tiles are put together to rows, and rows to one row, and the runs end inside lines. A line that two runs
/// share is read from both runs.
#[test]
fn runs_that_share_lines() {
    let mut buffers = Buffers::new(1 << 18);
    for (data_type, name) in [(DataType::U8, "u8"), (DataType::F32, "f32")] {
        for (rows, columns) in [(16, 384), (13, 300), (9, 131), (1, 500)] {
            let rows_of = |pitch: u64, base: u64| {
                let desc = BufferTensorDesc::new(data_type, &[rows, columns], Some(&[pitch, 1])).unwrap();
                Side::strided(&desc.with_base_offset(base).unwrap())
            };
            let tiles = Side::tiled(&format!("{name}[{rows},{columns}]{{1,0:T(8,128)}}").parse().unwrap());
            for (pitch, base) in [(columns, 0), (columns, 1), (columns + 5, 3), (columns + 16, 0)] {
                buffers.copy(&tiles, &rows_of(pitch, base));
                buffers.copy(&rows_of(pitch, base), &rows_of(columns, 2));
            }
        }
    }
}

/// Planes are transposed to rows that begin anywhere in a line. There are planes of several panels, planes
/// with more columns than leftovers that are kept, and short rows side by side.
#[test]
fn rows_that_begin_inside_lines() {
    let mut buffers = Buffers::new(3 << 20);
    for (data_type, rows, columns, run) in [
        (DataType::U8, 1101, 70, 1),
        (DataType::BF16, 599, 1030, 1),
        (DataType::F32, 530, 41, 1),
        (DataType::F64, 131, 1030, 1),
        (DataType::C128, 140, 19, 1),
        // The rows are side by side.
        (DataType::U8, 45, 300, 1),
        (DataType::BF16, 49, 70, 1),
        (DataType::F32, 49, 70, 1),
        (DataType::F64, 19, 35, 1),
        // The units are runs.
        (DataType::U8, 700, 40, 3),
        (DataType::U8, 200, 19, 15),
        (DataType::F32, 190, 1030, 3),
        (DataType::F32, 110, 20, 5),
        (DataType::F32, 70, 33, 8),
        (DataType::F32, 25, 40, 25),
        (DataType::F32, 7, 40, 5),
        // The units are whole lines, whose rows also begin at lines.
        (DataType::F32, 70, 33, 16),
        (DataType::BF16, 90, 12, 64),
        (DataType::U8, 33, 65, 64),
    ] {
        let desc = |strides: [u64; 3], base: u64| {
            let desc = BufferTensorDesc::new(data_type, &[rows, columns, run], Some(&strides)).unwrap();
            Side::strided(&desc.with_base_offset(base).unwrap())
        };
        for (width, pitch, base) in [(0, 0, 0), (0, 0, 1), (1, 1, 3), (2, 17, 0)] {
            let from = desc([(columns + width) * run, run, 1], base);
            let to = desc([run, rows * run + pitch, 1], base);
            buffers.copy(&from, &to);
        }
    }
}

/// Planes of lines and half lines have rows that are whole lines apart. The planes follow each other, and
/// begin at any byte.
#[test]
fn planes_that_begin_inside_lines() {
    let mut buffers = Buffers::new(1 << 17);
    for (run, rows, columns) in [(8, 7, 5), (8, 4, 20), (16, 9, 5), (16, 8, 70), (32, 5, 12)] {
        for (gap, base) in [(0, 0), (1, 0), (4, 12), (8, 8), (16, 3)] {
            let desc = |strides: [u64; 4], base: u64| {
                let desc = BufferTensorDesc::new(DataType::F32, &[3, rows, columns, run], Some(&strides)).unwrap();
                Side::strided(&desc.with_base_offset(base).unwrap())
            };
            let pitch = (rows * run).next_multiple_of(16);
            let from = desc([rows * columns * run, columns * run, run, 1], 0);
            buffers.copy(&from, &desc([columns * pitch + gap, run, pitch, 1], base));
        }
    }
}

/// Planes have every number of columns and rows after the last whole block. Their rows begin at lines, and
/// inside lines.
#[test]
fn edges_of_planes() {
    let mut buffers = Buffers::new(1 << 17);
    for (data_type, in_line) in
        [(DataType::U8, 64), (DataType::BF16, 32), (DataType::F32, 16), (DataType::F64, 8), (DataType::C128, 4)]
    {
        for edge in 0..in_line {
            // The planes have more rows and columns than are interleaved.
            let (rows, columns) = (in_line + 17 + edge, 2 * in_line + 17 - edge);
            let desc = |strides: [u64; 2]| {
                Side::strided(&BufferTensorDesc::new(data_type, &[rows, columns], Some(&strides)).unwrap())
            };
            for pitch in [rows, rows.next_multiple_of(in_line)] {
                buffers.copy(&desc([columns, 1]), &desc([1, pitch]));
            }
        }
    }
}

/// Large planes have panels that are staged and drained or joined. They are planned for several caches.
#[test]
fn planes_for_several_caches() {
    let mut buffers = Buffers::new(1 << 20);
    for (data_type, columns, rows, pitch) in [
        (DataType::U8, 70, 1100, 1152_u64),
        (DataType::U8, 64, 2048, 4096),
        (DataType::BF16, 64, 1024, 2048),
        (DataType::F32, 37, 530, 544),
        (DataType::F32, 32, 512, 1024),
        (DataType::F64, 19, 300, 304),
        (DataType::C128, 17, 150, 152),
        // The destination rows follow each other and are drained whole.
        (DataType::U8, 90, 512, 512),
        (DataType::BF16, 70, 64, 64),
        (DataType::F32, 100, 32, 32),
        (DataType::F32, 50, 256, 256),
    ] {
        let desc = |strides: [u64; 2], base: u64| {
            let desc = BufferTensorDesc::new(data_type, &[rows, columns], Some(&strides)).unwrap();
            Side::strided(&desc.with_base_offset(base).unwrap())
        };
        for (from, to) in [
            (desc([columns, 1], 0), desc([1, pitch], 0)),
            (desc([columns + 1, 1], 1), desc([1, pitch], 3)),
            (desc([1, pitch], 3), desc([columns + 1, 1], 1)),
        ] {
            let relayout = Relayout::new(&from.map, &to.map).unwrap();
            for caches in CACHES {
                for past in [true, false] {
                    let relayout = relayout.clone().with_caches(caches).with_streaming(past);
                    let stores = if past { "non-temporal" } else { "ordinary" };
                    let name = format!("{data_type}[{rows},{columns}] with {caches:?}, {stores} stores");
                    buffers.check(&name, (&from, &to), &relayout, &from, Padding::Keep);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn any_pair_stays_inside_its_buffers((from, to) in pair(), padding in padding()) {
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { return Ok(()) };
        let padding = within(padding, from.map.element_bits());
        let relayout = relayout.with_padding_of_whole_buffer(padding).unwrap();
        let bytes = from.bytes().max(to.bytes()).max(1);
        Buffers::new(bytes).check("a random pair", (&from, &to), &relayout, &from, padding);
    }
}

/// The name of the environment variable that chooses the buffer with a byte that may not be touched.
const SHORT: &str = "TENSOR_LAYOUT_ONE_BYTE_SHORT";

/// The tests above could not fail if an access to a closed page had no effect. This test checks that such an
/// access ends a process.
#[test]
fn one_byte_too_few_ends_the_process() {
    for short in ["source Front", "source Back", "destination Front", "destination Back", "neither"] {
        let test = ["--exact", "guard_pages::a_copy_that_may_end_the_process", "--test-threads=1"];
        let mut child = Command::new(std::env::current_exe().unwrap());
        let result = child.args(test).env(SHORT, short).output().unwrap();
        assert_eq!(result.status.success(), short == "neither", "{short}: {result:?}");
        let said = String::from_utf8_lossy(&result.stdout);
        assert!(said.contains("running 1 test"), "{said}");
        assert!(!said.contains("FAILED"), "it is to fault, and no assertion to fail: {said}");
    }
}

/// The copy that `one_byte_too_few_ends_the_process` runs in a process of its own. Without the environment
/// variable, its buffers are whole.
#[test]
fn a_copy_that_may_end_the_process() {
    let short = std::env::var(SHORT).unwrap_or_default();
    let (from, to) = (side("f32[33,65]{1,0}"), side("f32[33,65]{0,1}"));
    for level in levels() {
        let plan = Relayout::new(&from.map, &to.map).unwrap().with_kernel_level(level);
        let (mut source, mut destination) = (Guarded::new(from.bytes()), Guarded::new(to.bytes()));
        let end = if short.ends_with("Front") { End::Front } else { End::Back };
        // SAFETY: this is unsound on purpose. One of the two buffers has a byte that cannot be touched, and
        // the test is whether the process ends. The process has no other purpose.
        let (read, written) = unsafe {
            let one_too_many = |memory: &mut Guarded, length| memory.with_one_too_many(end, length).as_mut();
            match short.split(' ').next() {
                Some("source") => (one_too_many(&mut source, from.bytes()), destination.bytes(end, to.bytes())),
                Some("destination") => (source.bytes(end, from.bytes()), one_too_many(&mut destination, to.bytes())),
                _ => (source.bytes(end, from.bytes()), destination.bytes(end, to.bytes())),
            }
        };
        plan.run(read, written).unwrap();
    }
}
