//! Memory that counts who touches it.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use libc::{c_int, c_void, siginfo_t, ucontext_t};

/// The pages that are closed, and what was counted. Signal handlers have no other way to know.
static START: AtomicUsize = AtomicUsize::new(0);
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static READS: AtomicUsize = AtomicUsize::new(0);
static WRITES: AtomicUsize = AtomicUsize::new(0);

/// The bit of the flags register that stops the processor after one instruction.
const TRAP_FLAG: i64 = 1 << 8;

/// The bit of a page fault's error code that says: it was to be written.
const WRITE: i64 = 1 << 1;

const PAGE: usize = 4096;

/// What guards are made of.
const GUARD: u8 = 0xc3;

/// Pages of memory. One at a time in a process.
pub(crate) struct Trap {
    start: NonNull<u8>,
    length: usize,
}

/// How many instructions touched the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) reads: usize,
    pub(crate) writes: usize,
}

/// The memory while it is closed.
pub(crate) struct Closed<'a>(&'a Trap);

impl Trap {
    pub(crate) fn new(length: usize) -> Trap {
        let length = length.next_multiple_of(PAGE);
        // SAFETY: new memory, and handlers that only use what is theirs.
        unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let memory =
                libc::mmap(std::ptr::null_mut(), length, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            handle(libc::SIGSEGV, on_fault);
            handle(libc::SIGTRAP, on_step);
            Trap { start: NonNull::new(memory.cast()).unwrap(), length }
        }
    }

    #[allow(clippy::mut_from_ref, reason = "the memory is the system's, and one thread's")]
    fn bytes(&self) -> &mut [u8] {
        // SAFETY: open memory, used by one thread.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }

    /// Memory `shift` bytes after the beginning of a line that holds `bytes`, between guards.
    pub(crate) fn memory(&self, shift: usize, bytes: &[u8]) -> NonNull<u8> {
        self.bytes().fill(GUARD);
        // Only these pages are closed: the fewer, the sooner.
        START.store(self.start.as_ptr() as usize + PAGE, SeqCst);
        LENGTH.store((shift + bytes.len()).max(1).next_multiple_of(PAGE), SeqCst);
        self.bytes()[PAGE + shift..][..bytes.len()].copy_from_slice(bytes);
        // SAFETY: inside the pages, as the slice was.
        unsafe { self.start.add(PAGE + shift) }
    }

    pub(crate) fn contents(&self, shift: usize, length: usize) -> &[u8] {
        &self.bytes()[PAGE + shift..][..length]
    }

    pub(crate) fn guards_are_whole(&self, shift: usize, length: usize) -> bool {
        let (before, after) = (&self.bytes()[..PAGE + shift], &self.bytes()[PAGE + shift + length..]);
        before.iter().chain(after).all(|&byte| byte == GUARD)
    }

    /// Closes the memory: from now on, what touches it is counted.
    pub(crate) fn closed(&self) -> Closed<'_> {
        READS.store(0, SeqCst);
        WRITES.store(0, SeqCst);
        // SAFETY: our own pages.
        unsafe { protect(libc::PROT_NONE) };
        Closed(self)
    }
}

impl Closed<'_> {
    /// Opens it again.
    pub(crate) fn open(self) -> Touched {
        let _ = self.0;
        // SAFETY: our own pages.
        unsafe { protect(libc::PROT_READ | libc::PROT_WRITE) };
        Touched { reads: READS.load(SeqCst), writes: WRITES.load(SeqCst) }
    }
}

unsafe fn protect(access: c_int) {
    // SAFETY: the pages of the trap.
    let result = unsafe { libc::mprotect(START.load(SeqCst) as *mut c_void, LENGTH.load(SeqCst), access) };
    assert_eq!(result, 0);
}

unsafe fn handle(signal: c_int, handler: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void)) {
    // SAFETY: a zeroed `sigaction` is a valid one, and the handler has the form that `SA_SIGINFO` wants.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(signal, &raw const action, std::ptr::null_mut()), 0);
    }
}

/// Someone touches the closed pages: counts it, opens them, and stops after this one instruction.
unsafe extern "C" fn on_fault(_: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: what the system hands to a handler.
    unsafe {
        let address = (*info).si_addr() as usize;
        if !(START.load(SeqCst)..START.load(SeqCst) + LENGTH.load(SeqCst)).contains(&address) {
            // Not ours: the same instruction faults again, and ends the process.
            libc::signal(libc::SIGSEGV, libc::SIG_DFL);
            return;
        }
        let registers = &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs;
        let counter = if registers[libc::REG_ERR as usize] & WRITE == 0 { &READS } else { &WRITES };
        counter.fetch_add(1, SeqCst);
        protect(libc::PROT_READ | libc::PROT_WRITE);
        registers[libc::REG_EFL as usize] |= TRAP_FLAG;
    }
}

/// The instruction is done: closes the pages again.
unsafe extern "C" fn on_step(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: as above.
    unsafe {
        protect(libc::PROT_NONE);
        (*context.cast::<ucontext_t>()).uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP_FLAG;
    }
}
