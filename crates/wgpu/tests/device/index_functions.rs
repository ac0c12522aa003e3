//! Index functions in shaders of their own: what the device computes, and what it loads and stores.

use tensor_layout::{BufferTensorDesc, DataType, IndexMap};
use tensor_layout_shader::{Access, IndexFunctions};

use crate::Test;
use crate::gpu::{Gpu, noise};
use crate::random::{pair, values};

pub(crate) const TESTS: &[Test] = &[
    ("index_functions::random_layouts", random_layouts),
    ("index_functions::numbers_are_rounded_as_promised", numbers_are_rounded_as_promised),
    ("index_functions::every_value_of_small_types_comes_back", every_value_of_small_types_comes_back),
];

/// How many random layouts an ordinary run takes.
const LAYOUTS: usize = 100;

/// Runs the entry point `main` of a shader with workgroups of 64 over `invocations`, its buffers at bindings
/// 0, 1, ..
fn run(gpu: &Gpu, source: String, buffers: &[&wgpu::Buffer], invocations: u64) {
    let source = wgpu::ShaderSource::Wgsl(source.into());
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    });
    let entries = (0..).zip(buffers);
    let entries: Vec<_> = entries
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let layout = &pipeline.get_bind_group_layout(0);
    let bindings = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout, entries: &entries });
    gpu.submit(|encoder| {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.dispatch_workgroups(u32::try_from(invocations.div_ceil(64)).unwrap(), 1, 1);
    });
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Offsets of all indices, the offsets of walks along the last axis, and the number of the element at each
/// offset.
fn random_layouts(gpu: &Gpu) {
    for (map, _) in values(&pair(), LAYOUTS).filter(|(map, _)| map.element_count() > 0) {
        let functions = IndexFunctions::new(&map).unwrap().named("x").unwrap();
        let functions = functions.clone().with_inverse().unwrap_or(functions);
        let last = map.sizes().len().wrapping_sub(1);
        let functions = functions.clone().with_walk(last).unwrap_or(functions);
        let source = kernel(&map, &functions);
        let (count, places) = (map.element_count(), map.physical_elements());
        let results = gpu.buffer(&vec![0; (2 * count + places) as usize * 4]);
        run(gpu, source.clone(), &[&results], count.max(places));
        let found = words(&gpu.read_all(&results));
        let (offsets, rest) = found.split_at(count as usize);
        let (walked, numbers) = rest.split_at(count as usize);
        let all: Vec<Vec<u64>> = crate::literal::indices(map.sizes()).collect();
        for (number, index) in all.iter().enumerate() {
            let offset = map.offset(index).unwrap();
            assert_eq!(u64::from(offsets[number]), offset, "{index:?} of {map:?} in\n{source}");
            if source.contains("x_step") {
                assert_eq!(u64::from(walked[number]), offset, "a walk to {index:?} of {map:?} in\n{source}");
            }
        }
        if source.contains("x_index") {
            for (offset, &number) in numbers.iter().enumerate() {
                let expected = map.inverse(offset as u64).unwrap();
                let found = (number != u32::MAX).then(|| all[number as usize].clone());
                assert_eq!(found, expected, "at {offset} of {map:?} in\n{source}");
            }
        }
    }
}

/// Everything that the functions say of one layout, into one buffer.
fn kernel(map: &IndexMap, functions: &IndexFunctions) -> String {
    let (sizes, text) = (map.sizes(), functions.wgsl());
    let (count, places, last) = (map.element_count(), map.physical_elements(), sizes.len().wrapping_sub(1));
    let mut cut = String::new();
    for (axis, size) in sizes.iter().enumerate().rev() {
        cut += &format!("        let i{axis} = rest % {size}u;\n        rest /= {size}u;\n");
    }
    let index: Vec<String> = (0..sizes.len()).map(|axis| format!("i{axis}")).collect();
    let index = index.join(", ");
    let walk = if text.contains("x_step") {
        format!(
            "        if (i{last} == 0u) {{
            var at = x_walk_{last}({index});
            for (var i = 0u; i < {}u; i++) {{
                results[{count}u + id.x + i] = at.offset;
                at = x_step_{last}(at);
            }}
        }}\n",
            sizes[last]
        )
    } else {
        String::new()
    };
    let inverse = if text.contains("x_index") {
        let number = sizes
            .iter()
            .enumerate()
            .fold("0u".to_owned(), |number, (axis, size)| format!("({number} * {size}u + at.i{axis})"));
        format!(
            "    if (id.x < {places}u) {{
        let at = x_index(id.x);
        results[{}u + id.x] = select(4294967295u, {number}, at.exists);
    }}\n",
            2 * count
        )
    } else {
        String::new()
    };
    format!(
        "@group(0) @binding(0) var<storage, read_write> results: array<u32>;

{text}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    if (id.x < {count}u) {{
        var rest = id.x;
{cut}        results[id.x] = x_offset({index});
{walk}    }}
{inverse}}}
"
    )
}

