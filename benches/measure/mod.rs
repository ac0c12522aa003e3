// Time and allocations of one operation. The bench and the program that measures the other crates share this
// file, so that both are measured in the same way.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The system's allocator, which counts allocations.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: `System` is a correct allocator. Every call goes to it with the same arguments, and counting
// neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller of `alloc` promises a size above 0, which is all that `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller of `dealloc` promises a block of this allocator with this layout. All blocks of
        // this allocator come from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The cost of one operation.
pub(crate) struct Cost {
    /// The nanoseconds of the fastest batch. Disturbances make a batch only slower.
    pub(crate) nanoseconds: f64,
    pub(crate) allocations: f64,
}

pub(crate) fn measure<T>(mut operation: impl FnMut() -> T) -> Cost {
    const BATCHES: u32 = 15;
    let mut count = 1_u32;
    let mut batch = |count: u32| {
        let start = Instant::now();
        for _ in 0..count {
            black_box(operation());
        }
        start.elapsed()
    };
    while batch(count) < Duration::from_millis(1) && count < 1 << 24 {
        count *= 2;
    }
    let before = ALLOCATIONS.with(Cell::get);
    let fastest = (0..BATCHES).map(|_| batch(count)).min().unwrap_or_default();
    let allocations = ALLOCATIONS.with(Cell::get) - before;
    Cost {
        nanoseconds: fastest.as_secs_f64() * 1e9 / f64::from(count),
        allocations: allocations as f64 / f64::from(count * BATCHES),
    }
}

/// Returns one line for a program to read: operation, crate, nanoseconds, allocations.
pub(crate) fn line(operation: &str, crate_name: &str, cost: &Cost) -> String {
    format!("{operation}\t{crate_name}\t{:.1}\t{:.2}", cost.nanoseconds, cost.allocations)
}
