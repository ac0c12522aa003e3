//! Translates WGSL to other languages, by naga.

use std::fmt::Write;

use naga::ResourceBinding;
use naga::back::{glsl, hlsl, msl, spv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

use tensor_layout::Error;

use super::program::Pass;
use super::spirv::without_inner_layouts;
use super::target::Target;

/// The number of bindings of group 0 that get registers and slots in the other languages. No program has
/// more.
const BINDINGS: u8 = 8;

/// Translates a WGSL module to another language. naga parses the module, validates it with the capabilities
/// of WebGPU alone, and writes it. Binding `n` of group 0 becomes register `tn` (read), `un` (written) or
/// `bn` (uniforms) of space 0 in HLSL, `[[buffer(n)]]` in MSL, and binding `n` in SPIR-V (descriptor set 0)
/// and GLSL. The translation does not clear workgroup memory and adds no bounds checks, because programs stay
/// inside their bindings.
///
/// # Errors
///
/// `not_expressible` with the message of naga if the text is not valid WGSL or has no entry point of
/// this name.
///
/// ```
/// use tensor_layout_shader::{Target, translate};
///
/// let wgsl = "
///     @group(0) @binding(0) var<storage, read_write> words: array<u32>;
///     @compute @workgroup_size(64) fn twice(@builtin(global_invocation_id) id: vec3<u32>) { words[id.x] *= 2u; }";
/// let hlsl = translate(wgsl, "twice", Target::Hlsl)?;
/// assert!(hlsl.contains("RWByteAddressBuffer words : register(u0)"));
/// assert!(hlsl.contains("[numthreads(64, 1, 1)]"));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn translate(wgsl: &str, entry_point: &str, target: Target) -> Result<String, Error> {
    let parsed = naga::front::wgsl::parse_str(wgsl);
    let module = parsed.map_err(|error| refused(target, error.emit_to_string(wgsl)))?;
    // Naga counts `unpack2x16float` as a capability, and every WebGPU device has it.
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::SHADER_FLOAT16_IN_FLOAT32);
    let info = validator.validate(&module).map_err(|error| refused(target, error.emit_to_string(wgsl)))?;
    let has_it = module.entry_points.iter().any(|entry| entry.name == entry_point);
    if !has_it {
        return Err(refused(target, format!("there is no entry point `{entry_point}`")));
    }
    match target {
        Target::Wgsl => Ok(wgsl.to_owned()),
        Target::Cuda => Err(refused(target, "naga has no CUDA; programs and index functions have a text of their own")),
        Target::Hlsl => to_hlsl(&module, &info),
        Target::Msl => to_msl(&module, &info, entry_point),
        Target::Spirv => to_spirv(&module, &info),
        Target::Glsl => to_glsl(&module, &info, entry_point),
    }
}

impl Pass {
    /// Returns the shader of this pass in another language.
    ///
    /// # Errors
    ///
    /// The errors of [`translate`]. No program is known that causes one.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    /// use tensor_layout_shader::{Profile, Program, Target};
    ///
    /// let (rows, tiles): (ArrayShape, ArrayShape) = ("f32[16,256]{1,0}".parse()?, "f32[16,256]{1,0:T(8,128)}".parse()?);
    /// let program = Program::new(&Relayout::new(&rows, &tiles)?, &Profile::default())?;
    /// assert!(program.passes()[0].translated(Target::Hlsl)?.contains("ByteAddressBuffer"));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn translated(&self, target: Target) -> Result<String, Error> {
        match target {
            Target::Cuda => Ok(self.cuda()),
            _ => translate(self.wgsl(), self.entry_point(), target),
        }
    }
}

fn refused(target: Target, reason: impl ToString) -> Error {
    let target = match target {
        Target::Wgsl => "WGSL",
        Target::Cuda => "CUDA",
        Target::Hlsl => "HLSL",
        Target::Msl => "MSL",
        Target::Spirv => "SPIR-V",
        Target::Glsl => "GLSL",
    };
    Error::not_expressible(target, reason.to_string())
}

fn bindings() -> impl Iterator<Item = (ResourceBinding, u8)> {
    (0..BINDINGS).map(|binding| (ResourceBinding { group: 0, binding: binding.into() }, binding))
}

fn to_hlsl(module: &naga::Module, info: &ModuleInfo) -> Result<String, Error> {
    let target = |register: u8| hlsl::BindTarget { register: register.into(), ..Default::default() };
    let options = hlsl::Options {
        shader_model: hlsl::ShaderModel::V5_1,
        binding_map: bindings().map(|(binding, register)| (binding, target(register))).collect(),
        fake_missing_bindings: false,
        zero_initialize_workgroup_memory: false,
        restrict_indexing: false,
        force_loop_bounding: false,
        ..Default::default()
    };
    let mut text = String::new();
    let pipeline = hlsl::PipelineOptions::default();
    let written = hlsl::Writer::new(&mut text, &options, &pipeline).write(module, info, None);
    written.map_err(|error| refused(Target::Hlsl, error))?;
    Ok(text)
}

fn to_msl(module: &naga::Module, info: &ModuleInfo, entry_point: &str) -> Result<String, Error> {
    let target = |buffer| msl::BindTarget { buffer: Some(buffer), mutable: true, ..Default::default() };
    let resources = msl::EntryPointResources {
        resources: bindings().map(|(binding, buffer)| (binding, target(buffer))).collect(),
        sizes_buffer: Some(BINDINGS),
        ..Default::default()
    };
    let options = msl::Options {
        lang_version: (2, 0),
        per_entry_point_map: [(entry_point.to_owned(), resources)].into(),
        fake_missing_bindings: false,
        zero_initialize_workgroup_memory: false,
        force_loop_bounding: false,
        ..Default::default()
    };
    let written = msl::write_string(module, info, &options, &msl::PipelineOptions::default());
    written.map(|(text, _)| text).map_err(|error| refused(Target::Msl, error))
}

fn to_spirv(module: &naga::Module, info: &ModuleInfo) -> Result<String, Error> {
    let options = spv::Options {
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: false,
        ..Default::default()
    };
    let words = spv::write_vec(module, info, &options, None).map_err(|error| refused(Target::Spirv, error))?;
    let words = without_inner_layouts(&words);
    let mut text = String::new();
    for line in words.chunks(8) {
        for (place, word) in line.iter().enumerate() {
            // Writing to a string never fails.
            let _ = write!(text, "{}0x{word:08x},", if place == 0 { "" } else { " " });
        }
        text.push('\n');
    }
    Ok(text)
}

fn to_glsl(module: &naga::Module, info: &ModuleInfo, entry_point: &str) -> Result<String, Error> {
    let options = glsl::Options {
        version: glsl::Version::Desktop(450),
        writer_flags: glsl::WriterFlags::empty(),
        binding_map: bindings().collect(),
        zero_initialize_workgroup_memory: false,
    };
    let pipeline = glsl::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: entry_point.to_owned(),
        multiview: None,
    };
    let mut text = String::new();
    let policies = naga::proc::BoundsCheckPolicies::default();
    let writer = glsl::Writer::new(&mut text, module, info, &options, &pipeline, policies);
    let written = writer.and_then(|mut writer| writer.write());
    written.map_err(|error| refused(Target::Glsl, error))?;
    Ok(text)
}
