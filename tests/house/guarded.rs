//! Memory between pages that no one may touch: whoever reads or writes one byte beside it ends the process.

use std::ptr::NonNull;

/// At which end of the memory bytes are stored, so that the next one belongs to a closed page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// They begin where the closed page in front ends.
    Front,
    /// They end where the closed page after begins.
    Back,
}

impl End {
    pub(crate) const BOTH: [End; 2] = [End::Front, End::Back];
}

/// Open pages, and a closed one on either side.
pub(crate) struct Guarded {
    open: NonNull<u8>,
    length: usize,
    page: usize,
}

impl Guarded {
    /// Memory of at least this many bytes.
    pub(crate) fn new(length: usize) -> Guarded {
        // SAFETY: a question.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        let length = length.next_multiple_of(page);
        // SAFETY: new memory, which no one else knows; the pages between the first and the last are then
        // opened.
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
        // SAFETY: the open pages of our own memory, of which no reference is alive: both callers hold the
        // only one.
        assert_eq!(unsafe { libc::mprotect(self.open.as_ptr().cast(), self.length, access) }, 0);
    }

    fn start(&self, end: End, length: usize) -> NonNull<u8> {
        assert!(length <= self.length, "{length} of {} bytes", self.length);
        // SAFETY: inside the open pages.
        unsafe { self.open.add(if end == End::Front { 0 } else { self.length - length }) }
    }

    /// This many bytes at one end.
    pub(crate) fn bytes(&mut self, end: End, length: usize) -> &mut [u8] {
        // SAFETY: open memory, borrowed as long as the slice lives.
        unsafe { std::slice::from_raw_parts_mut(self.start(end, length).as_ptr(), length) }
    }

    /// These bytes at one end, on pages that can only be read from now on.
    pub(crate) fn sealed(&mut self, end: End, bytes: &[u8]) -> &[u8] {
        self.allow(libc::PROT_READ | libc::PROT_WRITE);
        self.bytes(end, bytes.len()).copy_from_slice(bytes);
        self.allow(libc::PROT_READ);
        self.bytes(end, bytes.len())
    }

    /// This many bytes, the last of which (at the front: the first) belongs to a closed page: a mapping that
    /// is one byte too short.
    pub(crate) fn with_one_too_many(&mut self, end: End, length: usize) -> NonNull<[u8]> {
        let start = self.start(end, length - 1);
        let before = if end == End::Front { 1 } else { 0 };
        // SAFETY: inside of the mapping; that no one may touch one of the bytes is the point.
        NonNull::slice_from_raw_parts(unsafe { start.sub(before) }, length)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: what was mapped, with its two closed pages.
        unsafe { libc::munmap(self.open.sub(self.page).as_ptr().cast(), self.length + 2 * self.page) };
    }
}
