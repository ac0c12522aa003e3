//! A copy that was checked once, and how it is run: the safety boundary of this crate.
//!
//! ```text
//! Copy::new    kernel, loops, start      are there iterations outside of any buffer? is there code?    once
//! Copy::run    source, destination       are the buffers as long as the copy reaches?                  each time
//!              run_at_level              the vectors of which CPU?
//!              RunKernel::run            which kernel?
//! ```
//!
//! All that is `unsafe` is entered in [`Copy::run`], and what it may assume is what [`Copy::new`] checked:
//! `kernel/fit.rs` lists it. The fields of a `Copy` are private and do not change.

use std::mem::MaybeUninit;
use std::ops::Range;

#[cfg(target_arch = "aarch64")]
use super::aarch64;
use super::destination::{Destination, initialised};
use super::kernel::{Kernel, Loop, Misfit, Place, Reach, Rows, Stride, writes_are_disjoint};
use super::level::Available;
use super::odometer::Odometer;
use super::portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::simd;
#[cfg(target_arch = "x86_64")]
use super::x86_64;

/// How a copy reads and stores, whatever its kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Whole cache lines are written by non-temporal stores, past the cache.
    pub streaming: bool,
    /// What is prefetched of the source between iterations.
    pub prefetch: Prefetch,
}

/// What is prefetched of the source between iterations. Planes and long lists of runs say for themselves how
/// many panels, rows or runs ahead they prefetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefetch {
    /// Nothing.
    None,
    /// What the iteration will read that comes this many iterations later; at least 1.
    Iterations(u32),
    /// What the row at hand has this many bytes further on.
    InRow(u32),
}

impl Access {
    /// Through the cache, without a prefetch: right for what is in a cache.
    pub const PLAIN: Access = Access { streaming: false, prefetch: Prefetch::None };
}

/// A kernel in all iterations of some loops, checked once.
///
/// `L` holds the loops: a `Vec`, or a slice for a copy that is run once and not kept.
///
/// ```
/// use strided_copy::kernel::{Kernel, Loop, Runs, Stride};
/// use strided_copy::{Access, Available, Copy, Destination, Level};
///
/// // Four rows of three bytes, ten bytes apart, to rows without a gap, the last one first.
/// let rows = Loop::Strided(Stride { extent: 4, source: -10, destination: 3 });
/// let kernel = Kernel::Runs { run: 3, count: Stride::ONCE, by: Runs::Lines { ahead: 0 } };
/// let copy = Copy::new(kernel, vec![rows], (30, 0), Access::PLAIN, Available::up_to(Level::Avx512))?;
/// let mut turned = [0; 12];
/// copy.run(b"abc.......def.......ghi.......jkl", Destination::from(&mut turned[..]));
/// assert_eq!(&turned, b"jklghidefabc");
/// # Ok::<(), strided_copy::Misfit>(())
/// ```
#[derive(Debug, Clone)]
pub struct Copy<L = Vec<Loop>> {
    kernel: Kernel,
    loops: L,
    start: (usize, usize),
    access: Access,
    level: Available,
    reach: Reach,
    bytes: u64,
}

impl<L: AsRef<[Loop]>> Copy<L> {
    /// The copy of a kernel in all iterations of some loops, outer to inner, the first of which begins at
    /// `start`, source and destination. It runs on the vectors of `level`.
    ///
    /// # Errors
    ///
    /// [`Misfit`] says what is wrong: with the reach, the form of the kernel, or how it is to run.
    pub fn new(
        kernel: Kernel,
        loops: L,
        start: (usize, usize),
        access: Access,
        level: Available,
    ) -> Result<Copy<L>, Misfit> {
        let register = level.has_vectors().then(|| level.register());
        let reach = Reach::new(&kernel, loops.as_ref(), start)?;
        kernel.fit(Place { loops: loops.as_ref(), streaming: access.streaming, register })?;
        // A source of a few bytes may be repeated more often than a `u64` counts: then it is in no buffer.
        let extents = loops.as_ref().iter().map(Loop::extent);
        let bytes = extents.fold(kernel.bytes(), |bytes, extent| bytes?.checked_mul(u64::try_from(extent).ok()?));
        let bytes = bytes.ok_or(Misfit::Reach)?;
        Ok(Copy { kernel, loops, start, access, level, reach, bytes })
    }

