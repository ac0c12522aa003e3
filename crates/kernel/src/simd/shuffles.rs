//! The shuffles between rows: they interleave and deinterleave units of bytes or bits, unpack and pack.
//!
//! The shuffle of 2, 4, 8, ... rows is `log2(rows)` rounds of [`Vector::interleave`], in the pattern of a
//! perfect shuffle: registers `i` and `i + rows / 2` become registers `2 * i` and `2 * i + 1`. The inverse
//! rounds, in reverse order, separate the rows again.
//!
//! ```text
//! four rows        round 1                  round 2
//! a0 a1 a2 a3      a0 c0 a1 c1 (a and c)    a0 b0 c0 d0 (a c and b d)
//! b0 b1 b2 b3      a2 c2 a3 c3              a1 b1 c1 d1
//! c0 c1 c2 c3      b0 d0 b1 d1 (b and d)    a2 b2 c2 d2
//! d0 d1 d2 d3      b2 d2 b3 d3              a3 b3 c3 d3
//! ```
//!
//! Unpacking is an interleave too: elements of 4 bits, interleaved with zeros of 4 bits, are bytes.

use std::marker::PhantomData;

use super::exchange_bits::{exchanged, restored};
use super::vector::{Operation, Vector};
use crate::kernel::{Direction, Stride};
use crate::level::SMALL_PROGRAM;

/// Some whole registers of columns, which one call shuffles. On one side, rows are `pitch` bytes apart. On
/// the other side is one row, in which the registers that are made of the same columns follow each other.
/// [`Shuffling::source_apart`] says which side has the rows.
pub(super) struct Block {
    /// The addresses of the first column of the first row, source and destination.
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    /// The number of registers of each row.
    pub(super) registers: usize,
    /// How often columns are shuffled, and how far apart: the copy's innermost loop, or a loop of one turn.
    pub(super) times: Stride,
    /// The pitch of the rows, which is added with wrapping, because it may be negative.
    pub(super) pitch: usize,
    /// How many bytes ahead the source is prefetched; 0 for no prefetch.
    pub(super) ahead: usize,
    pub(super) streaming: bool,
    /// Whether elements that are unpacked are extended by their sign.
    pub(super) signed: bool,
}

/// Shuffles a block.
///
/// # Safety
///
/// * The CPU has the features of the vector that the function was compiled for.
/// * In each iteration of `times`, the source is readable from `from` on, and the destination writable from
///   `to` on: `registers` vectors of each row on the side whose rows are a pitch apart. The one row of the
///   other side has `registers` times as many vectors as one shuffle loads or stores there.
/// * With `streaming`, `to` and the pitch of destination rows are multiples of a vector.
pub(super) type ShuffleBlock = unsafe fn(&Block);

pub(super) struct Shuffling {
    pub(super) shuffle: ShuffleBlock,
    /// The number of registers that one shuffle loads, and the number of registers that it stores.
    pub(super) sources: usize,
    pub(super) destinations: usize,
    /// Whether the side with rows a pitch apart is the source. The other side is one row.
    pub(super) source_apart: bool,
}

impl Shuffling {
    fn of<V: Vector, S: Shuffle<N>, const N: usize>() -> &'static Shuffling {
        const {
            let (sources, destinations, source_apart) = (S::SOURCES, S::DESTINATIONS, S::SOURCE_APART);
            &Shuffling { shuffle: shuffle_block::<V, S, N>, sources, destinations, source_apart }
        }
    }
}

/// # Safety
///
/// The conditions of [`ShuffleBlock`].
unsafe fn shuffle_block<V: Vector, S: Shuffle<N>, const N: usize>(block: &Block) {
    // SAFETY: the operation `Columns` has the contract of this function.
    unsafe { V::vectorize(Columns::<S, N>(block, PhantomData)) }
}

struct Columns<'a, S, const N: usize>(&'a Block, PhantomData<S>);

/// With this number of destination rows or more, non-temporal stores do without a prefetch of address
/// translations, which would be one more access for each store. By trial (Zen 5).
const MANY_ROWS: usize = 16;

