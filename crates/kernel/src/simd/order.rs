//! In which order lines and blocks go through the L2 cache.
//!
//! Where a copy jumps, hardware prefetchers fetch lines that are pushed out before they are used: on Z5 it
//! takes twice as long. An order without a constant stride is not followed.

/// The same number, but not to the compiler: it does not unroll a loop with it.
#[inline(always)]
pub(super) fn opaque(mut number: usize) -> usize {
    // SAFETY: there is no instruction.
    unsafe { std::arch::asm!("/* {} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags)) };
    number
}

/// The numbers below a count, each once: a linear congruential generator that passes over those that are too
/// large.
pub(super) struct Scattered {
    number: usize,
    mask: usize,
    count: usize,
    left: usize,
}

impl Scattered {
    #[inline(always)]
    pub(super) fn new(count: usize) -> Scattered {
        Scattered { number: 0, mask: count.next_power_of_two() - 1, count, left: count }
    }
}

impl Iterator for Scattered {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        loop {
            // Its period is all of the power of two: the factor is 1 modulo 4, the summand odd.
            self.number = self.number.wrapping_mul(69).wrapping_add(35) & self.mask;
            if self.number < self.count {
                return Some(self.number);
            }
        }
    }
}

#[cfg(test)]
mod tests;
