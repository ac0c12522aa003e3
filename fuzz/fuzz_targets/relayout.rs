//! A copy between two random layouts against a copy of one element after the other: whole, in pieces, on
//! threads, and into memory that is only written, at every level of kernels and by any choice, between guard
//! bytes.
#![no_main]

use std::ptr::NonNull;

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout::relayout::{Destination, Level, Padding, Relayout, Settings, Stores};
use tensor_layout_fuzz::copies::{literal_copy, noise};
use tensor_layout_fuzz::layouts::{AnySide, Side, Tensor};

#[derive(Debug, Arbitrary)]
struct Input {
    tensor: Tensor,
    from: AnySide,
    to: AnySide,
    padding: u8,
    pattern: u64,
    level: u8,
    way: u8,
    reversed: u8,
    pieces: u8,
    shift: u8,
    /// Which answers of a choice are given, each a bit, and how it is written.
    choice: (u16, u8),
}

/// The answers of a choice: any of them together select a plan that copies the same bytes.
const ANSWERS: [&str; 14] = [
    "stores=cached",
    "stores=streaming",
    "loops=kernel",
    "registers=32",
    "prefetch=no",
    "prefetch=yes",
    "panels=wide",
    "panels=narrow",
    "rows=registers",
    "rows=panels",
    "lines=scattered",
    "tiles=joined",
    "ahead=near",
    "order=source",
];

/// Bytes in front of and after a buffer that must stay as they are.
const GUARD: usize = 24;

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let sizes = input.tensor.sizes(2500);
    let data_type = input.tensor.data_type();
    let (from, to) = (input.from.side(data_type, &sizes, 8000), input.to.side(data_type, &sizes, 8000));
    let axes: Vec<usize> = (0..sizes.len()).filter(|axis| input.reversed >> axis & 1 == 1).collect();
    let relayout = match Relayout::with_settings(
        &from.map,
        &to.map,
        &Settings { reversed: axes.clone(), ..Settings::default() },
    ) {
        Ok(relayout) => relayout,
        Err(error) if error.code() == "overlapping_destination" => {
            let index =
                |text: &str| -> Vec<u64> { text.trim_matches(['[', ']']).split(", ").flat_map(str::parse).collect() };
            let (first, second, offset) = (index(error.what()), index(error.found()), error.value().unwrap());
            assert!(first != second && to.has_repeats());
            assert_eq!((to.map.offset(&first), to.map.offset(&second)), (Ok(offset), Ok(offset)));
            return;
        }
        Err(error) => {
            let widths = (from.map.element_bits(), to.map.element_bits());
            assert!(error.code() == "element_bits_mismatch" && widths.0 != widths.1, "{error}");
            return;
        }
    };
    assert!(!to.has_repeats(), "{} -> {}", from.text, to.text);
    let padding = match input.padding % 4 {
        0 | 1 => Padding::Keep,
        2 => Padding::Zero,
        _ => {
            let bits = from.map.element_bits().min(to.map.element_bits());
            let pattern = u128::from(input.pattern) << 64 | u128::from(input.pattern.rotate_left(7));
            Padding::Fill(if bits < 128 { pattern & ((1 << bits) - 1) } else { pattern })
        }
    };
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| level.is_available()).collect();
    let (chosen, version) = input.choice;
    let answers = ANSWERS.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1).map(|(_, answer)| *answer);
    let words: Vec<&str> =
        [["v1", "v2", "", "v1 "][usize::from(version % 16).min(3)]].into_iter().chain(answers).collect();
    let settings = Settings {
        choice: (chosen != 0).then(|| words.join(" ")),
        kernels: Some(levels[usize::from(input.level) % levels.len()]),
        stores: if input.level & 64 != 0 { Stores::Streaming } else { Stores::Cached },
        least_piece: Some(1),
        ..relayout.settings().clone()
    };
    let relayout =
        Relayout::with_settings(&from.map, &to.map, &settings).unwrap().with_padding_of_whole_buffer(padding).unwrap();
    assert_eq!(relayout.source_size_in_bytes(), from.bytes() as u64);
    assert_eq!(relayout.destination_size_in_bytes(), to.bytes() as u64);
    Copy { from, to, relayout, padding, sizes, axes, pieces: input.pieces, shift: usize::from(input.shift % 70) }
        .check(input.way);
});

struct Copy {
    from: Side,
    to: Side,
    relayout: Relayout,
    padding: Padding,
    sizes: Vec<u64>,
    axes: Vec<usize>,
    pieces: u8,
    shift: usize,
}

impl Copy {
    /// Row-major numbers of the destination's elements to those of the source's.
    fn order(&self) -> Vec<usize> {
        let count = self.to.offsets.len();
        (0..count)
            .map(|element| {
                let (mut rest, mut number, mut below) = (element as u64, 0, 1);
                for (axis, &size) in self.sizes.iter().enumerate().rev() {
                    let position = rest % size;
                    number += if self.axes.contains(&axis) { size - 1 - position } else { position } * below;
                    (rest, below) = (rest / size, below * size);
                }
                number as usize
            })
            .collect()
    }

    fn expect(&self, source: &[u8], destination: &mut [u8]) {
        let order = self.order();
        literal_copy((&self.from, &self.to), |element| order[element], source, destination, self.padding);
    }

    fn check(&self, way: u8) {
        let (front, length) = (GUARD + self.shift, self.to.bytes());
        // Nothing after the source: a sanitizer sees what is read there.
        let source = noise(self.shift + self.from.bytes(), 1);
        let source = &source[self.shift..];
        let mut expected = noise(front + length + GUARD, 2);
        let mut destination = expected.clone();
        self.expect(source, &mut expected[front..]);
        let own = &mut destination[front..][..length];
        let relayout = &self.relayout;
        let pieces = usize::from(self.pieces % 12);
        match way % 10 {
            0 | 1 | 4 => relayout.run(source, own).unwrap(),
            2 => {
                let pieces = relayout.partition(pieces, usize::from(self.pieces / 12)).unwrap();
                for piece in pieces.iter().rev() {
                    piece.run(source, &mut own[piece.destination_range()]).unwrap();
                }
            }
            3 => {
                if relayout.run_parallel(source, own).is_err() {
                    unreachable!();
                }
            }
            5..=7 => {
                let before = own.to_vec();
                if let Err(error) = relayout.run(source, write_only(own)) {
                    assert!(error.code() == "destination_read" && *own == before, "{}", self.words());
                    relayout.run(source, own).unwrap();
                }
            }
            8 => {
                for piece in relayout.partition(pieces, 1).unwrap() {
                    let own = &mut own[piece.destination_range()];
                    let before = own.to_vec();
                    if let Err(error) = piece.run(source, write_only(own)) {
                        assert!(error.code() == "destination_read" && *own == before, "{}", self.words());
                        piece.run(source, own).unwrap();
                    }
                }
            }
            _ => relayout.run_parallel(source, own).unwrap(),
        }
        assert!(destination == expected, "way {}: {}", way % 10, self.words());
    }

    fn words(&self) -> String {
        let Copy { from, to, padding, axes, shift, relayout, .. } = self;
        format!("{} -> {}, {padding:?}, reversed {axes:?}, shift {shift}\n{}", from.text, to.text, relayout.explain())
    }
}

/// The bytes as memory that is never read.
fn write_only(bytes: &mut [u8]) -> Destination<'_> {
    // SAFETY: the bytes are borrowed exclusively for as long as the result lives.
    unsafe { Destination::write_only(NonNull::from(bytes)) }
}
