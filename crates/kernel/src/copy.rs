//! Copies: checked once, and run any number of times. This is the safety boundary of this crate.
//!
//! ```text
//! Copy::new    kernel, loops, start      is every iteration inside buffers of some length? is there code?   once
//! Copy::run    source, destination       are the buffers at least that long?                                each time
//!              simd::run                 which kernel?
//! ```
//!
//! The unsafe code of all kernels is entered in [`Copy::run`]. That code may assume everything that
//! [`Copy::new`] checked, which `kernel/fit.rs` lists. The fields of a `Copy` are private, and do not change
//! after `Copy::new`.

use std::fmt;

use std::marker::PhantomData;

#[cfg(target_arch = "aarch64")]
use super::aarch64;
use super::destination::Destination;
use super::kernel::{Access, Context, FixedList, Kernel, Loop, Misfit, Prefetch, Reach};
use super::level::{Available, SMALL_PROGRAM};
use super::odometer::Odometer;
use super::portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", feature = "software"))]
use super::simd;
#[cfg(target_arch = "x86_64")]
use super::x86_64;

/// A kernel inside a nest of loops, which was checked once and runs any number of times.
///
/// `L` is the type of the list of loops: a `Vec`, or a slice for a copy that runs once and is not kept.
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
#[derive(Clone)]
pub struct Copy<L = Vec<Loop>> {
    kernel: Kernel,
    loops: L,
    start: (usize, usize),
    access: Access,
    reach: Reach,
    bytes: u64,
    /// The function that runs the kernel with the vectors of a level. `None` if the kernel runs in safe Rust.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", feature = "software"))]
    code: Option<simd::Run>,
}

/// Prints the copy on one line: the bytes that are written, where the first iteration begins on either side,
/// the loops, the kernel and how the copy prefetches.
impl<L: FixedList<Loop>> fmt::Debug for Copy<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at +{} -> +{}; ", self.bytes, self.start.0, self.start.1)?;
        self.loops().iter().try_for_each(|step| write!(f, "{step:?}; "))?;
        write!(f, "{:?}", self.kernel)?;
        match self.access.prefetch {
            Prefetch::None => Ok(()),
            prefetch => write!(f, "; prefetch {prefetch:?}"),
        }
    }
}

impl<L: FixedList<Loop>> Copy<L> {
    /// Checks a kernel inside a nest of loops, outer to inner. The first iteration begins at `start`, in
    /// bytes on the source and on the destination. The copy will run on the vectors of `level`.
    ///
    /// # Errors
    ///
    /// The error, a [`Misfit`], says what is wrong: the reach of the copy, the form of the kernel, or the
    /// code that the kernel asks for.
    pub fn new(
        kernel: Kernel,
        loops: L,
        start: (usize, usize),
        access: Access,
        level: Available,
    ) -> Result<Copy<L>, Misfit> {
        let (reach, bytes) = check(&kernel, loops.as_ref(), start, access, level)?;
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", feature = "software"))]
        let code = if SMALL_PROGRAM && kernel.is_rare() { None } else { code(level) };
        Ok(Copy {
            kernel,
            loops,
            start,
            access,
            reach,
            bytes,
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", feature = "software"))]
            code,
        })
    }

    /// The kernel that runs in each iteration.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The loops around the kernel, outer to inner.
    pub fn loops(&self) -> &[Loop] {
        self.loops.as_ref()
    }

    /// Where the first iteration begins, in bytes on the source and on the destination.
    pub fn start(&self) -> (usize, usize) {
        self.start
    }

    /// How the copy loads and stores.
    pub fn access(&self) -> Access {
        self.access
    }

    /// The shortest buffers that the copy can run on, source and destination, in bytes.
    pub fn reach(&self) -> (usize, usize) {
        self.reach.ends()
    }

    /// Whether a source of `source` and a destination of `destination` bytes are long enough for the copy.
    #[inline]
    pub fn is_inside(&self, source: usize, destination: usize) -> bool {
        self.reach.is_inside(source, destination)
    }

    /// How many bytes all iterations write together.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Runs the copy.
    ///
    /// # Panics
    ///
    /// If a buffer is shorter than the [reach](Self::reach) of the copy.
    #[inline(always)]
    pub fn run(&self, source: &[u8], destination: Destination<'_>) {
        let _fence = Fence { needed: self.access.streaming };
        self.run_unfenced(source, destination);
    }

    #[inline(always)]
    fn run_unfenced(&self, source: &[u8], mut destination: Destination<'_>) {
        assert!(self.reach.is_inside(source.len(), destination.len()), "a copy reaches past the end of its buffers");
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", feature = "software"))]
        if let Some(run) = self.code {
            let start =
                (source.as_ptr().wrapping_add(self.start.0), destination.as_mut_ptr().wrapping_add(self.start.1));
            let Access { streaming, prefetch } = self.access;
            let readable = destination.is_readable();
            let walk = simd::Walk { start, loops: self.loops(), streaming, readable, prefetch };
            // SAFETY: this is how the contract of `simd::run` is met.
            // * `code` took the function of the level in an `Available`, which this CPU was found to have.
            // * `check` called `Kernel::fit` for the registers of that level, and for these loops: no field
            //   changes after the check, and a `FixedList` gives the same loops again.
            // * `Reach::new` computed the ends of what all iterations span, and found that none begins before
            //   byte 0. The assertion above says that both buffers go on to these ends.
            // * The destination is borrowed exclusively, so no source byte is in it and no other thread
            //   accesses it. `readable` says of all of its bytes whether they are initialised. The source is
            //   one slice, so all bytes between two that are read are readable.
            return unsafe { run(&self.kernel, &walk) };
        }
        self.run_portable(source, destination.reborrow());
    }

