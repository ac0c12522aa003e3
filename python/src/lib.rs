//! The Python module `relayout`: the layouts of `tensor-layout` for arrays of NumPy, PyTorch and JAX.
//!
//! Each file is a thin layer over one part of the project: `layout` over notations and index maps, `copy`
//! over relayouts, `program` over HLO texts, `transfers` over lists for RDMA and DMA, `commands` over the
//! command line. Only `memory`, `small` and `copy` use pointers.

mod commands;
mod contiguous;
mod copy;
mod error;
mod explain;
mod formats;
mod layout;
mod memory;
mod new_array;
mod numbers;
mod program;
mod small;
mod tensor_box;
mod transfers;
mod view;

use pyo3::prelude::*;

/// Strided and tiled tensor layouts: describe, check, convert and copy.
///
/// >>> layout = Layout("f32[1000,1]{1,0:T(8,128)}")
/// >>> layout.bytes, layout.padding
/// (512000, 508000)
#[pymodule]
mod relayout {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::commands::{convert_model, main, names, validate};
    #[pymodule_export]
    use crate::contiguous::ascontiguous;
    #[pymodule_export]
    use crate::copy::{copy, measure};
    #[pymodule_export]
    use crate::error::LayoutError;
    #[pymodule_export]
    use crate::explain::explain;
    #[pymodule_export]
    use crate::layout::{Layout, Lowered};
    #[pymodule_export]
    use crate::program::{Program, hlo};
    #[pymodule_export]
    use crate::transfers::{Shards, reshard, transfers};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
