//! Prints a compute shader as a WGSL module.

use std::fmt::Write;

use super::binding::{Access, MemoryKind};
use super::compute::ComputeShader;
use super::language::{HIGH_PRODUCT, HIGH_PRODUCT_TEXT, Language, Style};
use super::print::statements;

impl ComputeShader {
    /// Returns the text of a module that has this entry point alone.
    pub(crate) fn wgsl(&self) -> String {
        let text = self.wgsl_part("");
        if needs_high_product(&text) { format!("{HIGH_PRODUCT_TEXT}\n{text}") } else { text }
    }

    /// Returns the entry point with its bindings and uniforms. Their names end with `suffix`, so that a
    /// module can hold several entry points.
    pub(crate) fn wgsl_part(&self, suffix: &str) -> String {
        let style = Style { language: Language::Wgsl, suffix };
        let mut body = String::new();
        statements(&mut body, style, &self.body, 1);

        let mut text = String::new();
        if !self.uniforms.is_empty() {
            let _ = writeln!(text, "struct Uniforms{suffix} {{");
            for (name, _) in &self.uniforms {
                let _ = writeln!(text, "    {name}: u32,");
            }
            text.push_str("}\n\n");
        }
        let mut arrays = String::new();
        for memory in &self.memories {
            let (place, name) = (memory.place, memory.called(style));
            let element = style.language.group(memory.width());
            let _ = match memory.kind {
                MemoryKind::Buffer { access, .. } => {
                    let access = if access == Access::Read { "read" } else { "read_write" };
                    writeln!(text, "@group(0) @binding({place}) var<storage, {access}> {name}: array<{element}>;")
                }
                MemoryKind::Workgroup(words) => writeln!(arrays, "var<workgroup> {name}: array<u32, {words}>;"),
            };
        }
        if !self.uniforms.is_empty() {
            let place = self.buffers().count();
            let _ = writeln!(text, "@group(0) @binding({place}) var<uniform> uniforms{suffix}: Uniforms{suffix};");
        }
        let [x, y, z] = self.workgroup_size;
        let size = match (y, z) {
            (1, 1) => format!("{x}"),
            (_, 1) => format!("{x}, {y}"),
            _ => format!("{x}, {y}, {z}"),
        };
        let _ = writeln!(text, "{arrays}\n@compute @workgroup_size({size})\nfn {}{suffix}(", self.name);
        // The text is searched for the names of built-in values. No variable has such a name, because `code`
        // reserves them.
        for (used, parameter) in [
            ("workgroup_id.", "@builtin(workgroup_id) workgroup_id: vec3<u32>"),
            ("local_index", "@builtin(local_invocation_index) local_index: u32"),
        ] {
            if body.contains(used) {
                let _ = writeln!(text, "    {parameter},");
            }
        }
        let _ = write!(text, ") {{\n{body}}}\n");
        text
    }
}

/// Whether a text calls `high_product`, which must then be defined in the module.
pub(crate) fn needs_high_product(text: &str) -> bool {
    text.contains(HIGH_PRODUCT)
}
