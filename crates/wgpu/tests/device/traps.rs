//! What went wrong elsewhere, each by the name of its story.

use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::strided::Slice;
use tensor_layout::upload::Role;
use tensor_layout::{BufferTensorDesc, DataType};
use tensor_layout_shader::{Form, Profile, Program, ProgramOptions};
use tensor_layout_wgpu::{BufferOptions, PipelineCache, TensorBuffer};

use crate::Test;
use crate::gpu::{Gpu, noise};
use crate::relayouts::{check, copy};

pub(crate) const TESTS: &[Test] = &[
    ("traps::a_strided_destination_is_not_corrupted", a_strided_destination_is_not_corrupted),
    ("traps::twenty_five_bytes_are_copied", twenty_five_bytes_are_copied),
    ("traps::segments_are_aligned_down", segments_are_aligned_down),
    ("traps::reshape_then_permute_then_slice", reshape_then_permute_then_slice),
    ("traps::fp16_transposes_past_2_31_bytes_on_paper", fp16_transposes_past_2_31_bytes_on_paper),
    ("traps::box_loops_that_do_not_nest_on_the_destination", box_loops_that_do_not_nest_on_the_destination),
    ("traps::leftover_bits_of_the_last_byte", leftover_bits_of_the_last_byte),
    ("traps::counts_wrap_before_words_do", counts_wrap_before_words_do),
    ("traps::two_neighbours_share_a_word", two_neighbours_share_a_word),
    ("traps::irreducible_layouts_go_level_by_level", irreducible_layouts_go_level_by_level),
];

/// A transposed copy whose fast path took the destination for a dense one wrote over its neighbours.
fn a_strided_destination_is_not_corrupted(gpu: &Gpu) {
    let cache = PipelineCache::new(&gpu.device);
    for data_type in ["f32", "f16", "u8"] {
        // 40 columns of a matrix of 64, transposed into every other row of one of 50 columns.
        let from = format!("{data_type}[30,40]:[64,1]+5");
        let to = format!("{data_type}[30,40]:[1,100]+3");
        check(gpu, &cache, &copy(&from, &to, Padding::Keep));
    }
}

/// Neither 24 bytes nor 28.
fn twenty_five_bytes_are_copied(gpu: &Gpu) {
    let cache = PipelineCache::new(&gpu.device);
    for size in [1, 2, 3, 5, 24, 25, 26, 27, 29] {
        check(gpu, &cache, &copy(&format!("u8[{size}]{{0}}"), &format!("u8[{size}]{{0}}"), Padding::Keep));
        check(gpu, &cache, &copy(&format!("u8[{size}]:[3]+1"), &format!("u8[{size}]:[1]+2"), Padding::Keep));
    }
}

/// A window begins where the device lets a binding begin, at or before the tensor, and the shader is given
/// the rest.
fn segments_are_aligned_down(gpu: &Gpu) {
    let alignment = gpu.device.limits().min_storage_buffer_offset_alignment;
    let limits = wgpu::Limits { max_storage_buffer_binding_size: u64::from(alignment) * 4, ..gpu.device.limits() };
    let (device, queue) = gpu.with_limits(limits);
    let gpu = gpu.on(device, queue);
    let cache = PipelineCache::new(&gpu.device);
    let options = BufferOptions { in_windows: true, ..BufferOptions::default() };
    for base in [0_u64, 1, 7, 33, 100] {
        let source = BufferTensorDesc::packed(DataType::U16, &[30, 21]).unwrap().with_base_offset(base).unwrap();
        let columns = BufferTensorDesc::new(DataType::U16, &[30, 21], Some(&[1, 30])).unwrap();
        let destination = columns.with_base_offset(base / 2).unwrap();
        let bytes = noise(2 * (630 + 100), 3);
        let from = TensorBuffer::with_bytes(&gpu.device, (&source, &bytes), &source, &options).unwrap();
        let to = TensorBuffer::new(&gpu.device, &destination, &options).unwrap();
        let relayout = Relayout::new(&source, &destination).unwrap();
        let copy = cache.relayout(&relayout).unwrap();
        for window in copy.program().passes().iter().flat_map(|pass| pass.bindings()) {
            assert_eq!(window.bytes.start % u64::from(alignment), 0);
        }
        gpu.submit(|encoder| copy.encode(encoder, &from, &to).unwrap());
        let mut expected = vec![0; relayout.destination_size_in_bytes() as usize];
        relayout.run(&bytes, &mut expected).unwrap();
        // A descriptor's size is a multiple of 4 bytes, and a tensor on the device has the bytes of its
        // elements.
        let size = relayout.destination().physical_size_in_bytes() as usize;
        assert!(gpu.read(&to).bytes() == &expected[..size], "base {base}");
    }
}

