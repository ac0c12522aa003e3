//! `IndexFunctions`: the text that the author of a shader includes for one tensor.

use std::fmt::Write;

use tensor_layout::Error;
use tensor_layout::map::{IndexMap, ToIndexMap};

use super::code::{Access, Function, Language, is_reserved};
use super::element::{Packing, Value, load_function, store_function};
use super::index::{Walk, check_range, index_function, number, offset_function};

mod on_cpu;

/// Functions in WGSL or CUDA that compute the offsets of the elements of one tensor, and the same functions
/// on the CPU.
///
/// The text is for including in a shader of your own. With the [name](IndexFunctions::named) `x` it has these
/// functions:
///
/// | function | returns | is added by |
/// |---|---|---|
/// | `x_offset(i0, i1, ..) -> u32` | the offset of an index, in elements | always |
/// | `x_index(offset) -> XIndex` | the index at an offset: `exists`, `i0`, `i1`, .., where `exists` is false for padding | [`with_inverse`](Self::with_inverse) |
/// | `x_walk_1(i0, i1, ..) -> XWalk1`, `x_step_1(at) -> XWalk1` | consecutive offsets along axis 1, by additions alone | [`with_walk`](Self::with_walk) |
/// | `x_load(offset)`, `x_load_at(i0, i1, ..)`, `x_load_bits(offset) -> u32` | an element as `f32`, `i32` or `u32`, or its bits | [`with_access`](Self::with_access) |
/// | `x_store(offset, value)`, `x_store_at(i0, i1, .., value)`, `x_store_bits(offset, bits)` | nothing, and stores one element | [`with_access`](Self::with_access) |
///
/// Without a name the functions are called `offset`, `index`, `walk_1`, and so on.
///
/// * All numbers are `u32`. Divisors are literals, powers of two are shifts and masks, and other divisions
///   are WGSL's own, which are exact for every `u32`. An index must be below its size: nothing checks that.
/// * Any layout will do: strides, tiles, `*`, ragged edges. A layout that needs more than 2^32 offsets is
///   refused. Cut such a layout into views. If only its base is too large, pass the base [with every
///   call](Self::with_base_argument).
/// * The functions can be called on the CPU too: [`offset`](Self::offset), [`index`](Self::index), and so on
///   evaluate the same expressions that the text is printed from.
///
/// ```
/// use tensor_layout::ArrayShape;
/// use tensor_layout_shader::IndexFunctions;
///
/// let shape: ArrayShape = "f32[16,300]{1,0:T(8,128)}".parse()?;
/// let functions = IndexFunctions::new(&shape)?;
/// assert_eq!(
///     functions.wgsl(),
///     "\
/// // The offset of an element of f32[16,300].
/// fn offset(i0: u32, i1: u32) -> u32 {
///     let part0 = (i0 >> 3u) * 3072u + ((i0 & 7u) << 7u);
///     let part1 = ((i1 >> 7u) << 10u) + (i1 & 0x7fu);
///     return part0 + part1;
/// }
/// "
/// );
/// assert_eq!(functions.offset(&[9, 130])?, 3072 + 128 + 1024 + 2);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct IndexFunctions {
    map: IndexMap,
    /// The axes that run backwards.
    reversed: Vec<usize>,
    name: String,
    /// The offset of index 0, in elements, or `None` if the base is an argument of the functions.
    base: Option<u32>,
    offset: Function,
    index: Option<Function>,
    walks: Vec<(usize, Walk)>,
    access: Option<ElementAccess>,
}

#[derive(Debug, Clone)]
struct ElementAccess {
    buffer: String,
    load: Function,
    store: Option<Function>,
}

impl IndexFunctions {
    /// Returns the functions of a layout: `offset` alone, to which the methods below add others.
    ///
    /// # Errors
    ///
    /// The errors of [`ToIndexMap::to_index_map`]; `element_limit` if an offset
    /// does not fit 32 bits, and `size_limit` if an index does not.
    pub fn new(layout: &impl ToIndexMap) -> Result<IndexFunctions, Error> {
        let map = layout.to_index_map()?;
        check_range(&map, 0)?;
        let base = number(map.base())?;
        Self::with_base(map, Some(base))
    }

