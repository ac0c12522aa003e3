//! Everything that has a text reads it back: `Display` and `FromStr`, and with the feature `serde` the same
//! text through JSON.

use std::fmt::{Debug, Display};
use std::num::NonZeroU64;
use std::str::FromStr;

use proptest::prelude::*;
use tensor_layout::strided::{IndexWidth, Slice, Slices};
use tensor_layout::tiled::{self, Extent, SplitConfig, Tile, TileSize, TpuGeneration, UnboundedArray};
use tensor_layout::upload::FeatureLevel;
use tensor_layout::{ArrayShape, AxisOrder, BufferTensorDesc, DataType, Error, LayoutClass, Shape};

use tensor_layout_text::Layout;

use crate::literal::{any_shape, cases};

/// The traits of a type with a text. With the feature `serde`, its form in JSON is the text as a string.
#[cfg(not(feature = "serde"))]
trait Texted: Display + Debug + PartialEq + FromStr<Err = Error> {}
#[cfg(not(feature = "serde"))]
impl<T: Display + Debug + PartialEq + FromStr<Err = Error>> Texted for T {}
#[cfg(feature = "serde")]
trait Texted: Display + Debug + PartialEq + FromStr<Err = Error> + serde::Serialize + serde::de::DeserializeOwned {}
#[cfg(feature = "serde")]
impl<T: Display + Debug + PartialEq + FromStr<Err = Error> + serde::Serialize + serde::de::DeserializeOwned> Texted
    for T
{
}

fn reads_back<T: Texted>(value: &T) {
    let text = value.to_string();
    assert_eq!(text.parse::<T>().as_ref(), Ok(value), "{text}");
    #[cfg(feature = "serde")]
    {
        let json = serde_json::to_string(value).unwrap();
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), value);
        assert_eq!(&serde_json::from_value::<T>(serde_json::Value::String(text)).unwrap(), value);
    }
}

fn notated_reads_back(text: &str) {
    let read: Layout = text.parse().unwrap();
    assert_eq!(read.to_string().parse().as_ref(), Ok(&read), "{text}");
}

fn slice() -> impl Strategy<Value = Slice> {
    let number = || prop_oneof![Just(0), 0..9_u64, any::<u64>()];
    (number(), prop::option::of(number()), prop_oneof![Just(1), number()]).prop_map(|(start, end, step)| Slice {
        start,
        end,
        step,
    })
}

fn layout() -> impl Strategy<Value = tiled::Layout> {
    let data_type = || prop::option::of(prop::sample::select(vec![DataType::U8, DataType::U32]));
    let indices = prop::collection::btree_set(0..1_u64 << 63, 1..4);
    let split = (0..1_u64 << 63, indices)
        .prop_map(|(dimension, indices)| SplitConfig { dimension, indices: indices.into_iter().collect() });
    let splits = prop::collection::vec(split, 0..3);
    (any_shape(2000), 0..70_u32, 0..7_u64, splits, 0..99_u64, data_type(), data_type()).prop_map(
        |(shape, bits, space, splits, prefix, index, pointer)| {
            let mut layout = shape.layout().clone();
            layout.element_bits = Some(bits).filter(|&bits| bits != 0);
            (layout.memory_space, layout.split_configs, layout.metadata_prefix_bytes) = (space, splits, prefix);
            (layout.index_type, layout.pointer_type) = (index, pointer);
            layout
        },
    )
}

fn data_type() -> impl Strategy<Value = DataType> {
    prop::sample::select(DataType::ALL.to_vec())
}

fn extent() -> impl Strategy<Value = Extent> {
    prop_oneof![(0..9_u64).prop_map(Extent::Static), (0..9_u64).prop_map(Extent::Bounded), Just(Extent::Unbounded)]
}

fn array() -> impl Strategy<Value = ArrayShape> {
    (layout(), data_type(), any::<u8>()).prop_map(|(layout, data_type, dynamic)| {
        let rank = layout.minor_to_major().len();
        let sizes: Vec<u64> = (0..rank as u64).map(|axis| 3 * axis % 7).collect();
        let dynamic: Vec<bool> = (0..rank).map(|axis| dynamic >> axis & 1 == 1).collect();
        ArrayShape::new(data_type, &sizes, layout).unwrap().with_dynamic(&dynamic).unwrap()
    })
}