impl<S: Shuffle<N>, const N: usize> Operation for Columns<'_, S, N> {
    /// # Safety
    ///
    /// The conditions of [`ShuffleBlock`].
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let &Block { from: mut first, to: mut target, registers: count, times, pitch, ahead, streaming, signed } =
            self.0;
        let source = |i: usize| if S::SOURCE_APART { i.wrapping_mul(pitch) } else { i * V::BYTES };
        let destination = |i: usize| if S::SOURCE_APART { i * V::BYTES } else { i.wrapping_mul(pitch) };
        let (sources, destinations) = if S::SOURCE_APART { (1, S::DESTINATIONS) } else { (S::SOURCES, 1) };
        for _ in 0..times.extent {
            let (mut from, mut to) = (first, target);
            for _ in 0..count {
                // SAFETY: only registers are touched.
                let mut registers = unsafe { [V::zero(); N] };
                for (i, register) in registers.iter_mut().enumerate().take(S::SOURCES) {
                    let from = from.wrapping_add(source(i));
                    // SAFETY: the next of `count` registers of source row `i` is readable at `from`, by the
                    // contract. A prefetch may be given any address.
                    unsafe {
                        if ahead != 0 {
                            V::prefetch(from.wrapping_add(ahead));
                        }
                        *register = V::load(from);
                    }
                }
                // SAFETY: only registers are touched.
                let registers = unsafe { S::shuffled(registers, signed) };
                for (i, &register) in registers.iter().enumerate().take(S::DESTINATIONS) {
                    let to = to.wrapping_add(destination(i));
                    // SAFETY: the next of `count` registers of destination row `i` is writable at `to`, by
                    // the contract. With `streaming`, `target` and the pitch are multiples of a vector.
                    unsafe {
                        match streaming {
                            true if S::SOURCE_APART || N < MANY_ROWS => register.stream(to),
                            true => register.store_non_temporal(to),
                            false => register.store(to),
                        }
                    }
                }
                from = from.wrapping_add(sources * V::BYTES);
                to = to.wrapping_add(destinations * V::BYTES);
            }
            first = first.wrapping_offset(times.source);
            target = target.wrapping_offset(times.destination);
        }
    }
}

/// A shuffle of `SOURCES` registers into `DESTINATIONS` registers. The arrays have `N` registers, of which
/// the others are not used.
trait Shuffle<const N: usize> {
    const SOURCES: usize = N;
    const DESTINATIONS: usize = N;
    const SOURCE_APART: bool;

    /// Shuffles the registers. `signed` asks for sign extension.
    ///
    /// # Safety
    ///
    /// The CPU has the features of `V`; there is no other condition.
    unsafe fn shuffled<V: Vector>(registers: [V; N], signed: bool) -> [V; N];
}

/// Joins several rows into one row. Units have `UNIT` bytes, or `BITS` bits if `BITS` is less than 8.
struct Join<const BITS: usize, const UNIT: usize>;

/// Separates one row into several rows, which undoes [`Join`].
struct Separate<const BITS: usize, const UNIT: usize>;

impl<const BITS: usize, const UNIT: usize, const N: usize> Shuffle<N> for Join<BITS, UNIT> {
    const SOURCE_APART: bool = true;

    #[inline(always)]
    unsafe fn shuffled<V: Vector>(rows: [V; N], _: bool) -> [V; N] {
        const { assert!(N.is_power_of_two() && (BITS == 8 || UNIT == 1)) };
        // SAFETY: no memory is touched.
        let mut lines = if BITS < 8 { unsafe { exchanged::<V, BITS, N>(rows) } } else { rows };
        for _ in 0..N.ilog2() {
            let old = lines;
            for i in 0..N / 2 {
                // SAFETY: no memory is touched.
                (lines[2 * i], lines[2 * i + 1]) = unsafe { old[i].interleave::<UNIT>(old[i + N / 2]) };
            }
        }
        lines
    }
}

impl<const BITS: usize, const UNIT: usize, const N: usize> Shuffle<N> for Separate<BITS, UNIT> {
    const SOURCE_APART: bool = false;

    #[inline(always)]
    unsafe fn shuffled<V: Vector>(joined: [V; N], _: bool) -> [V; N] {
        const { assert!(N.is_power_of_two() && (BITS == 8 || UNIT == 1)) };
        let mut lines = joined;
        for _ in 0..N.ilog2() {
            let old = lines;
            for i in 0..N / 2 {
                // SAFETY: no memory is touched.
                (lines[i], lines[i + N / 2]) = unsafe { old[2 * i].deinterleave::<UNIT>(old[2 * i + 1]) };
            }
        }
        // SAFETY: no memory is touched.
        if BITS < 8 { unsafe { restored::<V, BITS, N>(lines) } } else { lines }
    }
}

