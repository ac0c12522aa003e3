//! `DlOwned`: a managed tensor, as a consumer holds it.

use core::ptr::NonNull;

use crate::error::Error;

use super::DlFields;
use super::raw::{DlManagedTensor, DlTensor};

/// The major version of dlpack.h whose structures are read.
const MAJOR: u32 = 1;

const READ_ONLY: u64 = 1;

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
