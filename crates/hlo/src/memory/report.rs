//! The types in which the memory of a program is reported.

use std::sync::Arc;

use crate::sources::SourceLine;

/// The sizes of one memory space, in bytes, counted as the memory analysis of the compiler counts them.
///
/// Parameters and results have their memory for the whole program. A result that is written over a parameter
/// is counted in `argument_bytes`, in `output_bytes` and in `alias_bytes`. So `peak_bytes` is `argument_bytes
/// + output_bytes - alias_bytes + temp_bytes`.
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
    /// The size of all parameters.
    pub argument_bytes: u128,
    /// The size of all results, including the tables of pointers of tuples.
    pub output_bytes: u128,
    /// The size of the results that share the memory of a parameter.
    pub alias_bytes: u128,
    /// The largest sum of the temporaries that are in use at one time.
    pub temp_bytes: u128,
    /// The size of the constants. They are part of the program, and are not in `peak_bytes`.
    pub constant_bytes: u128,
    /// The largest sum of parameters, results and temporaries at one time.
    pub peak_bytes: u128,
}

/// Returns the name of a memory space. A TPU has HBM, VMEM and others
/// ([`memory_space_name`](tensor_layout::tiled::memory_space_name)). In JAX's CPU programs, space 5 is pinned
/// memory of the host, and space 6 is unpinned memory of the host (jaxlib 0.10.2). `None` if the space has no
/// name.
///
/// ```
/// use tensor_layout_hlo::memory_name;
///
/// assert_eq!((memory_name(0, true), memory_name(0, false)), (Some("HBM"), Some("memory")));
/// assert_eq!((memory_name(5, false), memory_name(6, false)), (Some("pinned host"), Some("unpinned host")));
/// ```
#[must_use]
pub fn memory_name(space: u64, is_for_tpu: bool) -> Option<&'static str> {
    match (space, is_for_tpu) {
        (_, true) => tensor_layout::tiled::memory_space_name(space),
        (0, false) => Some("memory"),
        (5, false) => Some("pinned host"),
        (6, false) => Some("unpinned host"),
        _ => None,
    }
}

/// The use of one memory space.
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
    /// The sizes in this space. They come from the buffer assignment, if there is one.
    pub total: MemoryTotal,
    /// The sum of the arrays that are alive at the peak, parameters and results included, in bytes. The rest
    /// of `total.peak_bytes` is fragmentation and alignment, which only a buffer assignment states. The sum
    /// is larger than the peak if the compiler put arrays into one place that are separate in the text.
    pub live_bytes: u128,
    /// Whether the compiler may need more than `total` says, for gaps between buffers: the sizes come from
    /// the text, and temporaries of several sizes take each other's places. Only a buffer assignment has
    /// the gaps.
    pub may_have_gaps: bool,
    /// The number of buffers in the space. A buffer with several names counts once.
    pub buffers: u64,
    /// The first time at which the temporaries take the most, as the number of an instruction in the
    /// schedule. `None` if there are no temporaries.
    pub peak_time: Option<u32>,
}

/// What a buffer is used for.
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
    /// A result that is written over a donated parameter.
    Aliased,
    /// A constant.
    Constant,
    /// A value that is neither a parameter, a result nor a constant.
    Temporary,
}

impl BufferUse {
    /// The use of the buffer in one word, in lower case.
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

/// An instruction, with its place in the dump and in the source program.
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
    /// The operation of the instruction: `add`, `fusion`.
    pub opcode: String,
    /// The name of the computation that contains the instruction.
    pub computation: Arc<str>,
    /// The operation of the source program that the instruction comes from, if the dump names it.
    pub op_name: Option<String>,
    /// The line of the source program that the instruction comes from, if the dump names it.
    pub source: Option<SourceLine>,
    /// The line of the dump at which the instruction starts. The first line is 1.
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
    /// The index of the value in the tuple that the instruction returns. It is empty if the result is not a
    /// tuple.
    pub tuple_index: Vec<usize>,
    /// The shape of the array, or `table of 3 pointers` for the table of a tuple.
    pub shape: String,
    /// The size of the buffer in bytes, with padding.
    pub bytes: u64,
    /// What the buffer is used for.
    pub used_as: BufferUse,
}
