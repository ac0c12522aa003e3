//! The text form of XLA's shapes: recorded strings, and the columns of errors.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tensor_layout::tiled::{self, MAX_RANK, MAX_TILE_ENTRIES, MAX_TUPLE_DEPTH, TileSize};
use tensor_layout::{ArrayShape, Shape};
use tensor_layout_text::{Layout, Notation};

fn recorded() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/xla_layouts.jsonl");
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect()
}

/// Compares an array with the result of XLA's own parser for the same text.
fn check_array(array: &ArrayShape, recorded: &Value, input: &str) {
    assert_eq!(array.data_type().to_string(), recorded["dtype"], "{input}");
    let sizes: Vec<i64> = array.sizes().iter().map(|&size| i64::try_from(size).unwrap()).collect();
    assert_eq!(sizes, numbers(&recorded["dims"]), "{input}");
    let dynamic: Vec<bool> = recorded["dynamic"].as_array().unwrap().iter().map(|d| d.as_bool().unwrap()).collect();
    assert_eq!(array.dynamic(), dynamic, "{input}");

    let (layout, recorded) = (array.layout(), &recorded["layout"]);
    let order: Vec<i64> = layout.minor_to_major().iter().map(|&d| i64::try_from(d).unwrap()).collect();
    assert_eq!(order, numbers(&recorded["minor_to_major"]), "{input}");
    let entry = |entry: &TileSize| match entry {
        TileSize::Size(size) => Value::from(size.get()),
        TileSize::Combine => Value::from("*"),
    };
    let tiles: Vec<Value> = layout.tiles().iter().map(|tile| tile.entries().iter().map(entry).collect()).collect();
    assert_eq!(&tiles, recorded["tiles"].as_array().unwrap(), "{input}");
    for (number, key) in [
        (layout.tail_padding_alignment, "tail_padding_alignment_in_elements"),
        (layout.element_bits.map_or(0, u64::from), "element_size_in_bits"),
        (layout.memory_space, "memory_space"),
        (layout.metadata_prefix_bytes, "dynamic_shape_metadata_prefix_bytes"),
    ] {
        assert_eq!(Some(number), recorded[key].as_u64(), "{input}: {key}");
    }
    for (data_type, key) in
        [(layout.index_type, "index_primitive_type"), (layout.pointer_type, "pointer_primitive_type")]
    {
        assert_eq!(
            data_type.map(|data_type| data_type.to_string()).as_deref(),
            recorded[key].as_str(),
            "{input}: {key}"
        );
    }
    let splits = recorded["split_configs"].as_array().unwrap();
    assert_eq!(layout.split_configs.len(), splits.len(), "{input}");
}

fn check_shape(shape: &Shape, recorded: &Value, input: &str) {
    match shape {
        Shape::Array(array) => check_array(array, recorded, input),
        Shape::Tuple(elements) => {
            let expected = recorded["elements"].as_array().unwrap();
            assert_eq!(elements.len(), expected.len(), "{input}");
            for (element, expected) in elements.iter().zip(expected) {
                check_shape(element, expected, input);
            }
        }
        other => panic!("{input}: the recording holds arrays and tuples only, not {other}"),
    }
}

#[test]
fn every_recorded_string_reads_prints_and_decomposes_as_in_xla() {
    let lines = recorded();
    assert_eq!(lines.len(), 154);
    let (mut arrays, mut tuples, mut refused) = (0, 0, 0);
    for line in &lines {
        let input = line["input"].as_str().unwrap();
        let shape = input.parse::<Shape>();
        if line["status"] == "error" {
            assert!(shape.unwrap_err().column().is_some(), "{input}");
            assert!(input.parse::<ArrayShape>().unwrap_err().column().is_some(), "{input}");
            refused += 1;
            continue;
        }
        let shape = shape.unwrap();
        assert_eq!(shape.to_string(), line["print"], "{input}");
        assert_eq!(shape.to_string().parse::<Shape>().unwrap(), shape, "{input}");
        check_shape(&shape, line, input);
        match shape {
            Shape::Array(array) => {
                assert_eq!(input.parse::<ArrayShape>().unwrap(), array);
                arrays += 1;
            }
            _ => tuples += 1,
        }
    }
    assert_eq!((arrays, tuples, refused), (136, 17, 1));
}

