//! Layouts changed on the device, bit for bit as the CPU changes them, and no bit beside them.

use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::upload::Role;
use tensor_layout::{BufferTensorDesc, DataType, IndexMap, ToIndexMap};
use tensor_layout_text::Layout;
use tensor_layout_wgpu::{BufferOptions, PipelineCache, Sizes, TensorBuffer};

use crate::Test;
use crate::gpu::{Gpu, noise};
use crate::random::{padding, pair, values, within};

pub(crate) const TESTS: &[Test] = &[
    ("relayouts::random_pairs_between_guards", random_pairs_between_guards),
    ("relayouts::random_pairs_in_windows", random_pairs_in_windows),
    ("relayouts::sizes_round_every_boundary", sizes_round_every_boundary),
    ("relayouts::more_than_65535_workgroups", more_than_65535_workgroups),
    ("relayouts::bindings_past_128_mib", bindings_past_128_mib),
    ("relayouts::pipelines_are_compiled_once", pipelines_are_compiled_once),
    ("relayouts::one_pipeline_serves_200_lengths", one_pipeline_serves_200_lengths),
    ("relayouts::what_is_refused", what_is_refused),
];

/// The bytes in front of and after a tensor in its buffer: a multiple of every offset alignment.
const GUARD: usize = 256;

/// How many random pairs an ordinary run takes.
const PAIRS: usize = 500;

/// Runs the copy on the device between guards, and compares the whole buffer with what the CPU makes of the
/// same bytes.
pub(crate) fn check(gpu: &Gpu, cache: &PipelineCache, relayout: &Relayout) {
    let (from, to) = (relayout.source(), relayout.destination());
    let (source_bytes, bytes) = (from.physical_size_in_bytes() as usize, to.physical_size_in_bytes() as usize);
    if source_bytes == 0 || bytes == 0 {
        // There is no buffer for a tensor without bytes.
        return;
    }
    let words = |bytes: usize| bytes.next_multiple_of(4);
    let source = noise(GUARD + words(source_bytes) + GUARD, 1);
    let mut expected = noise(GUARD + words(bytes) + GUARD, 2);
    let (read, written) = (gpu.buffer(&source), gpu.buffer(&expected));
    let offset = GUARD as u64;
    let tensor = |buffer, layout, role| TensorBuffer::in_buffer(&gpu.device, buffer, offset, layout, role).unwrap();
    let (read, tensor) = (tensor(&read, from, Role::Input), tensor(&written, to, Role::Output));
    let copy = cache.relayout(relayout).unwrap();
    gpu.submit(|encoder| copy.encode(encoder, &read, &tensor).unwrap());
    relayout.run(&source[GUARD..], &mut expected[GUARD..]).unwrap();
    let found = gpu.read_all(&written);
    if let Some(first) = (0..expected.len()).find(|&byte| found[byte] != expected[byte]) {
        let (found, expected, byte) = (found[first], expected[first], first as i64 - GUARD as i64);
        let program = copy.program().explain();
        panic!("byte {byte} is {found:#04x} and should be {expected:#04x}\n{from:?}\n{to:?}\n{program}");
    }
}

pub(crate) fn layout(text: &str) -> IndexMap {
    text.parse::<Layout>().unwrap_or_else(|error| panic!("{text}: {error}")).to_index_map().unwrap()
}

/// A copy between two layouts as text.
pub(crate) fn copy(from: &str, to: &str, padding: Padding) -> Relayout {
    Relayout::new(&layout(from), &layout(to)).unwrap().with_padding_of_whole_buffer(padding).unwrap()
}

fn random_pairs_between_guards(gpu: &Gpu) {
    let constants = PipelineCache::new(&gpu.device);
    let uniforms = PipelineCache::new(&gpu.device).with_sizes(Sizes::Uniforms);
    // A destination may not repeat elements, so a few of the pairs are not copies.
    let pairs = (pair(), padding());
    let relayouts = values(&pairs, 800).filter_map(|((from, to), padding)| {
        let relayout = Relayout::new(&from, &to).ok()?;
        Some(relayout.with_padding_of_whole_buffer(within(padding, to.element_bits())).unwrap())
    });
    let most = if std::env::var("TENSOR_LAYOUT_CASES").is_ok() { usize::MAX } else { PAIRS };
    let caches = [&constants, &uniforms].into_iter().cycle();
    let ran = relayouts.take(most).zip(caches).map(|(relayout, cache)| check(gpu, cache, &relayout)).count();
    assert!(most == usize::MAX || ran == most, "only {ran} pairs");
}

