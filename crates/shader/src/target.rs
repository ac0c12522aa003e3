//! `Target`: the languages that a shader can be printed in.

use std::fmt;
use std::str::FromStr;

use tensor_layout::Error;
use tensor_layout::cursor::one_of;

/// A language for shaders. Programs are written in WGSL and in CUDA. The other languages are translated from
/// WGSL by naga (feature `naga`).
///
/// ```
/// use tensor_layout_shader::Target;
///
/// assert_eq!("hlsl".parse(), Ok(Target::Hlsl));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum Target {
    /// The language of WebGPU.
    #[default]
    Wgsl,
    /// NVIDIA's C++, for NVRTC and nvcc, without any header. Programs are printed in CUDA C++ directly,
    /// without naga.
    Cuda,
    /// The language of Direct3D, for shader model 5.1 and above.
    Hlsl,
    /// The language of Metal.
    Msl,
    /// The binary format of Vulkan. The text has the 32-bit words of the module in hexadecimal with commas
    /// between them, ready for the initialiser of a C array.
    Spirv,
    /// The language of OpenGL, version 4.50.
    Glsl,
}

impl Target {
    /// Every language.
    pub const ALL: [Target; 6] = [Target::Wgsl, Target::Cuda, Target::Hlsl, Target::Msl, Target::Spirv, Target::Glsl];

    /// Whether a program is printed in this language directly, without a translation by naga.
    #[must_use]
    pub fn is_printed(self) -> bool {
        matches!(self, Target::Wgsl | Target::Cuda)
    }

    /// The name of the language in lower case: `hlsl`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Target::Wgsl => "wgsl",
            Target::Cuda => "cuda",
            Target::Hlsl => "hlsl",
            Target::Msl => "msl",
            Target::Spirv => "spirv",
            Target::Glsl => "glsl",
        }
    }
}

// `Form` and the library's `LayoutClass` have lists of names like this list. A macro for all three would be
// as long.
impl fmt::Display for Target {
    /// Writes the [name](Target::name) of the language.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        one_of(text, "a language for shaders", &Self::ALL, Target::name)
    }
}
