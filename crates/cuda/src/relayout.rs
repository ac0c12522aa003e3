//! `KernelCache`: compiles every kernel once. `CudaRelayout`: copies from one layout to another on the
//! device.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, CudaFunction, CudaStream, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};
use tensor_layout::checked::{OFFSET, Proven, add, len_u64};
use tensor_layout::relayout::Relayout;
use tensor_layout_shader::{BoundBuffer, Pass, PipelineKey, Profile, Program, ProgramOptions, Sizes};

use crate::error::Error;
use crate::memory::{Memory, MemoryMut};

/// The alignment of the pointers that a program takes, in bytes. If a tensor is at another address, the
/// program gets the multiple below it and an offset from there.
const ALIGNMENT: u64 = 16;

/// The number of words that are passed as the uniform block. It is more than any kernel declares, and the
/// driver reads only the words that are declared.
const UNIFORMS: usize = 256;

/// The compiled kernels of a context. Copies with the same kernel text share the compiled function.
///
/// This type is a handle: a clone refers to the same cache. Kernels are kept until the last clone, and the
/// last copy that uses them, are dropped.
#[derive(Clone)]
pub struct KernelCache {
    context: Arc<CudaContext>,
    profile: Profile,
    functions: Arc<Mutex<HashMap<PipelineKey, CudaFunction>>>,
}

impl KernelCache {
    /// Returns an empty cache, which compiles a kernel for each pair of layouts.
    #[must_use]
    pub fn new(context: &Arc<CudaContext>) -> KernelCache {
        KernelCache { context: context.clone(), profile: Profile::cuda(), functions: Arc::default() }
    }

    /// Returns this cache with sizes and strides as constants of kernels or as arguments. With
    /// [`Sizes::Uniforms`], one kernel serves every size of a form, so copies whose sizes change with each
    /// call are compiled once.
    #[must_use]
    pub fn with_sizes(mut self, sizes: Sizes) -> KernelCache {
        self.profile.sizes = sizes;
        self
    }

    /// The number of kernels in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether the cache has no kernel.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Plans a copy, with the padding option of `relayout`, and compiles its kernels.
    ///
    /// # Errors
    ///
    /// The errors of [`Program::new`]; [`Error::Compile`]; [`Error::Driver`].
    pub fn relayout(&self, relayout: &Relayout) -> Result<CudaRelayout, Error> {
        let program = Program::new(relayout, &self.profile)?;
        for pass in program.passes() {
            self.function(pass)?;
        }
        Ok(CudaRelayout { cache: self.clone(), relayout: relayout.clone(), program: Arc::new(program) })
    }

    /// Returns the kernel of a pass, and compiles it if the cache does not have it.
    fn function(&self, pass: &Pass) -> Result<CudaFunction, Error> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = functions.get(&pass.key()) {
            return Ok(function.clone());
        }
        let (major, minor) = self.context.compute_capability()?;
        let options = vec![format!("--gpu-architecture=compute_{major}{minor}")];
        let compiled = compile_ptx_with_opts(pass.cuda(), CompileOptions { options, ..CompileOptions::default() })?;
        let function = self.context.load_module(compiled)?.load_function(pass.entry_point())?;
        functions.insert(pass.key(), function.clone());
        Ok(function)
    }
}

impl fmt::Debug for KernelCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelCache").field("kernels", &self.len()).finish_non_exhaustive()
    }
}

/// A planned copy on the device. Its result is that of [`Relayout::run`] on the CPU, bit for bit.
#[derive(Debug, Clone)]
pub struct CudaRelayout {
    cache: KernelCache,
    relayout: Relayout,
    /// The program for tensors whose addresses are multiples of 16 bytes.
    program: Arc<Program>,
}

impl CudaRelayout {
    /// The program for tensors whose addresses are multiples of 16 bytes: its passes and kernels, and the
    /// [reason](Program::explain) for its form.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// A plan of this copy for the CPU.
    #[must_use]
    pub fn relayout(&self) -> &Relayout {
        &self.relayout
    }

    /// The device memory that the source needs, in bytes: a multiple of 4.
    #[must_use]
    pub fn source_size_in_bytes(&self) -> usize {
        whole_words(self.relayout.source_size_in_bytes())
    }

    /// The device memory that the destination needs, in bytes: a multiple of 4.
    #[must_use]
    pub fn destination_size_in_bytes(&self) -> usize {
        whole_words(self.relayout.destination_size_in_bytes())
    }

