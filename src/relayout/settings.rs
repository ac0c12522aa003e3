//! The settings of a plan: which axes run backwards on one side, how padding is treated, how bytes are
//! stored, and which machine the plan is for.

use crate::error::{Code, Error};

use super::choice::{Choice, Effort};
use super::plan::cost::{LONG_ROWS_STREAMING_FROM, REUSED_STREAMING_FROM, STREAMING_FROM};
use super::plan::machine::Knobs;

use strided_copy::{Available, Caches, Level};

/// The settings of a copy between two layouts. The settings are fixed when
/// [`Relayout::with_settings`](super::Relayout::with_settings) plans the copy.
///
/// The defaults are the settings of [`Relayout::new`](super::Relayout::new): no axis is walked backwards,
/// padding is kept, nothing is known about the destination's memory, and the machine is this machine.
///
/// ```
/// use tensor_layout::relayout::{DestinationMemory, Relayout, Settings};
/// use tensor_layout::ArrayShape;
///
/// let (rows, columns): (ArrayShape, ArrayShape) = ("u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1}".parse()?);
/// let settings = Settings { memory: DestinationMemory::Reused, reversed: vec![0], ..Settings::default() };
/// let mut turned = [0; 6];
/// Relayout::with_settings(&rows, &columns, &settings)?.run(b"abcdef", &mut turned)?;
/// assert_eq!(&turned, b"daebfc");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Settings {
    /// The axes that one side walks backwards: index `i` of such an axis is written from index `size - 1 -
    /// i`.
    ///
    /// This is the form for negative strides: `a[::-1]` in NumPy, the rows of an image bottom up, BGR for
    /// RGB. A layout itself has no direction. Describe the places of the elements with positive strides from
    /// the lowest address, and name the axes that one side of the copy walks backwards. Which of the two
    /// sides walks an axis backwards makes no difference. Do not name an axis that both sides walk backwards.
    /// An axis of size 1 changes nothing, and an axis that is named twice counts once.
    pub reversed: Vec<usize>,
    /// How the destination's padding is treated: see
    /// [`Relayout::with_padding`](super::Relayout::with_padding).
    pub padding: Padding,
    /// What is known about the destination's memory.
    pub memory: DestinationMemory,
    /// Whether the copy uses non-temporal stores. For a mapped GPU buffer, use [`Stores::Streaming`].
    pub stores: Stores,
    /// The least size in bytes of the [pieces](super::Relayout::partition) that the copy is cut into. `None`
    /// stands for 256 KiB, from which on a piece is worth a thread of a pool. To start a thread takes about
    /// 20 microseconds, which a piece is worth from 1 MiB on.
    pub least_piece: Option<u64>,
    /// The highest kernel level that is used, for tests and measurements. If this CPU lacks the level, its
    /// highest level is used. `None` stands for [`level_in_use`](super::level_in_use).
    pub kernels: Option<Level>,
    /// The data caches for which the plan is made, for tests and measurements. `None` stands for the caches
    /// of this CPU.
    pub caches: Option<Caches>,
    /// Whether the plan is an estimate or the fastest of several measured plans.
    pub effort: Effort,
    /// The [choice](super::Relayout::choice) of an earlier plan. If it can be used, nothing is measured. If
    /// it cannot be used, it is ignored: it has another version, or both the choice and
    /// [`stores`](Self::stores) say how the copy stores.
    /// [`Relayout::estimate_reason`](super::Relayout::estimate_reason) says why.
    pub choice: Option<String>,
}

/// Whether a copy uses non-temporal stores, which do not go through the cache.
///
/// ```
/// use tensor_layout::relayout::{Relayout, Settings, Stores};
/// use tensor_layout::ArrayShape;
///
/// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[1024,1280]{1,0}".parse()?, "f32[1024,1280]{0,1}".parse()?);
/// let plan = |stores| Relayout::with_settings(&rows, &columns, &Settings { stores, ..Settings::default() });
/// assert!(plan(Stores::BySize)?.explain().contains("stores: non-temporal"));
/// assert!(plan(Stores::Cached)?.explain().contains("stores: through the cache"));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Stores {
    /// The plan chooses non-temporal or ordinary stores by how many bytes are read and written, and by what
    /// is known about the [destination](Settings::memory).
    #[default]
    BySize,
    /// The copy uses non-temporal stores, whatever its size is.
    Streaming,
    /// The copy uses ordinary stores, whatever its size is.
    Cached,
}