    /// What runs in each iteration.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The loops around the kernel, outer to inner.
    pub fn loops(&self) -> &[Loop] {
        self.loops.as_ref()
    }

    /// Where the first iteration begins, source and destination.
    pub fn start(&self) -> (usize, usize) {
        self.start
    }

    /// How it reads and stores.
    pub fn access(&self) -> Access {
        self.access
    }

    /// The bytes that both buffers must have, source and destination.
    pub fn reach(&self) -> (usize, usize) {
        self.reach.ends()
    }

    /// The bytes that all iterations write.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it writes every byte of a destination of this length, each once. `true` is certain.
    pub fn fills(&self, length: usize) -> bool {
        let inside = self.reach.is_inside(usize::MAX, length);
        inside && u64::try_from(length) == Ok(self.bytes) && writes_are_disjoint(&self.kernel, self.loops())
    }

    /// Runs the copy.
    ///
    /// # Panics
    ///
    /// If the copy reaches past the end of a buffer.
    #[inline]
    pub fn run(&self, source: &[u8], destination: Destination<'_>) {
        self.run_from(self.start, self.loops(), self.reach, source, destination);
    }

    /// Runs the copy into memory without contents, if it [fills](Self::fills) the memory, and returns its
    /// bytes. Memory that it may not fill is handed back as the error, and nothing has been run.
    ///
    /// # Errors
    ///
    /// The memory.
    ///
    /// # Panics
    ///
    /// If the copy reaches past the end of the source.
    pub fn run_uninit<'m>(
        &self,
        source: &[u8],
        memory: &'m mut [MaybeUninit<u8>],
    ) -> Result<&'m mut [u8], &'m mut [MaybeUninit<u8>]> {
        if !self.fills(memory.len()) {
            return Err(memory);
        }
        self.run(source, Destination::uninitialised(memory));
        // SAFETY: the copy fills the memory: it is inside, and writes as many different bytes as there are.
        // All that kernels write is bytes of the source, or is made of them.
        Ok(unsafe { initialised(memory) })
    }

    /// How many iterations the outermost loop has in a part of the copy, so that the parts write at least
    /// `bytes` bytes each; `None` if the copy has no loop to be cut.
    pub fn iterations_for(&self, bytes: u64) -> Option<usize> {
        let (Loop::Strided(outermost), inner) = self.loops().split_first()? else { return None };
        let each = self.bytes.checked_div(u64::try_from(outermost.extent).ok()?)?.max(1);
        let iterations = usize::try_from(bytes.div_ceil(each)).ok()?;
        // Iterations that are joined stay together.
        let joined = match self.kernel {
            Kernel::Transpose { by: super::kernel::Transpose::Deinterleave(Rows::Joined(runs)), .. }
            | Kernel::InterleaveBits { by: Rows::Joined(runs), .. }
            | Kernel::ChangeWords { by: Rows::Joined(runs), .. }
                if inner.is_empty() =>
            {
                usize::from(runs)
            }
            _ => 1,
        };
        iterations.div_ceil(joined).checked_mul(joined)
    }

    /// Runs some iterations of the outermost loop: `range` counts them. What the copy was checked for holds
    /// for a part of it.
    ///
    /// # Panics
    ///
    /// If the copy reaches past the end of a buffer, if the outermost loop is none or a table, if the range
    /// is not inside it, or if it cuts iterations that are [joined](Rows::Joined).
    pub fn run_iterations(&self, range: Range<usize>, source: &[u8], destination: Destination<'_>) {
        let Some((Loop::Strided(outermost), inner)) = self.loops().split_first() else {
            panic!("a copy without a strided loop has no iterations to choose from");
        };
        assert!(range.start <= range.end && range.end <= outermost.extent, "iterations that the copy does not have");
        let whole = self.iterations_for(1).unwrap_or(1);
        let ends = range.start.is_multiple_of(whole) && range.len().is_multiple_of(whole);
        assert!(ends, "iterations that are joined are cut");
        let (source_moved, destination_moved) = Loop::Strided(*outermost).at(range.start);
        let start = (self.start.0.wrapping_add(source_moved), self.start.1.wrapping_add(destination_moved));
        let mut loops = Vec::with_capacity(inner.len() + 1);
        loops.push(Loop::Strided(Stride { extent: range.len(), ..*outermost }));
        loops.extend_from_slice(inner);
        if !range.is_empty() {
            self.run_from(start, &loops, self.reach, source, destination);
        }
    }

    /// Runs the copy with each side moved by as many bytes: a part that is at several places.
    ///
    /// # Panics
    ///
    /// If the moved copy reaches past the end of a buffer.
    pub fn run_moved(&self, (from, to): (usize, usize), source: &[u8], mut destination: Destination<'_>) {
        assert!(from <= source.len(), "a copy begins after its source");
        let length = destination.len();
        let Some(destination) = destination.part(to.min(length)..length) else { return };
        self.run(&source[from..], destination);
    }

    /// Runs the kernel in some iterations: those of `loops`, the first of which begins at `start`.
    ///
    /// The iterations are all of the copy's or some of them, so that `reach` is true of them, and `fit`
    /// holds.
    #[inline(always)]
    fn run_from(
        &self,
        start: (usize, usize),
        loops: &[Loop],
        reach: Reach,
        source: &[u8],
        mut destination: Destination<'_>,
    ) {
        assert!(reach.is_inside(source.len(), destination.len()), "a copy reaches past the end of its buffers");
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if self.level.has_vectors() {
            let start = (source.as_ptr().wrapping_add(start.0), destination.as_mut_ptr().wrapping_add(start.1));
            let Access { streaming, prefetch } = self.access;
            let walk = simd::Walk { start, loops, streaming, prefetch };
            let _fence = Fence { needed: streaming };
            // SAFETY: by `Copy::new`, each iteration reads and writes inside the reach, which is inside the
            // buffers, and the kernel fits: both are true of every part of the copy (`run_iterations`). The
            // buffers are borrowed for the whole call, the destination exclusively, so they do not overlap.
            return unsafe { run_at_level(&self.kernel, &walk, self.level) };
        }
        self.run_portable(start, loops, source, destination.reborrow());
    }

    /// Runs the kernel in safe Rust.
    #[inline(never)]
    fn run_portable(&self, start: (usize, usize), loops: &[Loop], source: &[u8], mut destination: Destination<'_>) {
        for at in Odometer::new(loops, start) {
            portable::run(&self.kernel, source, &mut destination, at);
        }
    }
}

