//! `KernelCache`: every kernel is compiled once; `CudaRelayout`: from one layout to another on the device.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{
    CudaContext, CudaFunction, CudaStream, DevicePtr, DevicePtrMut, LaunchConfig, PushKernelArg, sys,
};
use cudarc::nvrtc::{CompileOptions, compile_ptx_with_opts};
use tensor_layout::relayout::Relayout;
use tensor_layout_shader::{BoundBuffer, Pass, PipelineKey, Profile, Program, ProgramOptions, Sizes};

use crate::error::Error;

/// What pointers of programs are multiples of: tensors that begin in between are counted from there.
const ALIGNMENT: u64 = 16;

/// The words of a uniform block: more than any program has. The driver reads as many as the kernel declares.
const UNIFORMS: usize = 256;

/// The kernels of a context: copies that share a text share its function.
///
/// A handle: a clone is the same cache. Kernels stay until the last clone, and the last copy that uses them,
/// are dropped.
#[derive(Clone)]
pub struct KernelCache {
    context: Arc<CudaContext>,
    profile: Profile,
    functions: Arc<Mutex<HashMap<PipelineKey, CudaFunction>>>,
}

impl KernelCache {
    /// An empty cache, with a kernel for each pair of layouts.
    #[must_use]
    pub fn new(context: &Arc<CudaContext>) -> KernelCache {
        KernelCache { context: context.clone(), profile: Profile::cuda(), functions: Arc::default() }
    }

    /// Returns this cache with sizes and strides as constants of kernels or as arguments. With
    /// [`Sizes::Uniforms`] one kernel serves every size of one form, so copies whose sizes change with each
    /// call are compiled once.
    #[must_use]
    pub fn with_sizes(mut self, sizes: Sizes) -> KernelCache {
        self.profile.sizes = sizes;
        self
    }

    /// How many kernels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.functions.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Is there no kernel?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Plans a copy, with the treatment of padding that `relayout` has, and compiles its kernels.
    ///
    /// # Errors
    ///
    /// What [`Program::new`] refuses, [`Error::Compile`], [`Error::Driver`].
    pub fn relayout(&self, relayout: &Relayout) -> Result<CudaRelayout, Error> {
        let program = Program::new(relayout, &self.profile)?;
        for pass in program.passes() {
            self.function(pass)?;
        }
        Ok(CudaRelayout { cache: self.clone(), relayout: relayout.clone(), program: Arc::new(program) })
    }

    /// The kernel of a pass, compiled if there is none yet.
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

/// A planned copy on the device: what [`Relayout::run`] does on the CPU, bit for bit.
#[derive(Debug, Clone)]
pub struct CudaRelayout {
    cache: KernelCache,
    relayout: Relayout,
    /// For tensors at multiples of 16 bytes.
    program: Arc<Program>,
}

impl CudaRelayout {
    /// The program for tensors at multiples of 16 bytes: its passes and kernels, and [why](Program::explain)
    /// it has its form.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The copy, as the CPU runs it.
    #[must_use]
    pub fn relayout(&self) -> &Relayout {
        &self.relayout
    }

    /// The bytes of device memory that the source needs: whole words of 4.
    #[must_use]
    pub fn source_size_in_bytes(&self) -> usize {
        whole_words(self.relayout.source_size_in_bytes())
    }

    /// The bytes of device memory that the destination needs: whole words of 4.
    #[must_use]
    pub fn destination_size_in_bytes(&self) -> usize {
        whole_words(self.relayout.destination_size_in_bytes())
    }

    /// Puts the copy on the stream. Slices and views of any type will do: they are taken as bytes.
    ///
    /// A word of 4 bytes in which the destination ends is read, changed and written, so two copies at the
    /// same time on destinations that share a word would race.
    ///
    /// # Errors
    ///
    /// [`Error::TooShort`] and [`Error::Unaligned`] for memory that does not fit the layouts,
    /// [`Error::Driver`]; for tensors that do not begin at multiples of 16 bytes, which are planned anew,
    /// what [`Program::with_options`] refuses.
    pub fn run<T, S: DevicePtr<T>, D: DevicePtrMut<T>>(
        &self,
        stream: &Arc<CudaStream>,
        source: &S,
        destination: &mut D,
    ) -> Result<(), Error> {
        let bytes = |length: usize| (length as u64).saturating_mul(size_of::<T>() as u64);
        for (what, bytes, needed) in [
            ("the source", bytes(source.len()), self.source_size_in_bytes() as u64),
            ("the destination", bytes(destination.len()), self.destination_size_in_bytes() as u64),
        ] {
            if bytes < needed {
                return Err(Error::TooShort { what, bytes, needed });
            }
        }
        let (from, _read) = source.device_ptr(stream);
        let (to, _written) = destination.device_ptr_mut(stream);
        #[expect(unsafe_code, reason = "device memory has no lifetime that a compiler could check")]
        // SAFETY: Both are as long as the layouts need, which was checked. The source is borrowed and the
        // destination borrowed exclusively, so neither is freed or used otherwise before the launch is on the
        // stream; cudarc orders what other streams do with them after it, when the guards are dropped.
        unsafe {
            self.run_at(stream, from, to)
        }
    }

    /// Puts the copy on the stream, for device memory that is not cudarc's.
    ///
    /// # Errors
    ///
    /// Like [`run`](Self::run), but for [`Error::TooShort`].
    ///
    /// # Safety
    ///
    /// * Both addresses are of memory of the cache's context (or that it can reach), which holds
    ///   [`source_size_in_bytes`](Self::source_size_in_bytes) and
    ///   [`destination_size_in_bytes`](Self::destination_size_in_bytes) bytes from there on, until the stream
    ///   has run the copy.
    /// * The two do not overlap.
    /// * Nothing else writes the source, or touches the destination, before that.
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
            // A window begins at a multiple of 16 bytes from the multiple at or below the tensor.
            let pointers = pass.bindings().into_iter().filter_map(|window| match window.buffer {
                BoundBuffer::Source => Some(source - source_offset + window.bytes.start),
                BoundBuffer::Destination => Some(destination - destination_offset + window.bytes.start),
                _ => None,
            });
            let pointers: Vec<u64> = pointers.collect();
            let mut launch = stream.launch_builder(&function);
            for pointer in &pointers {
                launch.arg(pointer);
            }
            launch.arg(&uniforms);
            let ([x, y, z], [threads, _, _]) = (pass.workgroups(), pass.workgroup_size());
            let config = LaunchConfig { grid_dim: (x, y, z), block_dim: (threads, 1, 1), shared_mem_bytes: 0 };
            // SAFETY: The parameters are those of the kernel, in order: a pointer for each buffer, and the
            // uniforms, of which there are as many as it declares or more. The kernel stays inside the
            // windows, which are inside what the caller promises (the interpreter of `tensor_layout_shader`
            // checks each form for that, and that no two threads touch one word).
            unsafe { launch.launch(config) }?;
        }
        Ok(())
    }
}

/// Whole words of 4 bytes.
fn whole_words(bytes: u64) -> usize {
    usize::try_from(bytes.next_multiple_of(4)).unwrap_or(usize::MAX)
}
