//! `Module`: all instructions of a dump in little memory.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{self, BufRead};
use std::ops::Range;
use std::sync::Arc;

use crate::header::ModuleHeader;
use crate::instruction::{Instruction, OperandAlias};
use crate::reader::{Reader, Record, UnreadableLine};
use crate::sources::SourceLine;
use tensor_layout::Error;
use tensor_layout::checked;
use tensor_layout::{ArrayShape, Shape};

use super::intern::Interner;
use super::part::{ArrayFacts, Parts};
use super::role::Role;

/// All instructions of a dump, with what the sizes and the live ranges of their buffers depend on.
///
/// The text is read in one pass. An instruction takes about 80 bytes and the bytes of its name. Names of
/// operations, source lines and shapes are stored once each. The values of constants are dropped. A dump may
/// have up to 2^32 instructions.
///
/// ```
/// use tensor_layout_hlo::Module;
///
/// let dump = "HloModule m, is_scheduled=true
///
/// ENTRY %main (p: f32[256]) -> f32[256] {
///   %p = f32[256]{0} parameter(0)
///   %a = f32[256]{0} sine(%p)
///   %b = f32[256]{0} dot(%a, %p)
///   ROOT %c = f32[256]{0} dot(%b, %p)
/// }";
/// let module = Module::read(dump.as_bytes())?;
/// assert_eq!((module.instructions(), module.header().is_scheduled), (4, true));
/// let total = module.live_memory().ok_or("no entry computation")?.total();
/// // `%a` is dead before `%c` is written, and shares the memory of the result; `%b` has its own.
/// assert_eq!((total.argument_bytes, total.output_bytes, total.temp_bytes), (1024, 1024, 1024));
/// assert_eq!(total.peak_bytes, 3072);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Module {
    pub(super) header: ModuleHeader,
    pub(super) nodes: Vec<Node>,
    pub(super) computations: Vec<Computation>,
    names: String,
    operands: Vec<u32>,
    calls: Vec<u32>,
    opcodes: Interner<Box<str>>,
    roles: Vec<Role>,
    op_names: Interner<Box<str>>,
    sources: Interner<SourceLine>,
    shapes: Interner<Shape>,
    parts: Vec<Parts>,
    no_parts: Parts,
    arrays: Interner<ArrayShape>,
    array_facts: Vec<ArrayFacts>,
    /// The instructions with `output_to_operand_aliasing`, in ascending order, each with its entries.
    aliases: Vec<(u32, Vec<OperandAlias>)>,
    /// The number of each computation by its name, including computations that were called but not read yet.
    by_name: HashMap<Arc<str>, u32>,
    open: Scope,
    /// Whether the text ends inside a computation, so that its end is missing.
    is_cut: bool,
    unreadable: u64,
    unreadable_lines: Vec<UnreadableLine>,
}

mod lookup;

/// The number that stands for "no instruction", "no computation", "no part" or "no name".
pub(super) const NONE: u32 = u32::MAX;

/// One instruction. Names, operands and calls of all instructions are in three common lists. A list's entries
/// for an instruction begin where the entries of the instruction before it end, and end at `.._end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    name_end: u32,
    operands_end: u32,
    calls_end: u32,
    opcode: u32,
    shape: u32,
    op_name: u32,
    source: u32,
    line: u32,
    /// For a parameter its number, and for a `get-tuple-element` the element that it takes. For other
    /// instructions it is a flag: see [`Module::is_marked`] and [`Module::is_output_fusion`].
    pub(super) number: u32,
}

#[derive(Debug, Clone)]
pub(super) struct Computation {
    pub(super) name: Arc<str>,
    /// The numbers of the computation's instructions.
    pub(super) nodes: Range<u32>,
    /// The instruction whose result the computation returns; [`NONE`] if there is none.
    pub(super) root: u32,
    pub(super) is_entry: bool,
    /// Whether the computation runs inside one instruction, as the body of a fusion does, so that its values
    /// have no buffers.
    pub(super) is_inlined: bool,
}

