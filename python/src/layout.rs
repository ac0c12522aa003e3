//! `Layout`: a layout in any notation, with its index map.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyString, PyTuple};
use tensor_layout::AnyLayout;
use tensor_layout::bridge::Lowering;
use tensor_layout::element::Naming;
use tensor_layout::{BufferTensorDesc, DataType, IndexMap, ToIndexMap, lower};
use tensor_layout_text::draw::Picture;
use tensor_layout_text::{Notated, Notation, ViewStep};

use crate::error::{refusal, refused};
use crate::memory::Elements;

/// The offset of every element of a tensor.
///
/// `source` is a layout in any notation, or an array (NumPy, PyTorch or JAX on the CPU) whose own layout is
/// described. With `sizes` and `dtype` it may also be a rule: an axis order ("NHWC"), a oneDNN tag, tiles
/// ("T(8,128)"), "tpu:v5e" for the layout that a TPU compiler picks, or a device layout's name. Without
/// `source`, pass `sizes`, with or without `strides`, both in elements.
///
/// >>> tiled = Layout("bf16[256,512]{1,0:T(8,128)(2,1)}")
/// >>> tiled.sizes, tiled.bytes, tiled.padding, tiled.strides
/// ((256, 512), 262144, 0, None)
/// >>> Layout("tpu:v5e", sizes=(1000, 1), dtype="f32").padding
/// 96
/// >>> Layout(sizes=(2, 3), strides=(5, 1), dtype="float32")
/// Layout('f32[2,3]:[5,1]')
#[pyclass(frozen, module = "relayout")]
#[derive(Clone)]
pub(crate) struct Layout {
    pub(crate) notated: Notated,
    pub(crate) map: IndexMap,
}

/// A layout in sizes and strides, if strides can express it.
///
/// `kind` is "strided", "split" or "index_map". For "strided", `layout` has the same axes. For "split",
/// `layout` has more axes, padding included, and its axis `i` is a part of axis `dims[i]` of the tensor. For
/// "index_map" no strides express the layout, `layout` is None, and `reason` says why.
#[pyclass(frozen, get_all, module = "relayout")]
pub(crate) struct Lowered {
    kind: &'static str,
    layout: Option<Py<Layout>>,
    dims: Option<Py<PyTuple>>,
    reason: Option<String>,
}

#[pymethods]
impl Lowered {
    fn __repr__(&self, py: Python<'_>) -> String {
        match (&self.layout, &self.reason) {
            (Some(layout), _) => format!("Lowered({}: {})", self.kind, layout.get().__repr__(py)),
            (None, reason) => format!("Lowered({}: {})", self.kind, reason.as_deref().unwrap_or_default()),
        }
    }
}

/// Returns a type by any of its names: `f32`, `float32`, `torch.float32`, a NumPy dtype or scalar type.
pub(crate) fn data_type(name: &Bound<'_, PyAny>) -> PyResult<DataType> {
    let text: String = match name.cast::<PyString>() {
        Ok(text) => text.extract()?,
        Err(_) => match name.getattr("name").or_else(|_| name.getattr("__name__")) {
            Ok(text) => text.extract()?,
            Err(_) => name.str()?.extract()?,
        },
    };
    let short = text.strip_prefix("torch.").unwrap_or(&text);
    DataType::from_name_in(Naming::Numpy, short).map_or_else(|| short.parse().map_err(refused), Ok)
}

impl Layout {
    pub(crate) fn new(notated: Notated) -> PyResult<Layout> {
        let map = notated.to_index_map().map_err(refused)?;
        Ok(Layout { notated, map })
    }

    /// Returns the layout of a text, or a layout that already exists.
    pub(crate) fn of(layout: &Bound<'_, PyAny>) -> PyResult<Layout> {
        match layout.cast::<Layout>() {
            Ok(layout) => Ok(layout.get().clone()),
            Err(_) => Self::create(Some(layout), None, None, None),
        }
    }

    /// Returns a text that reads as this layout.
    pub(crate) fn text(&self) -> PyResult<String> {
        match self.notated.notation() {
            Notation::Strides => tensor_layout_text::text(self.notated.layout()).map_err(refused),
            _ => Ok(self.notated.to_string()),
        }
    }

    /// Returns the layout of the result of a view or a lowering.
    fn of_any(layout: AnyLayout) -> PyResult<Layout> {
        let notated = match layout {
            AnyLayout::Strided(desc) => desc.into(),
            AnyLayout::Tiled(shape) => shape.into(),
            other => tensor_layout_text::text(&other).and_then(|text| text.parse()).map_err(refused)?,
        };
        Self::new(notated)
    }

