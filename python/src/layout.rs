//! `Layout`: a layout in any notation, with its index map.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use tensor_layout::bridge::Lowering;
use tensor_layout::element::Naming;
use tensor_layout::map::Fingerprint;
use tensor_layout::{AnyLayout, BufferTensorDesc, DataType, IndexMap, lower};
use tensor_layout_text::draw::Picture;
use tensor_layout_text::layout::{Layout as Whole, Plane, Role};

use crate::error::{refusal, refused};
use crate::memory::Elements;
use crate::new_array::{Form, has_tiles};
use crate::numbers::{Number, Numbers};

const MOST_TEXTS: usize = 1024;

/// The offset of every element of a tensor.
///
/// `source` is a layout in any notation, another `Layout`, or an array (NumPy, PyTorch or JAX on the CPU)
/// whose own layout is described. With `sizes` and `dtype` it may also be a rule: an axis order ("NHWC"), a
/// oneDNN tag, tiles ("T(8,128)"), "tpu:v5e" for the layout that a TPU compiler picks, or a device layout's
/// name. Without `source`, pass `sizes`, with or without `strides`, both in elements.
///
/// A layout may have several planes (values with scales, the arrays of a tuple), and a plane several parts (a
/// cache with a block table). `sizes`, `dtype`, `offset` and `index` are those of the values, or of the first
/// array; what needs one index map refuses such a layout.
///
/// Two layouts are equal (`==`) if they have the same planes: the same type and sizes, and the same strides
/// or tiles, whatever notation they were read from. Layouts of different kinds are never equal, even if every
/// element is stored at the same offset: that is what `same` says. A layout equals its copy, its pickle, and
/// `Layout(str(layout))`.
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
    pub(crate) whole: Whole,
    /// The form of a new array of the layout. It is computed at the first use.
    form: OnceLock<Form>,
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
    // Layouts have the order of bytes of this machine. A dtype of NumPy says whether it has another.
    if let Ok(is_native) = name.getattr("isnative")
        && !is_native.is_truthy()?
    {
        let order = name.getattr("byteorder")?;
        let sentence =
            format!("{name} has the order of bytes `{order}`, which no layout has: view the elements as bytes");
        return Err(refusal("unknown_data_type", &sentence));
    }
    let short = text.strip_prefix("torch.").unwrap_or(&text);
    DataType::from_name_in(Naming::Numpy, short).map_or_else(|| short.parse().map_err(refused), Ok)
}

/// The properties by which two planes are compared: everything but the notation.
type Key<'a> = (&'a [u64], Result<&'a AnyLayout, Vec<(String, &'a IndexMap)>>, &'a [usize], &'a Role, u64, String);

fn key(plane: &Plane) -> Key<'_> {
    let parts = || plane.parts().iter().map(|part| (format!("{:?}", part.indices), &part.map)).collect();
    let layout = plane.any().ok_or_else(parts);
    (plane.sizes(), layout, plane.reversed(), plane.role(), plane.alignment(), plane.type_name())
}

impl Layout {
    pub(crate) fn new(whole: Whole) -> Layout {
        Layout { whole, form: OnceLock::new() }
    }

    fn of_text(text: &str) -> PyResult<Layout> {
        text.parse().map(Layout::new).map_err(refused)
    }

