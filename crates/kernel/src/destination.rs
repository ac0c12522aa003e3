//! The memory that a copy writes. Kernels never read it back.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;

/// The bytes that a copy writes.
///
/// The bytes may be uninitialised, or belong to memory that must not be read, such as a mapped GPU buffer. So
/// every `Destination` can be written, and only a `Destination` that was made of a `&mut [u8]` can be read. A
/// byte that was written is initialised.
pub struct Destination<'a> {
    start: NonNull<u8>,
    length: usize,
    kind: Kind,
    memory: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

/// What is known about the bytes of a destination. All kinds of bytes may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The bytes of a `&mut [u8]`.
    Initialised,
    /// Ordinary memory whose bytes may be uninitialised.
    Uninitialised,
    /// Memory that is never read. Whole cache lines are written with non-temporal stores, whatever the size
    /// of the copy.
    WriteOnly,
}

/// Memory that is written and never read: a mapped GPU buffer, which may be write-combining or uninitialised.
///
/// A slice of bytes, initialised or not, converts into a `WriteOnly` with `From`.
///
/// ```
/// use strided_copy::WriteOnly;
///
/// let mut bytes = [0; 6];
/// assert_eq!(WriteOnly::from(&mut bytes[..]).len(), 6);
/// ```
pub struct WriteOnly<'a>(Destination<'a>);

impl<'a> WriteOnly<'a> {
    /// Makes write-only memory of a pointer (`as_raw_ptr` of wgpu's `WriteOnly<[u8]>` returns the pointer).
    ///
    /// # Safety
    ///
    /// * For `'a`, all bytes are valid for writes from any thread, and nothing else accesses them.
    /// * The bytes need not be valid for reads: no kernel reads any of them, and no reference to them is
    ///   made.
    ///
    /// ```
    /// use std::ptr::NonNull;
    /// use strided_copy::WriteOnly;
    ///
    /// let mut mapped = [0; 6];
    /// // SAFETY: six bytes of our own, which are not touched while `memory` is used.
    /// let memory = unsafe { WriteOnly::new(NonNull::from(&mut mapped[..])) };
    /// assert!(memory.len() == 6 && !memory.is_empty());
    /// ```
    #[must_use]
    pub unsafe fn new(bytes: NonNull<[u8]>) -> WriteOnly<'a> {
        let (start, length) = (bytes.cast(), bytes.len());
        WriteOnly(Destination { start, length, kind: Kind::WriteOnly, memory: PhantomData })
    }

    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.length
    }

    /// Whether the length is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Converts to a destination in which every whole cache line is written once, with a non-temporal store.
    pub fn into_destination(self) -> Destination<'a> {
        Destination { kind: Kind::WriteOnly, ..self.0 }
    }

    /// Returns the destination, which is written as the type it was made from suggests: a slice with ordinary
    /// stores, a pointer to mapped memory with non-temporal stores.
    pub fn into_memory(self) -> Destination<'a> {
        self.0
    }
}

// SAFETY: by the contract of `new`, a `WriteOnly` is the only access to its bytes from any thread, like a
// `&mut [MaybeUninit<u8>]`.
unsafe impl Send for WriteOnly<'_> {}

// SAFETY: a shared `WriteOnly` gives out its length, and no access to its bytes.
unsafe impl Sync for WriteOnly<'_> {}

impl<'a> From<&'a mut [u8]> for WriteOnly<'a> {
    fn from(bytes: &'a mut [u8]) -> Self {
        WriteOnly(bytes.into())
    }
}

impl<'a> From<&'a mut Vec<u8>> for WriteOnly<'a> {
    fn from(bytes: &'a mut Vec<u8>) -> Self {
        bytes.as_mut_slice().into()
    }
}

impl<'a, const N: usize> From<&'a mut [u8; N]> for WriteOnly<'a> {
    fn from(bytes: &'a mut [u8; N]) -> Self {
        bytes.as_mut_slice().into()
    }
}

impl<'a> From<&'a mut [MaybeUninit<u8>]> for WriteOnly<'a> {
    fn from(bytes: &'a mut [MaybeUninit<u8>]) -> Self {
        WriteOnly(Destination::uninitialised(bytes))
    }
}

impl std::fmt::Debug for WriteOnly<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteOnly").field("len", &self.len()).finish()
    }
}

