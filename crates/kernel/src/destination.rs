//! The memory that a copy writes. Kernels read it only if it is marked as readable, and only in order to keep
//! bytes or bits between those that are written.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;

/// The bytes that a copy writes.
///
/// A `&mut [u8]`, a `&mut Vec<u8>` and a `&mut [u8; N]` convert into a destination.
/// [`write_only`](Self::write_only) makes a destination from a pointer to memory that must not be read, such
/// as a mapped GPU buffer.
///
/// A destination of initialised bytes can be read and written. All other destinations are only written, and
/// no reference to their bytes is made. A destination belongs to one copy at a time, like a `&mut [u8]`, and
/// can be sent to another thread. To write it from several threads, [split](Self::split_at) it.
pub struct Destination<'a> {
    start: NonNull<u8>,
    length: usize,
    /// Whether the bytes are initialised and may be read.
    readable: bool,
    memory: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

// SAFETY: a `Destination` is the only access to its bytes while it lives, from any thread: it is made of an
// exclusive reference, or by `write_only`, whose contract says so.
unsafe impl Send for Destination<'_> {}

// SAFETY: through a shared reference, a `Destination` gives out its length, and no access to its bytes.
unsafe impl Sync for Destination<'_> {}

impl<'a> From<&'a mut [u8]> for Destination<'a> {
    #[inline]
    fn from(bytes: &'a mut [u8]) -> Self {
        let length = bytes.len();
        Destination { start: NonNull::from(bytes).cast(), length, readable: true, memory: PhantomData }
    }
}

impl<'a> From<&'a mut Vec<u8>> for Destination<'a> {
    #[inline]
    fn from(bytes: &'a mut Vec<u8>) -> Self {
        bytes.as_mut_slice().into()
    }
}

impl<'a, const N: usize> From<&'a mut [u8; N]> for Destination<'a> {
    #[inline]
    fn from(bytes: &'a mut [u8; N]) -> Self {
        bytes.as_mut_slice().into()
    }
}

impl std::fmt::Debug for Destination<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Destination").field("len", &self.length).field("readable", &self.readable).finish()
    }
}

impl<'a> Destination<'a> {
    /// Makes a destination of memory that is written and never read: uninitialised memory, or a mapped GPU
    /// buffer, which may be write-combining. (`as_raw_ptr` of wgpu's `WriteOnly<[u8]>` returns the pointer.)
    ///
    /// # Safety
    ///
    /// * For `'a`, all bytes are valid for writes from any thread, and nothing else accesses them.
    /// * The bytes need not be valid for reads: no copy reads any of them, and no reference to them is made.
    #[must_use]
    pub unsafe fn write_only(bytes: NonNull<[u8]>) -> Destination<'a> {
        Destination { start: bytes.cast(), length: bytes.len(), readable: false, memory: PhantomData }
    }

    pub(crate) fn uninitialised(bytes: &'a mut [MaybeUninit<u8>]) -> Destination<'a> {
        let length = bytes.len();
        Destination { start: NonNull::from(bytes).cast(), length, readable: false, memory: PhantomData }
    }

    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the length is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether the bytes are initialised and may be read.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.readable
    }

    /// Splits the bytes in front of byte `middle`, like `split_at_mut` of a slice.
    ///
    /// # Panics
    ///
    /// If `middle` is greater than the length.
    #[must_use]
    // Proved for every input (proofs/lemmas.py):
    // * split_at.inside: both parts are inside the bytes, and the second one ends with them.
    // * split_at.apart: the second part begins where the first part ends.
    // * split_at.covers: each byte is in one of the two parts.
    // * split_at.error: a split is refused only if `middle` is after the end.
    pub fn split_at(self, middle: usize) -> (Destination<'a>, Destination<'a>) {
        assert!(middle <= self.length, "a destination of {} bytes is split at byte {middle}", self.length);
        // SAFETY: by the assertion above, `middle` is inside the bytes or at their end.
        let start = unsafe { self.start.add(middle) };
        (Destination { length: middle, ..self }, Destination { start, length: self.length - middle, ..self })
    }

    /// The bytes as a slice, for elements that share a byte with a neighbour. The neighbour must keep its
    /// value, so such a byte is read before it is written.
    ///
    /// # Panics
    ///
    /// If the destination is not readable. Copies of elements that share bytes never get such a destination.
    pub fn bytes_to_change(&mut self) -> &mut [u8] {
        assert!(self.readable, "a destination that cannot be read shares no bytes");
        // SAFETY: a readable destination was made of a `&mut [u8]`. The `length` bytes from `start` on are in
        // this slice, and are borrowed for longer than `self` is borrowed here. Bytes that were written since
        // then are initialised, too.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }

    /// Borrows the whole destination for a shorter time, as a reborrow of a `&mut [u8]` does.
    pub fn reborrow(&mut self) -> Destination<'_> {
        Destination { memory: PhantomData, ..*self }
    }

    /// The destination of a range of the bytes. `None` if the range is not inside the destination.
    // Proved for every input (proofs/lemmas.py):
    // * part.inside: a part is inside the bytes, and as long as its range.
    // * part.error: `None` comes only for a range that is not inside.
    pub fn part(&mut self, range: Range<usize>) -> Option<Destination<'_>> {
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.length)?;
        // SAFETY: by the check above, the range starts inside the bytes or at their end.
        let start = unsafe { self.start.add(range.start) };
        Some(Destination { start, length, readable: self.readable, memory: PhantomData })
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Writes `bytes`. The first byte goes to offset `at`.
    ///
    /// # Panics
    ///
    /// If some of the bytes would be written outside of the destination.
    #[inline(always)]
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        let end = at.checked_add(bytes.len()).filter(|&end| end <= self.length);
        assert!(end.is_some(), "bytes {at} and after are written past the {} of a destination", self.length);
        // SAFETY: all bytes from `at` to `end` are inside the destination. The destination is writable, and
        // borrowed exclusively, so the slice `bytes` does not overlap it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) }
    }

    /// Fills a range with elements of `width` bytes, all equal to `pattern`. If an element has more than 128
    /// bits, its bytes after the pattern are zero.
    ///
    /// # Panics
    ///
    /// If the range is not inside the destination, or if `width` is 0.
    pub fn fill(&mut self, range: Range<usize>, width: usize, pattern: u128) {
        /// Size in bytes of a buffer that is filled with elements once, and then written repeatedly.
        const BLOCK: usize = 1 << 10;
        let pattern = pattern.to_le_bytes();
        let (given, beyond) = (&pattern[..width.min(pattern.len())], width.saturating_sub(pattern.len()));
        let same = given.iter().all(|&byte| byte == given[0]) && (beyond == 0 || given[0] == 0);
        let width = if same { 1 } else { width };
        let mut block = [0; BLOCK];
        if width <= BLOCK {
            // The buffer holds whole elements, and at most as many as the range needs.
            let some = range.len().next_multiple_of(width).min(BLOCK - BLOCK % width);
            let elements = block[..some].chunks_mut(width);
            elements.for_each(|element| {
                element[..given.len().min(width)].copy_from_slice(&given[..given.len().min(width)])
            });
            for at in range.clone().step_by(some.max(1)) {
                self.write(at, &block[..some.min(range.end - at)]);
            }
            return;
        }
        for start in range.clone().step_by(width) {
            let element = start..range.end.min(start + width);
            for at in element.clone().step_by(BLOCK) {
                self.write(at, &block[..BLOCK.min(element.end - at)]);
            }
            self.write(start, &given[..given.len().min(element.len())]);
        }
    }
}
