//! No public function takes long, or much memory, on a short text. The tests call every entry point, on
//! layouts that are made to be hard.
//!
//! A function either answers or returns `undecided`, in at most
//! `MOST_STEPS` steps and `MOST_BYTES` bytes. `steps.rs` explains what a step is.

mod calls;
mod hostile;
mod steps;

use self::calls::{PLANS, each, each_desc, each_map, each_plan, limited};
use self::hostile::{Subject, others, subjects};
use crate::literal::replanned::{Replanned, reversing};
use tensor_layout::bridge::lower;
use tensor_layout::map::{IndexMap, ToIndexMap};
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::strided::{NewAxes, Slice, Slices};
use tensor_layout::tiled::TpuGeneration;
use tensor_layout::upload::{self, DeviceLimits, Role, UploadBuffer};
use tensor_layout::{ArrayShape, AxisOrder, BufferTensorDesc, DataType, Shape};
use tensor_layout_text::draw::Picture;
use tensor_layout_text::{Layout, Notation, ViewStep, to_notation};
use tensor_layout_text::{to_xla, to_xla_exact, view_to_xla};

fn last_index(map: &IndexMap) -> Vec<u64> {
    map.sizes().iter().map(|size| size.saturating_sub(1)).collect()
}

#[test]
fn reading_and_printing() {
    for Subject { text, .. } in &subjects() {
        limited("reading a layout", text, || text.parse::<Layout>().is_ok());
        limited("reading a shape", text, || (text.parse::<ArrayShape>().is_ok(), text.parse::<Shape>().is_ok()));
        limited("reading a descriptor", text, || text.parse::<BufferTensorDesc>().is_ok());
    }
    let brackets =
        ["(", "{", "[", "((", "f32[", "(f32[1],", "0:", "f32[1]{0:T("].map(|part| part.repeat(200 / part.len()));
    let numbers =
        ["9".repeat(200), "1,".repeat(100), "0:9,".repeat(50), "NHWC".repeat(50), "*".repeat(200), "(*".repeat(100)];
    for text in brackets.iter().chain(&numbers) {
        limited("reading", text, || {
            let read =
                (text.parse::<Layout>().is_ok(), text.parse::<Shape>().is_ok(), text.parse::<ArrayShape>().is_ok());
            let lists =
                (text.parse::<Slices>().is_ok(), text.parse::<AxisOrder>().is_ok(), text.parse::<DataType>().is_ok());
            (read, lists, text.parse::<BufferTensorDesc>().is_ok(), ViewStep::read("reshape", text).is_ok())
        });
    }
    each("Display", |subject| {
        (tensor_layout_text::to_text(subject.notated.any().unwrap()), subject.shape.as_ref().map(ToString::to_string))
    });
}

#[test]
fn offsets_and_indices() {
    each_map("span_elements", |map| (map.span_elements(), map.class(), map.strides(), map.digit_places()));
    each_map("offset", |map| map.offset(&last_index(map)));
    each_map("inverse", |map| {
        let places =
            [0, 1, map.physical_elements() / 2, map.physical_elements() / 3, map.physical_elements().wrapping_sub(1)];
        places.map(|place| map.inverse(place).is_ok())
    });
    each_map("buffer_boxes", IndexMap::buffer_boxes);
}

#[test]
fn equality() {
    each_map("same_places, same", |map| (map.same_places(map), map.first_difference(map)));
    each_map("same_places, others", |map| {
        let compared = |other: &IndexMap| (map.same_places(other).is_ok(), map.first_difference(other).is_ok());
        others(map).iter().map(compared).collect::<Vec<_>>()
    });
    for Subject { text, map, shape, .. } in &subjects() {
        for more in ["(1)", "(2,1)", "(*,3)", "(5)(3)(1)", "(*,7)(5)"] {
            let Some(shape) = shape else { continue };
            let mut tiles = shape.layout().tiles().to_vec();
            tiles.extend(more.split_inclusive(')').map(|tile| tile.parse::<tensor_layout::tiled::Tile>().unwrap()));
            let again = ArrayShape::new(shape.data_type(), shape.sizes(), shape.layout().clone().with_tiles(&tiles));
            let Ok(again) = again.and_then(|again| again.to_index_map()) else { continue };
            limited("same_places, tiled once more", text, || {
                (map.same_places(&again).is_ok(), map.first_difference(&again).is_ok())
            });
        }
    }
}

#[test]
fn views() {
    each_map("reshape", |map| {
        let count = map.element_count();
        let halves = [2, 3, 4, 5, 7, 60].map(|part| map.reshape(&[part, count / part]).is_ok());
        (halves, map.reshape(&[1; 64]).is_ok())
    });
    each_map("permute", |map| map.permute(&(0..map.sizes().len()).rev().collect::<Vec<_>>()));
    each_map("slice", |map| {
        let slices =
            |step| map.sizes().iter().map(|&size| Slice::from(size / 3..size).step_by(step)).collect::<Vec<_>>();
        (map.slice(&slices(1)), map.slice(&slices(2)))
    });
    each_map("broadcast_to", |map| map.broadcast_to(&[&[3], map.sizes()].concat()));
    each_map("with_base", |map| map.clone().with_base(77));
    each("view", |subject| {
        let steps =
            [("reshape", "1000000000,1000000000"), ("slice", "0:1000000000:1000"), ("broadcast", "1000000000,7")];
        steps.map(|(name, text)| {
            ViewStep::read(name, text).and_then(|step| step.apply(subject.notated.any().unwrap())).is_ok()
        })
    });
}

