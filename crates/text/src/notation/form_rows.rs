//! The rows of forms: what each library prints.

use super::Notation;

/// One row: how a text that names the fields of a layout is read and written.
pub(super) struct Form {
    pub(super) notation: Notation,
    /// The text that is written, with fields in braces. Empty if another row writes the notation.
    pub(super) text: &'static str,
    /// How the text begins. A beginning with `=` or a quote is the first key.
    pub(super) begins: &'static [&'static str],
    /// The items in front of the first key, in order.
    pub(super) front: &'static [Front],
    /// The token between a key and its value. If this token begins with a quote, keys are in quotes.
    pub(super) assign: &'static str,
    pub(super) keys: &'static [(&'static str, Field)],
    /// The keys that say nothing about offsets. These keys and their values are skipped, and every other key
    /// is an error.
    pub(super) skips: &'static [&'static str],
    /// The token after the last key. Empty if there is none.
    pub(super) close: &'static str,
}

pub(super) enum Front {
    /// A field without a key, and a comma. A list may be left out.
    Of(Field),
    /// A word or a text in quotes that says nothing about offsets, and a comma. It may be missing.
    Name,
    /// A value that says nothing about offsets, and a comma.
    Value,
    Token(&'static str),
    /// Text that says nothing about offsets, up to this token.
    Until(&'static str),
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Field {
    Type,
    Sizes,
    Strides,
    /// The offset of index 0 of all axes.
    Offset,
    /// Halide's minimum, extent and stride of each axis, the innermost axis first.
    Extents,
    /// A letter for each axis.
    Axes,
    /// The distance between rows, along the axis `W`, in elements. 0 for packed rows.
    Pitch,
    /// A field that must have this value.
    Only(&'static str),
}

use Field::{Axes, Extents, Offset, Only, Pitch, Sizes, Strides, Type};
use Front::{Name, Of, Token, Until, Value};

const NUMPY: Form = Form {
    notation: Notation::Numpy,
    text: "ndarray(shape={(sizes)}, dtype={dtype}, strides={(strides)}{, offset=})",
    begins: &["ndarray(", "np.ndarray(", "numpy.ndarray("],
    front: &[],
    assign: "=",
    keys: &[("shape", Sizes), ("dtype", Type), ("strides", Strides), ("offset", Offset)],
    skips: &[],
    close: ")",
};
const TORCH: Form = Form {
    notation: Notation::Torch,
    text: "torch.empty_strided({(sizes)}, {(strides)}, dtype=torch.{dtype})",
    begins: &["torch.empty_strided("],
    front: &[Of(Sizes), Of(Strides)],
    keys: &[("size", Sizes), ("stride", Strides), ("dtype", Type)],
    skips: &["device", "requires_grad", "pin_memory"],
    ..NUMPY
};
const TORCH_SIZE: Form = Form {
    text: "{type} torch.Size({[sizes]}) stride={(strides)} storage_offset={offset}",
    begins: &["torch.Size("],
    front: &[Of(Sizes), Token(")"), Of(Strides)],
    keys: &[("stride", Strides), ("storage_offset", Offset), ("dtype", Type)],
    close: "",
    ..TORCH
};
// What JAX, TensorFlow and coremltools print of arguments and values, which are packed.
const ARGUMENT: Form = Form {
    text: "",
    begins: &["ShapeDtypeStruct(", "TensorSpec(", "TensorType("],
    skips: &["name", "numpy", "ragged", "sharding", "sparse", "weak_type"],
    ..NUMPY
};
const PLAIN: Form = Form { notation: Notation::Strides, text: "", ..NUMPY };

pub(super) const FORMS: [Form; 32] = [
    NUMPY,
    Form {
        text: "",
        begins: &["empty_strided_cuda(", "empty_strided_cpu(", "empty_strided_xpu("],
        front: &[Of(Sizes), Of(Strides), Of(Type)],
        ..TORCH
    },
    Form { text: "", begins: &["rand_strided("], ..TORCH },
    Form {
        text: "",
        begins: &["assert_tensor_metadata("],
        front: &[Name, Of(Sizes), Of(Strides), Of(Type), Name],
        ..TORCH
    },
    Form { text: "", begins: &["reinterpret_tensor("], front: &[Name, Of(Sizes), Of(Strides), Of(Offset)], ..TORCH },
    Form { text: "", begins: &["assert_size_stride("], front: &[Name, Of(Sizes), Of(Strides), Name], ..TORCH },
    Form {
        text: "",
        begins: &["FixedLayout(", "FlexibleLayout("],
        front: &[Name, Of(Type)],
        keys: &[("size", Sizes), ("stride", Strides), ("offset", Offset)],
        skips: &["is_pinned"],
        ..TORCH
    },
    Form {
        text: "",
        begins: &["TensorMetadata(", "TensorMeta("],
        front: &[],
        keys: &[("shape", Sizes), ("dtype", Type), ("stride", Strides)],
        skips: &["requires_grad", "memory_format", "is_quantized", "qparams"],
        ..TORCH
    },
    // What guards of PyTorch print.
    Form {
        text: "",
        begins: &["check_tensor("],
        front: &[Value, Value, Value, Of(Type)],
        keys: &[("size", Sizes), ("stride", Strides)],
        ..TORCH
    },
    Form { text: "", begins: &["shape=("], close: "", ..NUMPY },
    ARGUMENT,
    Form { begins: &["ShapedArray("], front: &[Of(Type), Of(Sizes)], ..ARGUMENT },
    Form { begins: &["<tf.Tensor: ", "<KerasTensor "], close: ">", ..ARGUMENT },
    // The header of a .npy file, and what LiteRT's `get_input_details` gives.
    Form {
        text: "",
        begins: &["{'descr': '", "{'name'"],
        front: &[Token("{")],
        assign: "':",
        keys: &[("descr", Type), ("dtype", Type), ("shape", Sizes), ("fortran_order", Only("False"))],
        skips: &["name", "index", "shape_signature", "quantization", "quantization_parameters", "sparsity_parameters"],
        close: "}",
        ..NUMPY
    },
    // `__array_interface__` of NumPy, and that of CUDA's arrays.
    Form {
        text: "",
        begins: &["{'"],
        front: &[Token("{")],
        assign: "':",
        keys: &[("shape", Sizes), ("typestr", Type), ("strides", Strides), ("offset", Offset), ("mask", Only("None"))],
        skips: &["data", "descr", "version", "stream"],
        close: "}",
        ..NUMPY
    },
    TORCH,
    TORCH_SIZE,
    Form { text: "", begins: &["(torch.Size("], close: ")", ..TORCH_SIZE },
    Form {
        notation: Notation::Candle,
        text: "{type} Layout { shape: {[sizes]}, stride: {[strides]}, start_offset: {offset} }",
        begins: &["Layout {"],
        assign: ":",
        keys: &[("shape", Sizes), ("stride", Strides), ("start_offset", Offset)],
        close: "}",
        ..NUMPY
    },
    Form {
        notation: Notation::Ndarray,
        text: "{type} shape={[sizes]}, strides={[strides]}",
        begins: &["shape="],
        keys: &[("shape", Sizes), ("strides", Strides)],
        skips: &["layout", "const ndim", "dynamic ndim"],
        close: "",
        ..NUMPY
    },
    Form {
        notation: Notation::Ggml,
        text: "{type} ne={[sizes]} nb={[strides]}",
        begins: &["ne=", "ne = "],
        keys: &[("ne", Sizes), ("nb", Strides)],
        close: "",
        ..NUMPY
    },
    // Lines of llama.cpp's loader and of its callback. They have sizes alone.
    Form {
        begins: &["llama_model_loader: - tensor"],
        front: &[Until(":"), Until(" "), Of(Type), Of(Sizes)],
        ..GGML_LINE
    },
    Form {
        begins: &["common_debug_cb_eval:", "ggml_debug:"],
        front: &[Until(" = ("), Of(Type), Token(")"), Until(" = "), Of(Sizes)],
        ..GGML_LINE
    },
    // A line of gguf-dump, behind its number and the number of elements.
    Form { begins: &["|"], front: &[Of(Sizes), Token("|"), Of(Type), Token("|"), Value], ..GGML_LINE },
    // A tensor of cuDNN's frontend. Reordered scales are no strides.
    Form {
        begins: &["{\"data_type\""],
        front: &[Token("{")],
        assign: "\":",
        keys: &[("data_type", Type), ("dim", Sizes), ("stride", Strides), ("reordering_type", Only("\"NONE\""))],
        skips: &["is_pass_by_value", "is_virtual", "name", "pass_by_value", "uid", "uid_assigned"],
        close: "}",
        ..PLAIN
    },
    // Tensors of a safetensors header, of a graph of cuDNN's frontend, and a descriptor of WebNN.
    Form {
        begins: &["{\"dtype\"", "{\"dataType\"", "{\"shape\"", "{\"data_offsets\"", "{\"dim\""],
        front: &[Token("{")],
        assign: "\":",
        keys: &[("dtype", Type), ("dataType", Type), ("shape", Sizes), ("dim", Sizes), ("stride", Strides)],
        skips: &["data_offsets", "is_virtual", "uid"],
        close: "}",
        ..PLAIN
    },
    // Structures of the crates rten-tensor and safetensors.
    Form {
        begins: &["NdLayout {", "TensorInfo {", "TensorView {"],
        assign: ":",
        keys: &[("dtype", Type), ("shape", Sizes), ("strides", Strides)],
        skips: &["data", "data_offsets"],
        close: "}",
        ..PLAIN
    },
    // A port of an OpenVINO model, which is packed.
    Form {
        begins: &["<ConstOutput: names", "<Output: names"],
        front: &[Until("shape"), Of(Sizes), Token("type:"), Of(Type)],
        keys: &[],
        close: ">",
        ..PLAIN
    },
    Form {
        begins: &["<halide.Buffer of type "],
        front: &[Of(Type), Token("shape:"), Of(Extents)],
        keys: &[],
        close: ">",
        ..PLAIN
    },
    // The attributes of a tensor of Rockchip's runtime.
    Form {
        begins: &["index="],
        keys: &[("dims", Sizes), ("type", Type), ("fmt", Axes), ("w_stride", Pitch)],
        skips: &["index", "name", "n_dims", "n_elems", "size", "size_with_stride", "qnt_type", "zp", "scale", "fl"],
        close: "",
        ..PLAIN
    },
    TVM,
    Form { text: "", begins: &["T.match_buffer("], front: &[Name, Of(Sizes), Of(Type)], ..TVM },
];

// TVM leaves out the type of `float32`.
const TVM: Form = Form {
    notation: Notation::Tvm,
    text: "T.Buffer({(sizes)}, \"{dtype}\", strides={(strides)}{, offset=})",
    begins: &["T.Buffer(", "T.alloc_buffer(", "T.alloc_shared("],
    front: &[Of(Sizes), Of(Type)],
    keys: &[("shape", Sizes), ("dtype", Type), ("strides", Strides), ("elem_offset", Offset)],
    skips: &["data", "scope", "align", "offset_factor"],
    ..PLAIN
};
const GGML_LINE: Form = Form { notation: Notation::Ggml, text: "", begins: &[], keys: &[], close: "", ..NUMPY };