    /// Returns the functions of a layout with its base as an argument. The base is the first argument of
    /// every function that takes or returns an offset: `offset(base, i0, ..)`. The functions do not contain
    /// the layout's own base, so that base may exceed 32 bits.
    ///
    /// Use these functions for a buffer that is bound in part. A binding that begins `w` elements into the
    /// buffer takes the base `map.base() - w`. A negative base is passed modulo 2^32, because sums of `u32`
    /// wrap. The functions also let one shader run over many slices of one buffer.
    ///
    /// On the CPU the functions are evaluated with base 0.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](IndexFunctions::new), with offsets counted from the base.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    /// use tensor_layout_shader::IndexFunctions;
    ///
    /// let desc = BufferTensorDesc::new(DataType::F32, &[4, 6], Some(&[8, 1]))?.with_base_offset(5_u64 << 32)?;
    /// assert_eq!(IndexFunctions::new(&desc).unwrap_err().code(), "element_limit");
    /// let functions = IndexFunctions::with_base_argument(&desc)?;
    /// assert!(functions.wgsl().contains("fn offset(base: u32, i0: u32, i1: u32) -> u32 {"));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_base_argument(layout: &impl ToIndexMap) -> Result<IndexFunctions, Error> {
        let map = layout.to_index_map()?;
        check_range(&map, map.base())?;
        Self::with_base(map, None)
    }

    fn with_base(map: IndexMap, base: Option<u32>) -> Result<IndexFunctions, Error> {
        let (offset, name, reversed) = (offset_function(&map, base, &[])?, String::new(), Vec::new());
        Ok(IndexFunctions { map, reversed, name, base, offset, index: None, walks: Vec::new(), access: None })
    }

    /// Returns the functions of a tensor whose elements the layout describes from the lowest address on, and
    /// of which these axes run backwards: index 0 of such an axis is stored where the layout has the last
    /// index. Other functions are added afterwards.
    ///
    /// # Errors
    ///
    /// `axis_out_of_range` for an axis that the layout has not.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    /// use tensor_layout_shader::IndexFunctions;
    ///
    /// let rows = BufferTensorDesc::packed(DataType::F32, &[2, 3])?;
    /// let functions = IndexFunctions::new(&rows)?.with_reversed(&[0])?.with_inverse()?;
    /// assert_eq!((functions.offset(&[0, 1])?, functions.index(4)?), (4, Some(vec![0, 1])));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_reversed(mut self, axes: &[usize]) -> Result<IndexFunctions, Error> {
        let rank = self.map.sizes().len();
        if let Some(&axis) = axes.iter().find(|&&axis| axis >= rank) {
            return Err(Error::axis_out_of_range(axis, rank));
        }
        self.offset = offset_function(&self.map, self.base, axes)?;
        self.reversed = axes.to_vec();
        Ok(self)
    }

    /// Returns these functions with a prefix in front of every name. The prefix has letters, digits and
    /// single `_`, and begins with a letter.
    ///
    /// # Errors
    ///
    /// `parse` for any other prefix.
    ///
    /// ```
    /// use tensor_layout::ArrayShape;
    /// use tensor_layout_shader::IndexFunctions;
    ///
    /// let bias: ArrayShape = "f32[16]".parse()?;
    /// let functions = IndexFunctions::new(&bias)?.named("bias")?;
    /// assert!(functions.wgsl().contains("fn bias_offset(i0: u32) -> u32 {"));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn named(mut self, name: &str) -> Result<IndexFunctions, Error> {
        check_name(name)?;
        name.clone_into(&mut self.name);
        Ok(self)
    }

    /// Adds `index`, which returns the index of the element at an offset. The offset may be any `u32`, even
    /// past the end of the buffer, where no element exists.
    ///
    /// Where no element is stored, the fields `i0`, `i1`, .. still are a legal index, so that a read at that
    /// index does no harm.
    ///
    /// # Errors
    ///
    /// `undecided` if strides do not nest and too many indices would have to be tried for an offset.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    /// use tensor_layout_shader::IndexFunctions;
    ///
    /// let desc = BufferTensorDesc::new(DataType::F32, &[4, 6], Some(&[8, 1]))?;
    /// let functions = IndexFunctions::new(&desc)?.with_inverse()?;
    /// assert_eq!(functions.index(17)?.as_deref(), Some(&[2, 1][..]));
    /// assert_eq!(functions.index(14)?, None, "between the rows");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_inverse(mut self) -> Result<IndexFunctions, Error> {
        self.index = Some(index_function(&self.map, self.base, &self.reversed)?);
        Ok(self)
    }

    /// Adds `walk_N` and `step_N` for axis `N`, for a loop over that axis without a division in it.
    ///
    /// ```wgsl
    /// var at = x_walk_1(row, 0u);
    /// for (var i = 0u; i < 300u; i++) {
    ///     sum += x_load(at.offset);
    ///     at = x_step_1(at);
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// `axis_out_of_range`; `not_expressible` for an Irreducible layout,
    /// and for an axis that is joined with later axes (`*`): no strides describe such an axis.
    ///
    /// ```
    /// use tensor_layout::ArrayShape;
    /// use tensor_layout_shader::IndexFunctions;
    ///
    /// let tiled: ArrayShape = "f32[4,7]{1,0:T(2,4)}".parse()?;
    /// let functions = IndexFunctions::new(&tiled)?.with_walk(1)?;
    /// // On the CPU: all offsets of a walk. The last three columns are in the next tile.
    /// assert_eq!(functions.walk(1, &[1, 0])?, [4, 5, 6, 7, 12, 13, 14]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_walk(mut self, axis: usize) -> Result<IndexFunctions, Error> {
        let walk = self.new_walk(axis)?;
        self.walks.retain(|(known, _)| *known != axis);
        self.walks.push((axis, walk));
        Ok(self)
    }

    fn new_walk(&self, axis: usize) -> Result<Walk, Error> {
        match self.reversed.first() {
            None => Walk::new(&self.map, axis, self.base),
            Some(reversed) => {
                let reason = format!("axis {reversed} runs backwards, and a walk adds strides");
                Err(Error::not_expressible("walk", reason))
            }
        }
    }

    /// Adds functions that load elements from the variable `buffer`, an `array<u32>`. With
    /// [`Access::ReadWrite`] it also adds functions that store elements. You declare the variable: `@group(0)
    /// @binding(0) var<storage, read> buffer: array<u32>;`.
    ///
    /// `load` and `store` take and return values: `f32` (for f32, f16 and bf16), `i32` and `u32`. For types
    /// without a WGSL type, such as floats of 8 bits, only the functions over bits exist. bf16 is rounded to
    /// the nearest, ties to even. For f16, WGSL leaves the rounding to the device, and the result for a value
    /// past the largest f16 is indeterminate.
    ///
    /// # Who owns a word
    ///
    /// A store of less than 32 bits reads its word, changes its own bits and writes the word back. **No other
    /// invocation may write any element of that word in the same dispatch**, or one of the two stores is
    /// lost. So give each invocation whole words: two neighbours of f16 in rows of even length, four
    /// neighbours of bytes. The elements of word `w` are at offsets `w * n` to `w * n + n - 1`, where `n` is
    /// 32 divided by the bits of an element, and `index` says which elements these are. (An element of 6 bits
    /// may lie in two words, and its invocation must own both words.)
    ///
    /// # Errors
    ///
    /// `unsupported_element_bits` for elements of more than 32 bits;
    /// `parse` if `buffer` is not a legal name.
    ///
    /// ```
    /// use tensor_layout::{BufferTensorDesc, DataType};
    /// use tensor_layout_shader::{Access, IndexFunctions};
    ///
    /// let desc = BufferTensorDesc::new(DataType::U4, &[16], None)?;
    /// let functions = IndexFunctions::new(&desc)?.with_access("nibbles", Access::ReadWrite)?;
    /// assert!(functions.wgsl().contains("return (nibbles[offset >> 3u] >> shift) & 0xfu;"));
    /// // On the CPU, for the words of a buffer.
    /// let mut words = [0x7654_3210, 0xfedc_ba98];
    /// assert_eq!(functions.load_bits(&words, 9)?, 9);
    /// functions.store_bits(&mut words, 9, 0)?;
    /// assert_eq!(words, [0x7654_3210, 0xfedc_ba08]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_access(mut self, buffer: &str, access: Access) -> Result<IndexFunctions, Error> {
        check_name(buffer)?;
        if is_reserved(buffer) {
            return Err(Error::parse(
                buffer.to_owned(),
                1,
                "a name that WGSL does not reserve".to_owned(),
                format!("`{buffer}`"),
            ));
        }
        let packing = Packing::new(self.map.element_bits())?;
        let store = (access == Access::ReadWrite).then(|| store_function(packing, buffer));
        self.access = Some(ElementAccess { buffer: buffer.to_owned(), load: load_function(packing, buffer), store });
        Ok(self)
    }

    /// The layout that the functions were made for.
    #[must_use]
    pub fn map(&self) -> &IndexMap {
        &self.map
    }

    /// Returns the functions as WGSL.
    #[must_use]
    pub fn wgsl(&self) -> String {
        self.text(Language::Wgsl)
    }

    /// Returns the functions as CUDA C++: `__device__` functions with the same names, which compile without
    /// any header. The functions that read or write elements take the buffer, a `const unsigned*` or an
    /// `unsigned*`, as their first argument.
    ///
    /// ```
    /// use tensor_layout::ArrayShape;
    /// use tensor_layout_shader::{Access, IndexFunctions};
    ///
    /// let weights: ArrayShape = "bf16[64,300]{1,0:T(8,128)(2,1)}".parse()?;
    /// let functions = IndexFunctions::new(&weights)?.with_access("words", Access::Read)?;
    /// let text = functions.cuda();
    /// assert!(text.contains("static __device__ unsigned offset(const unsigned i0, const unsigned i1) {"));
    /// assert!(text.contains("static __device__ float load(const unsigned* words, const unsigned offset) {"));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn cuda(&self) -> String {
        self.text(Language::Cuda)
    }

    fn text(&self, language: Language) -> String {
        let plain = |function: &Function, name: &str, structure: &str| {
            function.text(language, &self.called(name), structure, &[])
        };
        let mut parts = vec![plain(&self.offset, "offset", "")];
        if let Some(index) = &self.index {
            let structure = self.structure("Index");
            parts.push(index.declaration(&structure, language));
            parts.push(plain(index, "index", &structure));
        }
        for (axis, walk) in &self.walks {
            let structure = self.structure(&format!("Walk{axis}"));
            parts.push(walk.start.declaration(&structure, language));
            parts.push(plain(&walk.start, &format!("walk_{axis}"), &structure));
            parts.push(plain(&walk.step, &format!("step_{axis}"), &structure));
        }
        if let Some(access) = &self.access {
            self.write_access(access, language, &mut parts);
        }
        parts.join("\n")
    }

    /// Returns the name of a function with the prefix of this tensor: `x_offset`.
    fn called(&self, what: &str) -> String {
        if self.name.is_empty() { what.to_owned() } else { format!("{}_{what}", self.name) }
    }

    /// Returns the name of a struct with the prefix of this tensor: `XIndex`.
    fn structure(&self, what: &str) -> String {
        let words = self.name.split('_').map(|word| {
            let mut letters = word.chars();
            letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
        });
        words.chain([what.to_owned()]).collect()
    }

    fn write_access(&self, access: &ElementAccess, language: Language, parts: &mut Vec<String>) {
        let (offset, load_bits) = (self.called("offset"), self.called("load_bits"));
        let mut indices: Vec<String> = self.base.is_none().then(|| "base".to_owned()).into_iter().collect();
        indices.extend((0..self.map.sizes().len()).map(|dim| format!("i{dim}")));
        let write = |function: &Function, name: &str, constant: &str| match language {
            Language::Wgsl => function.text(language, name, "", &[]),
            Language::Cuda => function.text(language, name, "", &[format!("{constant}unsigned* {}", access.buffer)]),
        };
        parts.push(write(&access.load, &load_bits, "const "));
        let call = Call { language, buffer: &access.buffer };
        let value = Value::of(self.map.data_type(), language);
        if let Some(Value { kind, from_bits: (before, from_bits), .. }) = &value {
            let (load, load_at) = (self.called("load"), self.called("load_at"));
            let bits = language.declare("bits", &call.of(&load_bits, "offset"));
            let lines: Vec<&str> = [bits.as_str()].into_iter().chain(before.iter().copied()).collect();
            parts.push(call.function(kind, &load, &["offset"], "const ", &lines, Some(from_bits)));
            let result = call.of(&load, &format!("{offset}({})", indices.join(", ")));
            let names: Vec<&str> = indices.iter().map(String::as_str).collect();
            parts.push(call.function(kind, &load_at, &names, "const ", &[], Some(&result)));
        }
        let Some(store) = &access.store else { return };
        let store_bits = self.called("store_bits");
        parts.push(write(store, &store_bits, ""));
        if let Some(Value { kind, to_bits: (before, bits), .. }) = &value {
            let (store, store_at) = (self.called("store"), self.called("store_at"));
            let stored = format!("{};", call.of(&store_bits, &format!("offset, {bits}")));
            let lines: Vec<&str> = before.iter().copied().chain([stored.as_str()]).collect();
            let value = format!("value: {kind}");
            parts.push(call.function("", &store, &["offset", &value], "", &lines, None));
            let stored = format!("{};", call.of(&store, &format!("{offset}({}), value", indices.join(", "))));
            let names: Vec<&str> = indices.iter().map(String::as_str).chain([value.as_str()]).collect();
            parts.push(call.function("", &store_at, &names, "", &[&stored], None));
        }
    }
}

