//! `ComputeShader`: an entry point with its bindings.

use std::sync::Arc;

use super::binding::{Access, Memory, MemoryKind};
use super::builder::Code;
use super::expression::{BuiltIn, Expr, Node};
use super::language::HIGH_PRODUCT;
use super::statement::Block;

/// The most workgroups along one axis of a dispatch: WebGPU's `maxComputeWorkgroupsPerDimension`.
pub(crate) const MAX_WORKGROUPS: u32 = 65_535;

/// A compute shader with one entry point. Its storage buffers are bindings 0, 1, .. of group 0 in the order
/// of their declarations. If the shader has uniforms, one block of `u32`s is the binding after the buffers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ComputeShader {
    pub(crate) name: String,
    pub(crate) workgroup_size: [u32; 3],
    /// The storage buffers, and after them the arrays in workgroup memory.
    pub(crate) memories: Vec<Memory>,
    /// The name and the largest value of each word of the uniform block.
    pub(crate) uniforms: Vec<(Arc<str>, u32)>,
    pub(super) body: Block,
    pub(super) slots: usize,
}

impl ComputeShader {
    pub(crate) fn new(name: &str, workgroup_size: [u32; 3]) -> ComputeShader {
        ComputeShader {
            name: name.to_owned(),
            workgroup_size,
            memories: Vec::new(),
            uniforms: Vec::new(),
            body: Vec::new(),
            slots: 0,
        }
    }

    /// Declares a storage buffer of single words at the next binding.
    pub(crate) fn buffer(&mut self, name: &str, access: Access) -> Memory {
        self.buffer_of(name, access, 1)
    }

    /// Declares a storage buffer of groups of 1, 2 or 4 words at the next binding.
    pub(crate) fn buffer_of(&mut self, name: &str, access: Access, width: u32) -> Memory {
        self.memory(name, MemoryKind::Buffer { access, width })
    }

    /// Declares an array in workgroup memory. Its content is undefined until it is written. All buffers must
    /// be declared before the first array.
    pub(crate) fn shared(&mut self, name: &str, words: u32) -> Memory {
        self.memory(name, MemoryKind::Workgroup(words))
    }

    fn memory(&mut self, name: &str, kind: MemoryKind) -> Memory {
        let memory = Memory { name: name.into(), place: self.memories.len(), kind };
        self.memories.push(memory.clone());
        memory
    }

    /// The access of each storage buffer, in the order of the bindings.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = Access> {
        self.memories.iter().filter_map(|memory| match memory.kind {
            MemoryKind::Buffer { access, .. } => Some(access),
            MemoryKind::Workgroup(_) => None,
        })
    }

    /// Declares the next word of the uniform block. The host must set the word to at most `most`.
    pub(crate) fn uniform(&mut self, name: &str, most: u32) -> Expr {
        let name: Arc<str> = name.into();
        let place = self.uniforms.len();
        self.uniforms.push((name.clone(), most));
        Expr::new(Node::Uniform(place, name), most)
    }

    pub(crate) fn invocations(&self) -> u32 {
        self.workgroup_size.iter().fold(1, |product: u32, &size| product.saturating_mul(size))
    }

    pub(crate) fn workgroup_bytes(&self) -> u32 {
        self.memories.iter().fold(0, |sum: u32, memory| match memory.kind {
            MemoryKind::Buffer { .. } => sum,
            MemoryKind::Workgroup(words) => sum.saturating_add(words.saturating_mul(4)),
        })
    }

    /// The number of the workgroup along `axis` (0 to 2), counted from 0.
    pub(crate) fn workgroup_id(&self, axis: usize) -> Expr {
        Expr::built_in(BuiltIn::WorkgroupId(axis), MAX_WORKGROUPS.saturating_sub(1))
    }

    /// The number of the invocation in its workgroup, counted from 0.
    pub(crate) fn local_invocation_index(&self) -> Expr {
        Expr::built_in(BuiltIn::LocalInvocationIndex, self.invocations().saturating_sub(1))
    }

    /// Returns an empty body, in which no variable gets the name of a binding.
    pub(crate) fn code(&self) -> Code {
        let mut code = Code::new();
        let names = self.memories.iter().map(|memory| &*memory.name);
        for name in names.chain([self.name.as_str(), "uniforms", "workgroup_id", "local_index", HIGH_PRODUCT]) {
            code.reserve(name);
        }
        code
    }

    pub(crate) fn with_body(mut self, code: Code) -> ComputeShader {
        (self.body, self.slots) = code.into_parts();
        self
    }
}