/// The computation that is being read, and the names that it has defined so far.
#[derive(Debug, Clone, Default)]
struct Scope {
    computation: Option<(Arc<str>, u32)>,
    hasher: RandomState,
    /// For the hash of a name, the number of the instruction. If two names had the same hash, only the later
    /// instruction would be found. With 64 bits and a secret key this does not happen.
    names: HashMap<u64, u32>,
}

pub(super) fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Module {
    /// The most lines that [`unreadable_lines`](Self::unreadable_lines) returns. Further unreadable lines are
    /// only counted.
    pub const SHOWN: usize = 20;

    /// Reads a whole dump in one pass.
    ///
    /// # Errors
    ///
    /// Returns an error of the stream itself, and [`io::ErrorKind::Other`] for a dump of more than 2^32
    /// instructions.
    pub fn read(dump: impl BufRead) -> io::Result<Module> {
        let mut module = Module::default();
        let mut reader = Reader::new(dump);
        for record in reader.by_ref() {
            module.add(&record?).map_err(io::Error::other)?;
        }
        module.set_header(reader.header().cloned().unwrap_or_default());
        Ok(module)
    }

    /// Sets the header of a module that is filled by [`add`](Module::add).
    ///
    /// ```
    /// use tensor_layout_hlo::{Module, Reader};
    ///
    /// let dump = "HloModule m, is_scheduled=true
    ///
    /// ENTRY %main (p: f32[4]) -> f32[4] {
    ///   ROOT %p = f32[4]{0} parameter(0)
    ///   what is this?
    /// }";
    /// let (mut module, mut reader) = (Module::default(), Reader::new(dump.as_bytes()));
    /// for record in reader.by_ref() {
    ///     module.add(&record?)?;
    /// }
    /// module.set_header(reader.header().cloned().unwrap_or_default());
    /// assert_eq!((module.header().name.as_str(), module.instructions()), ("m", 1));
    /// assert_eq!((module.unreadable(), module.unreadable_lines()[0].line), (1, 5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_header(&mut self, header: ModuleHeader) {
        self.header = header;
    }

    /// Adds a record that a [`Reader`] returned. The records must come in the order of the dump.
    ///
    /// # Errors
    ///
    /// The numbers of instructions, of operands and of bytes of names must not pass 2^32
    /// (`overflow`).
    pub fn add(&mut self, record: &Record) -> Result<(), Error> {
        match record {
            Record::Instruction(instruction) => self.add_instruction(instruction),
            Record::Unreadable(line) => {
                self.unreadable = self.unreadable.saturating_add(1);
                self.is_cut |= line.text.is_empty();
                if self.unreadable_lines.len() < Self::SHOWN {
                    self.unreadable_lines.push(line.clone());
                }
                Ok(())
            }
        }
    }

    fn add_instruction(&mut self, instruction: &Instruction) -> Result<(), Error> {
        const COUNT: &str = "the number of instructions or operands of a dump";
        let id: u32 = checked::narrow(self.nodes.len(), COUNT)?;
        let computation = self.computation(instruction, id)?;
        for operand in &instruction.operands {
            let hash = self.open.hasher.hash_one(operand.as_str());
            self.operands.push(self.open.names.get(&hash).copied().unwrap_or(NONE));
        }
        for name in &instruction.calls {
            let called = self.called(name)?;
            self.calls.push(called);
            if !matches!(instruction.opcode.as_str(), "while" | "conditional" | "call")
                && let Some(called) = self.computations.get_mut(place(called))
            {
                called.is_inlined = true;
            }
        }
        self.names.push_str(&instruction.name);
        if !instruction.operand_aliases.is_empty() {
            self.aliases.push((id, instruction.operand_aliases.clone()));
        }
        let opcode = self.opcodes.number(instruction.opcode.as_str())?;
        if place(opcode) == self.roles.len() {
            self.roles.push(Role::of(&instruction.opcode));
        }
        // On a CPU the library YNN runs some fusions of the kind `kCustom`. Such a fusion may be written over
        // its operands, as a `kLoop` fusion may.
        let is_ynn = instruction.name.starts_with("ynn_fusion");
        let flag = match (instruction.fusion_kind.as_deref(), instruction.custom_call_target.as_deref()) {
            (Some("kCustom"), _) if is_ynn => 1,
            (Some("kLoop" | "kInput"), _) | (_, Some("ConcatBitcast")) => 1,
            (Some("kOutput"), _) => 2,
            _ => 0,
        };
        let node = Node {
            name_end: checked::narrow(self.names.len(), "the bytes of all names in a dump")?,
            operands_end: checked::narrow(self.operands.len(), COUNT)?,
            calls_end: checked::narrow(self.calls.len(), COUNT)?,
            opcode,
            shape: self.shape(&instruction.shape)?,
            op_name: instruction.op_name.as_deref().map_or(Ok(NONE), |name| self.op_names.number(name))?,
            source: instruction.source.as_ref().map_or(Ok(NONE), |source| self.sources.number(source))?,
            line: checked::narrow(instruction.line, "the number of a line")?,
            number: match instruction.number {
                Some(number) => u32::try_from(number).unwrap_or(NONE),
                None => flag,
            },
        };
        self.nodes.push(node);
        self.open.names.insert(self.open.hasher.hash_one(instruction.name.as_str()), id);
        if let Some(computation) = self.computations.get_mut(place(computation)) {
            computation.nodes.end = id.saturating_add(1);
            if instruction.is_root {
                computation.root = id;
            }
        }
        Ok(())
    }

    /// Returns the number of the computation that contains an instruction. It becomes the open computation.
    fn computation(&mut self, instruction: &Instruction, id: u32) -> Result<u32, Error> {
        if let Some((name, number)) = &self.open.computation
            && Arc::ptr_eq(name, &instruction.computation)
        {
            return Ok(*number);
        }
        let name = &instruction.computation;
        let mut number = self.called(name)?;
        // A call refers to the first computation of a name. A second computation of that name gets a new
        // number, so it is never called.
        if self.computations.get(place(number)).is_some_and(|found| !found.nodes.is_empty()) {
            number = self.new_computation(name)?;
        }
        if let Some(computation) = self.computations.get_mut(place(number)) {
            computation.nodes = id..id;
            computation.is_entry = instruction.in_entry;
        }
        self.open.names = HashMap::new();
        self.open.computation = Some((Arc::clone(name), number));
        Ok(number)
    }

    /// Returns the number of a computation by its name. A computation that was not read yet gets a number
    /// too.
    fn called(&mut self, name: &str) -> Result<u32, Error> {
        if let Some(&number) = self.by_name.get(name) {
            return Ok(number);
        }
        let name = Arc::from(name);
        let number = self.new_computation(&name)?;
        self.by_name.insert(name, number);
        Ok(number)
    }

    fn new_computation(&mut self, name: &Arc<str>) -> Result<u32, Error> {
        let number = checked::narrow(self.computations.len(), "the number of computations of a dump")?;
        let name = Arc::clone(name);
        self.computations.push(Computation { name, nodes: 0..0, root: NONE, is_entry: false, is_inlined: false });
        Ok(number)
    }

    fn shape(&mut self, shape: &Shape) -> Result<u32, Error> {
        let number = self.shapes.number(shape)?;
        if place(number) == self.parts.len() {
            self.parts.push(Parts::of(shape, &mut self.arrays)?);
            for array in self.array_facts.len()..self.arrays.len() {
                let array = u32::try_from(array).ok().and_then(|array| self.arrays.get(array));
                self.array_facts.push(array.map(ArrayFacts::of).unwrap_or_default());
            }
        }
        Ok(number)
    }

    /// The header of the module, from the first line of the dump.
    #[must_use]
    pub fn header(&self) -> &ModuleHeader {
        &self.header
    }

    /// The number of instructions in the dump.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        u64::try_from(self.nodes.len()).unwrap_or(u64::MAX)
    }

    /// The number of lines that could not be read.
    #[must_use]
    pub fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// The first lines that could not be read, at most [`SHOWN`](Self::SHOWN).
    #[must_use]
    pub fn unreadable_lines(&self) -> &[UnreadableLine] {
        &self.unreadable_lines
    }
}
