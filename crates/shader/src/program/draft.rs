//! `Draft`: a shader that is being made, with the values of its uniforms.
//!
//! Sizes and strides are literals of the text, or words of the uniform block ([`Sizes`]). A division by a
//! word of the uniform block is written as a multiplication. For a divisor `d` with `2^(s-1) < d <= 2^s` and
//! `m = floor(2^32 (2^s - d) / d) + 1`:
//!
//! ```text
//! n / d = (high_product(n, m) + n) >> s        for every n below 2^31
//! ```
//!
//! (Granlund and Montgomery, *Division by invariant integers using multiplication*, 1994.) The host computes
//! `m` and `s`.

use super::super::code::{Access, Code, ComputeShader, Expr, Memory};
use super::super::profile::Sizes;
use super::gather::small;
use super::grid::{Grid, MOST_BASE};
use super::strided_box::{StridedBox, StridedLoop};

/// A shader whose body is still to be written, and the values of its uniform block. The values follow the
/// words of the [`Grid`].
pub(super) struct Draft {
    pub(super) shader: ComputeShader,
    pub(super) values: Vec<u64>,
    pub(super) sizes: Sizes,
}

/// A loop in the shader's text: its extent, which numbers of iterations are divided by, and its strides.
#[derive(Clone)]
pub(super) struct Step {
    divisor: Divisor,
    source: Expr,
    destination: Expr,
    reversed: bool,
}

/// A divisor: a literal, or words of the uniform block with the multiplier and the shift that replace the
/// division.
#[derive(Clone)]
enum Divisor {
    Constant(u32),
    Number { divisor: Expr, multiplier: Expr, shift: Expr },
}

impl Draft {
    /// Declares the source, unless `read` is `None`, and the destination. `read` and `written` are the
    /// numbers of words of one access to each buffer.
    pub(super) fn new(
        sizes: Sizes,
        invocations: u32,
        read: Option<u32>,
        written: u32,
    ) -> (Draft, Option<Memory>, Memory) {
        let mut shader = ComputeShader::new("relayout", [invocations, 1, 1]);
        let source = read.map(|width| shader.buffer_of("source", Access::Read, width));
        let destination = shader.buffer_of("destination", Access::ReadWrite, written);
        (Draft { shader, values: Vec::new(), sizes }, source, destination)
    }

    pub(super) fn grid(&mut self) -> Grid {
        Grid::new(&mut self.shader)
    }

    /// Declares a word of the uniform block and sets its value.
    pub(super) fn uniform(&mut self, name: &str, value: u64, most: u32) -> Expr {
        self.values.push(value);
        self.shader.uniform(name, most)
    }

    /// Declares a word of the uniform block: the index in its binding at which a tensor begins. The shader
    /// counts words, groups of words, or elements.
    pub(super) fn base(&mut self, name: &str, value: u64) -> Expr {
        let most = if value > MOST_BASE.into() { u32::MAX } else { MOST_BASE };
        self.uniform(name, value, most)
    }

    /// Returns a size or stride: a literal, or a word of the uniform block.
    pub(super) fn number(&mut self, name: &str, value: u64) -> Expr {
        match self.sizes {
            Sizes::Constants => Expr::from(small(value)),
            _ => self.uniform(name, value, u32::MAX),
        }
    }

    pub(super) fn steps(&mut self, steps: &[StridedLoop]) -> Vec<Step> {
        // The outermost loop takes what is left of the number after the divisions, so its extent is not
        // needed.
        steps.iter().enumerate().map(|(place, step)| self.step(place, step, place > 0)).collect()
    }

    /// Declares one loop. `divides` says whether the number of an iteration is divided by the extent of this
    /// loop.
    pub(super) fn step(&mut self, place: usize, step: &StridedLoop, divides: bool) -> Step {
        let mut stride = |side: &str, value: u64| match value {
            // A stride of 1 is a run, and a stride of 0 is a repetition. The shader has other code for them,
            // so they are literals.
            0 | 1 => Expr::from(small(value)),
            _ => self.number(&format!("{side}_{place}"), value),
        };
        let (source, destination) = (stride("source", step.source), stride("destination", step.destination));
        let divisor = if divides { self.divisor(place, step.extent) } else { Divisor::Constant(1) };
        Step { divisor, source, destination, reversed: step.reversed }
    }

    fn divisor(&mut self, place: usize, extent: u64) -> Divisor {
        if self.sizes == Sizes::Constants {
            return Divisor::Constant(small(extent));
        }
        let shift = u64::from(extent.next_power_of_two().trailing_zeros());
        let over = (1_u64 << shift.min(32)).saturating_sub(extent).saturating_mul(1 << 32);
        let multiplier = over.checked_div(extent).unwrap_or(0).saturating_add(1);
        Divisor::Number {
            divisor: self.uniform(&format!("extent_{place}"), extent, u32::MAX),
            multiplier: self.uniform(&format!("multiplier_{place}"), multiplier, u32::MAX),
            shift: self.uniform(&format!("shift_{place}"), shift, 31),
        }
    }
}

impl Divisor {
    /// Writes the division of `number`, and returns the quotient and the remainder.
    fn divide(&self, code: &mut Code, number: Expr) -> (Expr, Expr) {
        match self {
            Divisor::Constant(divisor) => {
                let number = code.bind("number", number);
                (code.bind("rest", &number / *divisor), code.bind("digit", number % *divisor))
            }
            Divisor::Number { divisor, multiplier, shift } => {
                let number = code.bind("number", number);
                let rest = code.bind("rest", (number.clone().high_mul(multiplier) + &number) >> shift);
                let digit = code.bind("digit", number - &rest * divisor);
                (rest, digit)
            }
        }
    }
}

/// Splits the number of an iteration of a loop nest into the step of each loop, the outermost loop first. The
/// extent of the outermost loop is not needed.
pub(super) fn digits(code: &mut Code, number: Expr, steps: &[Step]) -> Vec<Expr> {
    let mut rest = number;
    let mut digits = Vec::with_capacity(steps.len());
    for step in steps.iter().skip(1).rev() {
        let (quotient, digit) = step.divisor.divide(code, rest);
        digits.push(digit);
        rest = quotient;
    }
    digits.extend((!steps.is_empty()).then_some(rest));
    digits.reverse();
    digits
}

impl Step {
    /// Returns the offset on the source after this many steps of the loop.
    pub(super) fn read(&self, start: Expr, steps: &Expr) -> Expr {
        let moved = steps * &self.source;
        if self.reversed { start.wrapping_sub(moved) } else { start + moved }
    }

    /// Returns the offset on the destination after this many steps of the loop.
    pub(super) fn written(&self, start: Expr, steps: &Expr) -> Expr {
        start + steps * &self.destination
    }
}

/// Returns the offset on the source at these steps of the loops.
pub(super) fn read_at(start: Expr, digits: &[Expr], steps: &[Step]) -> Expr {
    digits.iter().zip(steps).fold(start, |sum, (digit, step)| step.read(sum, digit))
}

/// Returns the offset on the destination at these steps of the loops.
pub(super) fn written_at(start: Expr, digits: &[Expr], steps: &[Step]) -> Expr {
    digits.iter().zip(steps).fold(start, |sum, (digit, step)| step.written(sum, digit))
}

/// Returns the offset on the source that the first iteration of a box reads. This is the lowest offset of the
/// box, plus the way to the last step of each reversed loop.
pub(super) fn first_read(base: u64, copy: &StridedBox) -> u64 {
    base.saturating_add(copy.back())
}
