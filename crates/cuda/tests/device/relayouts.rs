//! Copies on the device, beside the CPU's.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, TestRunner};
use tensor_layout::relayout::Relayout;
use tensor_layout::{ArrayShape, BufferTensorDesc};
use tensor_layout_cuda::{KernelCache, Sizes, execute, read_back, upload};
use tensor_layout_transfers::transfers;

use crate::literal::pairs::{noise, padding, pair_of_any_widths, within};
use crate::planes::planes;
use crate::{Gpu, Test};

pub(crate) const TESTS: &[Test] = &[
    ("random_pairs_are_copied_as_on_the_cpu", random_pairs),
    ("one_kernel_serves_200_lengths", one_kernel),
    ("tensors_inside_a_buffer_begin_at_any_word", inside_a_buffer),
    ("what_does_not_fit_is_refused", refused),
    ("a_tensor_comes_back_as_it_was", round_trip),
    ("lists_of_rows_copy_as_the_cpu_does", lists),
];

fn random_pairs(gpu: &Gpu) {
    let cases = std::env::var("TENSOR_LAYOUT_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300);
    let mut runner = TestRunner::new(Config::default());
    let constants = KernelCache::new(&gpu.context);
    let uniforms = constants.clone().with_sizes(Sizes::Uniforms);
    for case in 0..cases {
        let (from, to) = match case % 2 {
            0 => pair_of_any_widths().new_tree(&mut runner).unwrap().current(),
            _ => planes().new_tree(&mut runner).unwrap().current(),
        };
        let padding = within(padding().new_tree(&mut runner).unwrap().current(), to.map.element_bits());
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { continue };
        let relayout = relayout.with_padding_of_whole_buffer(padding).unwrap();
        for cache in [&constants, &uniforms] {
            let copy = cache.relayout(&relayout).unwrap();
            let source = noise(copy.source_size_in_bytes(), 1);
            let mut expected = noise(copy.destination_size_in_bytes() + 8, 2);
            let on_device = gpu.stream.clone_htod(&source).unwrap();
            let mut destination = gpu.stream.clone_htod(&expected).unwrap();
            copy.run(&gpu.stream, &on_device, &mut destination).unwrap();
            relayout.run(&source, &mut expected).unwrap();
            let own = gpu.stream.clone_dtoh(&destination).unwrap();
            assert!(own == expected, "{}\n{}", relayout.explain(), copy.program().explain());
        }
    }
}

fn one_kernel(gpu: &Gpu) {
    let cache = KernelCache::new(&gpu.context).with_sizes(Sizes::Uniforms);
    for length in 100..300 {
        let [from, to]: [ArrayShape; 2] =
            ["{2,1,0}", "{2,0,1}"].map(|order| format!("f16[{length},32,128]{order}").parse().unwrap());
        cache.relayout(&Relayout::new(&from, &to).unwrap()).unwrap();
    }
    assert_eq!(cache.len(), 1);
}

fn inside_a_buffer(gpu: &Gpu) {
    let [from, to]: [ArrayShape; 2] = ["f32[64,96]{1,0}", "f32[64,96]{0,1}"].map(|text| text.parse().unwrap());
    let copy = KernelCache::new(&gpu.context).relayout(&Relayout::new(&from, &to).unwrap()).unwrap();
    let bytes = copy.source_size_in_bytes();
    let source = noise(bytes + 64, 3);
    for (first, second) in [(0, 4), (8, 0), (12, 36)] {
        let on_device = gpu.stream.clone_htod(&source).unwrap();
        let mut destination = gpu.stream.alloc_zeros::<u8>(bytes + 64).unwrap();
        let mut part = destination.slice_mut(second..);
        copy.run(&gpu.stream, &on_device.slice(first..), &mut part).unwrap();
        let mut expected = vec![0; bytes + 64];
        copy.relayout().run(&source[first..], &mut expected[second..]).unwrap();
        assert!(gpu.stream.clone_dtoh(&destination).unwrap() == expected);
    }
}

fn refused(gpu: &Gpu) {
    let [from, to]: [ArrayShape; 2] = ["f32[64,96]{1,0}", "f32[64,96]{0,1}"].map(|text| text.parse().unwrap());
    let copy = KernelCache::new(&gpu.context).relayout(&Relayout::new(&from, &to).unwrap()).unwrap();
    let short = gpu.stream.alloc_zeros::<u8>(100).unwrap();
    let mut long = gpu.stream.alloc_zeros::<u8>(copy.destination_size_in_bytes()).unwrap();
    assert_eq!(copy.run(&gpu.stream, &short, &mut long).unwrap_err().code(), "too_short");
}

fn round_trip(gpu: &Gpu) {
    let rows: BufferTensorDesc = "bf16[30,200]:[200,1]".parse().unwrap();
    let tiles: ArrayShape = "bf16[30,200]{1,0:T(8,128)(2,1)}".parse().unwrap();
    let bytes = noise(30 * 200 * 2, 7);
    let on_device = upload(&gpu.stream, (&rows, &bytes), &tiles).unwrap();
    assert!(read_back(&gpu.stream, (&tiles, &on_device), &rows).unwrap() == bytes);
}

fn lists(gpu: &Gpu) {
    for (from, to) in [
        ("f16[100,60]:[60,1]", "f16[100,60]:[64,1]"),
        ("f16[4,8,16,32]:[4096,512,32,1]", "f16[4,8,16,32]:[4096,32,256,1]"),
        ("f32[20,30]:[30,1]", "f32[20,30]:[1,20]"),
    ] {
        let [from, to]: [BufferTensorDesc; 2] = [from, to].map(|text| text.parse().unwrap());
        let relayout = Relayout::new(&from, &to).unwrap();
        let list = transfers(&from, &to, &"cuda-2d".parse().unwrap()).unwrap();
        let source = noise(relayout.source_size_in_bytes() as usize, 1);
        let mut expected = noise(relayout.destination_size_in_bytes() as usize, 2);
        let on_device = gpu.stream.clone_htod(&source).unwrap();
        let mut destination = gpu.stream.clone_htod(&expected).unwrap();
        execute(&gpu.stream, &list, &on_device, &mut destination).unwrap();
        relayout.run(&source, &mut expected).unwrap();
        assert!(gpu.stream.clone_dtoh(&destination).unwrap() == expected, "{from} -> {to}");
    }
}
