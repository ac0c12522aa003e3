//! The advice of the report: whether a program fits its device, and what would make its peak smaller.

use serde_json::json;
use tensor_layout::ArrayShape;
use tensor_layout::tiled::TpuGeneration;

use super::answer::Answer;
use super::words::{small, space_name};
use crate::{Lever, LeverKind, LiveMemory, PaddedDimension, hbm_bytes, short_bytes, smaller_layout};

/// A lever is shown if it saves at least the peak divided by this number.
const WORTH_A_LINE: u128 = 100;

/// Says how much memory the device has left, and what would lower the peak of the main memory.
pub(super) fn answer(live: &LiveMemory<'_>, tpu: Option<TpuGeneration>) -> Answer {
    let mut answer = Answer::default();
    let peak = live.total().peak_bytes;
    if let Some((generation, bytes)) = tpu.and_then(|generation| Some((generation, hbm_bytes(generation)?))) {
        let peak = small(peak);
        let (left, missing) = (bytes.saturating_sub(peak), peak.saturating_sub(bytes));
        let (room, word) = if missing == 0 { (left, "left") } else { (missing, "missing") };
        let (has, room) = (short_bytes(bytes), short_bytes(room));
        answer.line(format_args!("\nA {generation} has {has} of HBM: {room} are {word}."));
        answer.object(json!({
            "type": "device", "tpu": generation.to_string(), "hbm_bytes": bytes, "fits": missing == 0,
            "left_bytes": left, "missing_bytes": missing,
        }));
    }
    let mut levers = live.levers(0);
    levers.retain(|lever| lever.saved_bytes.saturating_mul(WORTH_A_LINE) >= peak);
    if !levers.is_empty() {
        let name = space_name(0, live.is_for_tpu());
        answer.line(format_args!("\nWhat would make the peak of {name} smaller, by up to:"));
    }
    for lever in levers {
        let (saved, advice) = (small(lever.saved_bytes), sentence(&lever, tpu));
        answer.sentence(format_args!("{:>11}  {advice}", short_bytes(saved)));
        let Lever { kind, arrays, first, .. } = lever;
        answer.object(json!({
            "type": "lever", "lever": kind.name(), "saved_bytes": saved, "arrays": arrays,
            "instruction": first.place.instruction, "op_name": first.place.op_name, "shape": first.shape,
            "advice": advice,
        }));
    }
    answer
}

fn sentence(lever: &Lever, tpu: Option<TpuGeneration>) -> String {
    let place = &lever.first.place;
    let name = place.op_name.as_deref().unwrap_or(&place.instruction);
    let others = match lever.arrays {
        0 | 1 => String::new(),
        count => format!(" and {} more", count.saturating_sub(1)),
    };
    match lever.kind {
        LeverKind::Donate => format!("donate {name}{others}: results of the same shape are written over them"),
        LeverKind::Unpad => format!("{name}{others}: {}", padding(&lever.shape, tpu)),
    }
}

/// Says which dimension of an array is padded most, and how many bytes the array takes in the layout that a
/// TPU compiler would choose.
pub(super) fn padding(shape: &ArrayShape, tpu: Option<TpuGeneration>) -> String {
    let cause = match PaddedDimension::of(shape) {
        Some(PaddedDimension { axis, size, stored, .. }) => {
            format!("dimension {axis} is {size} and stored as {stored}")
        }
        None if shape.element_bits() > shape.data_type().bits() => {
            format!("an element of {} bits is stored in {}", shape.data_type().bits(), shape.element_bits())
        }
        None => "its rows are padded".to_owned(),
    };
    match smaller_layout(shape, tpu.unwrap_or(TpuGeneration::V5e)) {
        Some((other, bytes)) => format!("{cause}; {other} is {}", short_bytes(bytes)),
        None => cause,
    }
}