/// The three views together are one layout, and that is what is copied.
fn reshape_then_permute_then_slice(gpu: &Gpu) {
    let packed = BufferTensorDesc::packed(DataType::F32, &[24, 35]).unwrap();
    let bytes = noise(4 * 24 * 35, 4);
    let tensor = TensorBuffer::with_bytes(&gpu.device, (&packed, &bytes), &packed, &BufferOptions::default()).unwrap();
    let viewed = packed.reshape(&[4, 6, 5, 7]).unwrap().permute(&[2, 0, 3, 1]).unwrap();
    let part = viewed.slice(&[Slice::from(1..5), Slice::from(0..4), Slice::from(2..7), Slice::from(1..5)]).unwrap();
    assert_eq!(part.sizes(), [4, 4, 5, 4]);
    let view = tensor.view(&part).unwrap();
    let dense = BufferTensorDesc::packed(DataType::F32, part.sizes()).unwrap();
    let copied = TensorBuffer::new(&gpu.device, &dense, &BufferOptions::default()).unwrap();
    let copy = PipelineCache::new(&gpu.device).relayout(&Relayout::new(&part, &dense).unwrap()).unwrap();
    gpu.submit(|encoder| copy.encode(encoder, &view, &copied).unwrap());
    // Element by element, from the indices of the first tensor.
    let mut expected = Vec::new();
    for (c, a, d, b) in (0..320).map(|i| (i / 80 % 4 + 1, i / 20 % 4, i / 4 % 5 + 2, i % 4 + 1)) {
        let at = 4 * (((a * 6 + b) * 5 + c) * 7 + d);
        expected.extend_from_slice(&bytes[at..at + 4]);
    }
    assert_eq!(gpu.read(&copied).bytes(), expected);
}

/// No such buffer is made, but its program is: every window, count and base fits, or the error says what does
/// not.
fn fp16_transposes_past_2_31_bytes_on_paper(_: &Gpu) {
    let profile = Profile::webgpu();
    let relayout = copy("f16[40000,32000]{1,0}", "f16[40000,32000]{0,1}", Padding::Keep);
    assert!(relayout.destination_size_in_bytes() > 1 << 31);
    let program = Program::new(&relayout, &profile).unwrap();
    let mut written = 0;
    for pass in program.passes() {
        assert!(pass.workgroups().iter().all(|&groups| (1..=65_535).contains(&groups)));
        for window in pass.bindings() {
            assert!(window.bytes.end - window.bytes.start <= profile.max_binding, "{window:?}");
            written = written.max(window.bytes.end);
        }
    }
    assert_eq!(written, relayout.destination_size_in_bytes());
    let larger = copy("f16[80000,64000]{1,0}", "f16[80000,64000]{0,1}", Padding::Keep);
    if let Err(error) = Program::new(&larger, &profile) {
        assert_eq!(error.code(), "overflow");
    }
}