impl Settings {
    /// The numbers of the cost model for these settings, before a [choice](Self::choice) changes some.
    pub(super) fn knobs(&self) -> Knobs {
        let own = Knobs::of_this_cpu();
        let mut knobs = self.caches.map_or(*own, |caches| Knobs::new(own.level, caches));
        if let Some(level) = self.kernels {
            knobs = knobs.at_level(Available::up_to(level));
        }
        (knobs.streaming_from, knobs.long_rows_streaming_from) = match (self.stores, self.memory) {
            (Stores::Streaming, _) => (0, 0),
            (Stores::Cached, _) => (u64::MAX, u64::MAX),
            (_, DestinationMemory::Reused) => (REUSED_STREAMING_FROM, REUSED_STREAMING_FROM),
            (_, DestinationMemory::Unknown) => (STREAMING_FROM, LONG_ROWS_STREAMING_FROM),
        };
        // A copy that uses non-temporal stores prefetches as well.
        if self.stores == Stores::Streaming {
            knobs.prefetch_above = 0;
        }
        // If a test or a measurement gives stores, kernels or caches, kernels run even small copies.
        knobs.plain_loops = self.stores == Stores::BySize && self.kernels.is_none() && self.caches.is_none();
        knobs
    }

    /// The choice, or the reason why it is ignored.
    pub(super) fn read_choice(&self) -> Result<Choice, String> {
        let choice = self.choice.as_deref().map_or(Ok(Choice::default()), Choice::read)?;
        if self.stores != Stores::BySize && choice.answers_to("stores") {
            return Err("the settings say how the copy stores".into());
        }
        Ok(choice)
    }
}

/// How the places of the destination's buffer that hold no element are treated.
///
/// ```
/// use tensor_layout::relayout::{Padding, Relayout};
/// use tensor_layout::{BufferTensorDesc, DataType};
///
/// let packed = BufferTensorDesc::packed(DataType::U8, &[2, 3])?;
/// let rows = BufferTensorDesc::new(DataType::U8, &[2, 3], Some(&[4, 1]))?;
/// let plan = Relayout::new(&packed, &rows)?.with_padding(Padding::Fill(0xff))?;
/// let mut buffer = [0; 8];
/// plan.run(b"abcdef\0\0", &mut buffer)?;
/// assert_eq!(&buffer[..7], b"abc\xffdef");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Padding {
    /// Padding keeps its bytes.
    #[default]
    Keep,
    /// All bits of the padding are set to zero.
    Zero,
    /// Every padding element is set to this bit pattern. An element of `n` bits takes the low `n` bits.
    /// Higher bits must be zero.
    Fill(u128),
}

impl Padding {
    pub(super) fn pattern(self) -> Option<u128> {
        match self {
            Padding::Keep => None,
            Padding::Zero => Some(0),
            Padding::Fill(pattern) => Some(pattern),
        }
    }

    pub(super) fn check(self, bits: u32) -> Result<(), Error> {
        match self {
            Padding::Fill(pattern) if bits < 128 && pattern.checked_shr(bits).is_some_and(|rest| rest != 0) => {
                Err(Code::FillTooWide.with_reason(format!("{pattern:#x}"), "").with_limit(bits.into()))
            }
            _ => Ok(()),
        }
    }
}

/// What is known about whether the destination is in the cache when a copy begins. It decides by which stores
/// the copy writes, and so its speed, and never its result.
///
/// Non-temporal stores do not go through the cache. They are faster if the memory is not in the cache,
/// because an ordinary store reads its line first. They are slower if an allocator handed back the memory a
/// moment ago.
///
/// ```
/// use tensor_layout::{relayout::{DestinationMemory, Relayout, Settings}, ArrayShape};
///
/// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[64,96]{1,0}".parse()?, "f32[64,96]{0,1}".parse()?);
/// let settings = Settings { memory: DestinationMemory::Reused, ..Settings::default() };
/// let relayout = Relayout::with_settings(&rows, &columns, &settings)?;
/// assert!(relayout.explain().contains("non-temporal from 16777216 bytes"));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DestinationMemory {
    /// Nothing is known. Copies use non-temporal stores from 8 MiB on, read and written together. Copies of
    /// rows of two cache lines and more use them from 16 MiB on.
    #[default]
    Unknown,
    /// The memory was written a moment ago, as was memory that an allocator hands back. Copies use ordinary
    /// stores up to 16 MiB, read and written together, which is half of a common L3 cache.
    Reused,
}
