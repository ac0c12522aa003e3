//! Layouts whose normal form is known, each as an example of one property, and the worked examples of XLA's
//! pages.

use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::relayout::Relayout;
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, Error, IndexMap, LayoutClass, ToIndexMap};
use tensor_layout_text::to_xla;

fn shape(text: &str) -> ArrayShape {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn map(text: &str) -> IndexMap {
    shape(text).to_index_map().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn offsets(map: &IndexMap) -> Vec<Vec<u64>> {
    let [rows, columns] = map.sizes() else { panic!("rank 2") };
    (0..*rows).map(|row| (0..*columns).map(|column| map.offset(&[row, column]).unwrap()).collect()).collect()
}

// These are the examples of XLA's pages.

#[test]
fn figure_1_puts_element_2_3_at_17() {
    let map = map("F32[3,5]{1,0:T(2,2)}");
    assert_eq!(map.offset(&[2, 3]), Ok(17));
    assert_eq!(map.physical_elements(), 24);
    assert_eq!(offsets(&map), [[0, 1, 4, 5, 8], [2, 3, 6, 7, 10], [12, 13, 16, 17, 20]]);
}

#[test]
fn figure_2_is_a_tile_of_pairs_of_rows() {
    let map = map("F32[4,8]{1,0:T(2,4)(2,1)}");
    let pair = |first: u64| (0..8).map(|column| first + 2 * column).collect::<Vec<_>>();
    assert_eq!(offsets(&map), [pair(0), pair(1), pair(16), pair(17)]);
}

#[test]
fn the_combine_example_is_a_matrix_of_112_by_110_in_tiles_of_2_by_3() {
    let combined = map("F32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}");
    assert_eq!(combined.physical_elements(), 112 * 111);
    let matrix = map("F32[112,110]{1,0:T(2,3)}");
    assert_eq!(matrix.physical_elements(), combined.physical_elements());
    for (a, b, c, d, e) in [(0, 0, 0, 0, 0), (1, 6, 7, 10, 9), (1, 0, 3, 5, 7), (0, 6, 1, 0, 2), (1, 3, 4, 9, 9)] {
        let expected = matrix.offset(&[(a * 7 + b) * 8 + c, d * 10 + e]);
        assert_eq!(combined.offset(&[a, b, c, d, e]), expected);
    }
}

#[test]
fn a_to_f_in_column_order_is_a_d_b_e_c_f() {
    let mut turned = [0; 6];
    Relayout::new(&shape("u8[2,3]{1,0}"), &shape("u8[2,3]{0,1}")).unwrap().run(b"abcdef", &mut turned).unwrap();
    assert_eq!(&turned, b"adbecf");
}

#[test]
fn normal_forms_that_are_equal() {
    let Lowering::Strided(desc) = lower(&shape("f32[16,100]{1,0:T(8,128)}")).unwrap() else { panic!() };
    assert_eq!((desc.strides(), desc.total_tensor_size_in_bytes()), (&[128, 1][..], 8192));
    assert_eq!(map("f32[4,6]{1,0:T(1,1)}"), map("f32[4,6]{1,0}"));
    assert!(map("f32[1,6]{1,0:T(*,4)}").same_places(&map("f32[1,6]{1,0}")).unwrap());
    let irreducible = map("f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}");
    for offset in 0..irreducible.physical_elements() {
        if let Some(index) = irreducible.inverse(offset).unwrap() {
            assert_eq!(irreducible.offset(&index), Ok(offset));
        }
    }
}

#[test]
fn strides_of_size_1_dimensions_carry_no_meaning() {
    let desc = |strides: &[u64]| BufferTensorDesc::new(DataType::F32, &[1, 3, 1], Some(strides)).unwrap();
    assert_eq!(desc(&[99, 1, 7]), desc(&[3, 1, 1]));
    assert_eq!(desc(&[99, 1, 7]).to_index_map(), desc(&[0, 1, 0]).to_index_map());
    for strides in [[2, 1, 50], [0, 1, 0], [1, 1, 2]] {
        assert!(to_xla(&desc(&strides)).unwrap().shape.layout().tiles().is_empty(), "{strides:?}");
    }
    // Strides of an array without elements have no meaning either.
    let empty = BufferTensorDesc::new(DataType::U8, &[2, 0, 3], Some(&[0, 5, 7])).unwrap();
    assert_eq!(to_xla(&empty).unwrap().shape.to_string(), "u8[2,0,3]{2,1,0}");
}

#[test]
fn empty_tensors_have_no_places() {
    for text in
        ["f32[0,3]{1,0:T(8,128)}", "f32[3,0]{1,0:T(8,128)(2,1)}", "f32[0]{0:T(4)L(7)}", "f32[5,0,2]{0,2,1:T(*,*,3)}"]
    {
        let map = map(text);
        assert_eq!((map.physical_elements(), map.element_count(), map.class()), (0, 0, LayoutClass::Affine), "{text}");
        assert!(map.inverse(0).is_err());
        assert!(matches!(lower(&shape(text)).unwrap(), Lowering::Strided(_)));
        let relayout = Relayout::new(&shape(text), &shape(text)).unwrap();
        relayout.run(&[], &mut []).unwrap();
    }
}

#[test]
fn a_scalar_has_one_place_and_a_tile_pads_it() {
    assert_eq!(map("f32[]").physical_elements(), 1);
    let tiled = map("f32[]{:T(8,128)}");
    assert_eq!(
        (tiled.physical_elements(), tiled.offset(&[0_u64; 0]), tiled.class()),
        (1024, Ok(0), LayoutClass::Affine)
    );
    assert_eq!(tiled.inverse(0).unwrap().as_deref(), Some(&[][..]));
    assert_eq!(tiled.inverse(1), Ok(None));
    assert_eq!(map("f32[]{:T()}").physical_elements(), 1);
}

#[test]
fn sizes_that_do_not_fit_64_bits_are_errors() {
    let overflow = |result: Result<(), Error>| result.unwrap_err().code();
    let huge = [1 << 40, 1 << 40];
    for strides in [[0, 0], [1, 1], [1 << 40, 1], [u64::MAX, 1]] {
        assert_eq!(overflow(BufferTensorDesc::new(DataType::F32, &huge, Some(&strides)).map(|_| ())), "overflow");
    }
    assert_eq!(overflow(BufferTensorDesc::packed(DataType::U8, &huge).map(|_| ())), "overflow");
    assert_eq!("f32[1099511627776,1099511627776]".parse::<ArrayShape>().unwrap_err().code(), "parse");
    let padded = shape("u8[3,3]{1,0:T(4294967296,4294967296)}");
    assert_eq!(overflow(padded.to_index_map().map(|_| ())), "overflow");
    let bytes = shape("f64[4611686018427387904]{0}");
    assert_eq!(overflow(bytes.to_index_map().map(|_| ())), "overflow");
    assert_eq!(overflow(shape("f32[5]{0:L(9223372036854775807)}").to_index_map().map(|_| ())), "overflow");
    assert_eq!("f32[5]{0:L(9223372036854775808)}".parse::<ArrayShape>().unwrap_err().code(), "parse");
}

#[test]
fn raising_reports_the_bytes_past_the_directml_minimum() {
    let desc = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[5, 1])).unwrap();
    assert_eq!(desc.min_size_in_bytes(), 32);
    assert_eq!(to_xla(&desc).unwrap().bytes_past_minimum, 8);
}