    /// Returns the layout of an array. No axis may have a negative stride.
    fn of_array(array: &Bound<'_, PyAny>) -> PyResult<Layout> {
        let elements = Elements::of(array, false)?;
        let (side, reversed) = crate::copy::described(&elements)?;
        match reversed.first() {
            None => Self::new(side),
            Some(axis) => {
                let reason = format!("axis {axis} has a negative stride, and a layout has no direction");
                Err(refusal("negative", &reason))
            }
        }
    }
}

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(signature = (source=None, *, sizes=None, strides=None, dtype=None))]
    fn create(
        source: Option<&Bound<'_, PyAny>>,
        sizes: Option<Vec<u64>>,
        strides: Option<Vec<u64>>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Layout> {
        let element = dtype.map(data_type).transpose()?;
        let text = source.and_then(|source| source.extract::<String>().ok());
        match (source, text, sizes) {
            (Some(_), Some(rule), Some(sizes)) if strides.is_none() => {
                let element = element.ok_or_else(|| PyTypeError::new_err("a rule needs dtype= beside sizes="))?;
                Self::new(tensor_layout_cli::layout_by_rule(&rule, element, &sizes).map_err(refused)?)
            }
            (Some(_), Some(text), None) if strides.is_none() && element.is_none() => {
                Self::new(text.parse().map_err(refused)?)
            }
            (Some(array), None, None) if strides.is_none() && element.is_none() => Self::of_array(array),
            (None, None, Some(sizes)) => {
                let element = element.ok_or_else(|| PyTypeError::new_err("sizes= needs dtype="))?;
                let desc = BufferTensorDesc::new(element, &sizes, strides.as_deref()).map_err(refused)?;
                Self::new(desc.into())
            }
            _ => Err(PyTypeError::new_err(
                "a layout is made from a text, from an array, from a rule with sizes= and dtype=, or from sizes=, \
                 dtype= and perhaps strides=",
            )),
        }
    }

    /// The sizes, in elements.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.map.sizes())
    }

    /// The strides, in elements, or None if no strides express the layout (tiles).
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        if let AnyLayout::Strided(desc) = self.notated.layout() {
            return PyTuple::new(py, desc.strides()).map(Some);
        }
        self.map.strides().map(|strides| PyTuple::new(py, strides)).transpose()
    }

    /// The type of an element, by its name in NumPy and ml_dtypes.
    #[getter]
    fn dtype(&self) -> String {
        let data_type = self.map.data_type();
        data_type.name_in(Naming::Numpy).map_or_else(|| data_type.to_string(), str::to_owned)
    }

    /// The size of the buffer in bytes, padding included.
    #[getter]
    fn bytes(&self) -> u64 {
        self.map.physical_size_in_bytes()
    }

    /// The number of bytes of the buffer that belong to no element.
    ///
    /// >>> Layout("f32[1000,1]{1,0:T(8,128)}").padding
    /// 508000
    #[getter]
    fn padding(&self) -> u64 {
        let padding = self.map.physical_elements().saturating_sub(self.map.element_count());
        let bits = u128::from(padding).saturating_mul(self.map.element_bits().into());
        u64::try_from(bits.div_euclid(8)).unwrap_or(u64::MAX)
    }

    /// The class of the layout: "affine", "split", "ragged_split", "fused" or "irreducible".
    #[getter]
    fn kind(&self) -> String {
        self.map.class().to_string()
    }

    /// Returns the layout in sizes and strides, with the same rank or a higher one, or the reason why there
    /// are none.
    ///
    /// >>> Layout("f32[16,256]{1,0:T(8,128)}").lower()
    /// Lowered(split: Layout('f32[2,8,2,128]:[2048,128,1024,1]'))
    fn lower(&self, py: Python<'_>) -> PyResult<Lowered> {
        let lowering = lower(&self.notated).map_err(refused)?;
        let (kind, reason) = (lowering.name(), lowering.reason());
        let (desc, dims) = match lowering {
            Lowering::Strided(desc) => (Some(desc), None),
            Lowering::Split(split) => (Some(split.desc), Some(PyTuple::new(py, split.dims)?.unbind())),
            _ => (None, None),
        };
        let layout = desc.map(|desc| Layout::new(desc.into()).and_then(|layout| Py::new(py, layout))).transpose()?;
        Ok(Lowered { kind, layout, dims, reason })
    }

    /// Whether both layouts store every element at the same offset. The other layout may be a text.
    ///
    /// >>> Layout("f32[3,100]:[128,1]").same("f32[3,100]{1,0:T(8,128)}")
    /// True
    fn same(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let other = Layout::of(other)?;
        let fits = self.map.sizes() == other.map.sizes() && self.map.element_bits() == other.map.element_bits();
        Ok(fits && self.map.same_places(&other.map).map_err(refused)?)
    }

    /// Returns the fingerprint of the layout: 32 hexadecimal digits. Layouts with the same type, sizes and
    /// normal form have the same fingerprint, in any program.
    ///
    /// >>> Layout("f32[3,100]:[128,1]").fingerprint()
    /// '09d31ad04dad649a8140d99a2c2e0846'
    fn fingerprint(&self) -> PyResult<String> {
        self.map.fingerprint().map(|tag| tag.to_string()).map_err(refused)
    }

    /// Returns the layout of a view of the same memory. The steps are applied in the order in which they are
    /// written.
    ///
    /// >>> Layout("f32[16,256]{1,0:T(8,128)}").view(permute=(1, 0))
    /// Layout('f32[256,16]{0,1:T(8,128)}')
    /// >>> Layout("f32[4,6]:[6,1]").view(slice=(slice(0, 2), slice(None)), reshape=(3, 4))
    /// Layout('f32[3,4]:[4,1]+0')
    #[pyo3(signature = (**steps))]
    fn view(&self, steps: Option<&Bound<'_, PyDict>>) -> PyResult<Layout> {
        let mut layout = self.notated.layout().clone();
        for (name, argument) in steps.into_iter().flatten() {
            let name: String = name.extract()?;
            if !["reshape", "permute", "slice", "broadcast"].contains(&name.as_str()) {
                return Err(PyTypeError::new_err(format!("no step `{name}`: reshape, permute, slice or broadcast")));
            }
            let step = ViewStep::read(&name, &step_text(&argument)?).map_err(refused)?;
            layout = step.apply(&layout).map_err(refused)?;
        }
        Layout::of_any(layout)
    }

    /// Returns the offset of an index, in elements from the start of the buffer.
    ///
    /// >>> Layout("f32[3,5]{1,0:T(2,2)}").offset((2, 3))
    /// 17
    fn offset(&self, index: Vec<u64>) -> PyResult<u64> {
        self.map.offset(&index).map_err(refused)
    }

    /// Returns the index that is stored at an offset, or None for padding.
    ///
    /// >>> layout = Layout("f32[3,5]{1,0:T(2,2)}")
    /// >>> layout.index(17), layout.index(14)
    /// ((2, 3), None)
    fn index<'py>(&self, py: Python<'py>, offset: u64) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let index = self.map.inverse(offset).map_err(refused)?;
        index.map(|index| PyTuple::new(py, index)).transpose()
    }

    /// Returns the layout in all notations that can express it: "xla", "strides", "axis_order", "onednn",
    /// "cute", "numpy", "directml", "named".
    ///
    /// >>> Layout("f32[2,3]:[5,1]").notations()["xla"]
    /// 'f32[2,3]{1,0:T(5)}'
    fn notations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let texts = PyDict::new(py);
        for line in self.notated.lines() {
            if let Ok(text) = &line.text {
                texts.set_item(line.notation.to_string(), text)?;
            }
        }
        Ok(texts)
    }

    /// Returns the picture of the memory as SVG, for notebooks. A large layout is shown by its first corner.
    fn _repr_svg_(&self) -> PyResult<String> {
        let text = self.notated.to_string();
        let whole = Picture::new(&self.map, &text).or_else(|_| Picture::corner(&self.map, &text));
        Ok(whole.map_err(refused)?.to_svg())
    }

    fn __str__(&self) -> String {
        self.notated.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let text = PyString::new(py, &self.notated.to_string()).repr();
        text.map_or_else(|_| "Layout(..)".to_owned(), |text| format!("Layout({text})"))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Layout>().is_ok_and(|other| self.notated.layout() == other.get().notated.layout())
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.notated.layout().hash(&mut hasher);
        hasher.finish()
    }

    /// Copies and pickles are made from the text.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Layout>().into_any(), (self.text()?,)))
    }
}

