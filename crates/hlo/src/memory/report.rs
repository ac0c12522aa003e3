//! The answers about the memory of a program.

use std::sync::Arc;

use crate::sources::SourceLine;

/// The bytes of one memory, counted as the memory analysis of the compiler counts them.
///
/// Parameters and results have their memory for the whole program. A result that is written over a parameter
/// is counted with both, and once more as aliased. So `peak_bytes` is `argument_bytes + output_bytes -
/// alias_bytes + temp_bytes`.
///
/// ```
/// use tensor_layout_hlo::{MemoryTotal, Module};
///
/// let dump = "ENTRY %main (p: f32[256]) -> f32[256] {
///   %p = f32[256]{0} parameter(0)
///   ROOT %a = f32[256]{0} sine(%p)
/// }";
/// let module = Module::read(dump.as_bytes())?;
/// let total: MemoryTotal = module.live_memory().ok_or("no entry computation")?.total();
/// assert_eq!((total.argument_bytes, total.output_bytes, total.alias_bytes), (1024, 1024, 0));
/// assert_eq!((total.constant_bytes, total.temp_bytes, total.peak_bytes), (0, 0, 2048));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryTotal {
    /// The parameters.
    pub argument_bytes: u128,
    /// The results, tables of tuples included.
    pub output_bytes: u128,
    /// The results that share the memory of a parameter.
    pub alias_bytes: u128,
    /// The most that temporaries take at one time.
    pub temp_bytes: u128,
    /// Constants. They are part of the program, and in no other number here.
    pub constant_bytes: u128,
    /// The most that is taken at one time.
    pub peak_bytes: u128,
}

/// One memory space.
///
/// ```
/// use tensor_layout_hlo::{Module, SpaceUse};
///
/// let dump = "ENTRY %main (p: f32[256]) -> f32[256] {
///   ROOT %p = f32[256]{0} parameter(0)
/// }";
/// let module = Module::read(dump.as_bytes())?;
/// let memory = module.live_memory().ok_or("no entry computation")?;
/// let hbm: &SpaceUse = &memory.spaces()[0];
/// assert_eq!((hbm.space, hbm.buffers, hbm.total.argument_bytes), (0, 1, 1024));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceUse {
    /// The number of the memory space, the `n` of `S(n)`;
    /// [`memory_space_name`](tensor_layout::tiled::memory_space_name) names it.
    pub space: u64,
    /// The bytes of the space. If there is a buffer assignment, they are its bytes.
    pub total: MemoryTotal,
    /// The bytes of the arrays that are alive at the peak, parameters and results included. The rest of
    /// `total.peak_bytes` is fragmentation and alignment, which only a buffer assignment states. They are
    /// more than the peak if the compiler put arrays into one place that the text keeps apart.
    pub live_bytes: u128,
    /// How many buffers there are. A buffer with several names counts once.
    pub buffers: u64,
    /// The first time at which the temporaries take the most, as the number of an instruction in the
    /// schedule. `None` if there are no temporaries.
    pub peak_time: Option<u32>,
}

/// The use of a buffer.
///
/// ```
/// use tensor_layout_hlo::BufferUse;
///
/// assert_eq!(BufferUse::Temporary.name(), "temporary");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BufferUse {
    /// A parameter of the program.
    Argument,
    /// A result of the program.
    Result,
    /// A result that shares the memory of a parameter.
    Aliased,
    /// A constant.
    Constant,
    /// A value in between.
    Temporary,
}

impl BufferUse {
    /// One word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BufferUse::Argument => "argument",
            BufferUse::Result => "result",
            BufferUse::Aliased => "aliased",
            BufferUse::Constant => "constant",
            BufferUse::Temporary => "temporary",
        }
    }
}

/// An instruction, and where it comes from.
///
/// ```
/// use tensor_layout_hlo::{InstructionPlace, Module};
///
/// let dump = r#"ENTRY %main (p: f32[256]) -> f32[256] {
///   ROOT %p = f32[256]{0} parameter(0), metadata={op_name="weights"}
/// }"#;
/// let module = Module::read(dump.as_bytes())?;
/// let memory = module.live_memory().ok_or("no entry computation")?;
/// let place: InstructionPlace = memory.instruction(0).ok_or("no instruction")?;
/// assert_eq!((place.instruction.as_str(), place.opcode.as_str(), place.line), ("p", "parameter", 2));
/// assert_eq!(place.op_name.as_deref(), Some("weights"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstructionPlace {
    /// The name of the instruction, without the `%`.
    pub instruction: String,
    /// The operation.
    pub opcode: String,
    /// The computation that the instruction belongs to.
    pub computation: Arc<str>,
    /// The operation of the source program.
    pub op_name: Option<String>,
    /// The line of the source program.
    pub source: Option<SourceLine>,
    /// The line of the dump. The first line is 1.
    pub line: u64,
}

/// A buffer that is in use at some time.
///
/// ```
/// use tensor_layout_hlo::{BufferUse, LiveBuffer, Module};
///
/// let dump = "ENTRY %main (p: f32[8,100]) -> f32[8,100] {
///   ROOT %p = f32[8,100]{1,0:T(8,128)} parameter(0)
/// }";
/// let module = Module::read(dump.as_bytes())?;
/// let memory = module.live_memory().ok_or("no entry computation")?;
/// let alive: Vec<LiveBuffer> = memory.live_at(0, 0);
/// assert_eq!((alive[0].bytes, alive[0].place.instruction.as_str()), (4096, "p"));
/// println!("{}: {}", alive[0].used_as.name(), alive[0].shape);
/// # let _ = BufferUse::Argument;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveBuffer {
    /// The instruction whose value the buffer holds at that time.
    pub place: InstructionPlace,
    /// The index of the value in the instruction's tuple. It is empty if the result is not a tuple.
    pub tuple_index: Vec<usize>,
    /// The array, or the tuple whose pointers the buffer holds.
    pub shape: String,
    /// The bytes with padding.
    pub bytes: u64,
    /// The use of the buffer.
    pub used_as: BufferUse,
}
