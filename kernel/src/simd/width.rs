//! Rows of sub-byte elements that are unpacked into bytes, and packed again.
//!
//! Elements interleaved with zeros are elements that fill a byte: to unpack is to interleave a row of them with rows of zeros, by the
//! shuffles of [`interleave`](super::interleave), and to pack is to deinterleave and to keep the first row. What is left is the sign.

use std::ops::Range;

use super::interleave::{Bits, Bytes, InterleaveRows};
use super::vector::{Operation, Vector};
use super::walk::{Iteration, Walk};
use crate::cost::LINE;
use crate::nest::{PackedWords, RowPitch, WidthChange, WidthRow};

/// Unpacks rows of elements of `BITS` bits, of which a byte holds `PARTS`, or packs them.
pub(super) struct ChangeWidth<'a, const BITS: usize, const PARTS: usize> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) row: &'a WidthRow,
}

impl<const BITS: usize, const PARTS: usize> Operation for ChangeWidth<'_, BITS, PARTS> {
    /// # Safety
    ///
    /// In every iteration, [`row.span()`](WidthRow::span) bytes are readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(BITS * PARTS == 8) };
        let ChangeWidth { walk, row } = self;
        debug_assert!(row.bits == BITS);
        // SAFETY: `packed` bytes on one side and `PARTS` times as many on the other are the span of the row.
        unsafe {
            match row.change {
                WidthChange::Unpack { signed: true } => rows::<V, Unpack<BITS, true>, PARTS>(walk, row.packed),
                WidthChange::Unpack { signed: false } => rows::<V, Unpack<BITS, false>, PARTS>(walk, row.packed),
                WidthChange::Pack => rows::<V, Pack<BITS>, PARTS>(walk, row.packed),
            }
        }
    }
}

/// How a register of packed elements becomes `PARTS` registers of bytes, or these one.
trait Change {
    /// Does it unpack?
    const UNPACKS: bool;

    /// From one register, or from all; to all, or to the first.
    ///
    /// # Safety
    ///
    /// Nothing but the features of `V`.
    unsafe fn changed<V: Vector, const PARTS: usize>(parts: [V; PARTS]) -> [V; PARTS];
}

/// Unpacks, with or without a sign.
struct Unpack<const BITS: usize, const SIGNED: bool>;

impl<const BITS: usize, const SIGNED: bool> Change for Unpack<BITS, SIGNED> {
    const UNPACKS: bool = true;

    #[inline(always)]
    unsafe fn changed<V: Vector, const PARTS: usize>(mut parts: [V; PARTS]) -> [V; PARTS] {
        // SAFETY: no memory is touched.
        unsafe {
            parts[1..].fill(V::zero());
            let bytes = Bits::<BITS>::joined::<V, 1, PARTS>(parts);
            if SIGNED { bytes.map(|byte| byte.sign_extended::<BITS>()) } else { bytes }
        }
    }
}

/// Packs.
struct Pack<const BITS: usize>;

impl<const BITS: usize> Change for Pack<BITS> {
    const UNPACKS: bool = false;

    #[inline(always)]
    unsafe fn changed<V: Vector, const PARTS: usize>(parts: [V; PARTS]) -> [V; PARTS] {
        // SAFETY: no memory is touched.
        unsafe { Bits::<BITS>::separated::<V, 1, PARTS>(parts) }
    }
}

/// Changes one row an iteration, which has `packed` bytes where it is packed.
///
/// # Safety
///
/// In every iteration, `packed` bytes are readable on the source and `PARTS` times as many writable on the destination, or the other way
/// round for a `C` that packs.
#[inline(always)]
unsafe fn rows<V: Vector, C: Change, const PARTS: usize>(walk: &Walk<'_>, packed: usize) {
    const { assert!(LINE.is_multiple_of(V::BYTES)) };
    // How many bytes of the destination a packed byte stands for.
    let step = if C::UNPACKS { PARTS } else { 1 };
    let read = if C::UNPACKS { packed } else { packed * PARTS };
    for iteration in walk.iterations(read) {
        let later = iteration.later_in_row(read);
        // Whole lines of the destination are streamed; where it is packed, a vector may be half of one.
        let to_line = iteration.to.align_offset(LINE);
        let streaming = walk.streaming && to_line.is_multiple_of(step);
        let head = if streaming { (to_line / step).min(packed) } else { 0 };
        let whole = if streaming { LINE } else { V::BYTES };
        let end = packed - (packed - head) % whole;
        // SAFETY: the packed bytes up to `head`, from there to `end`, which are whole vectors, and those behind are all of the row.
        // With `streaming`, byte `head` stands for the beginning of a line.
        unsafe {
            partly::<V, C, PARTS>(&iteration, 0..head);
            for first in (head..end).step_by(V::BYTES) {
                if streaming {
                    vectors::<V, C, PARTS, true>(&iteration, first, later);
                } else {
                    vectors::<V, C, PARTS, false>(&iteration, first, later);
                }
            }
            partly::<V, C, PARTS>(&iteration, end..packed);
        }
    }
}