    #[inline(never)]
    fn run_portable(&self, source: &[u8], mut destination: Destination<'_>) {
        let length = destination.len();
        for (from, to) in Odometer::new(self.loops(), self.start) {
            let part = destination.part(to..length);
            let mut part = part.unwrap_or_else(|| unreachable!("every iteration is inside the destination"));
            portable::run(&self.kernel, &source[from..], &mut part);
        }
    }
}

/// The checks of [`Copy::new`]. Returns the reach of a copy, and how many bytes it writes in all.
fn check(
    kernel: &Kernel,
    loops: &[Loop],
    start: (usize, usize),
    access: Access,
    level: Available,
) -> Result<(Reach, u64), Misfit> {
    let register = level.has_vectors().then(|| level.register());
    let reach = Reach::new(kernel, loops, start)?;
    kernel.fit(Context { loops, streaming: access.streaming, register })?;
    // Loops with strides of 0 may repeat bytes more often than a `u64` can count. Such copies are refused.
    let extents = loops.iter().map(Loop::extent);
    let bytes = extents.fold(kernel.bytes(), |bytes, extent| bytes?.checked_mul(u64::try_from(extent).ok()?));
    Ok((reach, bytes.ok_or(Misfit::Reach)?))
}

/// Returns the function that runs kernels with the vectors of a level, or `None` for safe Rust. `Available`
/// has checked that this CPU has the features of the vectors, whose size is [`Available::register`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", feature = "software"))]
fn code(level: Available) -> Option<simd::Run> {
    use super::level::Level;
    Some(match level.get() {
        #[cfg(target_arch = "aarch64")]
        Level::Neon => simd::run::<aarch64::neon::Pair>,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => simd::run::<x86_64::avx2::Ymm>,
        #[cfg(all(target_arch = "x86_64", any(not(feature = "small"), feature = "software")))]
        Level::Avx512 => simd::run::<x86_64::avx512::Zmm>,
        #[cfg(feature = "software")]
        Level::Software32 => simd::run::<simd::software::Software<32>>,
        #[cfg(feature = "software")]
        Level::Software64 => simd::run::<simd::software::Software<64>>,
        _ => return None,
    })
}

/// A destination into which several copies run, with one store fence after the last of them. A fence waits
/// until all non-temporal stores have reached memory, which takes longer than a copy of a few KiB.
///
/// ```
/// use strided_copy::kernel::{Kernel, Runs, Stride};
/// use strided_copy::{Access, Available, Copy, Destination, Level};
///
/// let kernel = Kernel::Runs { run: 2, count: Stride::ONCE, by: Runs::Words };
/// let copy = Copy::new(kernel, Vec::new(), (0, 0), Access::PLAIN, Available::up_to(Level::Avx512))?;
/// let mut turned = [0; 4];
/// Destination::from(&mut turned[..]).with_copies(|copies| {
///     copies.run(&copy, (0, 2), b"abcd");
///     copies.run(&copy, (2, 0), b"abcd");
/// });
/// assert_eq!(&turned, b"cdab");
/// # Ok::<(), strided_copy::Misfit>(())
/// ```
pub struct Copies<'a> {
    destination: Destination<'a>,
    fence: Fence,
    /// A fence orders the stores of its own thread, so all copies run on that thread.
    one_thread: PhantomData<*const ()>,
}

impl<'a> Destination<'a> {
    /// Calls a function that runs copies into this destination, and then runs a store fence if one of the
    /// copies needs it.
    // The called function gets a reference, so it cannot leak the [`Copies`], whose drop runs the fence.
    pub fn with_copies<R>(self, run: impl FnOnce(&mut Copies<'_>) -> R) -> R {
        run(&mut Copies { destination: self, fence: Fence { needed: false }, one_thread: PhantomData })
    }
}

impl Copies<'_> {
    /// Runs a copy in another place of its buffers: `from` bytes are added to all source offsets, and `to`
    /// bytes to all destination offsets. So one copy serves for all equal parts of a buffer.
    ///
    /// # Panics
    ///
    /// If the copy, moved by `from` and `to`, reaches past the end of a buffer.
    pub fn run<L: FixedList<Loop>>(&mut self, copy: &Copy<L>, (from, to): (usize, usize), source: &[u8]) {
        assert!(from <= source.len(), "a copy begins after its source");
        let length = self.destination.len();
        let Some(part) = self.destination.part(to.min(length)..length) else { return };
        self.fence.needed |= copy.access.streaming;
        copy.run_unfenced(&source[from..], part);
    }

    /// Returns the destination for other uses. If a copy used non-temporal stores, a store fence runs before.
    pub fn destination(&mut self) -> Destination<'_> {
        self.fence = Fence { needed: false };
        self.destination.reborrow()
    }
}

/// Runs a store fence when it is dropped, so that every way out of a copy runs the fence. The fence orders
/// the non-temporal stores of the copy before all later stores of this thread. So other threads see the
/// destination as if the stores were ordinary. Only the kernels for x86-64 have non-temporal stores.
struct Fence {
    needed: bool,
}

impl Drop for Fence {
    #[inline(always)]
    fn drop(&mut self) {
        if self.needed {
            // Miri cannot run the instruction, and makes no non-temporal stores that need it.
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            // SAFETY: `sfence` is an instruction of SSE, which every x86-64 CPU has.
            unsafe {
                std::arch::x86_64::_mm_sfence();
            }
            #[cfg(feature = "software")]
            super::simd::software::fence();
        }
    }
}
