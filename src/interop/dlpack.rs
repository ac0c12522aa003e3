//! DLPack's `DLTensor`, field for field, and conversions to it and back. [`DlOwned`] holds a managed tensor.
//! Shape and strides count elements. Strides may be negative: [`SignedDesc`] lists the axes with negative
//! strides beside the descriptor. Types below a byte are packed, low bits first, unless the flag
//! `IS_SUBBYTE_TYPE_PADDED` says otherwise. The lanes of an element become an additional last axis. Source:
//! dlpack.h, version 1.3.
//!
//! Since version 1.2, `strides` is null for tensors without axes only, and [`DlLayout`] always writes it. A
//! null from an older producer is read as packed row-major strides. The stride of an axis of size 1 may be
//! any number and is ignored, and so is `data` of a tensor without elements. [`DlLayout`] writes [canonical
//! strides](BufferTensorDesc::with_canonical_strides).
//!
//! ```
//! use tensor_layout::interop::Lent;
//! use tensor_layout::interop::dlpack::{DlDevice, DlLayout, DlTensor};
//! use tensor_layout::{BufferTensorDesc, DataType};
//!
//! let desc = BufferTensorDesc::nhwc(DataType::F16, [2, 3, 8, 8])?;
//! let mut data = vec![0_u16; 384];
//! let layout = DlLayout::try_from(&desc)?;
//! let cpu = DlDevice { device_type: 1, device_id: 0 };
//! let borrowed: Lent<'_, DlTensor> = layout.raw(data.as_mut_ptr().cast(), cpu);
//! let raw: &DlTensor = &borrowed;
//! assert_eq!((raw.ndim, raw.byte_offset), (4, 0));
//! println!("{:?}", BufferTensorDesc::try_from(layout.fields())?.strides());
//! # Ok::<(), tensor_layout::Error>(())
//! ```
#![allow(unsafe_code, reason = "the C structure points to its lists")]

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_void;
use core::ptr::NonNull;

use smallvec::SmallVec;

use crate::checked::{self, BYTES, OFFSET};
use crate::element::DataType;
use crate::error::{Error, counted};
use crate::strided::{BufferTensorDesc, SignedDesc};

use super::foreign::{Lent, list};

mod raw;

pub use raw::{DlDataType, DlDevice, DlManagedTensor, DlTensor, DlVersion};

/// The most axes of a tensor that is read. A structure with more axes is refused.
const MAX_AXES: i32 = 64;

const FLOAT: u8 = 2;

const MAJOR: u32 = 1;

const READ_ONLY: u64 = 1;

/// The values of `DLDataTypeCode` with their types in this crate. Code 3 (handles) has no type here.
const TYPES: &[(u8, &[DataType])] = {
    use DataType::*;
    &[
        (0, &[S1, S2, S4, S8, S16, S32, S64]),
        (1, &[U1, U2, U3, U4, U5, U6, U7, U8, U16, U32, U64]),
        (FLOAT, &[F16, F32, F64]),
        (4, &[BF16]),
        (5, &[C64, C128]),
        (6, &[Pred]),
        (7, &[F8E3M4]),
        (8, &[F8E4M3]),
        (9, &[F8E4M3B11FNUZ]),
        (10, &[F8E4M3FN]),
        (11, &[F8E4M3FNUZ]),
        (12, &[F8E5M2]),
        (13, &[F8E5M2FNUZ]),
        (14, &[F8E8M0FNU]),
        (15, &[F6E2M3FN]),
        (16, &[F6E3M2FN]),
        (17, &[F4E2M1FN]),
    ]
};

/// Returns the type of one lane, or `unknown_data_type` with code and bits if this crate does not have the
/// type.
impl TryFrom<DlDataType> for DataType {
    type Error = Error;

    fn try_from(DlDataType { code, bits, .. }: DlDataType) -> Result<DataType, Error> {
        let known = TYPES.iter().filter(|&&(known, _)| known == code).flat_map(|(_, types)| types.iter().copied());
        let mut fitting = known.filter(|data_type| data_type.bits() == u32::from(bits));
        fitting
            .next()
            .ok_or_else(|| Error::unknown_data_type(format!("DLPack code {code} of {}", counted(bits, "bit"))))
    }
}