/// Returns the argument of a view's step in its notation: `2,3`, or `0:2,:` for slices.
fn step_text(argument: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = argument.extract::<String>() {
        return Ok(text);
    }
    let items: Vec<Bound<'_, PyAny>> = match argument.cast::<PySlice>() {
        Ok(slice) => vec![slice.clone().into_any()],
        Err(_) => argument.try_iter()?.collect::<PyResult<_>>()?,
    };
    let item = |item: Bound<'_, PyAny>| -> PyResult<String> {
        let Ok(slice) = item.cast::<PySlice>() else { return Ok(item.extract::<u64>()?.to_string()) };
        let bound = |name: &str| -> PyResult<String> {
            let bound: Option<i64> = slice.getattr(name)?.extract()?;
            match bound {
                Some(number) if number < 0 => Err(PyValueError::new_err("a slice of a layout counts from the front")),
                bound => Ok(bound.map(|number| number.to_string()).unwrap_or_default()),
            }
        };
        let (start, stop, step) = (bound("start")?, bound("stop")?, bound("step")?);
        Ok(if step.is_empty() { format!("{start}:{stop}") } else { format!("{start}:{stop}:{step}") })
    };
    Ok(items.into_iter().map(item).collect::<PyResult<Vec<_>>>()?.join(","))
}
