//! Handles signals that would otherwise end the program in the middle of its work, and leave half a file.
//!
//! * *SIGBUS* comes when the program touches a page of a mapped file that cannot be read: another program has
//!   shortened the file, or the disk fails. The handler replaces the page by one of zeros and notes the loss.
//!   The work goes on until [`MappedFile::check_unchanged`](crate::mapped_file::MappedFile::check_unchanged)
//!   refuses the result. At any other address the signal has its former effect.
//! * *SIGXFSZ* comes when a file grows beyond the limit of the user (`ulimit -f`). It is ignored, so that the
//!   write fails with an error.
//! * *SIGINT*, *SIGTERM* and *SIGHUP* ask the program to end. A thread waits for them, so its answer can be
//!   ordinary code (`unfinished.rs`). A signal that the caller ignores, as `nohup` does, stays ignored.
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

    /// The first range of the list of all ranges that were ever used.
    static RANGES: AtomicPtr<Range> = AtomicPtr::new(ptr::null_mut());

    /// The size of a page, in bytes.
    static PAGE: AtomicUsize = AtomicUsize::new(0);

    /// What SIGBUS did before `prepare` set its handler.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// The addresses of a map. A range is never freed, because the handler may read it at any time. A later
    /// map uses it again.
    #[derive(Debug)]
    struct Range {
        taken: AtomicBool,
        start: AtomicUsize,
        end: AtomicUsize,
        lost: AtomicBool,
        next: *const Range,
    }

    /// A map that the handler watches. This value must be dropped before the map.
    #[derive(Debug)]
    pub(crate) struct Watched(&'static Range);

    // SAFETY: `next` is written once, before any other code sees the range, and points to a range that lives
    // forever.
    unsafe impl Sync for Range {}

    // SAFETY: a range may be moved to another thread for the same reason as it may be shared.
    unsafe impl Send for Range {}

    impl Watched {
        pub(crate) fn new(map: &[u8]) -> Watched {
            let range = free_range();
            range.lost.store(false, Relaxed);
            let addresses = map.as_ptr_range();
            // The end is stored last. Until then the range is empty, so the handler sees no wrong range.
            range.start.store(addresses.start.addr(), Release);
            range.end.store(addresses.end.addr(), Release);
            Watched(range)
        }

        /// Whether a page of the map could not be read, and was replaced by zeros.
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
        // SAFETY: `next` is null or points to such a range.
        std::iter::successors(first, |range| unsafe { range.next.as_ref() })
    }

    /// Returns a range that is not in use. If all are in use, a new range is put at the front of the list.
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

    /// Sets up SIGBUS and SIGXFSZ. It must be called before the first file is mapped. Later calls do nothing.
    pub(crate) fn prepare() {
        BEFORE.get_or_init(|| {
            // SAFETY: the calls ask for a number, ignore a signal and set a handler. The handler uses only
            // atomics and system calls. It does not read `BEFORE` until that is set, because the first map
            // comes later.
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

    /// Calls `end` with the first signal that asks the program to end. It must be called before any other
    /// thread starts, because the signals are then blocked in all threads.
    pub(crate) fn on_termination(end: fn(c_int) -> !) {
        // SAFETY: both structures consist of plain numbers and live here, and the calls read and write only
        // them.
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
            // SAFETY: the set belongs to this closure, and the call writes only `signal`.
            if unsafe { libc::sigwait(&signals, &mut signal) } == 0 {
                end(signal);
            }
        });
        if waiting.is_err() {
            // SAFETY: the call reads the set and nothing else. Without the thread, the signals end the
            // program at once.
            unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &signals, ptr::null_mut()) };
        }
    }

    extern "C" fn on_bus_error(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
        // SAFETY: the system passes a pointer to a valid structure.
        let address = unsafe { (*info).si_addr() }.addr();
        let page = PAGE.load(Acquire);
        for range in ranges().filter(|range| (range.start.load(Acquire)..range.end.load(Acquire)).contains(&address)) {
            let start = ptr::without_provenance_mut(address & !page.wrapping_sub(1));
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED;
            // SAFETY: the page belongs to a map of this program, which lives as long as it is watched and is
            // only read. It could not be read so far, so no reference has seen a byte that changes now.
            if page > 0 && unsafe { libc::mmap(start, page, libc::PROT_READ, flags, -1, 0) } != libc::MAP_FAILED {
                range.lost.store(true, Release);
                return;
            }
        }
        // The address is in no map that is watched. The former action is restored, and takes effect when the
        // program touches the address again.
        match BEFORE.get() {
            // SAFETY: the system returned this action.
            Some(before) => unsafe { libc::sigaction(signal, before, ptr::null_mut()) },
            // SAFETY: the call ends the program.
            None => unsafe { libc::_exit(2) },
        };
    }
}

#[cfg(not(unix))]
mod without {
    /// On other systems a mapped file cannot be shortened, so nothing is watched.
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

    /// Other systems have no such signals to wait for. An interruption ends the program at once, and may
    /// leave a file.
    pub(crate) fn on_termination(_: fn(i32) -> !) {}
}