    /// Puts the copy on the stream. Slices and views of any type are accepted, and their memory is used as
    /// bytes.
    ///
    /// If the destination ends inside a word of 4 bytes, the copy reads this word, changes its own bytes and
    /// writes the word. So two copies to destinations that share a word must not run at the same time.
    ///
    /// # Errors
    ///
    /// [`Error::TooShort`] and [`Error::Unaligned`] for memory that is too short or at a wrong address;
    /// [`Error::Driver`] if a call of the driver fails. Tensors whose addresses are no multiples of 16 bytes
    /// need a new plan, which may return the errors of [`Program::with_options`].
    pub fn run<T, S: Memory<T>, D: MemoryMut<T>>(
        &self,
        stream: &Arc<CudaStream>,
        source: &S,
        destination: &mut D,
    ) -> Result<(), Error> {
        let bytes = |length: usize| len_u64(length).saturating_mul(len_u64(size_of::<T>()));
        for (what, bytes, needed) in [
            ("the source", bytes(source.len()), len_u64(self.source_size_in_bytes())),
            ("the destination", bytes(destination.len()), len_u64(self.destination_size_in_bytes())),
        ] {
            if bytes < needed {
                return Err(Error::TooShort { what, bytes, needed });
            }
        }
        let (from, _read) = source.device_ptr(stream);
        let (to, _written) = destination.device_ptr_mut(stream);
        #[expect(unsafe_code, reason = "device memory has no lifetime that a compiler could check")]
        // SAFETY: The memory of both tensors was checked to be as long as the layouts need. The source is
        // borrowed and the destination is borrowed exclusively, so neither is freed or used otherwise before
        // the launch is on the stream. When the guards are dropped, cudarc orders the uses on other streams
        // after the launch.
        unsafe {
            self.run_at(stream, from, to)
        }
    }

    /// Puts the copy on the stream, for device memory that cudarc does not manage.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run), except [`Error::TooShort`].
    ///
    /// # Safety
    ///
    /// * Both addresses are in memory of the cache's context, or in memory that it can reach. From these
    ///   addresses on, the memory holds [`source_size_in_bytes`](Self::source_size_in_bytes) and
    ///   [`destination_size_in_bytes`](Self::destination_size_in_bytes) bytes, until the stream has run the
    ///   copy.
    /// * The two ranges do not overlap.
    /// * Until then, nothing else writes the source, and nothing else reads or writes the destination.
    #[expect(unsafe_code, reason = "device memory has no lifetime that a compiler could check")]
    pub unsafe fn run_at(
        &self,
        stream: &Arc<CudaStream>,
        source: sys::CUdeviceptr,
        destination: sys::CUdeviceptr,
    ) -> Result<(), Error> {
        let (source_offset, destination_offset) = (source % ALIGNMENT, destination % ALIGNMENT);
        for (what, address, offset) in
            [("the source", source, source_offset), ("the destination", destination, destination_offset)]
        {
            if !offset.is_multiple_of(4) {
                return Err(Error::Unaligned { what, address });
            }
        }
        let moved;
        let program = if source_offset == 0 && destination_offset == 0 {
            &*self.program
        } else {
            let options = ProgramOptions { source_offset, destination_offset, ..ProgramOptions::default() };
            moved = Program::with_options(&self.relayout, &self.cache.profile, &options)?;
            &moved
        };
        for pass in program.passes() {
            let function = self.cache.function(pass)?;
            let mut uniforms = [0_u32; UNIFORMS];
            for (word, (_, value)) in uniforms.iter_mut().zip(pass.named_uniforms()) {
                *word = value;
            }
            // The start of a window is counted from the multiple of 16 bytes at or below the tensor, and is a
            // multiple of 16 bytes itself.
            let mut pointers: Vec<u64> = Vec::new();
            for window in pass.bindings() {
                let start = match window.buffer {
                    BoundBuffer::Source => source.minus(source_offset),
                    BoundBuffer::Destination => destination.minus(destination_offset),
                    _ => continue,
                };
                pointers.push(add(start, window.bytes.start, OFFSET)?);
            }
            let mut launch = stream.launch_builder(&function);
            for pointer in &pointers {
                launch.arg(pointer);
            }
            launch.arg(&uniforms);
            let ([x, y, z], [threads, _, _]) = (pass.workgroups(), pass.workgroup_size());
            let config = LaunchConfig { grid_dim: (x, y, z), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
            // SAFETY: The parameters are those of the kernel, in order: a pointer for each buffer, and at
            // least as many uniforms as it declares. The kernel stays inside the windows, which are inside
            // the memory that the caller promises. (The interpreter of `tensor_layout_shader` checks that for
            // each form, and that no two threads access one word.)
            unsafe { launch.launch(config) }?;
        }
        Ok(())
    }
}

fn whole_words(bytes: u64) -> usize {
    usize::try_from(bytes.next_multiple_of(4)).unwrap_or(usize::MAX)
}
