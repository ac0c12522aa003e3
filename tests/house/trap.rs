//! Memory that counts the instructions that touch it.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use libc::{c_int, c_void, siginfo_t, ucontext_t};

/// The pages that are closed, and the counts. Signal handlers can read only statics.
static START: AtomicUsize = AtomicUsize::new(0);
static LENGTH: AtomicUsize = AtomicUsize::new(0);
static READS: AtomicUsize = AtomicUsize::new(0);
static WRITES: AtomicUsize = AtomicUsize::new(0);

/// The bit of the flags register that stops the processor after one instruction.
const TRAP_FLAG: i64 = 1 << 8;

/// The bit of a page fault's error code that is set for a write.
const WRITE: i64 = 1 << 1;

const PAGE: usize = 4096;

/// The byte that guards are filled with.
const GUARD: u8 = 0xc3;

/// Pages of memory. A process may have one `Trap` at a time.
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
        // SAFETY: the memory is new, and the handlers use only the memory of the trap.
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
        // SAFETY: the memory is open, and is used by one thread.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }

    /// Stores `bytes` between guards, `shift` bytes after the beginning of a line, and returns their address.
    pub(crate) fn memory(&self, shift: usize, bytes: &[u8]) -> NonNull<u8> {
        self.bytes().fill(GUARD);
        // Only the pages of these bytes are closed. Fewer closed pages take less time.
        START.store(self.start.as_ptr() as usize + PAGE, SeqCst);
        LENGTH.store((shift + bytes.len()).max(1).next_multiple_of(PAGE), SeqCst);
        self.bytes()[PAGE + shift..][..bytes.len()].copy_from_slice(bytes);
        // SAFETY: the offset is inside the pages, like the slice above.
        unsafe { self.start.add(PAGE + shift) }
    }

    pub(crate) fn contents(&self, shift: usize, length: usize) -> &[u8] {
        &self.bytes()[PAGE + shift..][..length]
    }

    pub(crate) fn guards_are_whole(&self, shift: usize, length: usize) -> bool {
        let (before, after) = (&self.bytes()[..PAGE + shift], &self.bytes()[PAGE + shift + length..]);
        before.iter().chain(after).all(|&byte| byte == GUARD)
    }

    /// Closes the memory. From now on, accesses to it are counted.
    pub(crate) fn closed(&self) -> Closed<'_> {
        READS.store(0, SeqCst);
        WRITES.store(0, SeqCst);
        // SAFETY: these are our own pages.
        unsafe { protect(libc::PROT_NONE) };
        Closed(self)
    }
}

impl Closed<'_> {
    /// Opens the memory again, and returns the counts.
    pub(crate) fn open(self) -> Touched {
        let _ = self.0;
        // SAFETY: these are our own pages.
        unsafe { protect(libc::PROT_READ | libc::PROT_WRITE) };
        Touched { reads: READS.load(SeqCst), writes: WRITES.load(SeqCst) }
    }
}

unsafe fn protect(access: c_int) {
    // SAFETY: these are the pages of the trap.
    let result = unsafe { libc::mprotect(START.load(SeqCst) as *mut c_void, LENGTH.load(SeqCst), access) };
    assert_eq!(result, 0);
}

unsafe fn handle(signal: c_int, handler: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void)) {
    // SAFETY: a zeroed `sigaction` is valid, and the handler has the form that `SA_SIGINFO` requires.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(signal, &raw const action, std::ptr::null_mut()), 0);
    }
}

/// Handles an access to the closed pages: counts the access, opens the pages, and stops after this one
/// instruction.
unsafe extern "C" fn on_fault(_: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes valid pointers to a handler.
    unsafe {
        let address = (*info).si_addr() as usize;
        if !(START.load(SeqCst)..START.load(SeqCst) + LENGTH.load(SeqCst)).contains(&address) {
            // The address is not in our pages. The same instruction faults again, and ends the process.
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

/// Closes the pages again after the instruction.
unsafe extern "C" fn on_step(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes valid pointers to a handler.
    unsafe {
        protect(libc::PROT_NONE);
        (*context.cast::<ucontext_t>()).uc_mcontext.gregs[libc::REG_EFL as usize] &= !TRAP_FLAG;
    }
}