struct JoinThree<const UNIT: usize>;

struct SeparateThree<const UNIT: usize>;

impl<const UNIT: usize> Shuffle<3> for JoinThree<UNIT> {
    const SOURCE_APART: bool = true;

    #[inline(always)]
    unsafe fn shuffled<V: Vector>(rows: [V; 3], _: bool) -> [V; 3] {
        // SAFETY: no memory is touched.
        unsafe { V::interleave_three::<UNIT>(rows) }
    }
}

impl<const UNIT: usize> Shuffle<3> for SeparateThree<UNIT> {
    const SOURCE_APART: bool = false;

    #[inline(always)]
    unsafe fn shuffled<V: Vector>(joined: [V; 3], _: bool) -> [V; 3] {
        // SAFETY: no memory is touched.
        unsafe { V::deinterleave_three::<UNIT>(joined) }
    }
}

/// Unpacks elements of `BITS` bits to bytes: the elements of a row are interleaved with rows of zeros.
struct Unpack<const BITS: usize>;

/// Packs bytes to elements of `BITS` bits, by a deinterleave of which only the first row is kept.
struct Pack<const BITS: usize>;

impl<const BITS: usize, const N: usize> Shuffle<N> for Unpack<BITS> {
    const SOURCES: usize = 1;
    const SOURCE_APART: bool = true;

    #[inline(always)]
    unsafe fn shuffled<V: Vector>(packed: [V; N], signed: bool) -> [V; N] {
        // SAFETY: no memory is touched.
        unsafe { extended::<V, BITS, N>(<Join<BITS, 1> as Shuffle<N>>::shuffled(packed, false), signed) }
    }
}

impl<const BITS: usize, const N: usize> Shuffle<N> for Pack<BITS> {
    const DESTINATIONS: usize = 1;
    const SOURCE_APART: bool = false;

    #[inline(always)]
    unsafe fn shuffled<V: Vector>(bytes: [V; N], _: bool) -> [V; N] {
        // SAFETY: no memory is touched.
        unsafe { <Separate<BITS, 1> as Shuffle<N>>::shuffled(bytes, false) }
    }
}

/// Packs rows of bytes into words of 32 bits. A word has one element of `BITS` bits of each row. First, rows
/// are packed until four rows are left, whose bytes are full of elements. Then the bytes of these four rows
/// are interleaved.
struct PackWords<const BITS: usize>;

impl<const BITS: usize, const N: usize> Shuffle<N> for PackWords<BITS> {
    const DESTINATIONS: usize = 4;
    const SOURCE_APART: bool = true;

    #[inline(always)]
    unsafe fn shuffled<V: Vector>(mut rows: [V; N], _: bool) -> [V; N] {
        const { assert!(N * BITS == 32) };
        // SAFETY: only registers are touched. `packed` gets the `count` rows that are left, at most `N`.
        unsafe {
            // Rows whose elements share a destination byte are neighbours in `rows`. Each call of `packed`
            // joins two neighbours, until the bytes of each row have `8 / BITS` elements.
            let mut count = N;
            if BITS == 1 {
                count = packed::<V, 1, N>(&mut rows, count);
            }
            if BITS <= 2 {
                count = packed::<V, 2, N>(&mut rows, count);
            }
            packed::<V, 4, N>(&mut rows, count);
            let joined = <Join<8, 1> as Shuffle<4>>::shuffled([rows[0], rows[1], rows[2], rows[3]], false);
            rows[..4].copy_from_slice(&joined);
        }
        rows
    }
}

/// Packs each two of the first `count` rows into one row. Each of its bytes has the low `WIDTH` bits of both
/// rows' bytes. Returns the new number of rows.
///
/// # Safety
///
/// The CPU has the features of `V`; there is no other condition.
#[inline(always)]
unsafe fn packed<V: Vector, const WIDTH: usize, const ROWS: usize>(rows: &mut [V; ROWS], count: usize) -> usize {
    for i in 0..count / 2 {
        // SAFETY: no memory is touched.
        (rows[i], _) = unsafe { rows[2 * i].exchange_bits::<WIDTH>(rows[2 * i + 1]) };
    }
    count / 2
}

