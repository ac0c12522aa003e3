//! The element types with their numbers in C.

use tensor_layout::{DataType, Error};

use crate::error::Refusal;

/// The type of an element. The numbers never change. Functions take them as `uint32_t`, so that an unknown
/// number is refused.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are XLA's")]
#[allow(clippy::upper_case_acronyms, reason = "the names are XLA's")]
pub enum TlType {
    Pred = 1,
    S1 = 2,
    S2 = 3,
    S4 = 4,
    S8 = 5,
    S16 = 6,
    S32 = 7,
    S64 = 8,
    U1 = 9,
    U2 = 10,
    U4 = 11,
    U8 = 12,
    U16 = 13,
    U32 = 14,
    U64 = 15,
    F16 = 16,
    F32 = 17,
    F64 = 18,
    BF16 = 19,
    F4E2M1FN = 20,
    F6E2M3FN = 21,
    F6E3M2FN = 22,
    F8E3M4 = 23,
    F8E4M3 = 24,
    F8E4M3FN = 25,
    F8E4M3B11FNUZ = 26,
    F8E4M3FNUZ = 27,
    F8E5M2 = 28,
    F8E5M2FNUZ = 29,
    F8E8M0FNU = 30,
    C64 = 31,
    C128 = 32,
    U3 = 33,
    U5 = 34,
    U6 = 35,
    U7 = 36,
}

/// The types in the order of their numbers, from 1.
const NAMES: &str = "pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 f32 f64 bf16 f4e2m1fn f6e2m3fn f6e3m2fn \
                     f8e3m4 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu c64 c128 u3 u5 u6 u7";

/// How many numbers there are. Every type of the library has one: a new type takes the next.
const COUNT: u8 = 36;
#[allow(clippy::as_conversions, reason = "the number of a variant")]
const _: () = assert!(DataType::ALL.len() == 36 && TlType::U7 as u32 == 36);

pub(crate) fn data_type(number: u32) -> Result<DataType, Refusal> {
    let what = "the number of a data type";
    let place = number.checked_sub(1).and_then(|place| usize::try_from(place).ok());
    let name = place.and_then(|place| NAMES.split(' ').nth(place));
    let unknown = || Error::out_of_limits(what, number.into(), 1, COUNT.into());
    name.and_then(|name| name.parse().ok()).ok_or_else(|| unknown().into())
}