impl From<DataType> for DlDataType {
    fn from(data_type: DataType) -> DlDataType {
        let found = TYPES.iter().find(|(_, types)| types.contains(&data_type));
        // The default is never used, because no type is wider than 128 bits.
        let bits = u8::try_from(data_type.bits()).unwrap_or(u8::MAX);
        DlDataType { code: found.map_or(FLOAT, |&(code, _)| code), bits, lanes: 1 }
    }
}

/// The fields of a `DLTensor` as safe values.
///
/// ```
/// use tensor_layout::{interop::dlpack::{DlDataType, DlFields}, BufferTensorDesc};
///
/// let fields = DlFields {
///     dtype: DlDataType { code: 2, bits: 32, lanes: 1 }, // of `f32`
///     shape: &[2, 3],
///     strides: Some(&[5, 1]),
///     byte_offset: 40,
///     is_padded_to_bytes: false,
/// };
/// assert_eq!(BufferTensorDesc::try_from(fields)?.to_string(), "f32[2,3]:[5,1]+10");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DlFields<'a> {
    /// The type of an element.
    pub dtype: DlDataType,
    /// The sizes, in elements.
    pub shape: &'a [i64],
    /// The strides, in elements, or `None` for a packed tensor.
    pub strides: Option<&'a [i64]>,
    /// The offset of the first element from `data`, in bytes.
    pub byte_offset: u64,
    /// Whether every element of a type below a byte takes a whole byte (flag `IS_SUBBYTE_TYPE_PADDED`).
    pub is_padded_to_bytes: bool,
}

impl TryFrom<DlFields<'_>> for BufferTensorDesc {
    type Error = Error;

    /// # Errors
    ///
    /// The errors of the conversion to a [`SignedDesc`], and `negative` for a stride.
    fn try_from(fields: DlFields<'_>) -> Result<BufferTensorDesc, Error> {
        SignedDesc::try_from(fields)?.forwards()
    }
}

impl TryFrom<DlFields<'_>> for SignedDesc {
    type Error = Error;

    /// Returns the descriptor, and the axes whose stride is negative. The first element is `byte_offset`
    /// bytes after `data`. The descriptor's buffer begins at `data`, or at the lowest address if negative
    /// strides reach below `data`.
    ///
    /// # Errors
    ///
    /// `unknown_data_type`, `out_of_limits` for zero lanes, `rank_mismatch`, `negative` for a size,
    /// `not_expressible` for a byte offset that is not a whole number of elements and for a type below a byte
    /// that is padded to a byte, and `overflow` past 64 bits.
    fn try_from(fields: DlFields<'_>) -> Result<SignedDesc, Error> {
        let refuse = |reason: String| Error::not_expressible("strided descriptor", reason);
        let data_type = DataType::try_from(fields.dtype)?;
        let bits = u64::from(data_type.bits());
        if fields.is_padded_to_bytes && bits < 8 {
            return Err(refuse(format!("each {data_type} takes a byte of its own, and descriptors pack them")));
        }
        let lanes = fields.dtype.lanes;
        if lanes == 0 {
            return Err(Error::out_of_limits("the number of lanes", 0, 1, u64::from(u16::MAX)));
        }
        // The product of an `i64` and a `u16` always fits an `i128`. Numbers that are too large are refused
        // below, with the name of their quantity.
        let list = |numbers: &[i64], factor: u16, last: u16| -> SmallVec<[i128; 8]> {
            let all = numbers.iter().map(|&number| i128::from(number).saturating_mul(factor.into()));
            all.chain((lanes > 1).then_some(last.into())).collect()
        };
        let sizes = list(fields.shape, 1, lanes);
        let offset_bits = checked::mul(fields.byte_offset, 8, OFFSET)?;
        let first = offset_bits.checked_div(bits).filter(|_| offset_bits.is_multiple_of(bits));
        let first = first.ok_or_else(|| {
            refuse(format!("a byte offset of {} is not a whole number of elements", fields.byte_offset))
        })?;
        match fields.strides {
            Some(strides) => {
                BufferTensorDesc::from_signed(data_type, &sizes, &list(strides, lanes, 1))?.with_first(first)
            }
            None => {
                let desc = BufferTensorDesc::new(data_type, &sizes, None)?;
                SignedDesc { desc, reversed: Vec::new(), first: 0 }.with_first(first)
            }
        }
    }
}