/// Sizes that change with every prompt: one compilation for all.
fn one_pipeline_serves_200_lengths(gpu: &Gpu) {
    let cache = PipelineCache::new(&gpu.device).with_sizes(Sizes::Uniforms);
    for length in 100..300 {
        let (from, to) = (format!("f16[{length},4,64]{{2,1,0}}"), format!("f16[{length},4,64]{{2,0,1}}"));
        check(gpu, &cache, &copy(&from, &to, Padding::Keep));
    }
    assert_eq!(cache.len(), 1);
}

/// On a device whose bindings are small: every tensor of more than a few hundred bytes takes several windows,
/// which begin below the words that they are for.
fn random_pairs_in_windows(gpu: &Gpu) {
    let limits = wgpu::Limits { max_storage_buffer_binding_size: 1024, ..gpu.device.limits() };
    let (device, queue) = gpu.with_limits(limits);
    let small = gpu.on(device, queue);
    let cache = PipelineCache::new(&small.device);
    let (mut ran, mut several) = (0, 0);
    for ((from, to), padding) in values(&(pair(), padding()), 150) {
        let Ok(relayout) = Relayout::new(&from, &to) else { continue };
        let relayout = relayout.with_padding_of_whole_buffer(within(padding, to.element_bits())).unwrap();
        if from.physical_elements() == 0 || to.physical_elements() == 0 {
            continue;
        }
        let options = BufferOptions { in_windows: true, ..BufferOptions::default() };
        let bytes = noise(from.physical_size_in_bytes().next_multiple_of(4) as usize, 1);
        let source = TensorBuffer::with_bytes(&small.device, (&from, &bytes), &from, &options);
        let Ok(source) = source else { continue };
        let destination = TensorBuffer::new(&small.device, &to, &options).unwrap();
        let copy = match cache.relayout(&relayout) {
            Ok(copy) => copy,
            Err(error) => panic!("{error}: {from:?} to {to:?}"),
        };
        several += usize::from(copy.program().passes().len() > 1);
        small.submit(|encoder| copy.encode(encoder, &source, &destination).unwrap());
        let mut expected = vec![0; to.physical_size_in_bytes() as usize];
        relayout.run(&bytes, &mut expected).unwrap();
        assert!(small.read(&destination).bytes() == expected, "{from:?} to {to:?}\n{}", copy.program().explain());
        ran += 1;
    }
    assert!(ran >= 50 && several >= 15, "{ran} pairs, {several} of them in several windows");
}

/// Lines, and planes in other orders and in tiles, of one element less than words, tiles and workgroups hold,
/// exactly as many, and one more.
fn sizes_round_every_boundary(gpu: &Gpu) {
    let cache = PipelineCache::new(&gpu.device);
    for size in [1_u64, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1025] {
        for (data_type, e) in [("u8", ""), ("bf16", ""), ("f32", ""), ("f64", ""), ("s4", ":E(4)")] {
            let line = format!("{data_type}[{size}]{{0{e}}}");
            check(gpu, &cache, &copy(&line, &line, Padding::Keep));
            let rows = format!("{data_type}[{size},33]{{1,0{e}}}");
            let columns = format!("{data_type}[{size},33]{{0,1{e}}}");
            check(gpu, &cache, &copy(&rows, &columns, Padding::Keep));
        }
        for data_type in ["u8", "f32"] {
            let rows = format!("{data_type}[{size},64]{{1,0}}");
            let tiles = format!("{data_type}[{size},64]{{1,0:T(8,128)}}");
            check(gpu, &cache, &copy(&rows, &tiles, Padding::Fill(0x5a)));
            check(gpu, &cache, &copy(&tiles, &rows, Padding::Keep));
        }
    }
}

