//! `NativeElement`: Rust types with the same bytes as the elements of a tensor.

use crate::element::DataType;

/// A Rust type that has the bytes of an element of a tensor.
///
/// The feature `half` adds `half::f16` and `half::bf16`. `bool` is not such a type, because not every byte is
/// a valid `bool`.
///
/// ```
/// use tensor_layout::{interop::native::NativeElement, DataType};
///
/// assert_eq!(i16::DATA_TYPE, DataType::S16);
/// ```
pub trait NativeElement: bytemuck::Pod {
    /// The data type with the same bytes.
    const DATA_TYPE: DataType;
}

macro_rules! native {
    ($($rust:ty => $variant:ident),* $(,)?) => {
        $(impl NativeElement for $rust {
            const DATA_TYPE: DataType = DataType::$variant;
        })*
    };
}

native! {
    i8 => S8, i16 => S16, i32 => S32, i64 => S64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f32 => F32, f64 => F64,
}

#[cfg(feature = "half")]
native! { half::f16 => F16, half::bf16 => BF16 }