/// A kernel that takes values of f32 from `given` and puts them into elements of the type, one word an
/// invocation.
fn stored(gpu: &Gpu, data_type: DataType, given: &[f32]) -> Vec<u8> {
    let per_word = 32 / data_type.bits();
    let desc = BufferTensorDesc::packed(data_type, &[given.len() as u64]).unwrap();
    let functions = IndexFunctions::new(&desc).unwrap().with_access("elements", Access::ReadWrite).unwrap();
    let source = format!(
        "@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> elements: array<u32>;

{}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    for (var i = id.x * {per_word}u; i < min((id.x + 1u) * {per_word}u, {}u); i++) {{
        store_at(i, given[i]);
    }}
}}
",
        functions.wgsl(),
        given.len()
    );
    let bytes: Vec<u8> = given.iter().flat_map(|value| value.to_le_bytes()).collect();
    let size = (desc.min_size_in_bytes() as usize).next_multiple_of(4);
    let elements = gpu.buffer(&vec![0; size]);
    run(gpu, source, &[&gpu.buffer(&bytes), &elements], (given.len() as u64).div_ceil(per_word.into()));
    gpu.read_all(&elements)
}

fn numbers_are_rounded_as_promised(gpu: &Gpu) {
    // Not so small that a device may take them for 0, and in front of them what is between two bf16, and
    // ties.
    let picked = [0.0, -0.0, 1.0, 1.003_906_2, 1.011_718_8, -3.4e38, 3.402_823_5e38, f32::INFINITY, f32::NEG_INFINITY];
    let random = words(&noise(4 * 1000, 7)).into_iter().map(f32::from_bits).filter(|value| value.is_normal());
    let given: Vec<f32> = picked.into_iter().chain(random).collect();
    let expected = given.iter().flat_map(|&value| half::bf16::from_f32(value).to_le_bytes());
    let found = stored(gpu, DataType::BF16, &given);
    assert!(expected.zip(&found).all(|(expected, found)| expected == *found));

    // What f16 holds exactly, no device may change.
    let given: Vec<f32> =
        (0..=u16::MAX).map(|bits| half::f16::from_bits(bits).to_f32()).filter(|f| f.is_normal()).collect();
    let expected = given.iter().flat_map(|&value| half::f16::from_f32(value).to_le_bytes());
    let found = stored(gpu, DataType::F16, &given);
    assert!(expected.zip(&found).all(|(expected, found)| expected == *found));
}

/// Loads every bit pattern and stores it again, as a number.
fn every_value_of_small_types_comes_back(gpu: &Gpu) {
    for data_type in
        [DataType::U1, DataType::S1, DataType::U2, DataType::S2, DataType::U4, DataType::S4, DataType::U8, DataType::S8]
    {
        let desc = BufferTensorDesc::packed(data_type, &[2048 / u64::from(data_type.bits())]).unwrap();
        let functions = |name: &str, access| {
            let functions = IndexFunctions::new(&desc).unwrap().named(name).unwrap();
            functions.with_access(&format!("{name}_words"), access).unwrap().wgsl()
        };
        let signed = data_type.to_string().starts_with('s');
        let (kind, least) = if signed { ("i32", 1_i64 << (data_type.bits() - 1)) } else { ("u32", 0) };
        let source = format!(
            "@group(0) @binding(0) var<storage, read> from_words: array<u32>;
@group(0) @binding(1) var<storage, read_write> to_words: array<u32>;
@group(0) @binding(2) var<storage, read_write> numbers: array<u32>;

{}
{}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let per_word = {}u;
    for (var i = id.x * per_word; i < (id.x + 1u) * per_word; i++) {{
        let value: {kind} = from_load_at(i);
        to_store_at(i, value);
        numbers[i] = u32(i32(value) + {least}i);
    }}
}}
",
            functions("from", Access::Read),
            functions("to", Access::ReadWrite),
            32 / data_type.bits()
        );
        let given = noise(256, 3);
        let (from, to) = (gpu.buffer(&given), gpu.buffer(&[0xff; 256]));
        let numbers = gpu.buffer(&vec![0; 4 * desc.sizes()[0] as usize]);
        run(gpu, source, &[&from, &to, &numbers], 64);
        assert_eq!(gpu.read_all(&to), given, "{data_type}");
        for (i, number) in words(&gpu.read_all(&numbers)).into_iter().enumerate() {
            let bits = i64::try_from(
                crate::literal::bits::read_bits(&given, i as u64 * u64::from(data_type.bits()), data_type.bits())
                    .unwrap(),
            )
            .unwrap();
            let value = if signed && bits >= least { bits - 2 * least } else { bits };
            assert_eq!(i64::from(number), value + least, "element {i} of {data_type}");
        }
    }
}