/// Checks a large copy without guards, in windows where one binding does not hold a tensor.
fn check_large(gpu: &Gpu, relayout: &Relayout) -> usize {
    let options = BufferOptions { in_windows: true, ..BufferOptions::default() };
    let (from, to) = (relayout.source(), relayout.destination());
    let bytes = noise(from.physical_size_in_bytes() as usize, 1);
    let source = TensorBuffer::with_bytes(&gpu.device, (from, &bytes), from, &options).unwrap();
    let destination = TensorBuffer::new(&gpu.device, to, &options).unwrap();
    let copy = PipelineCache::new(&gpu.device).relayout(relayout).unwrap();
    gpu.submit(|encoder| copy.encode(encoder, &source, &destination).unwrap());
    let mut expected = vec![0; to.physical_size_in_bytes() as usize];
    relayout.run(&bytes, &mut expected).unwrap();
    assert!(gpu.read(&destination).bytes() == expected, "{from:?} to {to:?}\n{}", copy.program().explain());
    copy.program().passes().len()
}

fn more_than_65535_workgroups(gpu: &Gpu) {
    // 4,400 x 4,000 words: 68,750 workgroups of 256.
    let relayout = copy("f32[4400,4000]{1,0}", "f32[4400,4000]:[4001,1]", Padding::Keep);
    let program = PipelineCache::new(&gpu.device).relayout_as(&relayout, Some(tensor_layout_shader::Form::General));
    let program = program.unwrap();
    let most = program.program().passes().iter().map(|pass| pass.workgroups().iter().map(|&n| u64::from(n)).product());
    let most: u64 = most.max().unwrap();
    assert!(most > 65_535, "{}", program.program().explain());
    let inside = |pass: &tensor_layout_shader::Pass| pass.workgroups().iter().all(|&groups| groups <= 65_535);
    assert!(program.program().passes().iter().all(inside));
    check_large(gpu, &relayout);
}

fn bindings_past_128_mib(gpu: &Gpu) {
    let (device, queue) =
        gpu.with_limits(wgpu::Limits { max_storage_buffer_binding_size: 128 << 20, ..gpu.device.limits() });
    let gpu = gpu.on(device, queue);
    // 132 MiB each: two windows of both.
    let passes = check_large(&gpu, &copy("u8[8450,16384]{1,0}", "u8[8450,16384]{0,1}", Padding::Keep));
    assert!(passes > 1, "{passes}");
}

fn pipelines_are_compiled_once(gpu: &Gpu) {
    let cache = PipelineCache::new(&gpu.device);
    let rows = "f32[60,70]{1,0}";
    assert!(cache.is_empty());
    check(gpu, &cache, &copy(rows, "f32[60,70]{0,1}", Padding::Keep));
    let first = cache.len();
    assert!(first > 0);
    check(gpu, &cache, &copy(rows, "f32[60,70]{0,1}", Padding::Keep));
    assert_eq!(cache.clone().len(), first);
    check(gpu, &cache, &copy(rows, "f32[60,70]{1,0:T(8,128)}", Padding::Zero));
    assert!(cache.len() > first);
}

fn what_is_refused(gpu: &Gpu) {
    let cache = PipelineCache::new(&gpu.device);
    let (rows, columns) = (layout("f32[16,16]{1,0}"), layout("f32[16,16]{0,1}"));
    let copy = cache.relayout(&Relayout::new(&rows, &columns).unwrap()).unwrap();
    let options = BufferOptions::default();
    let source = TensorBuffer::new(&gpu.device, &rows, &options).unwrap();
    let destination = TensorBuffer::new(&gpu.device, &columns, &options).unwrap();
    let unbound = BufferOptions { usage: wgpu::BufferUsages::COPY_DST, ..options };
    let unbound = TensorBuffer::new(&gpu.device, &columns, &unbound).unwrap();
    let turned = source.view(&columns).unwrap();
    gpu.submit(|encoder| {
        let mut code = |source, destination| copy.encode(encoder, source, destination).unwrap_err().code();
        assert_eq!(code(&destination, &source), "other_layout");
        assert_eq!(code(&source, &turned), "one_buffer");
        assert_eq!(code(&source, &unbound), "buffer_usage");
    });
    // The elements must agree, as on the CPU.
    let halves = BufferTensorDesc::packed(DataType::F16, &[16, 16]).unwrap();
    assert_eq!(Relayout::new(&rows, &halves).unwrap_err().code(), "data_type_mismatch");
}
