//! `upload_arena`: the buffers of an arena on the device, filled.

use tensor_layout::relayout::Relayout;
use tensor_layout::upload::{Arena, ArenaBinding, Role};
use tensor_layout::{IndexMap, ToIndexMap};

use crate::buffer::TensorBuffer;
use crate::error::Error;
use crate::mapped;

/// A tensor in memory, in any layout.
pub type Source<'a> = (&'a dyn ToIndexMap, &'a [u8]);

/// Creates the buffers of an arena, writes the tensors straight into their mapped memory, and returns the
/// bindings of each tensor, in the order of the tensors. The memory is never read. What holds no element is
/// zero.
///
/// The arena is best made by the [`limits`](crate::limits()) of the device. `sources` has one entry for each
/// of its tensors: its bytes with their layout, or `None` for a tensor that begins with zeros, such as an
/// output.
///
/// # Errors
///
/// [`Error::Tensor`] if the arena was made for another device and this one refuses a binding; the errors of
/// [`Relayout::new`]; `buffer_too_short` for a source that is too short; `out_of_limits` for another number
/// of sources than of tensors.
///
/// ```no_run
/// use tensor_layout::upload::{Role, Arena};
/// use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
///
/// # fn with(device: &wgpu::Device, bytes: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
/// let packed = BufferTensorDesc::packed(DataType::F32, &[1000, 4096])?;
/// let weights: ArrayShape = "f32[1000,4096]{1,0:T(8,128)}".parse()?;
/// let result = BufferTensorDesc::packed(DataType::F16, &[1000])?;
/// let limits = tensor_layout_wgpu::limits(device);
/// let arena = Arena::new(&[(&weights, Role::Input), (&result, Role::Output)], &limits).expect("both fit");
/// let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
/// let tensors = tensor_layout_wgpu::upload_arena(device, &arena, &[Some((&packed, bytes)), None], usage)?;
/// let bindings = tensors[0].iter().map(|part| part.binding()).collect::<Result<Vec<_>, _>>()?;
/// # Ok(())
/// # }
/// ```
pub fn upload_arena(
    device: &wgpu::Device,
    arena: &Arena,
    sources: &[Option<Source<'_>>],
    usage: wgpu::BufferUsages,
) -> Result<Vec<Vec<TensorBuffer>>, Error> {
    let number = |list: usize| u64::try_from(list).unwrap_or(u64::MAX);
    let (tensors, given) = (number(arena.tensors.len()), number(sources.len()));
    if tensors != given {
        return Err(tensor_layout::Error::out_of_limits("the number of sources", given, tensors, tensors).into());
    }
    let mut copies = Vec::new();
    for (bindings, source) in arena.tensors.iter().zip(sources) {
        let Some((layout, bytes)) = source else { continue };
        let from = layout.to_index_map()?;
        mapped::check_source(&from, bytes)?;
        for binding in bindings {
            copies.push((plan(&from, binding)?, *bytes, binding));
        }
    }
    let buffer = |&size: &u64| {
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: true })
    };
    let buffers: Vec<wgpu::Buffer> = arena.buffers.iter().map(buffer).collect();
    let filled = copies.iter().try_for_each(|(plan, source, binding)| {
        let range = binding.offset..binding.bound.end;
        let mut view = buffers[binding.buffer]
            .get_mapped_range_mut(range)
            .map_err(|error| Error::Map { message: error.to_string() })?;
        mapped::run(plan, source, view.slice(..))
    });
    buffers.iter().for_each(wgpu::Buffer::unmap);
    filled?;
    let bound = |binding: &ArenaBinding| {
        TensorBuffer::in_buffer(device, &buffers[binding.buffer], binding.offset, &binding.layout, Role::Input)
    };
    arena.tensors.iter().map(|bindings| bindings.iter().map(bound).collect()).collect()
}

/// Plans the copy of the indices that a binding covers.
fn plan(from: &IndexMap, binding: &ArenaBinding) -> Result<Relayout, Error> {
    mapped::plan(&from.slice(&binding.indices)?, &binding.layout.to_index_map()?)
}
