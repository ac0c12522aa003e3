//! Copies that are planned again with other settings, for tests: with other kernels, with another kind of
//! store, for another CPU, or to be cut into pieces of any size.
#![allow(unsafe_code, reason = "memory that is only written")]

use std::ptr::NonNull;

use tensor_layout::relayout::{Caches, Destination, Level, Piece, Relayout, Settings, Stores};
use tensor_layout::{Error, ToIndexMap};

/// The levels that copies are tested at: those of this CPU and, with the feature `software`, vectors of 32
/// and of 64 bytes on any CPU.
pub fn levels() -> Vec<Level> {
    let of_this_cpu = Level::ALL.into_iter().filter(|level| level.is_available());
    of_this_cpu.chain(Level::SOFTWARE.iter().copied()).collect()
}

/// Caches of 8 and of 12 ways: those of old client cores, a Zen 3, a Zen 4, a Zen 5 and a Sapphire Rapids.
pub const CACHES: [Caches; 5] = {
    const fn caches(l1: usize, l1_ways: usize, l2: usize) -> Caches {
        Caches { l1: l1 << 10, l1_ways, l2: l2 << 10 }
    }
    [caches(32, 8, 256), caches(32, 8, 512), caches(32, 8, 1024), caches(48, 12, 1024), caches(48, 12, 2048)]
};

/// Plans a copy with some axes walked backwards.
pub fn reversing(from: &impl ToIndexMap, to: &impl ToIndexMap, axes: &[usize]) -> Result<Relayout, Error> {
    Relayout::with_settings(from, to, &Settings { reversed: axes.to_vec(), ..Settings::default() })
}

/// The bytes as memory that is never read.
pub fn write_only(bytes: &mut [u8]) -> Destination<'_> {
    // SAFETY: the bytes are borrowed exclusively for as long as the result lives.
    unsafe { Destination::write_only(NonNull::from(bytes)) }
}

/// A copy between the same layouts. The size of the destination is that of its elements and its padding, and
/// not rounded up as that of a descriptor may be.
pub trait Replanned: Sized {
    fn set(&self, change: impl FnOnce(&mut Settings)) -> Relayout;

    fn with_kernel_level(self, level: Level) -> Relayout {
        self.set(|settings| settings.kernels = Some(level))
    }

    fn with_streaming(self, streaming: bool) -> Relayout {
        self.set(|settings| settings.stores = if streaming { Stores::Streaming } else { Stores::Cached })
    }

    fn with_caches(self, caches: Caches) -> Relayout {
        self.set(|settings| settings.caches = Some(caches))
    }

    /// Cuts the copy into pieces of any size.
    fn cut(&self, pieces: usize, alignment: usize) -> Vec<Piece> {
        self.set(|settings| settings.least_piece = Some(1)).partition(pieces, alignment).unwrap()
    }
}

impl Replanned for Relayout {
    fn set(&self, change: impl FnOnce(&mut Settings)) -> Relayout {
        let mut settings = self.settings().clone();
        change(&mut settings);
        let padding = std::mem::take(&mut settings.padding);
        // A part of a larger buffer is filled only by `with_padding_of_whole_buffer`.
        let plan = Relayout::with_settings(self.source(), self.destination(), &settings);
        plan.and_then(|plan| plan.with_padding_of_whole_buffer(padding)).unwrap()
    }
}
