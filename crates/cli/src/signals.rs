//! Signals that would end the program in the middle of its work with files, and leave half a file.
//!
//! * *SIGBUS* comes when a page of a mapped file is touched that the file does not have any more, because
//!   another program has shortened it, or that its disk does not give. The page is replaced by one of zeros
//!   and the loss is noted, so that the work goes on to where it is refused
//!   ([`MappedFile::check_unchanged`](crate::mapped_file::MappedFile::check_unchanged)). At any other address
//!   the signal does what it did before.
//! * *SIGXFSZ* comes when a file grows beyond what the user may write (`ulimit -f`). Ignored, it is an error
//!   of the write like any other.
//! * *SIGINT*, *SIGTERM* and *SIGHUP* ask the program to end. A thread waits for them, so that what it does
//!   then may be ordinary code (`unfinished.rs`). Those that the caller ignores, as `nohup` does, stay
//!   ignored.
#![allow(unsafe_code, reason = "signal handlers; what they do is all in this file, and every block says why it may")]

#[cfg(not(unix))]
pub(crate) use without::{Watched, on_termination, prepare};

#[cfg(unix)]
pub(crate) use with::{Watched, on_termination, prepare};

#[cfg(unix)]
mod with {
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};

    use libc::{c_int, c_void, siginfo_t};

    /// The first of the ranges that are watched, or were.
    static RANGES: AtomicPtr<Range> = AtomicPtr::new(ptr::null_mut());

    /// The bytes of a page.
    static PAGE: AtomicUsize = AtomicUsize::new(0);

    /// What a bus error did before.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// Addresses of a map. It is never freed, because a handler may look at it at any time; the next map
    /// takes it over.
    #[derive(Debug)]
    struct Range {
        taken: AtomicBool,
        start: AtomicUsize,
        end: AtomicUsize,
        lost: AtomicBool,
        next: *const Range,
    }

    /// A map whose pages may get lost. It must not outlive the map.
    #[derive(Debug)]
    pub(crate) struct Watched(&'static Range);

    // SAFETY: `next` is written once, before any other code sees the range, and points to a range that lives
    // forever.
    unsafe impl Sync for Range {}

    // SAFETY: as above.
    unsafe impl Send for Range {}

    impl Watched {
        pub(crate) fn new(map: &[u8]) -> Watched {
            let range = free_range();
            range.lost.store(false, Relaxed);
            let addresses = map.as_ptr_range();
            // Empty until its end is there.
            range.start.store(addresses.start.addr(), Release);
            range.end.store(addresses.end.addr(), Release);
            Watched(range)
        }

        /// Was one of them touched that is not there?
        pub(crate) fn lost_a_page(&self) -> bool {
            self.0.lost.load(Acquire)
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            self.0.end.store(0, Release);
            self.0.taken.store(false, Release);
        }
    }

    fn ranges() -> impl Iterator<Item = &'static Range> {
        // SAFETY: every range in the list was leaked, and so is the one after it.
        let first = unsafe { RANGES.load(Acquire).cast_const().as_ref() };
        // SAFETY: as above.
        std::iter::successors(first, |range| unsafe { range.next.as_ref() })
    }

    /// One that no one uses, at the front of the list if it is new.
    fn free_range() -> &'static Range {
        if let Some(free) = ranges().find(|range| !range.taken.swap(true, AcqRel)) {
            return free;
        }
        let new = Box::leak(Box::new(Range {
            taken: AtomicBool::new(true),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            lost: AtomicBool::new(false),
            next: ptr::null(),
        }));
        let mut first = RANGES.load(Acquire);
        loop {
            new.next = first;
            match RANGES.compare_exchange(first, new, AcqRel, Acquire) {
                Ok(_) => return new,
                Err(other) => first = other,
            }
        }
    }

    /// Sets both signals up. To be called before the first file is mapped; more than once does no harm.
    pub(crate) fn prepare() {
        BEFORE.get_or_init(|| {
            // SAFETY: a question, and a signal that is ignored. The handler uses nothing but atomics and
            // system calls, and leaves `BEFORE` alone until it is there: the first map comes later.
            unsafe {
                PAGE.store(usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(0), Release);
                libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_bus_error as extern "C" fn(c_int, *mut siginfo_t, *mut c_void) as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&mut action.sa_mask);
                let mut before: libc::sigaction = std::mem::zeroed();
                libc::sigaction(libc::SIGBUS, &action, &mut before);
                before
            }
        });
    }

    /// Hands the first signal that asks the program to end to `end`. To be called before any other thread
    /// begins: the signals are blocked in all of them.
    pub(crate) fn on_termination(end: fn(c_int) -> !) {
        // SAFETY: both structures are of plain numbers, and live here; the calls read and write only them.
        let signals = unsafe {
            let mut signals: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut signals);
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                let mut action: libc::sigaction = std::mem::zeroed();
                libc::sigaction(signal, ptr::null(), &mut action);
                if action.sa_sigaction != libc::SIG_IGN {
                    libc::sigaddset(&mut signals, signal);
                }
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &signals, ptr::null_mut());
            signals
        };
        let waiting = std::thread::Builder::new().spawn(move || {
            let mut signal = 0;
            // SAFETY: a set of this closure, and a number that is written.
            if unsafe { libc::sigwait(&signals, &mut signal) } == 0 {
                end(signal);
            }
        });
        if waiting.is_err() {
            // SAFETY: as above. Without the thread, the signals end the program as they always did.
            unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &signals, ptr::null_mut()) };
        }
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the system hands a pointer to what it knows.
        let address = unsafe { (*info).si_addr() }.addr();
        let page = PAGE.load(Acquire);
        for range in ranges().filter(|range| (range.start.load(Acquire)..range.end.load(Acquire)).contains(&address)) {
            let start = ptr::without_provenance_mut(address & !page.wrapping_sub(1));
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED;
            // SAFETY: a page of a map of ours, which lives as long as it is watched and is only read. It
            // cannot be read as it is, so that no reference can have seen a byte of it that changes now.
            if page > 0 && unsafe { libc::mmap(start, page, libc::PROT_READ, flags, -1, 0) } != libc::MAP_FAILED {
                range.lost.store(true, Release);
                return;
            }
        }
        // Not ours: touched again, it does what it did before.
        match BEFORE.get() {
            // SAFETY: the action that the system gave.
            Some(before) => unsafe { libc::sigaction(signal, before, ptr::null_mut()) },
            // SAFETY: the end of the program.
            None => unsafe { libc::_exit(2) },
        };
    }
}

#[cfg(not(unix))]
mod without {
    /// Other systems shorten no file that is mapped.
    #[derive(Debug)]
    pub(crate) struct Watched;

    impl Watched {
        pub(crate) fn new(_: &[u8]) -> Watched {
            Watched
        }

        pub(crate) fn lost_a_page(&self) -> bool {
            false
        }
    }

    pub(crate) fn prepare() {}

    /// Other systems have no signals that are waited for: the program ends, and may leave a file.
    pub(crate) fn on_termination(_: fn(i32) -> !) {}
}
