//! Permutes blocks of 4-bit elements by moving the bits of their indices: runs the steps of [`IndexBits`].

use super::vector::{Operation, Vector};
use super::walk::Walk;
use crate::block_permutation::{BlockPermutation, Change, IndexBits, MOST_REGISTERS};

/// Permutes the blocks of every iteration of the loops.
pub(super) struct PermuteIndexBits<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) permutation: &'a BlockPermutation,
    pub(super) bits: &'a IndexBits,
}

impl Operation for PermuteIndexBits<'_> {
    /// # Safety
    ///
    /// * In every iteration, the span of the permutation is readable on the source and writable on the
    ///   destination.
    ///
    /// # Panics
    ///
    /// If the steps are for registers of another size, or for blocks of another size.
    #[inline(always)]
    unsafe fn run<V: Vector, const LANES: usize>(self) {
        let PermuteIndexBits { walk, permutation, bits } = self;
        let block = permutation.block();
        assert!(bits.register == V::BYTES && bits.order.len() * V::BYTES == block, "steps of another block");
        // SAFETY: only a register is set, in code that is compiled with the features of `V`.
        let mut registers = [unsafe { V::zero() }; MOST_REGISTERS];
        let registers = &mut registers[..bits.from.len()];
        for iteration in walk.iterations() {
            for number in 0..permutation.blocks() {
                let from = iteration.from.wrapping_add(permutation.source_of(number..number + 1));
                let to = iteration.to.wrapping_add(number * block);
                for (register, &offset) in registers.iter_mut().zip(&bits.from) {
                    // SAFETY: the block is readable at `from`, by the contract of this function. By invariant
                    // 1 of `IndexBits`, a register at this offset is inside the block.
                    *register = unsafe { V::load(from.add(usize::try_from(offset).unwrap_or(0))) };
                }
                for step in &bits.steps {
                    let apart = step.apart;
                    // SAFETY: only registers are touched, in code that is compiled with the features of `V`.
                    unsafe {
                        match step.unit {
                            1 => in_pairs::<V, 1>(registers, step.change, apart),
                            2 => in_pairs::<V, 2>(registers, step.change, apart),
                            4 => in_pairs::<V, 4>(registers, step.change, apart),
                            8 => in_pairs::<V, 8>(registers, step.change, apart),
                            _ => in_pairs::<V, 16>(registers, step.change, apart),
                        }
                    }
                }
                let streams = walk.streaming && to.align_offset(V::BYTES) == 0;
                for (place, &number) in bits.order.iter().enumerate() {
                    let (register, to) = (registers[usize::from(number)], to.wrapping_add(place * V::BYTES));
                    // SAFETY: the destination block has `order.len()` registers, and is writable. If
                    // `streams` is set, the block begins at a multiple of `V::BYTES`.
                    unsafe { if streams { register.stream(to) } else { register.store(to) } }
                }
            }
        }
    }
}

/// Combines each pair of registers whose numbers differ by `apart`, a power of two, in the way of `change`.
///
/// # Safety
///
/// The CPU has the features of `V`; there is no other condition.
#[inline(always)]
unsafe fn in_pairs<V: Vector, const UNIT: usize>(registers: &mut [V], change: Change, apart: usize) {
    for group in registers.chunks_exact_mut(2 * apart) {
        let (low, high) = group.split_at_mut(apart);
        for (a, b) in low.iter_mut().zip(high) {
            // SAFETY: no memory is accessed.
            (*a, *b) = unsafe {
                match change {
                    Change::Halves => a.exchange_bits::<4>(*b),
                    Change::Interleave => a.interleave::<UNIT>(*b),
                    Change::Deinterleave => a.deinterleave::<UNIT>(*b),
                }
            };
        }
    }
}
