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

    unsafe fn store_past_cache(self, to: *mut u8) {
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

    unsafe fn store_lanes<const LANES: usize>(self, to: [*mut u8; LANES]) {
        for (lane, to) in self.0.chunks_exact(16).zip(to) {
            // SAFETY: the trait's contract.
            unsafe { std::ptr::copy_nonoverlapping(lane.as_ptr(), to, 16) };
        }
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

    unsafe fn select(self, other: Self, mask: Self) -> Self {
        Self::from_bytes([self, other], |i| if mask.0[i] == 0 { Self::BYTES + i } else { i })
    }

    unsafe fn prefetch(_: *const u8) {}

    unsafe fn prefetch_near(_: *const u8) {}

    unsafe fn prefetch_to_write(_: *const u8) {}

    unsafe fn shuffle<const REGISTERS: usize>(registers: [Self; REGISTERS], index: Self) -> Self {
        Self::from_bytes(registers, |byte| usize::from(index.0[byte]))
    }
}

#[cfg(test)]
mod tests;
