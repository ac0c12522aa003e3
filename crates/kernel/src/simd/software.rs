//! Vectors of 32 and of 64 bytes in plain Rust, for tests. They run the generic kernels on any CPU, and
//! record the addresses of non-temporal stores.

use std::cell::{Cell, RefCell};

use super::vector::{Operation, Vector};

thread_local! {
    static STREAMED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    static FENCES: Cell<usize> = const { Cell::new(0) };
}

/// How many fences this thread has run, at any level.
#[must_use]
pub fn fences() -> usize {
    FENCES.get()
}

pub(crate) fn fence() {
    FENCES.set(FENCES.get() + 1);
}

/// The addresses of the non-temporal stores that this thread has made since the last call.
#[must_use]
pub fn take_streamed() -> Vec<usize> {
    STREAMED.take()
}

#[derive(Clone, Copy)]
pub(crate) struct Software<const SIZE: usize>([u8; SIZE]);

impl<const SIZE: usize> Software<SIZE> {
    /// The register whose byte `i` is byte `index(i)` of the given registers, counted through all of them.
    fn from_bytes<const N: usize>(registers: [Self; N], index: impl Fn(usize) -> usize) -> Self {
        Software(std::array::from_fn(|i| registers[index(i) / SIZE].0[index(i) % SIZE]))
    }
}

// SAFETY: each function keeps the promises that `Vector` lists. `BYTES` is the size of the array.
unsafe impl<const SIZE: usize> Vector for Software<SIZE> {
    const BYTES: usize = SIZE;
    const SHUFFLES_TWO: bool = SIZE == 64;
    const WINDOW: usize = if SIZE == 64 { 64 } else { 16 };

    #[inline(never)]
    unsafe fn vectorize<O: Operation>(operation: O) {
        // SAFETY: the contract has the operation's conditions. Plain Rust needs no CPU feature.
        unsafe {
            match SIZE {
                32 => operation.run::<Software<32>, 2>(),
                _ => operation.run::<Software<64>, 4>(),
            }
        }
    }

