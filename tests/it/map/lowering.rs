//! Tiles as strides: the choice of strides where any stride would do, and the reason where there are no
//! strides.

use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::{ArrayShape, LayoutClass, ToIndexMap};
use tensor_layout_text::Layout;

fn lowered(text: &str) -> Lowering {
    lower(&text.parse::<ArrayShape>().unwrap()).unwrap()
}

/// Predicates and equality ignore the strides of dimensions of one element, and of tensors without elements.
/// Code that prints the strides or passes them to a device does not. They are the strides of a packed
/// neighbour.
#[test]
fn strides_that_do_not_matter_are_those_of_a_packed_neighbour() {
    for (text, strides) in [
        ("f32[3,1,5]{2,1,0}", &[5, 5, 1][..]),
        ("f32[3,1,5]{0,1,2}", &[1, 3, 3]),
        ("f32[1,1,7]{2,1,0}", &[7, 7, 1]),
        ("f32[4,1,6,1]{3,2,1,0}", &[6, 6, 1, 1]),
        ("f32[4,1,6,1]{1,3,0,2}", &[1, 1, 4, 1]),
        ("f32[1,3,100]{2,1,0:T(8,128)}", &[384, 128, 1]),
        ("f32[1,1,3,100]{3,2,1,0:T(8,128)}", &[384, 384, 128, 1]),
        ("f32[3,1,100]{2,1,0:T(8,128)}", &[1024, 100, 1]),
        // Without elements, strides are chosen as if sizes of 0 were 1.
        ("f32[3,0,5]{2,1,0}", &[5, 5, 1]),
        ("f32[4,0,6]{0,1,2}", &[1, 4, 4]),
        ("f32[0,4,6]{0,1,2}", &[1, 1, 4]),
        ("f32[]", &[]),
        ("f32[1]{0}", &[1]),
    ] {
        let Lowering::Strided(desc) = lowered(text) else { panic!("{text}") };
        assert_eq!(desc.strides(), strides, "{text}");
        assert_eq!(lowered(text).name(), "strided");
        assert_eq!(lowered(text).reason(), None);
    }
    // A map has no order of its own. Its strides are chosen in row-major order.
    let Lowering::Strided(desc) = lower(&"f32(4,1,8):(8,77,1)".parse::<Layout>().unwrap()).unwrap() else { panic!() };
    assert_eq!(desc.strides(), [8, 8, 1]);
    // The total is the total of the tiles, in multiples of 4 bytes.
    let Lowering::Strided(desc) = lowered("u8[3,7]{1,0:T(1,9)}") else { panic!() };
    assert_eq!((desc.strides(), desc.total_tensor_size_in_bytes()), (&[9, 1][..], 28));
}

#[test]
fn a_split_names_each_dimension_and_its_digits() {
    for (text, sizes, strides, dims, reason) in [
        (
            "f32[3,5]{1,0:T(2,2)}",
            &[2, 2, 3, 2][..],
            &[12, 2, 4, 1][..],
            &[0, 0, 1, 1][..],
            "dimension 0 is cut into digits of 2 x 2 and dimension 1 into digits of 3 x 2",
        ),
        ("f32[1,6]{1,0:T(1,2)}", &[1, 6], &[0, 1], &[0, 1], ""),
        ("f32[4,8]{1,0:T(2,4)(2,1)}", &[2, 2, 8], &[16, 1, 2], &[0, 0, 1], "dimension 0 is cut into digits of 2 x 2"),
        (
            "f32[4,4,4]{2,1,0:T(2,2,2)}",
            &[2, 2, 2, 2, 2, 2],
            &[32, 4, 16, 2, 8, 1],
            &[0, 0, 1, 1, 2, 2],
            "dimension 0 is cut into digits of 2 x 2, dimension 1 into digits of 2 x 2 and dimension 2 into digits of 2 x 2",
        ),
    ] {
        match lowered(text) {
            Lowering::Split(split) => {
                assert_eq!(
                    (split.desc.sizes(), split.desc.strides(), &split.dims[..]),
                    (sizes, strides, dims),
                    "{text}"
                );
                assert_eq!(lowered(text).reason().as_deref(), Some(reason));
                assert_eq!(lowered(text).name(), "split");
            }
            Lowering::Strided(desc) => assert_eq!((desc.sizes(), reason), (sizes, ""), "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// Each class without strides has its own reason.
#[test]
fn the_reason_is_that_of_the_class() {
    for (text, class, reason) in [
        (
            "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}",
            LayoutClass::Irreducible,
            "a `*` in a later tile joins parts of dimensions that do not line up",
        ),
        (
            "f32[7,5]{1,0:T(*,3)(2,1)}",
            LayoutClass::Fused,
            "dimensions 0, 1 are joined by `*` into one of 35, and the tile boundaries at multiples of 3 cut none of them cleanly",
        ),
        (
            "f32[30,4]{1,0:T(6,2)(4,1)}",
            LayoutClass::RaggedSplit,
            "dimension 0 is cut into blocks of 6 and those into blocks of 4, which does not divide 6",
        ),
    ] {
        let shape: ArrayShape = text.parse().unwrap();
        assert_eq!(shape.to_index_map().unwrap().class(), class, "{text}");
        let lowering = lower(&shape).unwrap();
        let Lowering::IndexMap { map, .. } = &lowering else { panic!("{text}: {lowering:?}") };
        assert_eq!(map, &shape.to_index_map().unwrap());
        assert_eq!((lowering.reason().as_deref(), lowering.name()), (Some(reason), "index_map"), "{text}");
    }
    let Some(reason) = lowered("s4[3,5]{1,0}").reason() else { panic!() };
    assert_eq!(reason, "an element of s4 takes 8 bits here, and strides count elements of 4 bits");
}
