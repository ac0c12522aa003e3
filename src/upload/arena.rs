//! `Arena`: buffers, offsets and bindings for many tensors in one call. `PackedBuffer`: offsets in one
//! buffer.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use crate::bridge::AnyLayout;
use crate::checked::{self, BYTES, Proven};
use crate::error::{Code, Error};
use crate::map::ToIndexMap;
use crate::strided::BlockTensorDesc;

use super::bindings::Binding;
use super::limits::{DeviceLimits, common_multiple};
use super::report::Errors;
use super::split::split_binding;
use super::tensor::Tensor;
use super::validate::{Role, UploadBuffer, check, validate, validate_description};

/// Buffers for many tensors, and where each tensor is in them, from [`Arena::new`].
///
/// ```
/// use tensor_layout::upload::{Arena, ArenaBinding, DeviceLimits, Role};
/// use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
///
/// let bias = BufferTensorDesc::packed(DataType::F16, &[3])?;
/// let weights: ArrayShape = "f32[64,100]{1,0:T(8,128)}".parse()?;
/// let scores = BufferTensorDesc::packed(DataType::F32, &[1, 48, 1024, 1024])?;
/// let tensors: [(&dyn tensor_layout::ToIndexMap, Role); 3] =
///     [(&bias, Role::Input), (&weights, Role::Input), (&scores, Role::Output)];
/// let arena: Arena = Arena::new(&tensors, &DeviceLimits::webgpu()).expect("WebGPU takes all three");
/// // WebGPU reads or writes a buffer. The scores take two bindings of theirs.
/// assert_eq!(arena.buffers, [256 + 32768, 192 << 20]);
/// let first: &ArenaBinding = &arena.tensors[0][0];
/// assert_eq!((first.bound.clone(), first.padding.clone()), (0..8, 6..8));
/// assert_eq!((arena.tensors[2].len(), arena.tensors[2][1].buffer), (2, 1));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Arena {
    /// The length of each buffer, in bytes.
    pub buffers: Vec<u64>,
    /// The bindings of each tensor, in the order of the tensors: one, or several if the tensor is too large
    /// for one.
    pub tensors: Vec<Vec<ArenaBinding>>,
}

/// One binding of an [`Arena`]: a tensor, or a piece of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ArenaBinding {
    /// The position of the buffer in [`Arena::buffers`].
    pub buffer: usize,
    /// The offset in the buffer from which the offsets of `layout` count, in bytes.
    pub offset: u64,
    /// The bytes of the buffer to bind.
    pub bound: Range<u64>,
    /// The bytes at the end of `bound` that hold no element, counted from the start of `bound`, as in
    /// [`UploadReport::padding`](super::UploadReport::padding). Zero them once, when the buffer is made.
    pub padding: Range<u64>,
    /// Whether the device reads or writes the tensor.
    pub role: Role,
    /// The indices of each axis of the tensor that the binding covers.
    pub indices: Vec<Range<u64>>,
    /// The layout of these indices: the destination of an upload, or the source of a download.
    pub layout: AnyLayout,
    /// The tensor of blocks whose bytes `layout` has. `None` for other tensors, and for a piece of a block.
    pub blocks: Option<BlockTensorDesc>,
}

/// Why [`Arena::new`] placed nothing: the errors of each tensor that has some.
///
/// ```
/// use tensor_layout::upload::{Arena, ArenaErrors, DeviceLimits, Role};
/// use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
///
/// let (fits, not) = (BufferTensorDesc::packed(DataType::F32, &[3])?, BufferTensorDesc::packed(DataType::F32, &[0])?);
/// let given = [(&fits as &dyn ToIndexMap, Role::Input), (&not, Role::Input)];
/// let errors: ArenaErrors = Arena::new(&given, &DeviceLimits::directml()).unwrap_err();
/// assert_eq!((errors.tensors.len(), errors.tensors[0].0), (1, 1));
/// assert_eq!(errors.to_string(), "tensor 1: axis 0 has size 0, but every size must be at least 1 here");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ArenaErrors {
    /// The position of each such tensor in the list, and its errors.
    pub tensors: Vec<(usize, Errors)>,
}

impl fmt::Display for ArenaErrors {
    /// Writes each error in a line, behind the position of its tensor.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (position, errors) in &self.tensors {
            for error in errors.iter() {
                let end = if core::mem::take(&mut first) { "" } else { "\n" };
                write!(f, "{end}tensor {position}: {error}")?;
            }
        }
        Ok(())
    }
}

impl core::error::Error for ArenaErrors {}

