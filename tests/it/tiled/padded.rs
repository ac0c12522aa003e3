//! Padded sizes, and the tiles of TPUs.

use tensor_layout::ArrayShape;
use tensor_layout::tiled::{TpuGeneration, TpuTiles};

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
