//! Padded sizes, and the tiles of TPUs.

use tensor_layout::ArrayShape;
use tensor_layout::tiled::{TpuGeneration, TpuTiles};

fn elements(text: &str) -> u64 {
    text.parse::<ArrayShape>().unwrap().physical_elements().unwrap()
}

#[test]
fn later_tiles_act_on_what_the_earlier_ones_left() {
    assert_eq!(elements("f32[4,8]{1,0:T(2,4)(2,1)}"), 32);
    assert_eq!(elements("bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"), 167_772_160);
    // 300 rows are 38 blocks of 8 rows, and each block is 3 sub-tiles of 3 rows.
    assert_eq!(elements("bf16[300,500]{1,0:T(8,128)(3,1)}"), 38 * 4 * 9 * 128);
    assert_eq!(elements("f32[12,4]{1,0:T(6,2)(4,1)}"), 2 * 2 * 8 * 2);
    // (2,2,8,128) pads the tile counts 3 x 5 to 4 x 6.
    assert_eq!(elements("f32[24,640]{1,0:T(8,128)(2,2,8,128)}"), 4 * 6 * 1024);
}

#[test]
fn combined_dimensions_are_cut_as_one() {
    assert_eq!(elements("f32[7,5]{1,0:T(*,4)}"), 36);
    assert_eq!(elements("f32[7,5,2]{2,1,0:T(*,4,1)}"), 72);
    assert_eq!(elements("f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}"), 3 * 3 * 3 * 2 * 2);
    assert_eq!(elements("f32[5]{0:T(*,*,4)}"), 8);
}

#[test]
fn empty_and_scalar_arrays() {
    assert_eq!(elements("f32[0,3]{1,0:T(8,128)}"), 0);
    assert_eq!(elements("f32[3,0]{1,0:T(8,128)L(512)}"), 0);
    assert_eq!(elements("f32[]"), 1);
    assert_eq!(elements("f32[]{:T()}"), 1);
    assert_eq!(elements("f32[]{:L(4)}"), 4);
}

#[test]
fn the_largest_part_of_a_divided_dimension_counts() {
    assert_eq!(elements("pred[123,456]{1,0:SC(1:50,200)}"), 123 * 256);
    assert_eq!(elements("pred[123,456]{0,1:SC(0:400)}"), 123 * 400);
    assert_eq!(elements("pred[4,5]{1,0:SC(7:1)}"), 20);
}

#[test]
fn padding_that_does_not_fit_into_64_bits_is_an_error() {
    let shape: ArrayShape = "s8[1073741824,1073741824]{1,0:T(1,17179869184)}".parse().unwrap();
    assert_eq!(shape.physical_elements().unwrap_err().code(), "overflow");
    let shape: ArrayShape = "f32[4611686018427387904]{0}".parse().unwrap();
    assert_eq!(shape.physical_size_in_bytes().unwrap_err().code(), "overflow");
}

#[test]
fn the_rules_are_those_of_a_generation_and_inside_programs_never_have_more_than_8_rows() {
    for (text, late, inside, early) in [
        ("s8[64,256]", "(32,128)(4,1)", "(8,128)(4,1)", "(8,128)(4,1)"),
        ("bf16[64,256]", "(8,128)(2,1)", "(8,128)(2,1)", "(8,128)(2,1)"),
        ("f32[1,128]", "(1,128)", "(1,128)", "(2,128)"),
    ] {
        let shape: ArrayShape = text.parse().unwrap();
        let ruled = |rule| shape.tpu_tiles(rule).unwrap().iter().map(ToString::to_string).collect::<String>();
        assert_eq!(TpuTiles::ALL.map(ruled), [inside, late, early], "{text}");
        for (rule, generation) in [(TpuTiles::Late, TpuGeneration::V5e), (TpuTiles::Early, TpuGeneration::V3)] {
            let whole = shape.clone().with_tpu_tiles(generation).unwrap();
            assert_eq!(shape.tpu_tiles(rule).unwrap(), whole.layout().tiles(), "{text}");
        }
    }
}