impl Arena {
    /// Places tensors, in any layouts, in as few buffers as they fit, by the rules of a device. A tensor that
    /// is too large for one binding is cut ([`split_binding`]), and its pieces may be in several buffers. On
    /// a device that only reads or only writes a buffer in one dispatch ([`DeviceLimits::one_usage`]), inputs
    /// and outputs are in buffers of their own. Every binding passes [`validate`] in its buffer. A place has
    /// all bytes of its binding and of its layout
    /// ([`IndexMap::total_size_in_bytes`](crate::IndexMap::total_size_in_bytes) from `offset` on), and no two
    /// places overlap.
    ///
    /// A copy with a binding's `layout` as its destination, run on the bytes of the buffer from `offset` on,
    /// writes a tensor of these `indices`, and changes no other tensor, whatever its padding is. What is not
    /// written (padding, gaps between tensors) may hold anything,
    /// but `padding` should be zero.
    ///
    /// # Errors
    ///
    /// For each tensor with a problem, its position in the list and its errors ([`ArenaErrors`]).
    pub fn new(tensors: &[(&dyn ToIndexMap, Role)], limits: &DeviceLimits) -> Result<Arena, ArenaErrors> {
        Arena::of(tensors, limits, |arena, layout, role, open| Ok(Vec::from([arena.add(*layout, role, limits, open)?])))
    }

    /// Returns an arena of tensors that `add` places. `add` returns the bindings of each plane, and gets the
    /// buffer that is being filled, if there is one.
    pub(super) fn of<T>(
        tensors: &[(T, Role)],
        limits: &DeviceLimits,
        add: impl Fn(&mut Arena, &T, Role, &mut Option<usize>) -> Result<Vec<Vec<ArenaBinding>>, Errors>,
    ) -> Result<Arena, ArenaErrors> {
        let mut arena = Arena { buffers: Vec::new(), tensors: Vec::new() };
        let mut problems = Vec::new();
        let (mut read, mut written) = (None, None);
        for (position, (tensor, role)) in tensors.iter().enumerate() {
            let open = if limits.one_usage && *role == Role::Output { &mut written } else { &mut read };
            match add(&mut arena, tensor, *role, open) {
                Ok(planes) => arena.tensors.extend(planes),
                Err(errors) => problems.push((position, errors)),
            }
        }
        if problems.is_empty() { Ok(arena) } else { Err(ArenaErrors { tensors: problems }) }
    }

    /// The bindings of all tensors, for [`validate_bindings`](super::validate_bindings): in the order of the
    /// tensors, with the number of the buffer as its id.
    ///
    /// ```
    /// use tensor_layout::upload::{Arena, validate_bindings, DeviceLimits, Role};
    /// use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
    ///
    /// let (a, b) = (BufferTensorDesc::packed(DataType::F16, &[3])?, BufferTensorDesc::packed(DataType::F16, &[4])?);
    /// let limits = DeviceLimits::webgpu();
    /// let arena = Arena::new(&[(&a as &dyn ToIndexMap, Role::Input), (&b, Role::Output)], &limits).unwrap();
    /// assert!(validate_bindings(&arena.bindings(), &limits).iter().all(Result::is_ok));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn bindings(&self) -> Vec<Binding<'_>> {
        let bindings = self.tensors.iter().flatten().map(|one| {
            let length = self.buffers.get(one.buffer).copied().unwrap_or(0);
            let buffer = UploadBuffer::new(length, one.offset, one.role);
            Binding::new(&one.layout, checked::len_u64(one.buffer), buffer)
        });
        bindings.collect()
    }

    pub(super) fn add(
        &mut self,
        layout: &dyn ToIndexMap,
        role: Role,
        limits: &DeviceLimits,
        open: &mut Option<usize>,
    ) -> Result<Vec<ArenaBinding>, Errors> {
        // A tensor that is too large for a binding is cut. Its pieces must not have another problem.
        let report = match validate_description(layout, limits) {
            Err(errors) if errors.iter().any(|error| error.code() != "binding_limit") => return Err(errors),
            Err(errors) => *errors.report,
            Ok(report) => report,
        };
        let pieces = split_binding(layout, limits).map_err(|error| Errors::new(Vec::from([error]), report))?;
        let refused = |error| Errors::of(error, limits);
        let mut bindings = Vec::new();
        for piece in pieces {
            let (layout, indices) = (piece.layout, piece.indices);
            let used = open.and_then(|buffer| self.buffers.get(buffer).copied()).unwrap_or(0);
            let mut placed = place(&layout, used, role, limits).map_err(refused)?;
            if open.is_none() || limits.zero_offset || placed.1 > limits.max_buffer {
                *open = Some(self.buffers.len());
                self.buffers.push(0);
                placed = place(&layout, 0, role, limits).map_err(refused)?;
            }
            let (buffer, (offset, end)) = (open.unwrap_or_default(), placed);
            let report = validate(&layout, &UploadBuffer::new(end, offset, role), limits)?;
            if let Some(length) = self.buffers.get_mut(buffer) {
                *length = end;
            }
            let (bound, padding, blocks) = (report.bound, report.padding, piece.blocks);
            bindings.push(ArenaBinding { buffer, offset, bound, padding, role, indices, layout, blocks });
        }
        Ok(bindings)
    }
}