fn unbounded() -> impl Strategy<Value = UnboundedArray> {
    (data_type(), prop::collection::vec(extent(), 0..4), 0..4_usize).prop_map(|(data_type, mut extents, place)| {
        extents.insert(place.min(extents.len()), Extent::Unbounded);
        let layout = tiled::Layout::row_major(extents.len());
        UnboundedArray { data_type, extents, layout }
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        4 => array().prop_map(Shape::Array),
        1 => array().prop_map(Shape::Buffer),
        1 => unbounded().prop_map(Shape::Unbounded),
        1 => Just(Shape::Token),
        1 => Just(Shape::Opaque),
    ];
    leaf.prop_recursive(3, 24, 8, |inner| prop::collection::vec(inner, 0..8).prop_map(Shape::Tuple))
}

fn desc() -> impl Strategy<Value = BufferTensorDesc> {
    let axis = (0..9_u64, prop_oneof![0..99_u64, any::<u32>().prop_map(u64::from)]);
    (data_type(), prop::collection::vec(axis, 0..10), any::<u32>(), any::<bool>()).prop_map(
        |(data_type, axes, base, packed)| {
            let (sizes, strides): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
            let desc = BufferTensorDesc::new(data_type, &sizes, (!packed).then_some(&strides[..])).unwrap();
            desc.with_base_offset(u64::from(base)).unwrap()
        },
    )
}

fn order() -> impl Strategy<Value = AxisOrder> {
    let letters = prop::sample::select(vec!["GNOCIDHW", "NCHW", "NCDHW", "OIHW", "ABC", "ABCDEFGH"]);
    let shuffled = letters.prop_flat_map(|letters| Just(letters.chars().collect::<Vec<_>>()).prop_shuffle());
    shuffled.prop_map(|letters| letters.into_iter().collect::<String>().parse().unwrap())
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn slices_read_back(slices in prop::collection::vec(slice(), 0..5)) {
        slices.iter().for_each(reads_back);
        reads_back(&Slices::from(slices));
    }

    #[test]
    fn layouts_and_their_parts_read_back(layout in layout()) {
        reads_back(&layout);
        layout.tiles().iter().for_each(reads_back);
        layout.tiles().iter().flat_map(Tile::entries).for_each(reads_back);
        layout.split_configs.iter().for_each(reads_back);
    }

    #[test]
    fn shapes_read_back(shape in shape(), array in array(), unbounded in unbounded(), extent in extent()) {
        reads_back(&shape);
        reads_back(&array);
        reads_back(&unbounded);
        reads_back(&extent);
    }

    #[test]
    fn descriptors_and_axis_orders_read_back(desc in desc(), order in order()) {
        let read = desc.to_string().parse::<BufferTensorDesc>();
        prop_assert_eq!(read.as_ref(), Ok(&desc));
        reads_back(&order);
    }

    #[test]
    fn every_notation_reads_back(desc in desc(), array in any_shape(2000), order in order()) {
        notated_reads_back(&desc.to_string());
        notated_reads_back(&array.to_string());
        let sizes = (1..=order.axes().len()).map(|size| size.to_string()).collect::<Vec<_>>().join(",");
        notated_reads_back(&format!("f32[{sizes}]:{order}"));
    }

    /// Any text is read back, or is refused with a column in it or just after it.
    #[test]
    fn nonsense_is_refused_where_it_is(text in "[\\[\\]0-9:,+x ()*?<=NCHWf32{}]{0,12}") {
        fn check<T: Texted>(text: &str) -> Result<(), TestCaseError> {
            match text.parse::<T>() {
                Ok(value) => reads_back(&value),
                Err(error) => {
                    let column = error.column().unwrap_or(1);
                    prop_assert!((1..=text.len() + 1).contains(&column), "{}: {}", text, error);
                }
            }
            Ok(())
        }
        check::<Slice>(&text)?;
        check::<Slices>(&text)?;
        check::<Tile>(&text)?;
        check::<TileSize>(&text)?;
        check::<SplitConfig>(&text)?;
        check::<Extent>(&text)?;
        check::<UnboundedArray>(&text)?;
        if let Err(error) = text.parse::<BufferTensorDesc>() {
            prop_assert!((1..=text.len() + 1).contains(&error.column().unwrap_or(1)), "{}: {}", text, error);
        }
    }
}

#[test]
fn what_a_shape_lacks_is_said() {
    let refused = |text: &str| text.parse::<Shape>().unwrap_err().to_string();
    for text in ["", "  ", "[2,3]", "(f32[2], )"] {
        assert!(refused(text).contains("a shape: a data type such as f32"), "{text}: {}", refused(text));
    }
    // Divisions begin at different indices.
    for text in ["f32[9]{0:SC(0:5,5)}", "f32[9]{0:SC(0:5,3)}", "f32[9]{0:SC(0:)}"] {
        assert!(text.parse::<Shape>().is_err(), "{text}");
    }
    assert!("f32[9]{0:SC(0:3,5)}".parse::<Shape>().is_ok());
    // Sparse arrays are indexed by unsigned numbers.
    assert!("f32[9]{0:#(u32)*(u16)}".parse::<Shape>().is_ok());
    assert!("f32[9]{0:#(s32)}".parse::<Shape>().is_err() && "f32[9]{0:*(f32)}".parse::<Shape>().is_err());
    let names: Vec<Option<&str>> = (0..8).map(tensor_layout::tiled::memory_space_name).collect();
    let known =
        [Some("HBM"), Some("VMEM"), Some("SFLAG"), Some("CMEM"), Some("SMEM"), Some("host"), Some("SREG"), None];
    assert_eq!(names, known);
    for (space, name) in [(9, None), (10, Some("SparseCore offload")), (11, Some("SparseCore offload")), (12, None)] {
        assert_eq!(tensor_layout::tiled::memory_space_name(space), name);
    }
}

#[test]
fn names_read_back() {
    DataType::ALL.iter().for_each(reads_back);
    IndexWidth::ALL.iter().for_each(reads_back);
    LayoutClass::ALL.iter().for_each(reads_back);
    FeatureLevel::ALL.iter().for_each(reads_back);
    use TpuGeneration::{V2, V3, V4, V5e, V5p, V6e, V7x};
    [V2, V3, V4, V5e, V5p, V6e, V7x].iter().for_each(reads_back);
    [TileSize::Combine, TileSize::Size(NonZeroU64::new((1 << 63) - 1).unwrap())].iter().for_each(reads_back);
    let error = "afine".parse::<LayoutClass>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "column 1 of `afine`: expected a class of layouts: affine, split, ragged_split, fused, swizzled, irreducible, found `afine`"
    );
}

