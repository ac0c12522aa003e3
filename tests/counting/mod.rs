//! An allocator that counts, for tests of allocations.
#![allow(dead_code, unreachable_pub, reason = "some programs of tests have it as a module, and count one of the two")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// The number of bytes that this thread has allocated and not freed, and the largest such number.
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static MOST: Cell<i64> = const { Cell::new(0) };
}

fn add(bytes: i64) {
    LIVE.with(|live| {
        live.set(live.get() + bytes);
        MOST.with(|most| most.set(most.get().max(live.get())));
    });
}

/// The number of bytes of a block. No block is larger than `isize::MAX`.
fn bytes(layout: Layout) -> i64 {
    i64::try_from(layout.size()).unwrap_or(i64::MAX)
}

// SAFETY: `System` is a correct allocator. Every call goes to it with the same arguments, and counting
// neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        add(bytes(layout));
        // SAFETY: the caller of `alloc` promises a size above 0, which is all that `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-bytes(layout));
        // SAFETY: the caller of `dealloc` promises a block of this allocator with this layout. All blocks of
        // this allocator come from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Returns the result of an operation, and how many times it allocates on this thread.
pub fn count<T>(operation: impl FnOnce() -> T) -> (T, u64) {
    let before = ALLOCATIONS.with(Cell::get);
    let result = black_box(operation());
    (result, ALLOCATIONS.with(Cell::get) - before)
}

/// Returns the result of an operation, and the most bytes that it held at a time on this thread.
pub fn most_bytes<T>(operation: impl FnOnce() -> T) -> (T, u64) {
    let before = LIVE.with(Cell::get);
    MOST.with(|most| most.set(before));
    let result = black_box(operation());
    (result, u64::try_from(MOST.with(Cell::get) - before).unwrap_or(0))
}
