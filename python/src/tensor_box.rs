//! The argument `box` of `validate`: what a CUDA tensor map copies at once.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tensor_layout::upload::{DeviceLimits, Im2col, Interleave, TensorMapBox};

use crate::error::refusal;
use crate::numbers::{Number, Numbers};

/// The keys of the dict that describes a box.
const BOX: [&str; 4] = ["sizes", "element_strides", "interleave", "im2col"];
/// The keys of the dict "im2col" inside it.
const IM2COL: [&str; 4] = ["lower", "upper", "channels", "pixels"];

/// Returns the box of a list of sizes, or of a dict. Limits without boxes refuse it.
pub(crate) fn box_of(given: &Bound<'_, PyAny>, limits: &DeviceLimits) -> PyResult<TensorMapBox> {
    if limits.box_span.is_none() {
        let sentence = format!("box goes with limits=\"cuda-tensor-map\", not with {}", limits.name);
        return Err(refusal("not_expressible", &sentence));
    }
    let Ok(fields) = given.cast::<PyDict>() else {
        return Ok(TensorMapBox::new(&given.extract::<Numbers>()?.0));
    };
    let [sizes, element_strides, interleave, im2col] = fields_of(fields, "box", BOX)?;
    let mut tensor_box = match &sizes {
        Some(sizes) => TensorMapBox::new(&sizes.extract::<Numbers>()?.0),
        None if im2col.is_some() => TensorMapBox::default(),
        None => return Err(refusal("parse", "box has neither `sizes` nor `im2col`")),
    };
    if let Some(steps) = &element_strides {
        tensor_box = tensor_box.with_element_strides(&steps.extract::<Numbers>()?.0);
    }
    if let Some(bytes) = interleave {
        tensor_box = tensor_box.with_interleave(match bytes.extract::<Number>()?.0 {
            16 => Interleave::Bytes16,
            32 => Interleave::Bytes32,
            other => return Err(refusal("parse", &format!("interleave is {other}, but must be 16 or 32"))),
        });
    }
    let Some(im2col) = im2col else { return Ok(tensor_box) };
    let given = fields_of(im2col.cast::<PyDict>()?, "im2col", IM2COL)?;
    let needed = given
        .into_iter()
        .zip(IM2COL)
        .map(|(value, key)| value.ok_or_else(|| refusal("parse", &format!("im2col has no `{key}`"))));
    let Ok([lower, upper, channels, pixels]) = <[_; 4]>::try_from(needed.collect::<PyResult<Vec<_>>>()?) else {
        return Ok(tensor_box);
    };
    let (channels, pixels) = (channels.extract::<Number>()?.0, pixels.extract::<Number>()?.0);
    Ok(tensor_box.with_im2col(Im2col { lower: lower.extract()?, upper: upper.extract()?, channels, pixels }))
}

/// Returns the values of a dict in the order of `keys`. A value that is None counts as missing.
fn fields_of<'py, const KEYS: usize>(
    fields: &Bound<'py, PyDict>,
    what: &str,
    keys: [&str; KEYS],
) -> PyResult<[Option<Bound<'py, PyAny>>; KEYS]> {
    for key in fields.keys() {
        if !keys.iter().any(|known| key.eq(known).unwrap_or(false)) {
            let known = keys.join(", ");
            return Err(refusal("parse", &format!("{what} has no key {}: its keys are {known}", key.repr()?)));
        }
    }
    let mut values = std::array::from_fn(|_| None);
    for (value, key) in values.iter_mut().zip(keys) {
        *value = fields.get_item(key)?.filter(|value| !value.is_none());
    }
    Ok(values)
}
