//! Every form in JSON: it is refused, or what was read is written and reads back. The first byte chooses what
//! is read.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tensor_layout::relayout::Padding;
use tensor_layout::strided::{Slice, Slices};
use tensor_layout::upload::{DeviceLimits, UploadBuffer};
use tensor_layout::{ArrayShape, BufferTensorDesc, Shape, TensorFlags};
use tensor_layout_fuzz::texts::of_bytes;

fn read<T: Serialize + DeserializeOwned + PartialEq + Debug>(text: &str) -> Option<T> {
    let value: T = serde_json::from_str(text).ok()?;
    let written = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<T>(&written).unwrap(), value, "{written}");
    Some(value)
}

fuzz_target!(|data: &[u8]| {
    let Some((&form, rest)) = data.split_first() else { return };
    let text = of_bytes(rest);
    match form % 9 {
        0 => drop(read::<BufferTensorDesc>(text)),
        1 => drop(read::<Slice>(text)),
        2 => drop(read::<Padding>(text)),
        3 => drop(read::<DeviceLimits>(text)),
        4 => drop(read::<UploadBuffer>(text)),
        5 => drop(read::<TensorFlags>(text)),
        6 => drop(read::<ArrayShape>(text)),
        7 => drop(read::<Shape>(text)),
        _ => drop(read::<Slices>(text)),
    }
});
