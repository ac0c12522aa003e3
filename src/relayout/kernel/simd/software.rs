//! A vector of 32 bytes in plain Rust, for tests: it runs the generic kernels on any CPU, and records what they stream.

use std::cell::RefCell;

use super::vector::{Operation, Vector};

thread_local! {
    /// Where this thread has streamed vectors.
    static STREAMED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone, Copy)]
struct Software([u8; 32]);

impl Software {
    /// Byte `i` of the result is byte `index(i)` of the registers in a row.
    fn from_bytes<const N: usize>(registers: [Software; N], index: impl Fn(usize) -> usize) -> Software {
        Software(std::array::from_fn(|i| registers[index(i) / 32].0[index(i) % 32]))
    }
}

impl Vector for Software {
    const BYTES: usize = 32;
    const SHUFFLES_TWO: bool = false;

    unsafe fn vectorize<O: Operation>(operation: O) {
        // SAFETY: the caller's promise; plain Rust needs no feature.
        unsafe { operation.run::<Software, 2>() }
    }

    unsafe fn zero() -> Self {
        Software([0; 32])
    }

    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the trait's contract.
        Software(unsafe { from.cast::<[u8; 32]>().read() })
    }

    unsafe fn load_partial(from: *const u8, bytes: usize) -> Self {
        let mut whole = [0; 32];
        if bytes > 0 {
            // SAFETY: the trait's contract, and a slice of the array checks the length.
            unsafe { std::ptr::copy_nonoverlapping(from, whole[..bytes].as_mut_ptr(), bytes) };
        }
        Software(whole)
    }

    unsafe fn repeat(from: *const u8, bytes: usize) -> Self {
        // SAFETY: the trait's contract.
        let first = unsafe { Self::load_partial(from, bytes) };
        Software(std::array::from_fn(|i| first.0[i % bytes]))
    }

    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the trait's contract.
        unsafe { to.cast::<[u8; 32]>().write(self.0) }
    }

    unsafe fn store_partial(self, to: *mut u8, bytes: usize) {
        if bytes > 0 {
            // SAFETY: the trait's contract, and a slice of the array checks the length.
            unsafe { std::ptr::copy_nonoverlapping(self.0[..bytes].as_ptr(), to, bytes) };
        }
    }

    unsafe fn stream(self, to: *mut u8) {
        assert!(to.addr().is_multiple_of(32), "a streamed vector is not aligned");
        STREAMED.with_borrow_mut(|streamed| streamed.push(to.addr()));
        // SAFETY: the trait's contract.
        unsafe { self.store(to) }
    }

    unsafe fn load_lanes<const LANES: usize>(from: [*const u8; LANES]) -> Self {
        // SAFETY: the trait's contract.
        let lanes = from.map(|lane| unsafe { lane.cast::<[u8; 16]>().read() });
        Software(std::array::from_fn(|i| lanes[i / 16][i % 16]))
    }

    unsafe fn transpose_lanes<const LANES: usize>(rows: [Self; LANES]) -> [Self; LANES] {
        std::array::from_fn(|i| Self::from_bytes(rows, |byte| byte / 16 * 32 + i * 16 + byte % 16))
    }

    unsafe fn unpack<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let half = |first: usize| {
            Self::from_bytes([self, other], |byte| {
                let (lane, place) = (byte / 16, byte % 16 / UNIT);
                (place % 2) * 32 + lane * 16 + first + place / 2 * UNIT + byte % UNIT
            })
        };
        if UNIT == 16 { (self, other) } else { (half(0), half(8)) }
    }

    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let half = |first: usize| {
            Self::from_bytes([self, other], |byte| {
                let place = byte / UNIT;
                (place % 2) * 32 + first + place / 2 * UNIT + byte % UNIT
            })
        };
        (half(0), half(16))
    }

    unsafe fn deinterleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let units = |odd: usize| Self::from_bytes([self, other], |byte| (byte / UNIT * 2 + odd) * UNIT + byte % UNIT);
        (units(0), units(1))
    }

    unsafe fn interleave_three<const UNIT: usize>(rows: [Self; 3]) -> [Self; 3] {
        std::array::from_fn(|i| {
            Self::from_bytes(rows, |byte| {
                let (unit, inside) = ((i * 32 + byte) / UNIT, byte % UNIT);
                unit % 3 * 32 + unit / 3 * UNIT + inside
            })
        })
    }

    unsafe fn deinterleave_three<const UNIT: usize>(joined: [Self; 3]) -> [Self; 3] {
        std::array::from_fn(|i| Self::from_bytes(joined, |byte| (byte / UNIT * 3 + i) * UNIT + byte % UNIT))
    }

    unsafe fn exchange_bits<const WIDTH: usize>(self, other: Self) -> (Self, Self) {
        let even = match WIDTH {
            1 => 0x55,
            2 => 0x33,
            _ => 0x0f,
        };
        let evens = std::array::from_fn(|i| (self.0[i] & even) | ((other.0[i] & even) << WIDTH));
        let odds = std::array::from_fn(|i| ((self.0[i] >> WIDTH) & even) | (other.0[i] & !even));
        (Software(evens), Software(odds))
    }

    unsafe fn shuffle_lanes(self, order: &[u8; 16]) -> Self {
        Self::from_bytes([self], |byte| byte / 16 * 16 + usize::from(order[byte % 16]))
    }

    unsafe fn reverse_lanes(self) -> Self {
        Self::from_bytes([self], |i| (i + 16) % 32)
    }

    unsafe fn shuffle_pairs(low: Self, high: Self, index: Self) -> Self {
        Self::from_bytes([low, high], |i| {
            let place = usize::from(index.0[i]);
            place / 16 * 32 + i / 16 * 16 + place % 16
        })
    }

    unsafe fn load_halves(low: *const u8, high: *const u8) -> Self {
        // SAFETY: the trait's contract.
        unsafe { Self::load_lanes([low, high]) }
    }

    unsafe fn prefetch(_: *const u8) {}

    unsafe fn prefetch_to_write(_: *const u8) {}

    unsafe fn shuffle<const REGISTERS: usize>(registers: [Self; REGISTERS], index: Self) -> Self {
        Self::from_bytes(registers, |byte| usize::from(index.0[byte]))
    }
}

