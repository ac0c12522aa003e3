//! `Pass`: one dispatch of a program.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::super::code::{Access, ComputeShader};
use super::form::Form;

/// The key of a pipeline in a cache. Passes with equal keys have the same shader, entry point and bindings.
///
/// The key holds the text of the shader, so that two different shaders never have equal keys. It also holds a
/// hash of the text, so that a look-up does not read the text twice.
#[derive(Debug, Clone)]
pub struct PipelineKey {
    hash: u64,
    text: Arc<str>,
}

impl PartialEq for PipelineKey {
    fn eq(&self, other: &PipelineKey) -> bool {
        self.hash == other.hash && (Arc::ptr_eq(&self.text, &other.text) || self.text == other.text)
    }
}

impl Eq for PipelineKey {}

impl Hash for PipelineKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Which buffer a binding binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BoundBuffer {
    /// The source, bound for reading (`read`).
    Source,
    /// The destination, bound for reading and writing (`read_write`).
    Destination,
    /// The words of [`Pass::uniforms`], in a uniform buffer.
    Uniforms,
}

/// One binding of a pass, in group 0.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoundWindow {
    /// The number of the binding in group 0.
    pub binding: u32,
    /// The buffer that is bound.
    pub buffer: BoundBuffer,
    /// The range of the buffer that is bound, in bytes. The range of a storage buffer begins at a multiple of
    /// [`Profile::offset_alignment`](crate::Profile::offset_alignment), and its length is a multiple of 4.
    /// The uniform buffer is bound as a whole.
    pub bytes: Range<u64>,
}

/// A shader and its key. All passes that dispatch the shader share both.
#[derive(Debug, Clone)]
pub(super) struct Shader {
    pub(super) shader: Arc<ComputeShader>,
    pub(super) key: PipelineKey,
}

impl Shader {
    pub(super) fn new(shader: ComputeShader) -> Shader {
        let text: Arc<str> = shader.wgsl().into();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Shader { shader: Arc::new(shader), key: PipelineKey { hash: hasher.finish(), text } }
    }
}

/// One dispatch of a program: a shader, its bindings, and the number of workgroups. The pass must see the
/// writes of the passes before it.
///
/// All bindings are in group 0: the source (if the pass reads it), the destination, and then one block of
/// uniforms.
#[derive(Debug, Clone)]
pub struct Pass {
    pub(super) form: Form,
    pub(super) shader: Shader,
    pub(super) workgroups: [u32; 3],
    pub(super) uniforms: Vec<u32>,
    pub(super) source: Option<Range<u64>>,
    pub(super) destination: Range<u64>,
}

impl Pass {
    /// The form of the pass. Passes for ragged edges and padding may have another form than the program.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The text of the shader as WGSL.
    #[must_use]
    pub fn wgsl(&self) -> &str {
        &self.shader.key.text
    }

    /// The name of the shader's entry point.
    #[must_use]
    pub fn entry_point(&self) -> &str {
        &self.shader.shader.name
    }

    /// The number of invocations of a workgroup along each axis.
    #[must_use]
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.shader.shader.workgroup_size
    }

    /// The workgroup memory that a workgroup uses, in bytes.
    #[must_use]
    pub fn workgroup_memory(&self) -> u32 {
        self.shader.shader.workgroup_bytes()
    }

    /// The number of workgroups to dispatch along each axis. Each is at least 1 and at most the limit of the
    /// profile.
    #[must_use]
    pub fn workgroups(&self) -> [u32; 3] {
        self.workgroups
    }

    /// The content of the uniform block: 32-bit words in the order of its members, little endian.
    #[must_use]
    pub fn uniforms(&self) -> Vec<u8> {
        self.uniforms.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The names and the values of the uniform block's words, in order. A D3D12 engine can pass these words
    /// as root constants.
    pub fn named_uniforms(&self) -> impl Iterator<Item = (&str, u32)> {
        let names = self.shader.shader.uniforms.iter().map(|(name, _)| &**name);
        names.zip(self.uniforms.iter().copied())
    }

    /// The bindings of the pass, in the order of their numbers.
    #[must_use]
    pub fn bindings(&self) -> Vec<BoundWindow> {
        let uniforms = u64::try_from(self.uniforms.len()).unwrap_or(u64::MAX).saturating_mul(4);
        let storage = self.shader.shader.buffers().map(|access| match (access, &self.source) {
            (Access::Read, Some(source)) => (BoundBuffer::Source, source.clone()),
            _ => (BoundBuffer::Destination, self.destination.clone()),
        });
        let all = storage.chain((uniforms > 0).then_some((BoundBuffer::Uniforms, 0..uniforms)));
        (0..).zip(all).map(|(binding, (buffer, bytes))| BoundWindow { binding, buffer, bytes }).collect()
    }

    /// The key of this pass's pipeline in a cache.
    #[must_use]
    pub fn key(&self) -> PipelineKey {
        self.shader.key.clone()
    }
}