    unsafe fn zero() -> Self {
        Software([0; SIZE])
    }

    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: by the contract of `Vector`, `SIZE` bytes are readable at `from`.
        Software(unsafe { from.cast::<[u8; SIZE]>().read() })
    }

    unsafe fn load_partial(from: *const u8, bytes: usize) -> Self {
        let mut whole = [0; SIZE];
        if bytes > 0 {
            // SAFETY: by `Vector`'s contract, `bytes` bytes are readable at `from`. The slice checks the
            // array.
            unsafe { std::ptr::copy_nonoverlapping(from, whole[..bytes].as_mut_ptr(), bytes) };
        }
        Software(whole)
    }

    unsafe fn repeat(from: *const u8, bytes: usize) -> Self {
        // SAFETY: by the contract of `Vector`, `bytes` bytes are readable at `from`.
        let first = unsafe { Self::load_partial(from, bytes) };
        Software(std::array::from_fn(|i| first.0[i % bytes]))
    }

    unsafe fn store(self, to: *mut u8) {
        // SAFETY: by the contract of `Vector`, `SIZE` bytes are writable at `to`.
        unsafe { to.cast::<[u8; SIZE]>().write(self.0) }
    }

    unsafe fn store_partial(self, to: *mut u8, bytes: usize) {
        if bytes > 0 {
            // SAFETY: by `Vector`'s contract, `bytes` bytes are writable at `to`. The slice checks the array.
            unsafe { std::ptr::copy_nonoverlapping(self.0[..bytes].as_ptr(), to, bytes) };
        }
    }

    unsafe fn store_non_temporal(self, to: *mut u8) {
        assert!(to.addr().is_multiple_of(SIZE), "a streamed vector is not aligned");
        STREAMED.with_borrow_mut(|streamed| streamed.push(to.addr()));
        // SAFETY: by the contract of `Vector`, `SIZE` bytes are writable at `to`.
        unsafe { self.store(to) }
    }

    unsafe fn load_lanes<const LANES: usize>(from: [*const u8; LANES]) -> Self {
        // SAFETY: by the contract of `Vector`, 16 bytes are readable at each pointer.
        let lanes = from.map(|lane| unsafe { lane.cast::<[u8; 16]>().read() });
        Software(std::array::from_fn(|i| lanes[i / 16][i % 16]))
    }

    unsafe fn transpose_lanes<const LANES: usize>(rows: [Self; LANES]) -> [Self; LANES] {
        std::array::from_fn(|i| Self::from_bytes(rows, |byte| byte / 16 * SIZE + i * 16 + byte % 16))
    }

    unsafe fn unpack<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let half = |first: usize| {
            Self::from_bytes([self, other], |byte| {
                let (lane, index) = (byte / 16, byte % 16 / UNIT);
                (index % 2) * SIZE + lane * 16 + first + index / 2 * UNIT + byte % UNIT
            })
        };
        if UNIT == 16 { (self, other) } else { (half(0), half(8)) }
    }

    unsafe fn interleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let half = |first: usize| {
            Self::from_bytes([self, other], |byte| {
                let index = byte / UNIT;
                (index % 2) * SIZE + first + index / 2 * UNIT + byte % UNIT
            })
        };
        (half(0), half(SIZE / 2))
    }

    unsafe fn deinterleave<const UNIT: usize>(self, other: Self) -> (Self, Self) {
        let units = |odd: usize| Self::from_bytes([self, other], |byte| (byte / UNIT * 2 + odd) * UNIT + byte % UNIT);
        (units(0), units(1))
    }

    unsafe fn interleave_three<const UNIT: usize>(rows: [Self; 3]) -> [Self; 3] {
        std::array::from_fn(|i| {
            Self::from_bytes(rows, |byte| {
                let (unit, inside) = ((i * SIZE + byte) / UNIT, byte % UNIT);
                unit % 3 * SIZE + unit / 3 * UNIT + inside
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

    unsafe fn sign_extended<const BITS: usize>(self) -> Self {
        let sign = 1 << (BITS - 1);
        Software(self.0.map(|byte| (byte ^ sign).wrapping_sub(sign)))
    }

    unsafe fn load_halves(low: *const u8, high: *const u8) -> Self {
        // SAFETY: by the contract of `Vector`, half a register is readable at `low` and at `high`.
        Software(std::array::from_fn(|i| unsafe {
            if i < SIZE / 2 { low.add(i).read() } else { high.add(i - SIZE / 2).read() }
        }))
    }

    unsafe fn or(self, other: Self) -> Self {
        Software(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    unsafe fn pick(self, from: Self, index: Self) -> Self {
        let in_lane =
            |i: usize| self.0[i] | if index.0[i] < 16 { from.0[i / 16 * 16 + usize::from(index.0[i])] } else { 0 };
        let in_register = |i: usize| if index.0[i] < 0x80 { self.0[i] } else { from.0[usize::from(index.0[i] & 0x7f)] };
        Software(if Self::WINDOW == 16 { std::array::from_fn(in_lane) } else { std::array::from_fn(in_register) })
    }

    unsafe fn store_chosen(self, to: *mut u8, chosen: Self) {
        assert!(Self::WINDOW == SIZE, "windows are lanes");
        for (i, byte) in self.0.into_iter().enumerate().filter(|&(i, _)| chosen.0[i] == 0xff) {
            // SAFETY: by the contract of `Vector`, the bytes that `chosen` selects are writable.
            unsafe { to.add(i).write(byte) }
        }
    }

    unsafe fn store_lanes<const LANES: usize>(self, to: [*mut u8; LANES]) {
        for (lane, bytes) in to.into_iter().zip(self.0.as_chunks::<16>().0) {
            // SAFETY: by the contract of `Vector`, 16 bytes are writable at each pointer.
            unsafe { lane.cast::<[u8; 16]>().write(*bytes) }
        }
    }

    unsafe fn choose_bits(self, other: Self, mask: Self) -> Self {
        Software(std::array::from_fn(|i| (self.0[i] & mask.0[i]) | (other.0[i] & !mask.0[i])))
    }

    unsafe fn shuffle_in_lanes(self, index: Self) -> Self {
        let byte = |i: usize| match index.0[i] {
            inside @ 0..16 => self.0[i / 16 * 16 + usize::from(inside)],
            nothing => {
                assert!(nothing >= 0x80, "an index of no lane");
                0
            }
        };
        Software(std::array::from_fn(byte))
    }

    unsafe fn prefetch(_: *const u8) {}

    unsafe fn prefetch_near(_: *const u8) {}

    unsafe fn shuffle<const REGISTERS: usize>(registers: [Self; REGISTERS], index: Self) -> Self {
        Self::from_bytes(registers, |byte| usize::from(index.0[byte]))
    }
}
