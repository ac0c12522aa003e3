//! The machine this runs on.

use std::sync::OnceLock;

use crate::knobs::{Knobs, Traits};

/// The traits of a machine and the knobs made from them.
#[derive(Debug)]
pub struct Machine {
    /// What the CPU says of itself.
    pub traits: Traits,
    /// What follows from that.
    pub knobs: Knobs,
}

impl Machine {
    /// The one this runs on. The CPU is asked once.
    pub fn this() -> &'static Machine {
        static MACHINE: OnceLock<Machine> = OnceLock::new();
        MACHINE.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            let traits = super::x86_64::cpuid::traits();
            #[cfg(not(target_arch = "x86_64"))]
            let traits = None;
            let traits = traits.unwrap_or(Traits::ASSUMED);
            Machine { traits, knobs: Knobs::new(&traits) }
        })
    }
}
