//! Memory between closed pages. An access to one byte outside of the memory ends the process.

use std::ptr::NonNull;

/// The end of the memory at which bytes are stored. The byte beyond that end belongs to a closed page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The bytes begin at the end of the closed page in front.
    Front,
    /// The bytes end at the start of the closed page behind.
    Back,
}

impl End {
    pub(crate) const BOTH: [End; 2] = [End::Front, End::Back];
}

/// Open pages, and a closed page on either side.
pub(crate) struct Guarded {
    open: NonNull<u8>,
    length: usize,
    page: usize,
}

impl Guarded {
    /// Memory of at least this many bytes.
    pub(crate) fn new(length: usize) -> Guarded {
        // SAFETY: `sysconf` only returns a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let length = length.next_multiple_of(page);
        // SAFETY: the memory is new, and nothing else refers to it. The pages between the first page and the
        // last page are then opened.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            let memory = libc::mmap(std::ptr::null_mut(), length + 2 * page, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            let open = NonNull::new(memory.cast::<u8>()).unwrap().add(page);
            let guarded = Guarded { open, length, page };
            guarded.allow(libc::PROT_READ | libc::PROT_WRITE);
            guarded
        }
    }

    fn allow(&self, access: libc::c_int) {
        // SAFETY: these are the open pages of our own memory. No other reference to them is alive, because
        // both callers borrow the memory exclusively.
        assert_eq!(unsafe { libc::mprotect(self.open.as_ptr().cast(), self.length, access) }, 0);
    }

    fn start(&self, end: End, length: usize) -> NonNull<u8> {
        assert!(length <= self.length, "{length} of {} bytes", self.length);
        // SAFETY: the offset is inside the open pages.
        unsafe { self.open.add(if end == End::Front { 0 } else { self.length - length }) }
    }

    /// Returns this many bytes at one end.
    pub(crate) fn bytes(&mut self, end: End, length: usize) -> &mut [u8] {
        // SAFETY: the memory is open, and is borrowed while the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.start(end, length).as_ptr(), length) }
    }

    /// Stores these bytes at one end, and closes the pages for writing.
    pub(crate) fn sealed(&mut self, end: End, bytes: &[u8]) -> &[u8] {
        self.allow(libc::PROT_READ | libc::PROT_WRITE);
        self.bytes(end, bytes.len()).copy_from_slice(bytes);
        self.allow(libc::PROT_READ);
        self.bytes(end, bytes.len())
    }

    /// Returns this many bytes, of which one belongs to a closed page: the last byte, or the first byte at
    /// the front. This is a mapping that is one byte too short.
    pub(crate) fn with_one_too_many(&mut self, end: End, length: usize) -> NonNull<[u8]> {
        let start = self.start(end, length - 1);
        let before = if end == End::Front { 1 } else { 0 };
        // SAFETY: the pointer is inside of the mapping. The test needs a byte that may not be touched.
        NonNull::slice_from_raw_parts(unsafe { start.sub(before) }, length)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: this is the whole mapping, with its two closed pages.
        unsafe { libc::munmap(self.open.sub(self.page).as_ptr().cast(), self.length + 2 * self.page) };
    }
}