/// Texts, and the canonical texts that they become.
#[test]
fn the_whole_grammar_prints_canonically() {
    for (input, canonical) in [
        ("F32[3,5]", "f32[3,5]{1,0}"),
        ("BF16[3,5]{0,1}", "bf16[3,5]{0,1}"),
        ("f32[]", "f32[]"),
        ("f32[]{}", "f32[]"),
        ("f32[]{:T(128)}", "f32[]{:T(128)}"),
        ("f32[<=5,3]", "f32[<=5,3]{1,0}"),
        ("f32[?,<=5,3]", "f32[?,<=5,3]{2,1,0}"),
        ("f32[3,5]{1,0:D(D,C)}", "f32[3,5]{1,0}"),
        ("f32[3,5]{1,0:D(D,C+~)T(2,2)}", "f32[3,5]{1,0:T(2,2)}"),
        ("f32[3,5] {1, 0 : T (8, 128) (2, 1) S(1)}", "f32[3,5]{1,0:T(8,128)(2,1)S(1)}"),
        ("f32 [3,5] // the end", "f32[3,5]{1,0}"),
        ("f32[3,/*five*/5]{1,0:T(*,4)}", "f32[3,5]{1,0:T(*,4)}"),
        (
            "u4[8]{0:T(4)L(16)#(u32)*(u64)E(4)S(1)SC(0:2,4)(0:7)M(64)}",
            "u4[8]{0:T(4)L(16)#(u32)*(u64)E(4)S(1)SC(0:2,4)(0:7)M(64)}",
        ),
        ("f32[5]{0:T(5)L(1)E(0)S(0)M(0)}", "f32[5]{0:T(5)}"),
        ("f32[007]", "f32[7]{0}"),
        ("()", "()"),
        ("( )", "()"),
        ("(f32[],)", ""),
        ("((), (f32[2], token[]), opaque[])", "((), (f32[2]{0}, token[]), opaque[])"),
        ("b(f32[2])", "b(f32[2]{0})"),
        ("token[]", "token[]"),
        ("(s8[],s8[],s8[],s8[],s8[],s8[])", "(s8[], s8[], s8[], s8[], s8[], /*index=5*/s8[])"),
    ] {
        match input.parse::<Shape>() {
            Ok(shape) => {
                assert_eq!(shape.to_string(), canonical, "{input}");
                assert_eq!(canonical.parse::<Shape>().unwrap(), shape);
            }
            Err(error) => assert!(canonical.is_empty(), "{error}"),
        }
    }
}

/// Each text is refused, and the error has this column.
#[test]
fn refusals_point_at_the_byte() {
    for (input, column) in [
        ("", 1),
        ("f8[3]", 1),
        ("int[3]", 1),
        ("f32", 4),
        ("f32[3", 6),
        ("f32[3,", 7),
        ("f32[3,]", 7),
        ("f32[-1]", 5),
        ("f32[3x5]", 6),
        ("f32[1_2]", 6),
        ("f32[3.0]", 6),
        ("f32[1e3]", 6),
        ("f32[18446744073709551616]", 5),
        ("f32[4294967296,4294967296]", 5),
        ("f32[=<5]", 5),
        ("f32[3]{}", 8),
        ("f32[3,5]{1}", 11),
        ("f32[3,5]{0,0}", 12),
        ("f32[3,5]{2,0}", 10),
        ("f32[3,5]{-1,0}", 10),
        ("f32[3,5]{1,0", 13),
        ("f32[3,5]{1,0:T}", 15),
        ("f32[3,5]{1,0:T(2,2}", 19),
        ("f32[3,5]{1,0:T(2,2)(}", 21),
        ("f32[3,5]{1,0:T(0,2)}", 16),
        ("f32[3,5]{1,0:T(2,*)}", 18),
        ("f32[3,5]{1,0:T(-2,2)}", 16),
        ("f32[3,5]{1,0:T(-12,2)}", 16),
        ("f32[3,5]{1,0:T(2,-1)}", 18),
        ("f32[3,5]{1,0:S(1)T(2,2)}", 18),
        ("f32[3,5]{1,0:E(4)L(2)}", 18),
        ("f32[3,5]{1,0:T(2,2)T(2,1)}", 20),
        ("f32[3,5]{1,0:L(0)}", 16),
        ("f32[3,5]{1,0:E(-4)}", 16),
        ("f32[3,5]{1,0:E(4294967296)}", 16),
        ("f32[3,5]{1,0:#(f32)}", 16),
        ("f32[3,5]{1,0:#(s32)}", 16),
        ("f32[3,5]{1,0:P(f32[3])}", 14),
        ("f32[3,5]{1,0:D(D)}", 14),
        ("f32[3,5]{1,0:D(D,X)}", 18),
        ("f32[3,5]{1,0:SC(1:)}", 19),
        ("f32[3,5]{1,0:SC(1:3,2)}", 19),
        ("f32[3,5]{1,0:Q(1)}", 14),
        ("f32[3,5]{1,0} f32", 15),
        ("f32[3,5] /* no end", 10),
        ("(f32[3]", 8),
        ("(f32[3] f32[3])", 9),
        ("token[3]", 7),
        ("opaque[3]", 8),
        ("b(f32[3]", 9),
        ("b(f32[?])", 3),
        ("b(token[])", 3),
        ("tuple[]", 1),
    ] {
        let error = input.parse::<Shape>().unwrap_err();
        assert_eq!((error.code(), error.column()), ("parse", Some(column)), "{error}");
    }
    // A shape without elements has no size that could be too large.
    assert!("f32[0,4294967296,4294967296]".parse::<Shape>().is_ok());
    // An array without a bound is a shape, but it has no layout in memory.
    assert_eq!("f32[?]".parse::<ArrayShape>().unwrap_err().column(), Some(1));
    assert!("(f32[3])".parse::<ArrayShape>().is_err());
}

