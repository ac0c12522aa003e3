#![feature(core_intrinsics, const_eval_select)]
#![allow(internal_features)]

// Which mutant is on, and which were reached: the end of `lib.rs` in the copy that tensor-layout-mutants writes. A constant function may ask as
// well; while the program is compiled no mutant is on.
pub(crate) const fn mutant(number: usize) -> bool {
    const fn compiled(_: usize) -> bool {
        false
    }
    core::intrinsics::const_eval_select((number,), compiled, mutants::is_on)
}

#[allow(unsafe_code, clippy::all)]
mod mutants {
    use std::ffi::{c_char, c_int, c_long, c_void};
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

    static ON: AtomicUsize = AtomicUsize::new(usize::MAX);
    /// A byte for each mutant, in a file that all processes of a test share; null if nobody asks.
    static REACHED: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());

    unsafe extern "C" {
        fn open(path: *const c_char, flags: c_int, ...) -> c_int;
        fn mmap(at: *mut c_void, bytes: usize, access: c_int, flags: c_int, file: c_int, offset: c_long) -> *mut c_void;
        fn close(file: c_int) -> c_int;
    }

    // Before `main`, so that the switch itself is two loads.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static BEGIN: extern "C" fn() = begin;

    extern "C" fn begin() {
        if let Some(number) = std::env::var("MUTANT").ok().and_then(|number| number.parse().ok()) {
            ON.store(number, Relaxed);
        }
        let Ok(path) = std::env::var("MUTANTS_REACHED") else { return };
        let Ok(bytes) = std::fs::metadata(&path).map(|file| file.len() as usize) else { return };
        let Ok(path) = std::ffi::CString::new(path) else { return };
        // Read and write, shared.
        unsafe {
            let file = open(path.as_ptr(), 2);
            let at = mmap(std::ptr::null_mut(), bytes, 3, 1, file, 0);
            if at as isize != -1 {
                REACHED.store(at.cast(), Relaxed);
            }
            close(file);
        }
    }

    #[inline(always)]
    pub(crate) fn is_on(number: usize) -> bool {
        let reached = REACHED.load(Relaxed);
        if !reached.is_null() {
            unsafe { reached.add(number).write(1) };
        }
        ON.load(Relaxed) == number
    }
}
