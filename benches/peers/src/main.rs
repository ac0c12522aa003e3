//! The operations of the bench `descriptors` in other crates. With `table`, their answers for the layouts of
//! the truth table in docs/DIRECTML.md.

use std::hint::black_box;

use candle_core::{Layout as CandleLayout, Shape};
use cubecl_zspace::striding::{has_contiguous_row_major_strides, has_pitched_row_major_strides};
use ndarray::{ArrayView, ArrayViewD, ArrayViewMut, IxDyn, ShapeBuilder, SliceInfoElem};
use rten_tensor::layout::{BroadcastLayout, FromShape, MutLayout, OverlapPolicy};
use rten_tensor::{DynLayout, Layout, SliceItem};

#[path = "../../measure/mod.rs"]
mod measure;

use measure::{Cost, line, measure};

const SIZES: [usize; 4] = [8, 64, 56, 56];
const PACKED: [usize; 4] = [200_704, 3136, 56, 1];
const PADDED: [usize; 4] = [229_376, 3584, 64, 1];

fn main() {
    if std::env::args().any(|argument| argument == "table") {
        table();
        return;
    }
    with_ndarray();
    with_rten();
    with_candle();
}

fn show(crate_name: &str, operation: &str, cost: Cost) {
    println!("{}", line(operation, crate_name, &cost));
}

fn with_ndarray() {
    let add = |operation: &str, cost: Cost| show("ndarray", operation, cost);
    let buffer = vec![0_f32; 8 * 229_376];
    let strided =
        |strides: &[usize]| ArrayView::from_shape(IxDyn(black_box(&SIZES)).strides(IxDyn(strides)), &buffer).unwrap();
    let packed = || ArrayView::from_shape(IxDyn(black_box(&SIZES)), &buffer[..1_605_632]).unwrap();
    let (view, padded): (ArrayViewD<f32>, ArrayViewD<f32>) = (packed(), strided(&PADDED));
    let row = ArrayView::from_shape(IxDyn(&[64, 1, 1]), &buffer[..64]).unwrap();
    let whole = SliceInfoElem::Slice { start: 0, end: None, step: 1 };
    let part = SliceInfoElem::Slice { start: 16, end: Some(48), step: 1 };
    add("construct packed", measure(packed));
    add("construct with strides", measure(|| strided(black_box(&PACKED))));
    add("copy", measure(|| black_box(&view).clone()));
    add("is it packed", measure(|| black_box(&view).is_standard_layout()));
    add("offset of an index", measure(|| black_box(&view).get(black_box(&[3, 20, 11, 40][..])).copied()));
    add("permute", measure(|| black_box(&view).view().permuted_axes(IxDyn(black_box(&[0, 2, 3, 1])))));
    add("slice one axis", measure(|| black_box(&view).slice(&[whole, black_box(part), whole, whole][..]).len()));
    add("broadcast", measure(|| black_box(&row).broadcast(IxDyn(black_box(&SIZES))).unwrap().len()));
    add(
        "reshape packed",
        measure(|| black_box(&view).view().into_shape_with_order(IxDyn(black_box(&[8, 64, 3136]))).unwrap()),
    );
    add(
        "reshape padded",
        measure(|| black_box(&padded).view().into_shape_with_order(IxDyn(black_box(&[8, 4, 16, 56, 56]))).is_ok()),
    );
}

fn with_rten() {
    let add = |operation: &str, cost: Cost| show("rten-tensor", operation, cost);
    let strided = |strides: &[usize]| {
        DynLayout::from_shape_and_strides(black_box(&SIZES), strides, OverlapPolicy::DisallowOverlap).unwrap()
    };
    let packed = || DynLayout::from_shape(black_box(&SIZES));
    let (layout, padded) = (packed(), strided(&PADDED));
    let row = DynLayout::from_shape(&[64, 1, 1]);
    let slice = [SliceItem::full_range(), (16..48).into(), SliceItem::full_range(), SliceItem::full_range()];
    add("construct packed", measure(packed));
    add("construct with strides", measure(|| strided(black_box(&PACKED))));
    add("copy", measure(|| black_box(&layout).clone()));
    add("smallest buffer", measure(|| black_box(&layout).min_data_len()));
    add("is it packed", measure(|| black_box(&layout).is_contiguous()));
    add("offset of an index", measure(|| black_box(&layout).offset(black_box(&[3, 20, 11, 40]))));
    add("permute", measure(|| black_box(&layout).permuted(black_box(&[0, 2, 3, 1]))));
    add("slice one axis", measure(|| black_box(&layout).slice_dyn(black_box(&slice)).unwrap()));
    add("broadcast", measure(|| black_box(&row).broadcast(black_box(&SIZES[..])).unwrap()));
    add("reshape packed", measure(|| black_box(&layout).reshaped_for_view(black_box(&[8, 64, 3136][..])).unwrap()));
    add("reshape padded", measure(|| black_box(&padded).reshaped_for_view(black_box(&[8, 4, 16, 56, 56][..])).is_ok()));
}

