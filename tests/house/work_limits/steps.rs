//! Counts the steps of a function, without a clock.
//!
//! `-Cinstrument-coverage` puts a counter into every region of code that runs together: the body of a loop,
//! an arm of a match, a function. The sum of all counters of the program is a count of steps. Every loop adds
//! to it, and it does not depend on the machine. So the tests here are built with that flag, and with `--cfg
//! count_steps`, to count (`.ci/run` does so):
//!
//! ```sh
//! RUSTFLAGS='-Cinstrument-coverage --cfg count_steps' LLVM_PROFILE_FILE=/dev/null \
//!     cargo test --target-dir target/steps --test house work_limits -- --test-threads=1
//! ```
//!
//! Without these flags, the tests check the memory and the errors, but not the steps.

/// The most steps of a call. They take half a second in a release build, which runs some 600 million steps in
/// a second (`partition` of a copy of 4,096 boxes: 195 million in 0.31 s, on two busy cores).
pub(crate) const MOST_STEPS: u64 = 300_000_000;

#[cfg(not(count_steps))]
pub(crate) fn counted<T>(_name: &str, operation: impl FnOnce() -> T) -> (T, u64) {
    (operation(), 0)
}

#[cfg(count_steps)]
pub(crate) use counters::counted;

#[cfg(count_steps)]
mod counters {
    use std::sync::{Mutex, Once, PoisonError};
    use std::time::Duration;

    use super::MOST_STEPS;

    unsafe extern "C" {
        fn __llvm_profile_begin_counters() -> *const u64;
        fn __llvm_profile_end_counters() -> *const u64;
    }

    /// The call that is counted: its name, and the steps before it. One call is counted at a time, because
    /// the counters belong to the whole program.
    static RUNNING: Mutex<Option<(String, u64)>> = Mutex::new(None);
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    fn total() -> u64 {
        // SAFETY: these two functions of the profiler's runtime return the address of the first counter and
        // the address after the last counter. All counters are in one static.
        let (mut at, end) = unsafe { (__llvm_profile_begin_counters(), __llvm_profile_end_counters()) };
        let mut sum = 0_u64;
        while at < end {
            // SAFETY: the address is between these two addresses. Another thread may count during the read; a
            // number that is a little old is good enough.
            sum = sum.wrapping_add(unsafe { at.read_volatile() });
            // SAFETY: the result is at most the address after the last counter.
            at = unsafe { at.add(1) };
        }
        sum
    }

    /// Ends the program if a call takes far more steps than the limit. Some functions would otherwise never
    /// return.
    fn watch() {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((name, before)) = &*running {
                let steps = total().wrapping_sub(*before);
                if steps > 10 * MOST_STEPS {
                    eprintln!("{name} has taken {steps} steps, of at most {MOST_STEPS}, and goes on");
                    std::process::abort();
                }
            }
        }
    }

    pub(crate) fn counted<T>(name: &str, operation: impl FnOnce() -> T) -> (T, u64) {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| drop(std::thread::spawn(watch)));
        let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let before = total();
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = Some((name.to_owned(), before));
        let result = operation();
        let steps = total().wrapping_sub(before);
        *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = None;
        (result, steps)
    }

    #[test]
    fn steps_are_counted() {
        let loops =
            |times: u64| counted("a loop", || (0..times).fold(0, |sum: u64, i| std::hint::black_box(sum ^ i))).1;
        let (few, many) = (loops(1000), loops(1_000_000));
        assert!(few >= 1000 && many >= 1_000_000 && many < 100 * few.max(100_000), "{few} {many}");
    }
}
