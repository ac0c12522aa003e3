//! Executes a list of transfers between device memory as copies of rows (`cudaMemcpy2DAsync`).

use std::sync::Arc;

use cudarc::driver::{CudaStream, sys};
use tensor_layout::checked::{OFFSET, add, len_u64, narrow};
use tensor_layout_transfers::{Loop, Transfer, Transfers};

use crate::error::Error;
use crate::memory::{Memory, MemoryMut};

/// Puts a list of transfers on the stream, each as one copy of rows. The list is one of the executor
/// `cuda-2d`: its transfers have at most one loop, whose strides are at least the run. The driver takes
/// strides of a bit less than 2 GiB.
///
/// # Errors
///
/// [`Error::TooShort`]; [`Error::Layout`] with `out_of_limits` for a transfer with more loops or a smaller
/// stride; [`Error::Driver`]. The transfers before the one that is refused are on the stream.
///
/// ```no_run
/// use tensor_layout::ArrayShape;
/// use tensor_layout_transfers::transfers;
///
/// let stream = tensor_layout_cuda::device(0).expect("a device").default_stream();
/// let (rows, padded): (ArrayShape, ArrayShape) = ("f32[100,60]{1,0}".parse()?, "f32[100,60]{1,0:T(1,64)}".parse()?);
/// let list = transfers(&rows, &padded, &"cuda-2d".parse()?)?;
/// let (source, mut destination) = (stream.alloc_zeros::<f32>(6000)?, stream.alloc_zeros::<f32>(6400)?);
/// tensor_layout_cuda::execute(&stream, &list, &source, &mut destination)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn execute<T, S: Memory<T>, D: MemoryMut<T>>(
    stream: &Arc<CudaStream>,
    list: &Transfers,
    source: &S,
    destination: &mut D,
) -> Result<(), Error> {
    let bytes = |length: usize| len_u64(length).saturating_mul(len_u64(size_of::<T>()));
    let (reads, writes) = list.reach();
    for (what, bytes, needed) in
        [("the source", bytes(source.len()), reads), ("the destination", bytes(destination.len()), writes)]
    {
        if bytes < needed {
            return Err(Error::TooShort { what, bytes, needed });
        }
    }
    let (from, _read) = source.device_ptr(stream);
    let (to, _written) = destination.device_ptr_mut(stream);
    stream.context().bind_to_thread()?;
    for transfer in list.iter() {
        let copy = rows(&transfer, from, to)?;
        #[expect(unsafe_code, reason = "device memory has no lifetime that a compiler could check")]
        // SAFETY: `reach` is the end of the last run on either side, without wrapping, and both memories are
        // at least as long, so all rows are inside. Their types are cudarc's (`Memory`), which do not lie
        // about a pointer or a length. The source is borrowed and the destination is borrowed exclusively
        // until all copies are on the stream, after which cudarc orders the uses on other streams.
        unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) }.result()?;
    }
    Ok(())
}

/// Describes a transfer as rows of device memory.
fn rows(transfer: &Transfer<'_>, from: u64, to: u64) -> Result<sys::CUDA_MEMCPY2D, Error> {
    let Transfer { source, destination, bytes, loops } = *transfer;
    let refused =
        |what, value, least, most| Error::Layout(tensor_layout::Error::out_of_limits(what, value, least, most));
    let once = Loop { count: 1, source_stride: bytes.cast_signed(), destination_stride: bytes.cast_signed() };
    let step = match loops {
        [] => once,
        [step] => *step,
        _ => return Err(refused("the number of loops of a transfer", len_u64(loops.len()), 0, 1)),
    };
    let pitch = |stride: i64| match u64::try_from(stride) {
        Ok(stride) if stride >= bytes => Ok(narrow(stride, "a pitch")?),
        _ => Err(refused("the stride of a transfer", stride.max(0).unsigned_abs(), bytes, u64::MAX)),
    };
    Ok(sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: std::ptr::null(),
        srcDevice: add(from, source, OFFSET)?,
        srcArray: std::ptr::null_mut(),
        srcPitch: pitch(step.source_stride)?,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: std::ptr::null_mut(),
        dstDevice: add(to, destination, OFFSET)?,
        dstArray: std::ptr::null_mut(),
        dstPitch: pitch(step.destination_stride)?,
        WidthInBytes: narrow(bytes, "a row")?,
        Height: narrow(step.count, "the number of rows")?,
    })
}