/// Hostile texts end in an error, not in a crash.
#[test]
fn depth_rank_and_tiles_have_limits() {
    let nested = |depth| format!("{}{}", "(".repeat(depth), ")".repeat(depth));
    assert!(nested(MAX_TUPLE_DEPTH).parse::<Shape>().is_ok());
    let error = nested(MAX_TUPLE_DEPTH + 1).parse::<Shape>().unwrap_err();
    assert_eq!(error.column(), Some(MAX_TUPLE_DEPTH + 1));
    assert!(nested(1_000_000).parse::<Shape>().is_err());

    let ones = |count| vec!["1"; count].join(",");
    assert_eq!(format!("s8[{}]", ones(MAX_RANK)).parse::<ArrayShape>().unwrap().rank(), MAX_RANK);
    assert_eq!(format!("s8[{}]", ones(MAX_RANK + 1)).parse::<ArrayShape>().unwrap_err().column(), Some(4));
    assert_eq!(format!("s8[{}]", ones(300_000)).parse::<ArrayShape>().unwrap_err().column(), Some(4));

    let tiled = |count| format!("s8[3]{{0:T{}}}", "(1)".repeat(count)).parse::<ArrayShape>();
    assert!(tiled(MAX_TILE_ENTRIES).is_ok());
    assert!(tiled(MAX_TILE_ENTRIES + 1).is_err());
    assert!(format!("s8[3]{{0:T{}}}", "()".repeat(300_000)).parse::<ArrayShape>().is_err());
    assert!(format!("s8[3]{}", "/**/".repeat(300_000)).parse::<ArrayShape>().is_ok());
}

#[test]
fn layouts_are_read_alone_as_well() {
    let layout: tiled::Layout = "{1,0:T(8,128)(2,1)E(4)S(1)}".parse().unwrap();
    assert_eq!(layout.minor_to_major(), [1, 0]);
    assert_eq!(layout.to_string(), "{1,0:T(8,128)(2,1)E(4)S(1)}");
    assert_eq!("{}".parse::<tiled::Layout>().unwrap(), tiled::Layout::row_major(0));
    for (input, column) in [("", 1), ("1,0", 1), ("{1,1}", 4), ("{1,2}", 4), ("{1,0", 5), ("{0}}", 4)] {
        assert_eq!(input.parse::<tiled::Layout>().unwrap_err().column(), Some(column), "{input}");
    }
}

#[test]
fn bounds_are_read_by_the_notation_reader_too() {
    let layout: Layout = "f32[<=5,3]{0,1:T(8,128)}".parse().unwrap();
    assert_eq!((layout.to_string().as_str(), layout.notation()), ("f32[<=5,3]{0,1:T(8,128)}", Notation::Xla));
}

/// XLA's pages write -1 for `*`, and name the axes of ranks 2, 3 and 4 by letters.
#[test]
fn minus_one_and_the_letters_of_the_pages() {
    let text = "f32[2,7,8,11,10]{4,3,2,1,0:T(-1,-1,2, -1 ,3)}";
    assert_eq!(text.parse::<Shape>().unwrap().to_string(), "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}");
    let axes = |text: &str| text.parse::<tensor_layout::AxisOrder>().map(|order| order.axes().collect::<Vec<_>>());
    assert_eq!([axes("YX"), axes("xy")], [Ok(vec![0, 1]), Ok(vec![1, 0])]);
    assert_eq!([axes("ZYX"), axes("PZYX")], [Ok(vec![0, 1, 2]), Ok(vec![0, 1, 2, 3])]);
    // The letters of a rank are the last ones, and are not mixed with others.
    for text in ["X", "PZ", "ZX", "PYX", "YXC", "PZYXW"] {
        assert_eq!(axes(text).unwrap_err().code(), "bad_axis_order", "{text}");
    }
}