#[test]
fn descriptors() {
    each_desc("facts", |desc| (desc.facts(), desc.overlap(), desc.is_packed(), desc.index_width()));
    each_desc("overlap_with", |desc| desc.overlap_with(desc));
    each_desc("offsets", |desc| (desc.offsets().nth(1_000_000_000), desc.offsets().last(), desc.offsets().count()));
    each_desc("coalesce", BufferTensorDesc::coalesce);
    each_desc("reshape", |desc| desc.reshape(&[desc.element_count()]));
    each_desc("ranks", |desc| (desc.rank_at_least(64, NewAxes::Front), desc.rank_at_least(64, NewAxes::Back)));
    each_desc("reinterpret", |desc| (desc.reinterpret(DataType::U8), desc.reinterpret(DataType::F64)));
    each_desc("free strides", |desc| {
        (tensor_layout_text::axis_orders(desc), desc.clone().with_canonical_strides().strides().len())
    });
    each_desc("parts", |desc| {
        (desc.as_part(), desc.clone().with_base_offset_in_bytes(77_u64), desc.offset_in_bytes(&vec![0; desc.rank()]))
    });
    each_desc("sizes", |desc| (desc.logical_size_in_bytes(), desc.exact_size_in_bytes(), desc.bound_size_in_bytes()));
    each_desc("to_xla", to_xla);
}

#[test]
fn spelling() {
    each_map("to_xla_exact", to_xla_exact);
    each_map("to_text", |map| tensor_layout_text::to_text(map));
    each_map("lower", lower);
    each("all_notations", |subject| {
        (subject.notated.all_notations(), subject.notated.values().in_notations(&[Notation::AxisOrder]))
    });
    each("to_notation", |subject| {
        Notation::LISTED.iter().map(|&notation| to_notation(&subject.map, notation).is_ok()).collect::<Vec<_>>()
    });
    each("offset_steps", |subject| {
        tensor_layout_text::offset_steps(subject.notated.any().unwrap(), &last_index(&subject.map))
    });
    each("view_to_xla", |subject| {
        let (Some(shape), rank) = (&subject.shape, subject.map.sizes().len()) else { return };
        let turned: Vec<usize> = (0..rank).map(|axis| (axis + 1) % rank).collect();
        drop(subject.map.permute(&turned).and_then(|view| view_to_xla(&view, shape)));
    });
    each("lower", |subject| subject.shape.as_ref().map(lower));
    each("facts of a shape", |subject| {
        let Some(shape) = &subject.shape else { return };
        let sizes = (shape.buffer_size_in_bytes(), shape.to_index_map());
        let tpu =
            shape.clone().with_tpu_layout(TpuGeneration::V5e).and_then(|shape| shape.with_tpu_tiles(TpuGeneration::V2));
        drop((sizes, tpu));
    });
}

#[test]
fn planning() {
    for Subject { text, map, .. } in &subjects() {
        let all: Vec<usize> = (0..map.sizes().len()).collect();
        for other in others(map) {
            limited("reversed", text, || (reversing(map, &other, &all).is_ok(), reversing(&other, map, &[0]).is_ok()));
        }
    }
    each_plan("with_padding", |plan| plan.clone().with_padding(Padding::Zero));
    each_plan("buffer_boxes", |plan| plan.destination().buffer_boxes());
    each_plan("passes", |plan| plan.passes().all(|pass| pass.boxes().take(20).count() <= 20 && pass.box_count > 0));
}

#[test]
fn pieces() {
    each_plan("partition(64)", |plan| plan.cut(64, 1));
    // Every sixteenth plan is enough: thousands of pieces of every plan take half a minute.
    for (text, plan) in PLANS.iter().step_by(16) {
        limited("partition(10^6)", text, || plan.cut(1_000_000, 1));
        limited("partition of aligned pieces", text, || plan.cut(4096, 4096));
        if let Ok(plan) = plan.clone().with_padding(Padding::Zero) {
            limited("partition of a padded copy", text, || plan.cut(4096, 1));
        }
    }
}

#[test]
fn words_and_pictures() {
    each_plan("explain", Relayout::explain);
    each_plan("explain of a padded copy", |plan| plan.clone().with_padding(Padding::Zero).map(|plan| plan.explain()));
    each_map("Picture::new", |map| Picture::new(map, "a").map(|picture| (picture.to_string(), picture.to_svg())));
    each_map("Picture::corner", |map| Picture::corner(map, "a").map(|picture| (picture.to_string(), picture.to_svg())));
}

#[test]
fn uploads() {
    for limits in [
        DeviceLimits::webgpu(),
        DeviceLimits::none(),
        "vulkan".parse::<DeviceLimits>().unwrap(),
        "webnn".parse::<DeviceLimits>().unwrap(),
        "vulkan-tensor".parse::<DeviceLimits>().unwrap(),
    ] {
        each_map("validate", |map| {
            upload::validate(map, &UploadBuffer::new(1 << 40, 0, Role::Output), &limits).is_ok()
        });
        each_map("split_binding", |map| upload::split_binding(map, &limits).map(|pieces| pieces.len()));
        each_desc("suggest", |desc| upload::suggest(desc, &limits).is_ok());
        each_desc("split_binding", |desc| upload::split_binding(desc, &limits).map(|pieces| pieces.len()));
    }
}
