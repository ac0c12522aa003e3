use super::*;

#[test]
fn tags_and_their_xla_spelling() {
    for (tag, sizes, layout) in [
        ("x", &[7][..], "{0}"),
        ("nhwc", &[2, 3, 5, 7], "{1,3,2,0}"),
        ("acdb", &[2, 3, 5, 7], "{1,3,2,0}"),
        ("nChw16c", &[2, 33, 3, 5], "{3,2,1,0:T(16,1,1)}"),
        ("aBcd16b", &[2, 33, 3, 5], "{3,2,1,0:T(16,1,1)}"),
        ("NChw16n16c", &[20, 33, 3, 5], "{3,2,1,0:T(16,16,1,1)}"),
        ("OIhw16i16o", &[20, 33, 3, 3], "{3,2,1,0:T(16,16,1,1)(16,1,1,1)}"),
        ("OIhw4i16o4i", &[20, 33, 3, 3], "{3,2,1,0:T(16,16,1,1)(16,4,1,1)}"),
        ("OIhw8i16o2i", &[20, 33, 3, 3], "{3,2,1,0:T(16,16,1,1)(16,2,1,1)}"),
        ("AB4a128b2a", &[50, 300], "{1,0:T(8,128)(2,1)}"),
        ("BA16a64b4a", &[33, 130], "{0,1:T(64,64)(64,4)}"),
        ("gOIdhw4i16o4i", &[2, 20, 33, 3, 3, 3], "{5,4,3,2,1,0:T(16,16,1,1,1)(16,4,1,1,1)}"),
        ("hwio", &[8, 4, 3, 5], "{0,1,3,2}"),
        ("ntc", &[5, 2, 8], "{2,0,1}"),
        ("ldgoi", &[1, 2, 3, 4, 5], "{2,4,3,1,0}"),
    ] {
        let shape = shape(DataType::F32, sizes, tag).unwrap();
        assert_eq!(shape.layout().to_string(), layout, "{tag}");
    }
    let packed = shape(DataType::S4, &[2, 4], "ab").unwrap();
    assert_eq!(packed.to_string(), "s4[2,4]{1,0:E(4)}");
}

#[test]
fn refused_tags_point_at_the_letter() {
    for (tag, column) in [
        ("", 1),
        ("16c", 1),
        ("nChw", 2),
        ("nchw16c", 2),
        ("nChw16x", 7),
        ("nChw16C", 7),
        ("nChw16", 7),
        ("nChw1c", 5),
        ("nChw0c", 5),
        ("nncw", 2),
        ("nchz", 4),
        ("acd", 1),
        ("nChw16c ?", 9),
    ] {
        let error = shape(DataType::F32, &[2, 32, 3, 5], tag).unwrap_err();
        assert_eq!((error.code(), error.column()), ("parse", Some(column)), "{tag}: {error}");
    }
    assert_eq!(shape(DataType::F32, &[2, 32, 3], "nchw").unwrap_err().column(), Some(1));
    let huge = shape(DataType::F32, &[2], "A4294967296a4294967296a").unwrap_err();
    assert_eq!(huge.code(), "overflow");
}

#[test]
fn a_width_is_said_of_types_below_a_byte_only() {
    let text = |data_type| shape(data_type, &[2, 3], "ba").unwrap().to_string();
    assert_eq!(text(DataType::S4), "s4[2,3]{0,1:E(4)}");
    assert_eq!(text(DataType::S8), "s8[2,3]{0,1}");
}
