//! The memory that a copy writes, which kernels cannot read back.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr::NonNull;

/// The bytes that a copy writes.
///
/// They may be uninitialised, or memory that is not to be read, such as a mapped GPU buffer. So they can be
/// written through this type, and read only where it was made of a `&mut [u8]`. Whatever is written is
/// initialised.
pub struct Destination<'a> {
    start: NonNull<u8>,
    length: usize,
    kind: Kind,
    memory: PhantomData<&'a mut [MaybeUninit<u8>]>,
}

/// What may be done with the bytes of a destination beside writing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A `&mut [u8]`.
    Initialised,
    /// Ordinary memory without contents.
    Uninitialised,
    /// Memory that is never read: whole lines are stored past the cache, whatever the size of the copy.
    WriteOnly,
}

/// Memory that is written and never read: a mapped GPU buffer, which may be write-combining or hold nothing
/// yet.
///
/// Bytes of one's own are such memory too, by `From`, initialised or not.
///
/// ```
/// use strided_copy::WriteOnly;
///
/// let mut bytes = [0; 6];
/// assert_eq!(WriteOnly::from(&mut bytes[..]).len(), 6);
/// ```
pub struct WriteOnly<'a>(Destination<'a>);

impl<'a> WriteOnly<'a> {
    /// Memory that a pointer names (wgpu's `WriteOnly<[u8]>` gives it as `as_raw_ptr`).
    ///
    /// # Safety
    ///
    /// For `'a`, all of its bytes are valid for writes, from any thread, and nothing else accesses them. They
    /// need not be valid for reads: no kernel reads any of them, and no reference to them is made.
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

    /// How many bytes it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.length
    }

    /// Has it no bytes?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// As memory that every line is to be stored to once, past the cache.
    pub fn into_destination(self) -> Destination<'a> {
        Destination { kind: Kind::WriteOnly, ..self.0 }
    }

    /// As the memory that it was made of: bytes of one's own are stored to through the cache.
    pub fn into_memory(self) -> Destination<'a> {
        self.0
    }
}

// SAFETY: as a `&mut [MaybeUninit<u8>]`, it is the only access to its bytes, from any thread (`new`).
unsafe impl Send for WriteOnly<'_> {}

// SAFETY: a shared one gives its length and nothing else.
unsafe impl Sync for WriteOnly<'_> {}

impl<'a> From<&'a mut [u8]> for WriteOnly<'a> {
    fn from(bytes: &'a mut [u8]) -> Self {
        WriteOnly(bytes.into())
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
    /// Memory without contents.
    pub fn uninitialised(bytes: &'a mut [MaybeUninit<u8>]) -> Destination<'a> {
        let length = bytes.len();
        Destination { start: NonNull::from(bytes).cast(), length, kind: Kind::Uninitialised, memory: PhantomData }
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Has it no bytes?
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Is it memory that every line is to be stored to once, past the cache?
    pub fn is_write_only(&self) -> bool {
        self.kind == Kind::WriteOnly
    }

    /// Its bytes, if they are initialised and may be read.
    pub fn readable(&mut self) -> Option<&mut [u8]> {
        // SAFETY: it was made of a `&mut [u8]` of this length, which is borrowed for longer than `self` is
        // here; what has been written since is initialised.
        (self.kind == Kind::Initialised)
            .then(|| unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) })
    }

    /// Its bytes, where elements share them with what is to stay.
    ///
    /// # Panics
    ///
    /// If it cannot be read: such a destination is given no plan with elements of this kind.
    pub fn bytes_to_change(&mut self) -> &mut [u8] {
        self.readable().unwrap_or_else(|| unreachable!("a destination that cannot be read shares no bytes"))
    }

    /// The same bytes, for a shorter time.
    pub fn reborrow(&mut self) -> Destination<'_> {
        Destination { memory: PhantomData, ..*self }
    }

    /// Some of the bytes; `None` if they are outside.
    pub fn part(&mut self, range: Range<usize>) -> Option<Destination<'_>> {
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.length)?;
        // SAFETY: the range begins inside the bytes, or right after them.
        let start = unsafe { self.start.add(range.start) };
        Some(Destination { start, length, kind: self.kind, memory: PhantomData })
    }

    /// Its first byte, for kernels over vectors.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Writes some bytes, the first one at byte `at`.
    ///
    /// # Panics
    ///
    /// If they are not all inside.
    #[inline(always)]
    pub fn write(&mut self, at: usize, bytes: &[u8]) {
        let end = at.checked_add(bytes.len()).filter(|&end| end <= self.length);
        assert!(end.is_some(), "bytes {at} and after are written past the {} of a destination", self.length);
        // SAFETY: the bytes from `at` on are inside the destination, which is writable and borrowed
        // exclusively, so that `bytes` is elsewhere.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) }
    }

    /// Sets elements of `width` bytes, one after the other, to `pattern`, and what they have beyond 128 bits
    /// to zero.
    ///
    /// # Panics
    ///
    /// If they are not all inside, or if `width` is 0.
    pub fn fill(&mut self, range: Range<usize>, width: usize, pattern: u128) {
        /// Bytes of the elements that are made once and then written again and again.
        const BLOCK: usize = 1 << 10;
        let pattern = pattern.to_le_bytes();
        let (given, beyond) = (&pattern[..width.min(pattern.len())], width.saturating_sub(pattern.len()));
        let same = given.iter().all(|&byte| byte == given[0]) && (beyond == 0 || given[0] == 0);
        let width = if same { 1 } else { width };
        let mut block = [0; BLOCK];
        if width <= BLOCK {
            // Whole elements, as many as are needed.
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

/// Memory without contents as bytes, all zero.
pub fn zeroed(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    memory.fill(MaybeUninit::new(0));
    // SAFETY: every byte was just written.
    unsafe { initialised(memory) }
}

/// Memory as bytes.
///
/// # Safety
///
/// All of it was written.
pub(crate) unsafe fn initialised(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    // SAFETY: the same bytes, borrowed for as long; they are initialised.
    unsafe { std::slice::from_raw_parts_mut(memory.as_mut_ptr().cast(), memory.len()) }
}

#[cfg(test)]
mod tests;