/// A vector where the row is packed, `PARTS` of them where it is not.
///
/// # Safety
///
/// `V::BYTES` bytes from packed byte `first` on, and what they stand for, are inside the row of the iteration. With `STREAMING`, they stand
/// for bytes of the destination that begin a multiple of `V::BYTES` behind a line.
#[inline(always)]
unsafe fn vectors<V: Vector, C: Change, const PARTS: usize, const STREAMING: bool>(
    iteration: &Iteration,
    first: usize,
    later: Option<*const u8>,
) {
    let (from, to) = if C::UNPACKS { (first, first * PARTS) } else { (first * PARTS, first) };
    let (sources, destinations) = if C::UNPACKS { (1, PARTS) } else { (PARTS, 1) };
    // SAFETY: the caller's promise; a prefetch may go anywhere.
    unsafe {
        let mut parts = [V::zero(); PARTS];
        for (i, part) in parts.iter_mut().enumerate().take(sources) {
            let offset = from + i * V::BYTES;
            if let Some(later) = later {
                V::prefetch(later.wrapping_add(offset));
            }
            *part = V::load(iteration.from.add(offset));
        }
        for (i, part) in C::changed::<V, PARTS>(parts).into_iter().enumerate().take(destinations) {
            let to = iteration.to.add(to + i * V::BYTES);
            if STREAMING { part.stream(to) } else { part.store(to) }
        }
    }
}

/// Packed bytes that fill no vector.
///
/// # Safety
///
/// These packed bytes, and what they stand for, are inside the row of the iteration.
#[inline(always)]
unsafe fn partly<V: Vector, C: Change, const PARTS: usize>(iteration: &Iteration, packed: Range<usize>) {
    for first in packed.clone().step_by(V::BYTES) {
        let bytes = (packed.end - first).min(V::BYTES);
        // Where the row is not packed: how many bytes of each vector.
        let of = |i: usize| (bytes * PARTS).saturating_sub(i * V::BYTES).min(V::BYTES);
        let (from, to) = (iteration.from, iteration.to);
        // SAFETY: `bytes` bytes of one side and `PARTS` times as many of the other; a vector that begins behind these has 0.
        unsafe {
            let mut parts = [V::zero(); PARTS];
            if C::UNPACKS {
                parts[0] = V::load_partial(from.add(first), bytes);
            } else {
                for (i, part) in parts.iter_mut().enumerate() {
                    *part = V::load_partial(from.wrapping_add(first * PARTS + i * V::BYTES), of(i));
                }
            }
            let parts = C::changed::<V, PARTS>(parts);
            if C::UNPACKS {
                for (i, part) in parts.into_iter().enumerate() {
                    part.store_partial(to.wrapping_add(first * PARTS + i * V::BYTES), of(i));
                }
            } else {
                parts[0].store_partial(to.add(first), bytes);
            }
        }
    }
}

/// Unpacks words of elements of `BITS` bits into `ROWS` rows of bytes, or packs such rows into words.
pub(super) struct ChangeWords<'a, const BITS: usize, const ROWS: usize> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) words: &'a PackedWords,
}

