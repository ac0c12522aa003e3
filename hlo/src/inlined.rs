//! `Inlined`: the computations whose instructions have no buffers.

use std::collections::HashSet;
use std::io::{self, BufRead};

use super::instruction::Instruction;
use super::reader::{Reader, Record};

/// The computations that run inside one instruction, such as a fusion's or the one a `reduce`
/// applies: their values live in registers, not in buffers.
///
/// A dump prints a computation before what calls it, so the names take a pass of their own; only they are
/// kept.
///
/// ```
/// use tensor_layout_hlo::{Inlined, Reader, Record};
///
/// let dump = "%fused (x: f32[4]) -> f32[4] {
///   %x = f32[4]{0} parameter(0)
///   ROOT %y = f32[4]{0} sine(%x)
/// }
///
/// ENTRY %main (p: f32[4]) -> f32[4] {
///   %p = f32[4]{0} parameter(0)
///   ROOT %f = f32[4]{0} fusion(%p), kind=kLoop, calls=%fused
/// }";
/// assert!(Inlined::read(dump.as_bytes())?.contains("fused"));
/// // The same from records that are read anyway.
/// let mut inlined = Inlined::default();
/// for record in Reader::new(dump.as_bytes()) {
///     if let Record::Instruction(instruction) = record? {
///         inlined.add(&instruction);
///     }
/// }
/// assert!(inlined.contains("fused") && !inlined.contains("main"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inlined(HashSet<String>);

impl Inlined {
    /// Takes the names from a whole dump.
    ///
    /// # Errors
    ///
    /// What the stream itself fails with.
    pub fn read(dump: impl BufRead) -> io::Result<Inlined> {
        let mut inlined = Inlined::default();
        for record in Reader::new(dump) {
            if let Record::Instruction(instruction) = record? {
                inlined.add(&instruction);
            }
        }
        Ok(inlined)
    }

    /// Takes the names from one instruction, unless it is a `while`, `conditional` or `call`, which run
    /// computations that have buffers of their own. What an asynchronous start wraps is inlined: its result
    /// is already in the tuple of the start.
    pub fn add(&mut self, instruction: &Instruction) {
        if !matches!(instruction.opcode.as_str(), "while" | "conditional" | "call") {
            self.0.extend(instruction.calls.iter().cloned());
        }
    }

    /// Is this computation, named without its `%`, one of them?
    #[must_use]
    pub fn contains(&self, computation: &str) -> bool {
        self.0.contains(computation)
    }
}
