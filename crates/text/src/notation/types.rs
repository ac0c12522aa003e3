//! The names of data types in libraries that print layouts.

use tensor_layout::element::DataType;

/// Returns the type with this name in any of the libraries: PyTorch's truth values are `b8`, MLIR's `i1`, and
/// ONNX, cuDNN and TensorRT have `FLOAT`, `DOUBLE`, `HALF` and `BOOL`.
pub(super) fn element_type(name: &str) -> Option<DataType> {
    match name {
        "b8" | "i1" | "BOOL" | "BOOLEAN" => Some(DataType::Pred),
        "FLOAT" => Some(DataType::F32),
        "DOUBLE" => Some(DataType::F64),
        "HALF" => Some(DataType::F16),
        "si8" | "si16" | "si32" | "si64" | "ui8" | "ui16" | "ui32" | "ui64" => name.replacen('i', "", 1).parse().ok(),
        _ => name.parse().or_else(|_| name.to_ascii_lowercase().parse()).ok(),
    }
}