impl<const BITS: usize, const ROWS: usize> Operation for ChangeWords<'_, BITS, ROWS> {
    /// # Safety
    ///
    /// In every iteration, [`words.span()`](PackedWords::span) bytes are readable on the source and writable on the destination.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        const { assert!(BITS * ROWS == 8 * PackedWords::WORD) };
        let ChangeWords { walk, words: &PackedWords { bits, change, words, pitch } } = self;
        debug_assert!(bits == BITS);
        let pitch = RowPitch::forwards(pitch);
        // SAFETY: `ROWS` rows of `words` bytes, and four bytes for each word where they are packed, are the span.
        unsafe {
            match change {
                WidthChange::Unpack { signed: true } => {
                    Words::<BITS, true>::deinterleave::<V, 1, ROWS>(walk, words, pitch);
                }
                WidthChange::Unpack { signed: false } => {
                    Words::<BITS, false>::deinterleave::<V, 1, ROWS>(walk, words, pitch);
                }
                WidthChange::Pack => Words::<BITS, false>::interleave::<V, 1, ROWS>(walk, words, pitch),
            }
        }
    }
}

/// Words of `ROWS` elements of `BITS` bits, the bytes of which are `ROWS / PACKED` rows of bytes interleaved; each of these holds the elements of
/// `PACKED` rows in its parts.
struct Words<const BITS: usize, const SIGNED: bool>;

impl<const BITS: usize, const SIGNED: bool> InterleaveRows for Words<BITS, SIGNED> {
    const PACKED: usize = 8 / BITS;

    #[inline(always)]
    unsafe fn joined<V: Vector, const UNIT: usize, const ROWS: usize>(mut rows: [V; ROWS]) -> [V; ROWS] {
        const { assert!(UNIT == 1 && ROWS == 4 * Self::PACKED) };
        // SAFETY: no memory is touched.
        unsafe {
            // Rows whose elements share a byte follow each other. Wider and wider parts are filled: by elements, by pairs of them.
            let mut count = ROWS;
            if BITS == 1 {
                count = packed::<V, 1, ROWS>(&mut rows, count);
            }
            if BITS <= 2 {
                count = packed::<V, 2, ROWS>(&mut rows, count);
            }
            packed::<V, 4, ROWS>(&mut rows, count);
            let joined = Bytes::joined::<V, 1, 4>([rows[0], rows[1], rows[2], rows[3]]);
            rows[..4].copy_from_slice(&joined);
        }
        rows
    }

    #[inline(always)]
    unsafe fn separated<V: Vector, const UNIT: usize, const ROWS: usize>(joined: [V; ROWS]) -> [V; ROWS] {
        const { assert!(UNIT == 1 && ROWS == 4 * Self::PACKED) };
        let mut rows = joined;
        // SAFETY: no memory is touched.
        unsafe {
            let bytes = Bytes::separated::<V, 1, 4>([joined[0], joined[1], joined[2], joined[3]]);
            rows[..4].copy_from_slice(&bytes);
            let mut count = unpacked::<V, 4, ROWS>(&mut rows, 4);
            if BITS <= 2 {
                count = unpacked::<V, 2, ROWS>(&mut rows, count);
            }
            if BITS == 1 {
                unpacked::<V, 1, ROWS>(&mut rows, count);
            }
            // No `map`: its closure is compiled without the features of `V` where it is not inlined.
            for row in &mut rows {
                if SIGNED {
                    *row = row.sign_extended::<BITS>();
                }
            }
        }
        rows
    }
}

/// Each two of the first `count` rows become one: the low `WIDTH` bits of either, side by side. How many that makes.
///
/// # Safety
///
/// Nothing but the features of `V`.
#[inline(always)]
unsafe fn packed<V: Vector, const WIDTH: usize, const ROWS: usize>(rows: &mut [V; ROWS], count: usize) -> usize {
    for i in 0..count / 2 {
        // SAFETY: no memory is touched.
        (rows[i], _) = unsafe { rows[2 * i].exchange_bits::<WIDTH>(rows[2 * i + 1]) };
    }
    count / 2
}

/// Undoes [`packed`], with zeros above: each of the first `count` rows becomes two. How many that makes.
///
/// # Safety
///
/// Nothing but the features of `V`.
#[inline(always)]
unsafe fn unpacked<V: Vector, const WIDTH: usize, const ROWS: usize>(rows: &mut [V; ROWS], count: usize) -> usize {
    for i in (0..count).rev() {
        // SAFETY: no memory is touched.
        (rows[2 * i], rows[2 * i + 1]) = unsafe { rows[i].exchange_bits::<WIDTH>(V::zero()) };
    }
    2 * count
}