#[cfg(test)]
mod tests {
    use crate::notation::Notated;

    use super::super::super::super::Relayout;
    use super::super::super::super::plan::passes::Passes;
    use super::super::super::super::plan::program::PlannedBox;
    use super::super::super::KernelLevel;
    use super::super::run::RunNest;
    use super::super::walk::Walk;
    use super::*;

    /// A buffer whose first byte lies `shift` bytes behind the beginning of a line.
    struct Buffer {
        bytes: Vec<u8>,
        start: usize,
    }

    impl Buffer {
        fn new(length: usize, shift: usize, byte: impl Fn(usize) -> u8) -> Buffer {
            let mut bytes = vec![0; length + 128];
            let start = bytes.as_ptr().align_offset(64) + shift;
            bytes[start..start + length].iter_mut().enumerate().for_each(|(i, place)| *place = byte(i));
            Buffer { bytes, start }
        }
    }

    /// Runs every nest of a streamed copy with vectors of half a line, compares the bytes with the safe kernels, and returns where
    /// vectors were streamed; `None` if the copy has no nests alone.
    fn streamed(from: &str, to: &str, shift: usize) -> Option<Vec<usize>> {
        let (from, to): (Notated, Notated) = (from.parse().unwrap(), to.parse().unwrap());
        let relayout = Relayout::new(&from, &to).unwrap().with_streaming(true);
        let size = |bytes: u64| usize::try_from(bytes).unwrap();
        let source = Buffer::new(size(relayout.source_size_in_bytes()), 0, |i| i.to_le_bytes()[0] ^ i.to_le_bytes()[1]);
        let mut expected = vec![0; size(relayout.destination_size_in_bytes())];
        let own = &source.bytes[source.start..source.start + size(relayout.source_size_in_bytes())];
        relayout.clone().with_kernel_level(KernelLevel::Portable).run(own, &mut expected).unwrap();
        let mut destination = Buffer::new(expected.len(), shift, |_| 0);
        let Passes::Direct(program) = &relayout.passes else { return None };
        STREAMED.take();
        for planned in &program.prepared {
            let PlannedBox::Nest(nest) = planned else { return None };
            let place = destination.bytes[destination.start..].as_mut_ptr();
            let walk = Walk {
                buffers: (own.as_ptr(), place),
                loops: &nest.loops,
                start: (nest.source, nest.destination),
                streaming: true,
                prefetch: false,
                knobs: &program.knobs,
            };
            // SAFETY: the nest is one of a plan whose layouts fit both buffers.
            unsafe { RunNest { kernel: &nest.kernel, walk: &walk }.run::<Software, 2>() };
        }
        assert!(destination.bytes[destination.start..][..expected.len()] == expected, "{}", relayout.explain());
        Some(STREAMED.take())
    }

    /// Lines of which half was streamed, and then something else.
    fn broken_lines(streamed: &[usize]) -> usize {
        let (mut broken, mut rest) = (0, streamed);
        while let Some((&start, after)) = rest.split_first() {
            // A run of vectors, one behind the other.
            let more = after.iter().zip(1..).take_while(|&(&place, i)| place == start + 32 * i).count();
            let end = start + 32 * (more + 1);
            rest = &after[more..];
            // One long row may begin or end inside a line.
            if end - start < 256 && (!start.is_multiple_of(64) || !end.is_multiple_of(64)) {
                broken += 1;
            }
        }
        broken
    }

    /// The layouts of the suite, with each size at most `most`.
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
        for line in include_str!("../../../../benches/relayout_suite.tsv").lines().filter(|line| !line.starts_with('#'))
        {
            let fields: Vec<&str> = line.split('\t').collect();
            let [_, name, from, to] = fields[..] else { panic!("{line}") };
            // Long enough for whole vectors on either side; ragged edges stay ragged, strides stay as they are.
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

    #[test]
    fn half_lines_to_several_rows_are_noticed() {
        assert_eq!(broken_lines(&[0, 32, 64, 96]), 0);
        assert_eq!(broken_lines(&[0, 32, 640, 672]), 0);
        assert_eq!(broken_lines(&[0, 640, 32, 672]), 4);
        let long: Vec<usize> = (1..12).map(|i| 32 * i).collect();
        assert_eq!(broken_lines(&long), 0);
    }
}