#[test]
fn a_broadcast_source_is_fine_and_a_broadcast_destination_is_refused() {
    let broadcast = BufferTensorDesc::new(DataType::U8, &[2, 3], Some(&[0, 1])).unwrap();
    let packed = BufferTensorDesc::packed(DataType::U8, &[2, 3]).unwrap();
    let mut expanded = [0; 6];
    Relayout::new(&broadcast, &packed).unwrap().run(b"abc", &mut expanded).unwrap();
    assert_eq!(&expanded, b"abcabc");
    let error = Relayout::new(&packed, &broadcast).unwrap_err();
    assert_eq!((error.code(), error.what(), error.found()), ("overlapping_destination", "[1, 0]", "[0, 0]"));
    assert_eq!(error.value(), Some(0));
}

#[test]
fn both_numbers_for_combine_are_read_and_the_star_is_printed() {
    use tensor_layout::tiled::Tile;
    assert_eq!(Tile::try_from(&[i64::MIN, 4][..]), Tile::try_from(&[-1, 4][..]));
    assert_eq!(Tile::try_from(&[-1, 4][..]).unwrap().to_string(), "(*,4)");
    assert_eq!(Tile::try_from(&[4, -1][..]).unwrap_err().code(), "trailing_combine");
    assert_eq!(Tile::try_from(&[-2, 4][..]).unwrap_err().code(), "overflow");
    assert_eq!("f32[3,5]{1,0:T(2,*)}".parse::<ArrayShape>().unwrap_err().column(), Some(18));
    assert_eq!("f32[3,5]{1,0:T(2,0)}".parse::<ArrayShape>().unwrap_err().column(), Some(18));
}