/// The offsets that [`PackedBuffer::new`] chose for the tensors.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackedBuffer {
    /// The offset of each tensor's buffer, in bytes, in the order of the tensors. The tensor's own base
    /// offset is added to this offset, as in [`UploadBuffer`](super::UploadBuffer).
    pub offsets: Vec<u64>,
    /// The length of the buffer, in bytes.
    pub len: u64,
}

impl PackedBuffer {
    /// Places tensors, in any layouts, one after the other in one buffer. Each tensor is aligned as the
    /// device and its descriptor require, and gets the bytes of its binding and of its total size. No two
    /// places overlap.
    ///
    /// This only chooses offsets. [`validate`](super::validate) checks the other rules.
    ///
    /// # Errors
    ///
    /// `binding_limit` for a tensor that is too large for one binding ([`Arena::new`] cuts it),
    /// `buffer_limit`, `overflow`, and the errors of [`ToIndexMap::to_index_map`].
    ///
    /// ```
    /// use tensor_layout::upload::{DeviceLimits, PackedBuffer};
    /// use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
    ///
    /// let bias = BufferTensorDesc::packed(DataType::F16, &[3])?;
    /// let tiled: ArrayShape = "f32[5]{0:T(8)}".parse()?;
    /// let packed: PackedBuffer = PackedBuffer::new(&[&bias, &tiled], &DeviceLimits::webgpu())?;
    /// assert_eq!((packed.offsets, packed.len), (vec![0, 256], 288));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn new(layouts: &[&dyn ToIndexMap], limits: &DeviceLimits) -> Result<PackedBuffer, Error> {
        let mut packed = PackedBuffer { offsets: Vec::new(), len: 0 };
        for layout in layouts {
            let (offset, end) = place(*layout, packed.len, Role::Input, limits)?;
            packed.offsets.push(offset);
            packed.len = end;
        }
        if packed.len > limits.max_buffer {
            return Err(Code::BufferLimit.for_value(packed.len, limits.max_buffer));
        }
        Ok(packed)
    }
}

/// Returns the offset of the tensor's buffer behind the first `used` bytes, and the end of its place: of its
/// binding and of its layout's buffer.
// Proved for every input (proofs/lemmas.py):
// * arena.apart: the buffer of a tensor begins behind all that is used.
// * arena.holds: its place ends with its binding or its layout's buffer, and holds both.
// * arena.aligned: the binding begins at a multiple of the alignment.
fn place(layout: &dyn ToIndexMap, used: u64, role: Role, limits: &DeviceLimits) -> Result<(u64, u64), Error> {
    let tensor = Tensor::of(layout)?;
    let (report, _) = check(&tensor, None, limits);
    if report.total_bytes > limits.max_binding {
        return Err(Code::BindingLimit.for_value(report.total_bytes, limits.max_binding));
    }
    // If the base offset is part of the binding, the sum of both offsets must be aligned.
    let base_bytes = report.bound.start;
    let earliest = checked::add(used, base_bytes, BYTES)?;
    // If the device requires no alignment, elements still begin at multiples of their size, and outputs are
    // apart by units that are written at once.
    let unit = if role == Role::Output { limits.write_granularity } else { 1 };
    let alignment = common_multiple(common_multiple(report.alignment_required, tensor.element_bytes())?, unit)?;
    let start = checked::round_up(earliest, alignment, BYTES)?;
    // A copy to the layout allocates and pads all of its buffer, which a device may bind in part.
    let length = report.total_bytes.max(tensor.allocated_bytes.saturating_sub(base_bytes));
    let length = checked::round_up(length, unit.max(1), BYTES)?;
    Ok((start.minus(base_bytes), checked::add(start, length, BYTES)?))
}
