//! `Module`: all shaders of a program in one file.

use std::fmt::Write;

use super::super::code::{HIGH_PRODUCT_TEXT, needs_high_product};
use super::pass::Pass;
use super::plan::Program;

/// All shaders of a program in one file. Each shader is printed once. If there are several, a number is
/// appended to the names of entry points, bindings and uniforms, so that no two names are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Module {
    /// The text of the file.
    pub text: String,
    /// The name of the entry point of each pass, in the order of the passes.
    pub entry_points: Vec<String>,
}

impl Program {
    /// Returns the program as one WGSL module.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    /// use tensor_layout_shader::{Profile, Program};
    ///
    /// // Whole tiles, and a ragged edge: two shaders.
    /// let (rows, tiles): (ArrayShape, ArrayShape) = ("f32[30,300]{1,0}".parse()?, "f32[30,300]{1,0:T(8,128)}".parse()?);
    /// let program = Program::new(&Relayout::new(&rows, &tiles)?, &Profile::webgpu())?;
    /// let module = program.wgsl();
    /// assert_eq!(module.entry_points[..2], ["relayout1", "relayout2"]);
    /// assert!(module.text.contains("fn relayout2("));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn wgsl(&self) -> Module {
        let mut module = self.module(|pass, suffix| pass.shader.shader.wgsl_part(suffix));
        if needs_high_product(&module.text) {
            module.text.insert_str(0, &format!("{HIGH_PRODUCT_TEXT}\n"));
        }
        module
    }

    /// Returns the program as one file of CUDA C++, for NVRTC or nvcc, without any header. Launch each pass
    /// with [`workgroups`](Pass::workgroups) blocks of [`workgroup_size`](Pass::workgroup_size) threads. The
    /// parameters are those of [`bindings`](Pass::bindings) in order: pointers to the first byte of each
    /// window, and the words of [`uniforms`](Pass::uniforms) by value.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    /// use tensor_layout_shader::{Profile, Program};
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("f16[64,96]{1,0}".parse()?, "f16[64,96]{0,1}".parse()?);
    /// let program = Program::new(&Relayout::new(&rows, &columns)?, &Profile::cuda())?;
    /// assert!(program.cuda().text.contains("extern \"C\" __global__ void __launch_bounds__(256) relayout("));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn cuda(&self) -> Module {
        self.module(|pass, suffix| pass.shader.shader.cuda(suffix))
    }

    fn module(&self, print: impl Fn(&Pass, &str) -> String) -> Module {
        let mut shaders: Vec<&Pass> = Vec::new();
        let mut numbers = Vec::new();
        for pass in self.passes() {
            let known = shaders.iter().position(|known| known.shader.key == pass.shader.key);
            numbers.push(known.unwrap_or(shaders.len()));
            if known.is_none() {
                shaders.push(pass);
            }
        }
        let suffix = |number: usize| {
            if shaders.len() == 1 { String::new() } else { number.saturating_add(1).to_string() }
        };
        let mut text = String::new();
        for (number, pass) in shaders.iter().enumerate() {
            let separator = if number > 0 { "\n" } else { "" };
            // Writing to a string never fails.
            let _ = write!(text, "{separator}{}", print(pass, &suffix(number)));
        }
        let names = self.passes().iter().zip(numbers);
        let entry_points = names.map(|(pass, number)| format!("{}{}", pass.entry_point(), suffix(number))).collect();
        Module { text, entry_points }
    }
}

impl Pass {
    /// Returns the shader as CUDA C++, for NVRTC or nvcc, without any header, in a file of its own.
    /// [`Program::cuda`] describes how to launch it.
    #[must_use]
    pub fn cuda(&self) -> String {
        self.shader.shader.cuda("")
    }
}
