//! Prints a compute shader as a kernel of CUDA C++, for NVRTC and nvcc, without any header.
//!
//! Buffers are pointers, which the host sets to the first byte of each binding. So a base past 4 GiB is part
//! of the pointer, and the kernel adds an offset in words to it. The uniforms are one parameter, by value.
//! Workgroup memory is an array of the kernel.

use std::fmt::Write;

use super::binding::{Access, MemoryKind};
use super::compute::ComputeShader;
use super::language::{Language, Style};
use super::print::statements;

impl ComputeShader {
    /// Returns the kernel with the struct of its uniforms. The names of both end with `suffix`.
    pub(crate) fn cuda(&self, suffix: &str) -> String {
        let style = Style { language: Language::Cuda, suffix };
        let (mut text, mut parameters, mut arrays) = (String::new(), Vec::new(), String::new());
        for memory in &self.memories {
            let (name, element) = (memory.called(style), style.language.group(memory.width()));
            match memory.kind {
                MemoryKind::Buffer { access: Access::Read, .. } => {
                    parameters.push(format!("const {element}* __restrict__ {name}"));
                }
                MemoryKind::Buffer { .. } => parameters.push(format!("{element}* __restrict__ {name}")),
                MemoryKind::Workgroup(words) => {
                    let _ = writeln!(arrays, "    __shared__ unsigned {name}[{words}];");
                }
            }
        }
        if !self.uniforms.is_empty() {
            let _ = writeln!(text, "struct Uniforms{suffix} {{");
            for (name, _) in &self.uniforms {
                let _ = writeln!(text, "    unsigned {name};");
            }
            text.push_str("};\n\n");
            parameters.push(format!("const Uniforms{suffix} uniforms"));
        }
        let _ = writeln!(
            text,
            "extern \"C\" __global__ void __launch_bounds__({}) {}{suffix}(\n    {}) {{",
            self.invocations(),
            self.name,
            parameters.join(",\n    ")
        );
        text.push_str(&arrays);
        statements(&mut text, style, &self.body, 1);
        text.push_str("}\n");
        text
    }
}
