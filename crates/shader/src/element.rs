//! Shader code that loads one element from 32-bit words and stores one element into them.

use tensor_layout::Error;
use tensor_layout::element::{DataType, ElementKind};

use super::code::{Access, Code, ComputeShader, Condition, Expr, Function, Language, Memory, Returned};

/// How elements of at most 32 bits are packed in an `array<u32>`. The first element is in the low bits, as in
/// [`crate::element`], and no gaps are between elements, so an element of 6 bits may cross the end of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packing {
    /// The bits of an element, 1 to 32.
    bits: u32,
}

/// The position of an element in the words of a buffer.
struct WordPlace {
    word: Expr,
    /// The bit of the word at which the element begins, counted from the lowest bit.
    shift: Expr,
}

impl Packing {
    pub(crate) fn new(bits: u32) -> Result<Packing, Error> {
        if (1..=32).contains(&bits) {
            Ok(Packing { bits })
        } else {
            Err(Error::unsupported_bits(bits, "1 to 32 bits in a shader"))
        }
    }

    fn is_inside_words(self) -> bool {
        self.bits.is_power_of_two()
    }

    /// The number of whole elements that fit in this many words.
    pub(crate) fn elements(self, words: u64) -> u64 {
        // If the product saturates, the result is still more than any 32-bit offset.
        words.saturating_mul(32).checked_div(self.bits.into()).unwrap_or(0)
    }

    pub(crate) fn is_word(self) -> bool {
        self.bits == 32
    }

    /// A mask of the bits of an element that begins at bit 0 of a word.
    fn mask(self) -> u32 {
        u32::MAX.checked_shr(32_u32.saturating_sub(self.bits)).unwrap_or(0)
    }

    fn place(self, code: &mut Code, offset: &Expr) -> WordPlace {
        // A group is the fewest elements that together fill whole words: 16 elements of 6 bits take 3 words.
        let common = self.bits.trailing_zeros();
        let words = self.bits.checked_shr(common).unwrap_or(1);
        let group = 32_u32.checked_shr(common).unwrap_or(1);
        let start = code.bind(if self.is_inside_words() { "shift" } else { "start" }, offset % group * self.bits);
        let word = offset / group * words + &start / 32;
        WordPlace { word, shift: code.bind("shift", start % 32) }
    }

    /// Whether an element at bit `shift` continues in the next word.
    fn reaches_over(self, shift: &Expr) -> Condition {
        if self.is_inside_words() { Condition::False } else { shift.not_less(33_u32.saturating_sub(self.bits)) }
    }

    pub(crate) fn load(self, code: &mut Code, buffer: &Memory, offset: &Expr) -> Expr {
        let WordPlace { word, shift } = self.place(code, offset);
        if self.is_inside_words() {
            return buffer.at(word) >> shift & self.mask();
        }
        let word = code.bind("word", word);
        code.load_across("field", buffer, &word, &shift, self.reaches_over(&shift)) & self.mask()
    }

    /// Stores the low bits of `value` as the element at an offset, and keeps the other bits of its words.
    pub(crate) fn store(self, code: &mut Code, buffer: &Memory, offset: &Expr, value: Expr) {
        let WordPlace { word, shift } = self.place(code, offset);
        if self.is_word() {
            code.store(buffer, word, value);
            return;
        }
        let (word, mask) = (code.bind("word", word), Expr::from(self.mask()));
        let field = if self.is_inside_words() { value & &mask } else { code.bind("field", value & &mask) };
        let others = buffer.at(&word) & (mask.clone().wrapping_shl(&shift) ^ u32::MAX);
        code.store(buffer, &word, others | field.clone().wrapping_shl(&shift));
        code.when(self.reaches_over(&shift), |code| {
            let next = code.bind("next", word + 1);
            let done = code.bind("done", Expr::from(32) - shift);
            let others = buffer.at(&next) & ((mask >> &done) ^ u32::MAX);
            code.store(buffer, next, others | field >> done);
        });
    }
}

