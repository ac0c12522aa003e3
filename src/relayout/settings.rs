//! The same copy otherwise: what becomes of padding, where it is stored, what it is planned for.

use strided_copy::Available;

use crate::error::{ArgumentRule, Error};

use super::cpu_family::CpuFamily;
use super::destination_memory::DestinationMemory;
use super::level::KernelLevel;
use super::padding::Padding;
use super::plan::cost::{LONG_ROWS_STREAMING_FROM, REUSED_STREAMING_FROM, STREAMING_FROM};
use super::plan::fill::{Fill, has_padding};
use super::plan::machine::Knobs;
use super::plan::passes::Passes;
use super::relayout::Relayout;

impl Relayout {
    /// The same copy with another treatment of the destination's padding: of all places of its buffer without
    /// an element, and of the tail where the size of a descriptor is rounded up (`u8[3]` takes 4 bytes), as
    /// far as the buffer has it; the tail is set to zero.
    ///
    /// # Errors
    ///
    /// [`PaddingOfPart`](crate::ArgumentRule) if the destination is a part of a larger buffer and has gaps:
    /// the rows of a cache between those of a slice are not its own. [`Error::FillTooWide`] if a pattern has
    /// bits outside an element.
    ///
    /// ```
    /// use tensor_layout::{relayout::{Padding, Relayout}, BufferTensorDesc, DataType};
    ///
    /// let cache = BufferTensorDesc::packed(DataType::F16, &[8, 128, 64])?;
    /// let token = BufferTensorDesc::packed(DataType::F16, &[8, 1, 64])?;
    /// let append = Relayout::new(&token, &cache.slice_axis(1, 17..18)?)?;
    /// let error = append.with_padding(Padding::Zero).unwrap_err();
    /// assert_eq!(error.code(), "padding_of_part", "the other tokens would be lost");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_padding(self, padding: Padding) -> Result<Relayout, Error> {
        if padding != Padding::Keep && self.destination.is_part() && has_padding(&self.destination) {
            return Err(ArgumentRule::PaddingOfPart.by(self.destination.base(), 0));
        }
        self.with_padding_everywhere(padding)
    }

    /// As [`with_padding`](Self::with_padding), also where the destination is a part of a larger buffer: all
    /// of that buffer that the destination spans, from its start on, is overwritten, whatever else it holds.
    ///
    /// # Errors
    ///
    /// [`Error::FillTooWide`] if a pattern has bits outside an element.
    ///
    /// ```
    /// use tensor_layout::{relayout::{Padding, Relayout}, BufferTensorDesc};
    ///
    /// let cache: BufferTensorDesc = "u8[2,3]:[4,1]".parse()?;
    /// let (row, place) = ("u8[2,1]:[1,1]".parse::<BufferTensorDesc>()?, cache.slice(&[(0..2).into(), (1..2).into()])?);
    /// let copy = Relayout::new(&row, &place)?;
    /// assert_eq!(copy.clone().with_padding(Padding::Zero).unwrap_err().code(), "padding_of_part");
    /// let mut memory = *b"abc.def.";
    /// copy.with_padding_everywhere(Padding::Zero)?.run(b"xy", &mut memory)?;
    /// assert_eq!(&memory, b"\0x\0\0\0yf.");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_padding_everywhere(self, padding: Padding) -> Result<Relayout, Error> {
        padding.check(self.destination.element_bits())?;
        let fill = Fill::new(&self.destination, padding.pattern(), self.passes.direct().is_some());
        let plain = self.plain.filter(|_| padding == Padding::Keep);
        Ok(Relayout { padding, fill, plain, ..self })
    }

    /// The same copy with other kernels than [`KernelLevel::in_use`], for tests and measurements: the highest
    /// available level up to `level`.
    #[must_use]
    pub fn with_kernel_level(self, level: KernelLevel) -> Relayout {
        self.at_level(level.available())
    }

    pub(super) fn at_level(self, level: Available) -> Relayout {
        let knobs = Knobs { level, ..self.knobs };
        self.planned_with(knobs)
    }

    /// The same copy as a CPU of this family would plan it, for tests and measurements: its rules, and the
    /// caches of its server CPUs. The kernels stay those of this CPU.
    ///
    /// ```
    /// use tensor_layout::{relayout::{CpuFamily, Relayout}, ArrayShape};
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[64,96]{1,0}".parse()?, "f32[64,96]{0,1}".parse()?);
    /// let plan = Relayout::new(&rows, &columns)?.with_cpu_family(CpuFamily::Zen5);
    /// assert!(plan.explain().contains("Zen 5, L1 data cache of 48 KiB in 12 ways"));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn with_cpu_family(self, family: CpuFamily) -> Relayout {
        let Knobs { level, streaming_from, long_rows_streaming_from, .. } = self.knobs;
        let knobs = Knobs { level, streaming_from, long_rows_streaming_from, ..Knobs::of_family(family) };
        self.planned_with(knobs)
    }

    /// The same copy into memory of which more is known. Into memory that is
    /// [`Reused`](DestinationMemory::Reused), [`run_write_only`](Self::run_write_only) stores through the
    /// cache, unless it is a mapped GPU buffer ([`WriteOnly::new`](super::WriteOnly::new)).
    ///
    /// ```
    /// use tensor_layout::{relayout::{DestinationMemory, Relayout}, ArrayShape};
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[1024,1280]{1,0}".parse()?, "f32[1024,1280]{0,1}".parse()?);
    /// let plan = Relayout::new(&rows, &columns)?;
    /// assert!(plan.explain().contains("stores: non-temporal"));
    /// let plan = plan.with_destination(DestinationMemory::Reused);
    /// assert!(plan.explain().contains("stores: through the cache"));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn with_destination(self, memory: DestinationMemory) -> Relayout {
        let streaming_from = match memory {
            DestinationMemory::Unknown | DestinationMemory::Fresh => STREAMING_FROM,
            DestinationMemory::Reused => REUSED_STREAMING_FROM,
        };
        let long_rows_streaming_from = streaming_from.max(LONG_ROWS_STREAMING_FROM);
        // What is small enough for a plain loop nest is never streamed.
        let (plain, knobs) = (self.plain.clone(), Knobs { streaming_from, long_rows_streaming_from, ..self.knobs });
        Relayout { memory, plain, ..self.planned_with(knobs) }
    }

    /// The same copy with non-temporal stores, past the cache, or with ordinary ones, whatever its size. Left
    /// to itself, a copy goes by what is said of its [destination](Self::with_destination).
    #[must_use]
    pub fn with_streaming(self, streaming: bool) -> Relayout {
        // What is large enough to go past the cache prefetches, too.
        let knobs = match streaming {
            true => Knobs { streaming_from: 0, long_rows_streaming_from: 0, prefetch_above: 0, ..self.knobs },
            false => Knobs { streaming_from: u64::MAX, long_rows_streaming_from: u64::MAX, ..self.knobs },
        };
        self.planned_with(knobs)
    }

    /// The same copy, planned again; kernels run it, however small it is.
    pub(super) fn planned_with(self, knobs: Knobs) -> Relayout {
        match Passes::new(&self.source, &self.destination, &self.reversed, &knobs) {
            Ok(passes) => Relayout { passes, knobs, plain: None, ..self },
            Err(error) => unreachable!("the layouts were planned before: {error}"),
        }
    }
}