impl<'a> From<&'a mut [u8]> for Destination<'a> {
    fn from(bytes: &'a mut [u8]) -> Self {
        let length = bytes.len();
        Destination { start: NonNull::from(bytes).cast(), length, kind: Kind::Initialised, memory: PhantomData }
    }
}

impl<'a> Destination<'a> {
    /// A destination of memory whose bytes may be uninitialised.
    pub fn uninitialised(bytes: &'a mut [MaybeUninit<u8>]) -> Destination<'a> {
        let length = bytes.len();
        Destination { start: NonNull::from(bytes).cast(), length, kind: Kind::Uninitialised, memory: PhantomData }
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether every whole cache line must be written once, with a non-temporal store.
    pub fn is_write_only(&self) -> bool {
        self.kind == Kind::WriteOnly
    }

    /// The bytes, if they are initialised and may be read.
    pub fn readable(&mut self) -> Option<&mut [u8]> {
        // SAFETY: a destination of this kind was made of a `&mut [u8]` of `self.length` bytes, which is
        // borrowed for longer than `self` is borrowed here. Bytes written since then are initialised.
        (self.kind == Kind::Initialised)
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) })
    }

    /// The bytes as a slice, for elements that share a byte with a neighbour. The neighbour must keep its
    /// value, so the byte is read.
    ///
    /// # Panics
    ///
    /// If the destination cannot be read. A copy with elements that share bytes is never given such a
    /// destination.
    pub fn bytes_to_change(&mut self) -> &mut [u8] {
        self.readable().unwrap_or_else(|| unreachable!("a destination that cannot be read shares no bytes"))
    }

    /// Borrows the destination for a shorter time, with all its bytes.
    pub fn reborrow(&mut self) -> Destination<'_> {
        Destination { memory: PhantomData, ..*self }
    }

    /// The destination of a range of the bytes. `None` if the range is not inside the destination.
    pub fn part(&mut self, range: Range<usize>) -> Option<Destination<'_>> {
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.length)?;
        // SAFETY: the range starts inside the bytes or at their end.
        let start = unsafe { self.start.add(range.start) };
        Some(Destination { start, length, kind: self.kind, memory: PhantomData })
    }

    /// A pointer to the first byte, for kernels over vectors.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Writes `bytes`. The first byte goes to offset `at`.
    ///
    /// # Panics
    ///
    /// If one of the bytes would be written outside of the destination.
    #[inline(always)]
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        let end = at.checked_add(bytes.len()).filter(|&end| end <= self.length);
        assert!(end.is_some(), "bytes {at} and after are written past the {} of a destination", self.length);
        // SAFETY: all bytes from `at` to `end` are inside the destination. It is writable and borrowed
        // exclusively, so `bytes` does not overlap it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) }
    }

    /// Fills a range with elements of `width` bytes, all equal to `pattern`. An element wider than 128 bits
    /// is zero in the bytes beyond the pattern.
    ///
    /// # Panics
    ///
    /// If the range is not inside the destination, or if `width` is 0.
    pub fn fill(&mut self, range: Range<usize>, width: usize, pattern: u128) {
        /// Size in bytes of a block of elements. The block is made once and then written repeatedly.
        const BLOCK: usize = 1 << 10;
        let pattern = pattern.to_le_bytes();
        let (given, beyond) = (&pattern[..width.min(pattern.len())], width.saturating_sub(pattern.len()));
        let same = given.iter().all(|&byte| byte == given[0]) && (beyond == 0 || given[0] == 0);
        let width = if same { 1 } else { width };
        let mut block = [0; BLOCK];
        if width <= BLOCK {
            // The block holds whole elements, and at most as many as the range needs.
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

/// Fills memory with zeros, and returns it as initialised bytes.
pub fn zeroed(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    memory.fill(MaybeUninit::new(0));
    // SAFETY: every byte was just written.
    unsafe { initialised(memory) }
}

/// Returns memory as initialised bytes, after all of it was written.
///
/// # Safety
///
/// * Every byte of `memory` was written.
pub(crate) unsafe fn initialised(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: the slice has the address, length and lifetime of `memory`, whose bytes are initialised by the
    // contract of this function.
    unsafe { std::slice::from_raw_parts_mut(memory.as_mut_ptr().cast(), memory.len()) }
}

#[cfg(test)]
mod tests;
