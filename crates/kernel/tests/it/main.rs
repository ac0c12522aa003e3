//! The tests of this crate. Those of kernels at every level need the feature `software`, which has vectors of
//! every width in plain Rust.
#![allow(unsafe_code, reason = "a destination that is only written, and two files of the crate")]

#[cfg(feature = "software")]
mod block_permutation;
#[cfg(feature = "software")]
mod channels;
mod copy;
#[cfg(target_arch = "x86_64")]
mod cpuid;
mod destination;
mod lemmas;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", feature = "software"))]
mod order;
mod plain;
mod plane;
mod reach;
#[cfg(feature = "software")]
mod twins;

/// The cases of a test. STRIDED_COPY_CASES says how many there are, or `sample`: small ones alone, and a few
/// of each kind, for an interpreter such as Miri.
#[cfg_attr(not(feature = "software"), allow(dead_code, reason = "plain loops have few cases"))]
struct Cases {
    count: u64,
    is_sample: bool,
}

#[cfg_attr(not(feature = "software"), allow(dead_code, reason = "plain loops have few cases"))]
impl Cases {
    /// The most bytes of both buffers of a small case.
    const SMALL: usize = 1024;
    const OF_A_KIND: u64 = 4;

    fn or(count: u64) -> Cases {
        let text = std::env::var("STRIDED_COPY_CASES").unwrap_or_default();
        let is_sample = text == "sample";
        Cases { count: text.parse().unwrap_or(count), is_sample }
    }

    /// Whether a case with buffers of `bytes` bytes is left out, if `seen` of its kind were run.
    fn leave_out(&self, bytes: usize, seen: u64) -> bool {
        self.is_sample && (bytes > Cases::SMALL || seen >= Cases::OF_A_KIND)
    }

    /// Whether cases of every kind were run, so that no others are made.
    fn is_enough(&self, seen: &[u64]) -> bool {
        self.is_sample && seen.iter().all(|&seen| seen >= Cases::OF_A_KIND)
    }
}

/// The random number generator SplitMix64.
#[cfg(feature = "software")]
struct Random(u64);

#[cfg(feature = "software")]
impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(most).unwrap()).unwrap()
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