impl DlTensor {
    /// Returns the fields of a raw structure, so that a caller can check them first. `flags` are the flags of
    /// `DLManagedTensorVersioned`, or 0 without that structure.
    ///
    /// # Errors
    ///
    /// `out_of_limits` for an `ndim` below 0 or above 64; `bad_pointer` for a null shape, and for a shape or
    /// strides that are not aligned, unless there are no axes.
    ///
    /// # Safety
    ///
    /// `shape`, and `strides` unless it is null, must be valid for reads of `ndim` numbers. The numbers must
    /// not change for `'a`. `data` is not accessed.
    pub unsafe fn fields<'a>(&self, flags: u64) -> Result<DlFields<'a>, Error> {
        let what = "the number of axes of a DLPack tensor";
        if !(0..=MAX_AXES).contains(&self.ndim) {
            let (value, max) = (u64::from(self.ndim.cast_unsigned()), checked::narrow(MAX_AXES, what)?);
            return Err(Error::out_of_limits(what, value, 0, max));
        }
        let length: usize = checked::narrow(self.ndim, what)?;
        // SAFETY: the caller promises that `length` numbers can be read and do not change.
        let list = |what, start: *mut i64| unsafe { list(what, start.cast_const(), length) };
        let shape = list("the shape of a DLPack tensor", self.shape)?;
        let strides = match self.strides.is_null() {
            true => None,
            false => Some(list("the strides of a DLPack tensor", self.strides)?),
        };
        let is_padded_to_bytes = flags & 4 != 0;
        Ok(DlFields { dtype: self.dtype, shape, strides, byte_offset: self.byte_offset, is_padded_to_bytes })
    }
}

/// The shape, the strides and the other layout fields of a `DLTensor`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DlLayout {
    dtype: DlDataType,
    shape: SmallVec<[i64; 8]>,
    strides: SmallVec<[i64; 8]>,
    byte_offset: u64,
}

/// Strides are always written, as version 1.2 demands. Errors: `overflow` for a number above `i64`;
/// `not_expressible` if the first element does not begin at a byte.
impl TryFrom<&BufferTensorDesc> for DlLayout {
    type Error = Error;

    fn try_from(desc: &BufferTensorDesc) -> Result<DlLayout, Error> {
        let list = |numbers: &[u64]| -> Result<SmallVec<[i64; 8]>, Error> {
            numbers.iter().map(|&number| checked::narrow(number, OFFSET)).collect()
        };
        let offset_bits = checked::mul(desc.base_offset(), desc.data_type().bits().into(), BYTES)?;
        if !offset_bits.is_multiple_of(8) {
            let reason =
                format!("its first element begins {} into the buffer, inside a byte", counted(offset_bits, "bit"));
            return Err(Error::not_expressible("DLPack tensor", reason));
        }
        Ok(DlLayout {
            dtype: desc.data_type().into(),
            shape: list(desc.sizes())?,
            strides: list(desc.clone().with_canonical_strides().strides())?,
            byte_offset: offset_bits / 8,
        })
    }
}