#[test]
fn a_descriptor_is_read_with_strides_or_an_axis_order() {
    let parse = |text: &str| text.parse::<BufferTensorDesc>();
    assert_eq!(parse("f16[2,3,4,5]:NHWC"), BufferTensorDesc::nhwc(DataType::F16, [2, 3, 4, 5]));
    assert_eq!(parse("u4[]:[]+3").unwrap().base_offset(), 3);
    for (text, column) in [
        ("f32[2,3]", 9),
        ("f32[2,3]{1,0}", 9),
        ("f32[2,3]:", 10),
        ("f32[2,3]:[5]", 10),
        ("f32[2,3]:[5,1]+", 16),
        ("f32[2,3]:[5,1] x", 16),
        ("f32[2,3]:NCHW", 10),
        ("f32[2,3]:nChw16c", 10),
        ("q32[2]:[1]", 1),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!((error.code(), error.column()), ("parse", Some(column)), "{text}: {error}");
    }
    assert_eq!(parse("f32[2,3]:[18446744073709551615,1]").unwrap_err().code(), "overflow");
}

/// The debug text that a failed assertion shows has everything that makes two descriptors different.
#[test]
fn the_debug_text_of_a_descriptor_has_all_of_its_fields() {
    let desc = BufferTensorDesc::new(DataType::F16, &[2, 3], Some(&[5, 1])).unwrap();
    let desc = desc.with_base_offset(4).unwrap().with_total_size_in_bytes(64).unwrap();
    let desc = desc.with_base_offset_alignment(32).unwrap();
    let text = format!("{desc:?}");
    for field in [
        "BufferTensorDesc { data_type: F16",
        "sizes: [2, 3]",
        "strides: Some([5, 1])",
        "base_offset: 4",
        "total_tensor_size_in_bytes: 64",
        "guaranteed_base_offset_alignment: 32",
    ] {
        assert!(text.contains(field), "{field} is not in {text}");
    }
    // Strides that were not given are the strides of a packed tensor, and are not shown as given strides.
    assert!(format!("{:?}", BufferTensorDesc::packed(DataType::F16, &[2, 3]).unwrap()).contains("strides: None"));
}

/// An order may be wrong in two ways: it has a dimension twice, or the array has no dimension of this number.
/// The error tells which.
#[test]
fn an_order_says_which_dimension_is_wrong_and_how() {
    for (text, column, expected) in [
        ("f32[2,3]{0,0}", 12, "expected a dimension that was not named before"),
        ("f32[2,3]{1,1}", 12, "expected a dimension that was not named before"),
        ("f32[2,3]{0,2}", 12, "expected a dimension below the rank 2"),
        ("f32[2,3]{5,0}", 10, "expected a dimension below the rank 2"),
        ("f32[2,3]{18446744073709551615,0}", 10, "expected a dimension below the rank 2"),
    ] {
        let error = text.parse::<ArrayShape>().unwrap_err();
        assert_eq!(error.column(), Some(column), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}
