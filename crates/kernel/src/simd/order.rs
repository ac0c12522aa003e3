//! A scattered order, which hardware prefetchers do not follow, for lines and blocks in the L2 cache.
//!
//! If a copy jumps between addresses, hardware prefetchers still see strides between these addresses, and
//! fetch lines that are evicted before they are used. On a Zen 5 such a copy takes twice as long. Prefetchers
//! do not follow an order without a constant stride.

/// Returns `number`, but hides its value from the compiler, so that a loop over it is not unrolled.
#[inline(always)]
#[cfg_attr(miri, expect(unused_mut, reason = "Miri has no assembly"))]
pub(super) fn opaque(mut number: usize) -> usize {
    // SAFETY: the assembly has no instruction, only a comment.
    #[cfg(not(miri))]
    unsafe {
        std::arch::asm!("/* {} */", inout(reg) number, options(pure, nomem, nostack, preserves_flags))
    };
    number
}

/// The numbers below `count`, each once, in a scattered order. A linear congruential generator produces all
/// numbers below the next power of two. Numbers that are too large are skipped.
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
            // The generator makes all numbers below the power of two, because the factor is 1 modulo 4 and
            // the summand is odd.
            self.number = self.number.wrapping_mul(69).wrapping_add(35) & self.mask;
            if self.number < self.count {
                return Some(self.number);
            }
        }
    }
}