/// Boxes are the CPU's: on the device each word of the destination is gathered by digits.
fn box_loops_that_do_not_nest_on_the_destination(gpu: &Gpu) {
    let cache = PipelineCache::new(&gpu.device);
    for padding in [Padding::Keep, Padding::Zero, Padding::Fill(0x7fc0_1234)] {
        check(gpu, &cache, &copy("f32[200]{0:T(48)(5,1)}", "f32[200]{0:T(32)(3,1)}", padding));
    }
}

/// Padding that is set ends with the last byte: its bits after the last element become zero, and the next
/// byte stays.
fn leftover_bits_of_the_last_byte(gpu: &Gpu) {
    let cache = PipelineCache::new(&gpu.device);
    for size in [1, 3, 7, 9, 13] {
        for (data_type, bits) in [("s4", 4), ("u2", 2), ("s1", 1)] {
            let dense = format!("{data_type}[{size}]{{0:E({bits})}}");
            let gaps = format!("{data_type}[{size}]:[3]");
            check(gpu, &cache, &copy(&dense, &gaps, Padding::Fill(1)));
            check(gpu, &cache, &copy(&gaps, &dense, Padding::Zero));
        }
    }
}

/// 2^32 elements of 4 bits are no more than 2 GiB, but their number has 33 bits: a form that counts elements
/// refuses them, and one that counts rows and columns binds every byte of both tensors.
fn counts_wrap_before_words_do(_: &Gpu) {
    let relayout = copy("s4[65536,65536]{1,0:E(4)}", "s4[65536,65536]{0,1:E(4)}", Padding::Keep);
    assert_eq!(relayout.destination_size_in_bytes(), 1 << 31);
    let general = ProgramOptions { form: Some(Form::General), ..ProgramOptions::default() };
    let refused = Program::with_options(&relayout, &Profile::webgpu(), &general).map(|program| program.explain());
    assert_eq!(refused.unwrap_err().code(), "overflow");
    match Program::new(&relayout, &Profile::webgpu()) {
        Ok(program) => {
            let bound = program.passes().iter().flat_map(|pass| pass.bindings());
            assert_eq!(bound.map(|window| window.bytes.end).max(), Some(1 << 31));
        }
        Err(error) => assert_eq!(error.code(), "overflow"),
    }
}

/// Two destinations that meet inside a word, filled one after the other in one encoder.
fn two_neighbours_share_a_word(gpu: &Gpu) {
    let cache = PipelineCache::new(&gpu.device);
    let buffer = gpu.buffer(&noise(32, 5));
    let source = BufferTensorDesc::packed(DataType::U8, &[13]).unwrap();
    let (first, second) = (noise(13, 6), noise(13, 7));
    gpu.submit(|encoder| {
        for (bytes, base) in [(&first, 2), (&second, 15)] {
            let place = BufferTensorDesc::packed(DataType::U8, &[13]).unwrap().with_base_offset(base).unwrap();
            let to = TensorBuffer::in_buffer(&gpu.device, &buffer, 0, &place, Role::Output).unwrap();
            let from = TensorBuffer::with_bytes(&gpu.device, (&source, bytes), &source, &BufferOptions::default());
            let copy = cache.relayout(&Relayout::new(&source, &place).unwrap()).unwrap();
            copy.encode(encoder, &from.unwrap(), &to).unwrap();
        }
    });
    let noise = noise(32, 5);
    assert_eq!(gpu.read_all(&buffer), [&noise[..2], &first, &second, &noise[28..]].concat());
}

/// Tiles that join digits which do not line up, on either side.
fn irreducible_layouts_go_level_by_level(gpu: &Gpu) {
    let cache = PipelineCache::new(&gpu.device);
    let irreducible = "f32[7,9,10]{2,1,0:T(2,3)(*,*,5)}";
    let packed = "f32[7,9,10]{0,2,1}";
    for padding in [Padding::Keep, Padding::Fill(77)] {
        check(gpu, &cache, &copy(irreducible, packed, padding));
        check(gpu, &cache, &copy(packed, irreducible, padding));
    }
}