fn with_candle() {
    let add = |operation: &str, cost: Cost| show("candle-core", operation, cost);
    let strided = |strides: &[usize]| CandleLayout::new(Shape::from_dims(black_box(&SIZES)), strides.to_vec(), 0);
    let packed = || CandleLayout::contiguous(Shape::from_dims(black_box(&SIZES)));
    let (layout, padded) = (packed(), strided(&PADDED));
    let row = CandleLayout::contiguous((64, 1, 1));
    add("construct packed", measure(packed));
    add("construct with strides", measure(|| strided(black_box(&PACKED))));
    add("copy", measure(|| black_box(&layout).clone()));
    add("is it packed", measure(|| black_box(&layout).is_contiguous()));
    add("does it overlap", measure(|| black_box(&padded).has_internal_overlap()));
    add("permute", measure(|| black_box(&layout).permute(black_box(&[0, 2, 3, 1])).unwrap()));
    add("slice one axis", measure(|| black_box(&layout).narrow(1, black_box(16), 32).unwrap()));
    add("broadcast", measure(|| black_box(&row).broadcast_as(black_box(&SIZES[..])).unwrap()));
}

/// The layouts of the truth table.
const TABLE: &[(&[usize], &[usize])] = &[
    (&[2, 3], &[3, 1]),
    (&[2, 3], &[1, 2]),
    (&[2, 3], &[5, 1]),
    (&[2, 3], &[6, 2]),
    (&[2, 3], &[0, 1]),
    (&[2, 3], &[1, 0]),
    (&[2, 3], &[0, 0]),
    (&[2, 2], &[0, 3]),
    (&[2, 2], &[1, 1]),
    (&[2, 2], &[3, 3]),
    (&[4, 4], &[3, 4]),
    (&[1, 3], &[99, 1]),
    (&[1, 3], &[0, 1]),
    (&[3, 1], &[1, 99]),
    (&[1, 1], &[7, 7]),
    (&[1], &[0]),
    (&[], &[]),
    (&[0, 3], &[7, 7]),
    (&[3, 0], &[0, 0]),
];

fn yes(answer: bool) -> &'static str {
    if answer { "yes" } else { "-" }
}

fn table() {
    println!(
        "| layout | rten `is_contiguous` | rten overlap | candle `is_contiguous` | candle overlap | ndarray `is_standard_layout` | ndarray overlap | cubecl `has_contiguous_row_major_strides` | cubecl `has_pitched_row_major_strides` |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for &(sizes, strides) in TABLE {
        let rten = DynLayout::from_shape_and_strides(sizes, strides, OverlapPolicy::AllowOverlap).unwrap();
        let rten_overlap = DynLayout::from_shape_and_strides(sizes, strides, OverlapPolicy::DisallowOverlap).is_err();
        let candle = CandleLayout::new(Shape::from_dims(sizes), strides.to_vec(), 0);
        let mut buffer = vec![0_u8; 400];
        let shape = || IxDyn(sizes).strides(IxDyn(strides));
        let ndarray = ArrayView::from_shape(shape(), &buffer).map(|view| view.is_standard_layout());
        let ndarray_packed = ndarray.map_or("refused", yes);
        let ndarray_overlap = yes(ArrayViewMut::from_shape(shape(), &mut buffer).is_err());
        let cubecl = |test: fn(&cubecl_zspace::Shape, &cubecl_zspace::Strides) -> bool| {
            let (sizes, strides) = (cubecl_zspace::Shape::from(sizes.to_vec()), cubecl_zspace::Strides::new(strides));
            std::panic::catch_unwind(|| test(&sizes, &strides)).map_or("none", yes)
        };
        let layout = format!("{sizes:?}:{strides:?}").replace(' ', "");
        println!(
            "| `{layout}` | {} | {} | {} | {} | {ndarray_packed} | {ndarray_overlap} | {} | {} |",
            yes(rten.is_contiguous()),
            yes(rten_overlap),
            yes(candle.is_contiguous()),
            yes(candle.has_internal_overlap()),
            cubecl(has_contiguous_row_major_strides),
            cubecl(has_pitched_row_major_strides),
        );
    }
}