/// Writes the functions that read or write a buffer, and calls of these functions.
struct Call<'a> {
    language: Language,
    buffer: &'a str,
}

impl Call<'_> {
    /// Returns the text of a call. In CUDA the buffer is the first argument.
    fn of(&self, name: &str, arguments: &str) -> String {
        match self.language {
            Language::Wgsl => format!("{name}({arguments})"),
            Language::Cuda => format!("{name}({}, {arguments})", self.buffer),
        }
    }

    /// Returns the text of a function. A parameter is a `u32` unless its type is written after its name.
    /// `kind` is the type of the result, or empty if nothing is returned.
    fn function(
        &self,
        kind: &str,
        name: &str,
        parameters: &[&str],
        constant: &str,
        lines: &[&str],
        result: Option<&str>,
    ) -> String {
        let parameters = parameters.iter().map(|parameter| match (self.language, parameter.split_once(": ")) {
            (Language::Wgsl, Some(_)) => (*parameter).to_owned(),
            (Language::Wgsl, None) => format!("{parameter}: u32"),
            (Language::Cuda, Some((name, kind))) => format!("const {kind} {name}"),
            (Language::Cuda, None) => format!("const unsigned {parameter}"),
        });
        let mut text = match self.language {
            Language::Wgsl => {
                let parameters = parameters.collect::<Vec<_>>().join(", ");
                let arrow = if kind.is_empty() { String::new() } else { format!(" -> {kind}") };
                format!("fn {name}({parameters}){arrow} {{\n")
            }
            Language::Cuda => {
                let buffer = [format!("{constant}unsigned* {}", self.buffer)];
                let parameters = buffer.into_iter().chain(parameters).collect::<Vec<_>>().join(", ");
                let kind = if kind.is_empty() { "void" } else { kind };
                format!("static __device__ {kind} {name}({parameters}) {{\n")
            }
        };
        for line in lines {
            let _ = writeln!(text, "    {line}");
        }
        if let Some(result) = result {
            let _ = writeln!(text, "    return {result};");
        }
        text.push_str("}\n");
        text
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    let wrong = |(place, c): &(usize, char)| {
        let fits = if *place == 0 { c.is_ascii_alphabetic() } else { c.is_ascii_alphanumeric() || *c == '_' };
        !fits || name.get(*place..).is_some_and(|rest| rest.starts_with("__"))
    };
    let wrong = name.char_indices().find(wrong).map(|(place, c)| (place, format!("`{c}`")));
    match wrong.or_else(|| name.is_empty().then(|| (0, "nothing".to_owned()))) {
        None => Ok(()),
        Some((place, found)) => Err(Error::parse(
            name.to_owned(),
            place.saturating_add(1),
            "a name of letters, digits and single `_`, a letter first".to_owned(),
            found,
        )),
    }
}