/// If `signed` is set, extends elements of `BITS` bits by their sign. Each element is in a byte of its own.
///
/// # Safety
///
/// The CPU has the features of `V`; there is no other condition.
#[inline(always)]
unsafe fn extended<V: Vector, const BITS: usize, const N: usize>(mut rows: [V; N], signed: bool) -> [V; N] {
    if signed {
        // With `map` of arrays, the closure would be compiled without the features of `V` wherever the
        // compiler does not inline it.
        for row in &mut rows {
            // SAFETY: no memory is touched.
            *row = unsafe { row.sign_extended::<BITS>() };
        }
    }
    rows
}

/// The shuffle that interleaves (`joins`) or deinterleaves `rows` rows of units of `unit` bytes. `None` if
/// there is no such shuffle.
pub(super) fn of_bytes<V: Vector>(unit: usize, rows: usize, joins: bool) -> Option<&'static Shuffling> {
    macro_rules! bytes {
        ($unit:literal) => {
            match (rows, joins) {
                (2, true) => Shuffling::of::<V, Join<8, $unit>, 2>(),
                (2, false) => Shuffling::of::<V, Separate<8, $unit>, 2>(),
                (3, true) => Shuffling::of::<V, JoinThree<$unit>, 3>(),
                (3, false) => Shuffling::of::<V, SeparateThree<$unit>, 3>(),
                (4, true) => Shuffling::of::<V, Join<8, $unit>, 4>(),
                (4, false) => Shuffling::of::<V, Separate<8, $unit>, 4>(),
                (8, true) if $unit < 8 => Shuffling::of::<V, Join<8, $unit>, 8>(),
                (8, false) if $unit < 8 => Shuffling::of::<V, Separate<8, $unit>, 8>(),
                (16, true) if $unit < 8 && !SMALL_PROGRAM => Shuffling::of::<V, Join<8, $unit>, 16>(),
                (16, false) if $unit < 8 && !SMALL_PROGRAM => Shuffling::of::<V, Separate<8, $unit>, 16>(),
                _ => return None,
            }
        };
    }
    Some(match unit {
        1 => bytes!(1),
        2 => bytes!(2),
        4 => bytes!(4),
        8 if !SMALL_PROGRAM => bytes!(8),
        _ => return None,
    })
}

pub(super) fn of_bits<V: Vector>(bits: usize, direction: Direction) -> Option<&'static Shuffling> {
    Some(match (direction, bits) {
        (Direction::Interleave, 4) => Shuffling::of::<V, Join<4, 1>, 8>(),
        (Direction::Interleave, 2) => Shuffling::of::<V, Join<2, 1>, 16>(),
        (Direction::Interleave, 1) => Shuffling::of::<V, Join<1, 1>, 32>(),
        (Direction::Deinterleave, 4) => Shuffling::of::<V, Separate<4, 1>, 8>(),
        (Direction::Deinterleave, 2) => Shuffling::of::<V, Separate<2, 1>, 16>(),
        (Direction::Deinterleave, 1) => Shuffling::of::<V, Separate<1, 1>, 32>(),
        (Direction::Pack, 4) => Shuffling::of::<V, PackWords<4>, 8>(),
        (Direction::Pack, 2) => Shuffling::of::<V, PackWords<2>, 16>(),
        (Direction::Pack, 1) => Shuffling::of::<V, PackWords<1>, 32>(),
        _ => return None,
    })
}

pub(super) fn of_width<V: Vector>(bits: usize, unpacks: bool) -> Option<&'static Shuffling> {
    Some(match (bits, unpacks) {
        (4, true) => Shuffling::of::<V, Unpack<4>, 2>(),
        (2, true) => Shuffling::of::<V, Unpack<2>, 4>(),
        (1, true) => Shuffling::of::<V, Unpack<1>, 8>(),
        (4, false) => Shuffling::of::<V, Pack<4>, 2>(),
        (2, false) => Shuffling::of::<V, Pack<2>, 4>(),
        (1, false) => Shuffling::of::<V, Pack<1>, 8>(),
        _ => return None,
    })
}