    /// Returns the layout of a text or of an array, or a layout that already exists. The layouts of the last
    /// texts are kept.
    pub(crate) fn of<'py>(layout: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Layout>> {
        static READ: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
        let py = layout.py();
        if let Ok(layout) = layout.cast::<Layout>() {
            return Ok(layout.clone());
        }
        let is_text = layout.is_exact_instance_of::<PyString>();
        let read = READ.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
        if is_text && let Some(found) = read.get_item(layout)? {
            return Ok(found.cast_into()?);
        }
        let new = Bound::new(py, Self::create(Some(layout), None, None, None)?)?;
        if is_text {
            if read.len() >= MOST_TEXTS {
                read.clear();
            }
            read.set_item(layout, &new)?;
        }
        Ok(new)
    }

    /// Returns what a new array of the layout looks like.
    pub(crate) fn form(&self) -> PyResult<&Form> {
        match self.form.get() {
            Some(form) => Ok(form),
            None => {
                let form = Form::of(self)?;
                Ok(self.form.get_or_init(|| form))
            }
        }
    }

    pub(crate) fn map(&self) -> PyResult<&IndexMap> {
        self.whole.whole().map_err(refused)
    }

    /// The values, or the first array of a tuple.
    fn values(&self) -> &Plane {
        self.whole.values()
    }

    pub(crate) fn sizes_ref(&self) -> &[u64] {
        self.whole.sizes()
    }

    /// The type of an element, and the bits that it takes.
    pub(crate) fn element(&self) -> PyResult<(DataType, u32)> {
        match self.values().parts().first() {
            Some(part) => Ok((part.map.data_type(), part.map.element_bits())),
            None => self.map().map(|map| (map.data_type(), map.element_bits())),
        }
    }

    /// The strides in elements, if they say everything: negative ones for axes that run backwards. `None` for
    /// tiles, for several parts, and for a layout that begins behind the start of its buffer.
    pub(crate) fn strides_of_array(&self) -> Option<Vec<isize>> {
        let plane = self.values();
        let layout = plane.any().filter(|layout| !has_tiles(layout))?;
        let part = plane.parts().first().filter(|part| part.map.base() == 0 && plane.blocks().is_none())?;
        let strides = match layout {
            AnyLayout::Strided(desc) => desc.strides().to_vec(),
            _ => part.map.strides()?.to_vec(),
        };
        let signed = |(axis, &stride): (usize, &u64)| {
            let stride = isize::try_from(stride).ok()?;
            Some(if plane.reversed().contains(&axis) { stride.checked_neg()? } else { stride })
        };
        strides.iter().enumerate().map(signed).collect()
    }

    /// Returns a text that reads as this layout.
    fn text(&self) -> String {
        self.whole.to_string()
    }

    /// Returns the layout of an array.
    fn of_array(array: &Bound<'_, PyAny>) -> PyResult<Layout> {
        let elements = Elements::of(array, false)?;
        let (one, reversed) = crate::copy::described(&elements)?;
        if reversed.is_empty() {
            return Ok(Layout::new(one.into()));
        }
        // Reversed axes begin at an offset, so the tensor is read from a text, as a part of a larger buffer.
        Self::of_text(&Whole::turned(one, reversed).to_string())
    }
}

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(signature = (source=None, *, sizes=None, strides=None, dtype=None))]
    fn create(
        source: Option<&Bound<'_, PyAny>>,
        sizes: Option<Numbers>,
        strides: Option<Numbers>,
        dtype: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Layout> {
        let element = dtype.map(data_type).transpose()?;
        let text = source.and_then(|source| source.extract::<String>().ok());
        match (source, text, sizes) {
            (Some(_), Some(rule), Some(sizes)) if strides.is_none() => {
                let element = element.ok_or_else(|| PyTypeError::new_err("a rule needs dtype= beside sizes="))?;
                tensor_layout_cli::layout_by_rule(&rule, element, &sizes.0).map(Layout::new).map_err(refused)
            }
            (Some(_), Some(text), None) if strides.is_none() && element.is_none() => Self::of_text(&text),
            (Some(source), None, None) if strides.is_none() && element.is_none() => match source.cast::<Layout>() {
                Ok(layout) => Ok(layout.get().clone()),
                Err(_) => Self::of_array(source),
            },
            (None, None, Some(sizes)) => {
                let element = element.ok_or_else(|| PyTypeError::new_err("sizes= needs dtype="))?;
                let strides = strides.as_ref().map(|strides| strides.0.as_slice());
                let desc = BufferTensorDesc::new(element, &sizes.0, strides).map_err(refused)?;
                Ok(Layout::new(desc.into()))
            }
            _ => Err(PyTypeError::new_err(
                "a layout is made from a text, from a Layout, from an array, from a rule with sizes= and dtype=, or \
                 from sizes=, dtype= and perhaps strides=",
            )),
        }
    }

    /// The sizes, in elements.
    #[getter]
    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.sizes_ref())
    }

    /// The strides, in elements, or None if no strides express the layout (tiles). The stride of an axis that
    /// runs backwards is negative.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let plane = self.values();
        let ([part], Some(layout)) = (plane.parts(), plane.any()) else { return Ok(None) };
        let strides = match layout {
            AnyLayout::Strided(desc) => Some(desc.strides().to_vec()),
            _ => part.map.strides().map(|strides| strides.to_vec()),
        };
        let signed = |(axis, stride): (usize, u64)| match plane.reversed().contains(&axis) {
            true => i128::from(stride).saturating_neg(),
            false => stride.into(),
        };
        strides
            .map(|strides| PyTuple::new(py, strides.into_iter().enumerate().map(signed).collect::<Vec<_>>()))
            .transpose()
    }

    /// The type of an element, by its name in NumPy and ml_dtypes. Of a tensor of blocks it is the block
    /// type.
    #[getter]
    fn dtype(&self) -> String {
        match (self.values().blocks(), self.element()) {
            (None, Ok((data_type, _))) => {
                data_type.name_in(Naming::Numpy).map_or_else(|| data_type.to_string(), str::to_owned)
            }
            _ => self.values().type_name(),
        }
    }

    /// The size of the buffer in bytes, padding included. The arrays of a tuple are added up.
    #[getter]
    fn bytes(&self) -> PyResult<u64> {
        if !self.whole.is_tuple() {
            return self.whole.size_in_bytes().map_err(refused);
        }
        let planes = self.whole.planes().iter();
        let sizes: Vec<u64> = planes.map(Plane::size_in_bytes).collect::<Result<_, _>>().map_err(refused)?;
        Ok(sizes.into_iter().fold(0, u64::saturating_add))
    }

    /// The number of bytes of the buffer that belong to no element.
    ///
    /// >>> Layout("f32[1000,1]{1,0:T(8,128)}").padding
    /// 508000
    #[getter]
    fn padding(&self) -> PyResult<u64> {
        let parts = self.whole.planes().iter().flat_map(Plane::parts);
        let bits =
            parts.map(|part| u128::from(part.map.element_count()).saturating_mul(part.map.element_bits().into()));
        let bytes = u128::from(self.bytes()?).saturating_mul(8).saturating_sub(bits.fold(0, u128::saturating_add));
        Ok(u64::try_from(bytes.div_euclid(8)).unwrap_or(u64::MAX))
    }

    /// The class of the layout: "affine", "split", "ragged_split", "fused" or "irreducible".
    #[getter]
    fn kind(&self) -> PyResult<String> {
        self.map().map(|map| map.class().to_string())
    }

    /// The planes of the layout, each as a `Layout`: of values with scales the values first, of a tuple its
    /// arrays.
    ///
    /// >>> [plane.sizes for plane in Layout("f4e2m1fn[128,320] with f8e8m0fnu per 32").planes]
    /// [(128, 320), (128, 10)]
    #[getter]
    fn planes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let layout = |plane: &Plane| Self::of_text(&plane.to_string()).and_then(|layout| Py::new(py, layout));
        PyTuple::new(py, self.whole.planes().iter().map(layout).collect::<PyResult<Vec<_>>>()?)
    }

    /// The names of the planes of a frame, and of the fields of pages. Other layouts have none.
    ///
    /// >>> Layout("kv page B=4 { conv: bf16[3,5], ssm: f32[2,3] } to 64").plane_names
    /// ('conv', 'ssm')
    #[getter]
    fn plane_names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names: Vec<String> =
            self.whole.planes().iter().filter_map(|plane| plane.role().name()).map(Into::into).collect();
        PyTuple::new(py, names)
    }

    /// The names of the fields of the blocks, of a tensor of blocks. Other layouts have none.
    ///
    /// >>> Layout("q4_K[4,512]").block_fields
    /// ('values', 'scales per 32', 'minima per 32', 'scales per 256', 'minima per 256')
    #[getter]
    fn block_fields<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.values().block_fields().map(|(name, _)| name).collect::<Vec<_>>())
    }

    /// Returns where a number of a field of the blocks is stored, for each range of its bits: the offset of a
    /// byte, and the first and the end of the bits, counted from that byte. On the last axis, the index
    /// counts the numbers of the field.
    ///
    /// >>> Layout("q4_K[4,512]").block_bits("scales per 32", (1, 9))
    /// [(437, 0, 6)]
    fn block_bits(&self, field: &str, index: Numbers) -> PyResult<Vec<(u64, u64, u64)>> {
        let plane = self.values();
        let found = plane.block_fields().find(|(name, _)| name == field);
        let (_, numbers) = found.ok_or_else(|| {
            let names: Vec<String> = plane.block_fields().map(|(name, _)| name).collect();
            refusal("not_expressible", &format!("{field:?} is no field of the blocks, which are {names:?}"))
        })?;
        let bits = plane.place_in(numbers, &index.0).map_err(refused)?.bits;
        Ok(bits.into_iter().map(|(byte, bits)| (byte, bits.start, bits.end)).collect())
    }

    /// Returns the layout in sizes and strides, with the same rank or a higher one, or the reason why there
    /// are none.
    ///
    /// >>> Layout("f32[16,256]{1,0:T(8,128)}").lower()
    /// Lowered(split: Layout('f32[2,8,2,128]:[2048,128,1024,1]'))
    fn lower(&self, py: Python<'_>) -> PyResult<Lowered> {
        let lowering = lower(self.whole.any().map_err(refused)?).map_err(refused)?;
        let (kind, reason) = (lowering.name(), lowering.reason());
        let (desc, dims) = match lowering {
            Lowering::Strided(desc) => (Some(desc), None),
            Lowering::Split(split) => (Some(split.desc), Some(PyTuple::new(py, split.dims)?.unbind())),
            _ => (None, None),
        };
        let layout = desc.map(|desc| Py::new(py, Layout::new(desc.into()))).transpose()?;
        Ok(Lowered { kind, layout, dims, reason })
    }

    /// Whether both layouts store every element at the same offset. The other layout may be a text or an
    /// array.
    ///
    /// >>> Layout("f32[3,100]:[128,1]").same("f32[3,100]{1,0:T(8,128)}")
    /// True
    fn same(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.whole.difference(&Layout::of(other)?.get().whole).map_err(refused)?.is_none())
    }

    /// Returns the fingerprint of the layout: 32 hexadecimal digits. Layouts with the same type, sizes and
    /// normal form have the same fingerprint, in any program.
    ///
    /// >>> Layout("f32[3,100]:[128,1]").fingerprint()
    /// '09d31ad04dad649a8140d99a2c2e0846'
    fn fingerprint(&self) -> PyResult<String> {
        Fingerprint::of(self.map()?).map(|tag| tag.to_string()).map_err(refused)
    }

    /// Returns the layout of a view of the same memory. The steps (`permute`, `reshape`, `slice` and
    /// `broadcast`) are applied in the order in which they are written. As in NumPy, a number in `slice`
    /// drops its axis, a negative one counts from the end, and `...` stands for whole axes.
    ///
    /// >>> Layout("f32[16,256]{1,0:T(8,128)}").view(permute=(1, 0))
    /// Layout('f32[256,16]{0,1:T(8,128)}')
    /// >>> Layout("f32[4,6]:[6,1]").view(slice=(slice(0, 2), slice(None)), reshape=(3, 4))
    /// Layout('f32[3,4]:[4,1]+0')
    /// >>> Layout("f32[4,6]:[6,1]").view(slice=(..., -1)).sizes
    /// (4,)
    #[pyo3(signature = (**steps))]
    fn view(&self, steps: Option<&Bound<'_, PyDict>>) -> PyResult<Layout> {
        let mut layout = Cow::Borrowed(&self.whole);
        for (name, argument) in steps.into_iter().flatten() {
            layout = Cow::Owned(crate::view::step(&name.extract::<String>()?, &argument, &layout)?);
        }
        // The layout is read from its text, so that it is the layout that its text says.
        let text = layout.to_string();
        text.parse().map(Layout::new).map_err(|_| {
            refusal("not_expressible", &format!("no text describes the view, of sizes {:?}", layout.sizes()))
        })
    }

    /// Returns the offset of an index, in elements from the start of the buffer.
    ///
    /// >>> Layout("f32[3,5]{1,0:T(2,2)}").offset((2, 3))
    /// 17
    fn offset(&self, index: Numbers) -> PyResult<u64> {
        Ok(self.values().place(&index.0).map_err(refused)?.offset)
    }

    /// Returns the index that is stored at an offset, or None for padding.
    ///
    /// >>> layout = Layout("f32[3,5]{1,0:T(2,2)}")
    /// >>> layout.index(17), layout.index(14)
    /// ((2, 3), None)
    fn index<'py>(&self, py: Python<'py>, offset: Number) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let index = self.values().index_at(offset.0).map_err(refused)?;
        index.map(|index| PyTuple::new(py, index)).transpose()
    }

    /// Returns the layout in all notations that can express it: "xla", "strides", "axis_order", "onednn",
    /// "cute", "numpy", "directml", "named".
    ///
    /// >>> Layout("f32[2,3]:[5,1]").notations()["xla"]
    /// 'f32[2,3]{1,0:T(5)}'
    fn notations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let texts = PyDict::new(py);
        for line in self.whole.all_notations() {
            if let Ok(text) = &line.text {
                texts.set_item(line.notation.to_string(), text)?;
            }
        }
        Ok(texts)
    }

    /// Returns the picture of the memory as SVG, for notebooks. A large layout is shown by its first corner.
    fn _repr_svg_(&self) -> PyResult<String> {
        let (map, text) = (self.map()?, self.text());
        let whole = Picture::new(map, &text).or_else(|_| Picture::corner(map, &text));
        Ok(whole.map_err(refused)?.to_svg())
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let text = PyString::new(py, &self.text()).repr();
        text.map_or_else(|_| "Layout(..)".to_owned(), |text| format!("Layout({text})"))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let same = |other: &Whole| self.whole.planes().iter().map(key).eq(other.planes().iter().map(key));
        other.cast::<Layout>().is_ok_and(|other| same(&other.get().whole))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for plane in self.whole.planes() {
            (plane.sizes(), plane.any(), plane.reversed(), plane.type_name()).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Copies and pickles are made from the text.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (String,)) {
        (py.get_type::<Layout>().into_any(), (self.text(),))
    }
}
