//! Copies that are planned again with other settings, for tests: with other kernels, with another kind of
//! store, or for another CPU.

use tensor_layout::relayout::{CpuFamily, KernelLevel, Relayout, Settings, Stores};

/// The levels that copies are tested at: those of this CPU and, with the feature `software`, vectors of 32 and
/// of 64 bytes on any CPU.
pub fn levels() -> Vec<KernelLevel> {
    let of_this_cpu = KernelLevel::ALL.into_iter().filter(|level| level.is_available());
    of_this_cpu.chain(KernelLevel::SOFTWARE.iter().copied()).collect()
}

pub trait Replanned: Sized {
    fn set(self, change: impl FnOnce(&mut Settings)) -> Relayout;

    fn with_kernel_level(self, level: KernelLevel) -> Relayout {
        self.set(|settings| settings.kernels = Some(level))
    }

    fn with_streaming(self, streaming: bool) -> Relayout {
        self.set(|settings| settings.stores = if streaming { Stores::Streaming } else { Stores::Cached })
    }

    fn with_cpu_family(self, family: CpuFamily) -> Relayout {
        self.set(|settings| settings.family = Some(family))
    }
}

impl Replanned for Relayout {
    fn set(self, change: impl FnOnce(&mut Settings)) -> Relayout {
        let mut settings = self.settings().clone();
        change(&mut settings);
        let padding = std::mem::take(&mut settings.padding);
        // A part of a larger buffer is filled only by `with_padding_everywhere`.
        self.again(&settings).and_then(|plan| plan.with_padding_everywhere(padding)).unwrap()
    }
}