/// The type of an element's value in a language, and the conversions between a value and its bits.
pub(crate) struct Value {
    /// The name of the type: `f32`, `i32` or `u32` in WGSL, `float`, `int` or `unsigned` in CUDA.
    pub(crate) kind: &'static str,
    /// The statements, if any, and the expression that convert `bits` to a value.
    pub(crate) from_bits: (Vec<&'static str>, String),
    /// The statements, if any, and the expression that convert `value` to bits.
    pub(crate) to_bits: (Vec<&'static str>, &'static str),
}

impl Value {
    /// Returns `None` for types that the languages do not have, such as floats of 8 bits.
    pub(crate) fn of(data_type: DataType, language: Language) -> Option<Value> {
        let value = |kind, from_bits: &str, before: &[&'static str], to_bits| {
            Some(Value { kind, from_bits: (Vec::new(), from_bits.to_owned()), to_bits: (before.to_vec(), to_bits) })
        };
        let unsigned = matches!(data_type.kind(), ElementKind::Unsigned | ElementKind::Bool) && data_type.bits() <= 32;
        let signed = data_type.kind() == ElementKind::Signed && data_type.bits() <= 32;
        let bits = data_type.bits();
        match (language, data_type) {
            (Language::Wgsl, DataType::F32) => value("f32", "bitcast<f32>(bits)", &[], "bitcast<u32>(value)"),
            (Language::Cuda, DataType::F32) => value("float", "__uint_as_float(bits)", &[], "__float_as_uint(value)"),
            (Language::Wgsl, DataType::F16) => {
                value("f32", "unpack2x16float(bits).x", &[], "pack2x16float(vec2<f32>(value, 0.0))")
            }
            (Language::Cuda, DataType::F16) => Some(f16_in_cuda()),
            (Language::Wgsl, DataType::BF16) => value(
                "f32",
                "bitcast<f32>(bits << 16u)",
                &[
                    "let bits = bitcast<u32>(value);",
                    "// To the nearest, ties to even; a NaN stays one.",
                    "let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;",
                    "let is_nan = (bits & 0x7fffffffu) > 0x7f800000u;",
                ],
                "select(rounded, (bits >> 16u) | 0x40u, is_nan)",
            ),
            (Language::Cuda, DataType::BF16) => value(
                "float",
                "__uint_as_float(bits << 16u)",
                &[
                    "const unsigned bits = __float_as_uint(value);",
                    "// To the nearest, ties to even; a NaN stays one.",
                    "const unsigned rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;",
                    "const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;",
                ],
                "(is_nan ? (bits >> 16u) | 0x40u : rounded)",
            ),
            (Language::Wgsl, _) if unsigned => value("u32", "bits", &[], "value"),
            (Language::Cuda, _) if unsigned => value("unsigned", "bits", &[], "value"),
            (Language::Wgsl, DataType::S32) => value("i32", "bitcast<i32>(bits)", &[], "bitcast<u32>(value)"),
            (Language::Wgsl, _) if signed => {
                value("i32", &format!("extractBits(bitcast<i32>(bits), 0u, {bits}u)"), &[], "bitcast<u32>(value)")
            }
            (Language::Cuda, _) if signed => {
                let unused = 32_u32.saturating_sub(bits);
                value("int", &format!("(int)(bits << {unused}) >> {unused}"), &[], "(unsigned)value")
            }
            _ => None,
        }
    }
}

/// Converts f16 in CUDA without a header. The bits of a finite f16, moved up by 13, are an f32 that is
/// smaller by a factor of 2^112. Infinities and NaNs are treated apart.
fn f16_in_cuda() -> Value {
    let magnitude = "magnitude >= 0x7c00u ? 0x7f800000u | (magnitude << 13u) \
         : __float_as_uint(__uint_as_float(magnitude << 13u) * 5.192296858534828e33f)";
    let from_bits = format!("__uint_as_float(((bits & 0x8000u) << 16u) | ({magnitude}))");
    let to_bits = vec![
        "const unsigned bits = __float_as_uint(value);",
        "const unsigned magnitude = bits & 0x7fffffffu;",
        "// To the nearest, ties to even. Adding 0.5 rounds what is below the smallest normal number.",
        "const unsigned tiny = __float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3f000000u;",
        "const unsigned normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13u) & 1u)) >> 13u;",
        "const unsigned finite = magnitude < 0x38800000u ? tiny : normal;",
        "const unsigned rounded = magnitude >= 0x477ff000u ? 0x7c00u : finite;",
    ];
    Value {
        kind: "float",
        from_bits: (vec!["const unsigned magnitude = bits & 0x7fffu;"], from_bits),
        to_bits: (to_bits, "((bits >> 16u) & 0x8000u) | (magnitude > 0x7f800000u ? 0x7e00u : rounded)"),
    }
}

/// Returns the buffer that the author of a shader declares, and empty code in which its name is reserved.
fn declared(name: &str) -> (Memory, Code) {
    let mut shader = ComputeShader::new("main", [1, 1, 1]);
    let buffer = shader.buffer(name, Access::ReadWrite);
    (buffer, shader.code())
}

pub(crate) fn load_function(packing: Packing, buffer: &str) -> Function {
    let (buffer, mut code) = declared(buffer);
    let offset = code.parameter("offset", u32::MAX);
    let bits = packing.load(&mut code, &buffer, &offset);
    Function::new(&[offset], code, Returned::Number(bits))
}

pub(crate) fn store_function(packing: Packing, buffer: &str) -> Function {
    let (buffer, mut code) = declared(buffer);
    let (offset, bits) = (code.parameter("offset", u32::MAX), code.parameter("bits", u32::MAX));
    packing.store(&mut code, &buffer, &offset, bits.clone());
    let comment = "One invocation owns a word: no other may write an element of it in the same dispatch.".to_owned();
    let comment = (!packing.is_word()).then_some(comment);
    Function::new(&[offset, bits], code, Returned::Nothing).with_comment(comment)
}