/// Runs a kernel over vectors.
///
/// # Safety
///
/// * The kernel [fits](Kernel::fit) the walk, and registers of this level.
/// * In every iteration, what the kernel spans is readable from the iteration's offset after `walk.start.0`.
///   All bytes between the first and the last that are read so are readable too.
/// * In every iteration, what the kernel spans is writable from the iteration's offset after `walk.start.1`.
///   It overlaps nothing that is read, and no other thread accesses it.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
unsafe fn run_at_level(kernel: &Kernel, walk: &simd::Walk<'_>, level: Available) {
    use super::level::Level;
    let kernel = simd::RunKernel { kernel, walk };
    // SAFETY: `RunKernel` requires what this function requires, and that the CPU has the features: an
    // `Available` level is made by a check of that alone. `Available::register` is the size of its vector.
    unsafe {
        match level.get() {
            #[cfg(target_arch = "aarch64")]
            Level::Neon => kernel.run::<aarch64::neon::Pair>(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => kernel.run::<x86_64::avx2::Ymm>(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => kernel.run::<x86_64::avx512::Zmm>(),
            #[cfg(feature = "software")]
            Level::Software32 => kernel.run::<simd::software::Software<32>>(),
            #[cfg(feature = "software")]
            Level::Software64 => kernel.run::<simd::software::Software<64>>(),
            level => unreachable!("the level {level} has no vectors on this CPU"),
        }
    }
}

/// Orders non-temporal stores before all later stores of this thread when it is dropped, on every way out of
/// a copy: other threads then see the destination as they would after ordinary stores. (The stores of NEON
/// are ordinary.)
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
struct Fence {
    needed: bool,
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl Drop for Fence {
    #[inline(always)]
    fn drop(&mut self) {
        if self.needed {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: an instruction of SSE, which every x86-64 CPU has.
            unsafe {
                std::arch::x86_64::_mm_sfence();
            }
            #[cfg(feature = "software")]
            crate::observed::fence();
        }
    }
}

#[cfg(test)]
mod tests;