impl DlLayout {
    /// The fields as safe values.
    #[must_use]
    pub fn fields(&self) -> DlFields<'_> {
        DlFields {
            dtype: self.dtype,
            shape: &self.shape,
            strides: Some(&self.strides),
            byte_offset: self.byte_offset,
            is_padded_to_bytes: false,
        }
    }

    /// Returns the raw structure over `data`, which points to the lists of this layout. A C function must not
    /// write to these lists.
    #[must_use]
    pub fn raw(&self, data: *mut c_void, device: DlDevice) -> Lent<'_, DlTensor> {
        Lent::new(DlTensor {
            data,
            device,
            // The default is never used, because 2³¹ axes would need 16 GiB for their sizes.
            ndim: i32::try_from(self.shape.len()).unwrap_or(i32::MAX),
            dtype: self.dtype,
            shape: self.shape.as_ptr().cast_mut(),
            strides: self.strides.as_ptr().cast_mut(),
            byte_offset: self.byte_offset,
        })
    }
}

/// A managed tensor that its producer has handed over. The producer's `deleter` is called when it is dropped.
///
/// ```
/// use std::ptr::{self, NonNull};
/// use tensor_layout::BufferTensorDesc;
/// use tensor_layout::interop::dlpack::{DlDevice, DlLayout, DlManagedTensor, DlOwned, DlVersion};
///
/// let layout = DlLayout::try_from(&"f32[2,3]:[5,1]".parse::<BufferTensorDesc>()?)?;
/// let dl_tensor = *layout.raw(ptr::null_mut(), DlDevice { device_type: 1, device_id: 0 });
/// let version = DlVersion { major: 1, minor: 3 };
/// let mut managed = DlManagedTensor { version, manager_ctx: ptr::null_mut(), deleter: None, flags: 0, dl_tensor };
/// // SAFETY: `managed` and the lists of `layout` outlive `owned`.
/// let owned = unsafe { DlOwned::new(NonNull::from(&mut managed)) }?;
/// assert_eq!(BufferTensorDesc::try_from(owned.fields()?)?.strides(), [5, 1]);
/// assert!(owned.tensor().data.is_null() && !owned.is_read_only());
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug)]
pub struct DlOwned {
    managed: NonNull<DlManagedTensor>,
}

impl DlOwned {
    /// Takes over a managed tensor.
    ///
    /// # Errors
    ///
    /// `out_of_limits` for another major version than 1. Nothing but the `deleter` of such a tensor may be
    /// used, and it was called.
    ///
    /// # Safety
    ///
    /// The structure must be valid until its `deleter` is called, and nobody else calls that. If its major
    /// version is 1, `shape`, and `strides` unless it is null, must be valid for reads of `ndim` numbers
    /// until then.
    pub unsafe fn new(managed: NonNull<DlManagedTensor>) -> Result<DlOwned, Error> {
        let owned = DlOwned { managed };
        // SAFETY: the version is the first field in every version, and the caller promises that it can be
        // read.
        let major = unsafe { (&raw const (*managed.as_ptr()).version.major).read() };
        if major == MAJOR {
            Ok(owned)
        } else {
            Err(Error::out_of_limits("the major version of a DLPack tensor", major.into(), MAJOR.into(), MAJOR.into()))
        }
    }

    /// The tensor: its memory and its device.
    #[must_use]
    pub fn tensor(&self) -> &DlTensor {
        &self.managed().dl_tensor
    }

    /// Whether the memory must not be written.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.managed().flags & READ_ONLY != 0
    }

    /// Returns the layout of the tensor.
    ///
    /// # Errors
    ///
    /// The errors of [`DlTensor::fields`].
    pub fn fields(&self) -> Result<DlFields<'_>, Error> {
        // SAFETY: the caller of `new` promises that the lists have `ndim` numbers until the deleter is
        // called.
        unsafe { self.tensor().fields(self.managed().flags) }
    }

    fn managed(&self) -> &DlManagedTensor {
        // SAFETY: the caller of `new` promises that the structure is valid until the deleter is called, and
        // `new` has compared the version.
        unsafe { self.managed.as_ref() }
    }
}

impl Drop for DlOwned {
    fn drop(&mut self) {
        // SAFETY: the deleter is at this place in every version, and the caller of `new` promises that nobody
        // else calls it.
        unsafe {
            if let Some(deleter) = (&raw const (*self.managed.as_ptr()).deleter).read() {
                deleter(self.managed.as_ptr());
            }
        }
    }
}
