//! `TransferLimits`: what a transfer may be, for who executes it.

use std::borrow::Cow;
use std::str::FromStr;

use tensor_layout::Error;
use tensor_layout::checked::{Proven, gcd};
use tensor_layout::plan::Code;
use tensor_layout::upload::read_size;

/// The limits of an executor of transfers. Every field is public. Start from a name
/// (`"webgpu".parse()`), from [`ranges`](Self::ranges) or from [`with_loops`](Self::with_loops).
///
/// ```
/// use tensor_layout_transfers::TransferLimits;
///
/// let webgpu: TransferLimits = "webgpu".parse()?;
/// assert_eq!((webgpu.loops, webgpu.offset_alignment, webgpu.run_multiple), (Some(0), 4, 4));
/// let mine: TransferLimits = "nixl:max_run=1MiB,max_transfers=1000".parse()?;
/// assert_eq!((mine.loops, mine.max_run, mine.max_transfers), (Some(1), 1 << 20, 1000));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferLimits {
    /// The name of the executor.
    pub name: Cow<'static, str>,
    /// The most loops of a transfer: 0 for plain ranges, `None` for any number.
    pub loops: Option<usize>,
    /// Whether each stride of a transfer must be at least its run on both sides, as `cudaMemcpy2D` and NIXL
    /// have it. A source that is repeated or walked backwards then has no loop inside a transfer.
    pub pitched: bool,
    /// The offsets and the strides of a transfer are multiples of this number, in bytes.
    pub offset_alignment: u64,
    /// The length of a contiguous run is a multiple of this number, in bytes.
    pub run_multiple: u64,
    /// The longest contiguous run, in bytes. Longer runs are cut.
    pub max_run: u64,
    /// The most transfers of a list.
    pub max_transfers: u64,
}

/// The named executors: the name, the loops, whether strides cover runs, and the alignment of offsets and
/// runs in bytes.
///
/// `rdma`: a scatter or gather list. `nixl`: the strided descriptors of NIXL 1.5. `cuda-2d`:
/// `cudaMemcpy2DAsync`. `vulkan`: `vkCmdCopyBuffer`. `d3d12`: `CopyBufferRegion`. `webgpu`:
/// `copyBufferToBuffer`. `metal`: `copyFromBuffer` of a blit encoder on macOS.
const NAMED: [(&str, Option<usize>, bool, u64); 8] = [
    ("any", None, false, 1),
    ("rdma", Some(0), false, 1),
    ("nixl", Some(1), true, 1),
    ("cuda-2d", Some(1), true, 1),
    ("vulkan", Some(0), false, 1),
    ("d3d12", Some(0), false, 1),
    ("webgpu", Some(0), false, 4),
    ("metal", Some(0), false, 4),
];

impl TransferLimits {
    /// Returns the limits of an executor of any loops, without limits.
    #[must_use]
    pub fn any() -> TransferLimits {
        TransferLimits::of(NAMED[0])
    }

    /// Returns the limits of an executor of plain ranges, without other limits.
    #[must_use]
    pub fn ranges() -> TransferLimits {
        TransferLimits::with_loops(0)
    }

    /// Returns the limits of an executor of up to `loops` loops, without other limits.
    #[must_use]
    pub fn with_loops(loops: usize) -> TransferLimits {
        TransferLimits { loops: Some(loops), ..TransferLimits::any() }
    }

    fn of((name, loops, pitched, multiple): (&'static str, Option<usize>, bool, u64)) -> TransferLimits {
        TransferLimits {
            name: name.into(),
            loops,
            pitched,
            offset_alignment: multiple,
            run_multiple: multiple,
            max_run: u64::MAX,
            max_transfers: u64::MAX,
        }
    }

    /// Returns these limits with one field changed. The value is a text, as in
    /// [`DeviceLimits::with`](tensor_layout::DeviceLimits::with).
    ///
    /// # Errors
    ///
    /// `unknown_limits` for another name, or for a `pitched` that is not true or false. `parse` if a number
    /// cannot be read.
    pub fn with(mut self, field: &str, value: &str) -> Result<TransferLimits, Error> {
        match field {
            "loops" if value == "any" => self.loops = None,
            "loops" => self.loops = Some(usize::try_from(read_size(value)?).unwrap_or(usize::MAX)),
            "pitched" if ["true", "false"].contains(&value) => self.pitched = value == "true",
            "pitched" => {
                let reason = format!("is true or false for an executor, and not `{value}`");
                return Err(Code::UnknownLimits.with_reason(field.to_owned(), reason));
            }
            "offset_alignment" => self.offset_alignment = read_size(value)?,
            "run_multiple" => self.run_multiple = read_size(value)?,
            "max_run" => self.max_run = read_size(value)?,
            "max_transfers" => self.max_transfers = read_size(value)?,
            _ => {
                let fields = "loops, pitched, offset_alignment, run_multiple, max_run or max_transfers";
                return Err(Code::UnknownLimits
                    .with_reason(field.to_owned(), format!("is no limit of an executor: expected {fields}")));
            }
        }
        Ok(self)
    }

    /// Returns the longest run that a longer run may be cut to, which keeps all multiples.
    ///
    /// # Errors
    ///
    /// `out_of_limits` if a multiple is 0, or if no run is short enough.
    pub(crate) fn piece(&self) -> Result<u64, Error> {
        let multiples = [self.offset_alignment, self.run_multiple];
        if multiples.contains(&0) {
            return Err(Error::out_of_limits("the multiple of an offset or a run", 0, 1, u64::MAX));
        }
        let [offset, run] = multiples;
        let multiple = offset.divided_by(gcd(offset, run)).saturating_mul(run);
        match self.max_run.minus(self.max_run.modulo(multiple)) {
            0 => Err(Error::out_of_limits("the longest run", self.max_run, multiple, u64::MAX)),
            piece => Ok(piece),
        }
    }
}

impl Default for TransferLimits {
    /// Returns [`TransferLimits::any`].
    fn default() -> TransferLimits {
        TransferLimits::any()
    }
}

/// Reads a name, and changes to it: `nixl`, `webgpu:max_transfers=1000`. The message of `unknown_limits`
/// lists the names.
impl FromStr for TransferLimits {
    type Err = Error;

    fn from_str(text: &str) -> Result<TransferLimits, Error> {
        let (name, changes) = text.split_once(':').unwrap_or((text, ""));
        let row = NAMED.iter().find(|row| row.0 == name).ok_or_else(|| {
            let names = NAMED.map(|row| row.0).join(", ");
            let reason = format!(
                "names no executor of transfers: expected {names}, perhaps with limits of your own after it, as in nixl:max_run=1MiB"
            );
            Code::UnknownLimits.with_reason(name.to_owned(), reason)
        })?;
        let mut limits = TransferLimits { name: text.to_owned().into(), ..TransferLimits::of(*row) };
        for change in changes.split(',').filter(|change| !change.is_empty()) {
            limits = match change.split_once('=') {
                Some((field, value)) => limits.with(field, value)?,
                None => {
                    let reason = "needs a value after it, as in max_run=1MiB";
                    return Err(Code::UnknownLimits.with_reason(change.to_owned(), reason));
                }
            };
        }
        limits.piece()?;
        Ok(limits)
    }
}
