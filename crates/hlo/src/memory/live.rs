//! `LiveMemory`: the buffers of a program, and when each of them is in use.

use std::collections::HashMap;

use tensor_layout::tiled::TpuGeneration;

use super::aliases::Aliases;
use super::assignment::BufferAssignment;
use super::fusion::fusions;
use super::module::{Module, NONE, place};
use super::names::Names;
use super::part::{ArrayFacts, PartKind};
use super::ranges::Ranges;
use super::report::{BufferUse, InstructionPlace, MemoryTotal, SpaceUse};
use super::reuse::reuse_results;
use super::role::Role;
use super::schedule::Schedule;
use super::sharing::share;
use super::uses::{Buffer, Use, all_uses};

/// The buffers of a program, and when each is in use.
///
/// ```
/// use tensor_layout_hlo::{BufferUse, LiveMemory, MemoryTotal, Module};
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
/// let memory: LiveMemory<'_> = module.live_memory().ok_or("no entry computation")?;
/// assert!(memory.is_scheduled() && memory.unknown_operands() == 0);
/// let MemoryTotal { argument_bytes, temp_bytes, peak_bytes, .. } = memory.total();
/// assert_eq!((argument_bytes, temp_bytes, peak_bytes), (1024, 1024, 3072));
///
/// // Where is the peak, and what is alive there?
/// let space = memory.spaces()[0].clone();
/// let peak = space.peak_time.ok_or("no peak")?;
/// let instruction = memory.instruction(peak).ok_or("no instruction")?;
/// println!("{} of {}: {}", peak, memory.instructions(), instruction.instruction);
/// let alive = memory.live_at(space.space, peak);
/// assert_eq!(alive.iter().filter(|buffer| buffer.used_as == BufferUse::Argument).count(), 1);
/// assert!(memory.profile(space.space).iter().any(|&(_, bytes)| bytes == peak_bytes));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct LiveMemory<'a> {
    pub(super) module: &'a Module,
    pub(super) entry: u32,
    pub(super) schedule: Schedule,
    pub(super) aliases: Aliases,
    pub(super) ranges: Ranges,
    /// The entry of a buffer is at the number of the part that represents it ([`Aliases::buffer`]). All other
    /// entries are unused.
    pub(super) buffers: Vec<Buffer>,
    /// The times at which temporaries are in use, sorted by buffer and time. The ranges of one buffer do not
    /// overlap.
    pub(super) uses: Vec<Use>,
    pub(super) spaces: Vec<SpaceUse>,
    pub(super) on_tpu: bool,
    /// For each computation with instructions, the number of its first instruction and its own number, in
    /// ascending order.
    pub(super) computations: Vec<(u32, u32)>,
}

impl Module {
    /// The live ranges of all buffers over the schedule. `None` if the text has no entry computation, for
    /// example because its end is missing.
    ///
    /// The rules are those of XLA's own analyses (`HloAliasAnalysis`, `HloLiveRange`, `HeapSimulator`), as
    /// far as the text shows what they depend on. If the module is not scheduled
    /// ([`is_scheduled`](super::super::ModuleHeader::is_scheduled)), its instructions are assumed to run in
    /// the order of the text.
    #[must_use]
    pub fn live_memory(&self) -> Option<LiveMemory<'_>> {
        self.live_memory_on(None)
    }

    /// The live ranges of all buffers, for a TPU of this generation. Only the sizes of tables of pointers
    /// depend on the generation, which the text does not name. `None` stands for the sizes of v4 and v5e, or
    /// those of v2 and v3 if the text has a tile that only v2 and v3 use.
    ///
    /// ```
    /// use tensor_layout::tiled::TpuGeneration;
    /// use tensor_layout_hlo::Module;
    ///
    /// let dump = "ENTRY %main (p: f32[8,128]) -> (f32[8,128]) {
    ///   %p = f32[8,128]{1,0:T(8,128)} parameter(0)
    ///   ROOT %t = (f32[8,128]{1,0:T(8,128)}) tuple(%p)
    /// }";
    /// let module = Module::read(dump.as_bytes())?;
    /// let results = |generation| module.live_memory_on(generation).map(|memory| memory.total().output_bytes);
    /// assert_eq!((results(None), results(Some(TpuGeneration::V6e))), (Some(4096 + 512), Some(4096 + 32)));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn live_memory_on(&self, generation: Option<TpuGeneration>) -> Option<LiveMemory<'_>> {
        LiveMemory::new(self, generation, None)
    }

    /// The live ranges of all buffers, with the memory of a buffer assignment. The assignment decides which
    /// values share a buffer, the bytes of each, and the totals. The peak is then larger than the sum of the
    /// arrays that are alive at that time ([`SpaceUse::live_bytes`]). The difference is fragmentation and
    /// alignment.
    ///
    /// ```
    /// use tensor_layout_hlo::{BufferAssignment, Module};
    ///
    /// let dump = "HloModule m, is_scheduled=true
    ///
    /// ENTRY %main (p: f32[256]) -> f32[256] {
    ///   %p = f32[256]{0} parameter(0)
    ///   %a = f32[256]{0} reverse(%p), dimensions={0}
    ///   ROOT %b = f32[256]{0} dot(%a, %p)
    /// }";
    /// let assigned = "BufferAssignment:
    /// allocation 0: size 1024, parameter 0, shape |f32[256]| at ShapeIndex {}:
    ///  value: <0 p @0> (size=1024,offset=0): f32[256]{0}
    /// allocation 1: size 1024, maybe-live-out:
    ///  value: <2 b @0> (size=1024,offset=0): f32[256]{0}
    /// allocation 2: size 1536, preallocated-temp:
    ///  value: <1 a @0> (size=1024,offset=512): f32[256]{0}
    /// ";
    /// let (module, assignment) = (Module::read(dump.as_bytes())?, BufferAssignment::read(assigned.as_bytes())?);
    /// let memory = module.live_memory_assigned(None, &assignment).ok_or("no entry computation")?;
    /// let space = &memory.spaces()[0];
    /// assert_eq!((memory.total().peak_bytes, space.live_bytes), (1024 + 1024 + 1536, 3072));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn live_memory_assigned(
        &self,
        generation: Option<TpuGeneration>,
        assignment: &BufferAssignment,
    ) -> Option<LiveMemory<'_>> {
        LiveMemory::new(self, generation, Some(assignment))
    }
}

impl<'a> LiveMemory<'a> {
    fn new(
        module: &'a Module,
        generation: Option<TpuGeneration>,
        assignment: Option<&BufferAssignment>,
    ) -> Option<LiveMemory<'a>> {
        let entry = module.entry()?;
        let schedule = Schedule::new(module, entry);
        let fusions = fusions(module);
        let mut aliases = Aliases::new(module, &schedule, &fusions, entry)?;
        let ranges = Ranges::new(module, &schedule, &aliases, entry);
        let mut sizes = Spaces::of(module, generation);
        if let Some(assignment) = assignment {
            sizes.assigned = aliases.join_assigned(module, &schedule, assignment);
            sizes.numbers.extend(assignment.spaces());
            sizes.numbers.sort_unstable();
            sizes.numbers.dedup();
        } else {
            let names = Names::new(module, &schedule, &mut aliases);
            let mut buffers = buffers_of(module, &schedule, &mut aliases, entry, &sizes);
            if !sizes.on_tpu {
                reuse_results(module, &schedule, &fusions, &names, &mut aliases, &ranges, &buffers);
                buffers = buffers_of(module, &schedule, &mut aliases, entry, &sizes);
            }
            let is_temporary =
                |number: u32| buffers.get(place(number)).is_some_and(|buffer| buffer.used_as() == BufferUse::Temporary);
            share(module, &schedule, &fusions, &ranges, &names, &mut aliases, is_temporary);
        }
        let buffers = buffers_of(module, &schedule, &mut aliases, entry, &sizes);
        let uses = all_uses(&mut aliases, &ranges, |number| {
            let buffer = buffers.get(place(number)).copied().unwrap_or_default();
            buffer.bytes > 0 && buffer.used_as() == BufferUse::Temporary
        });
        let numbered = (0_u32..).zip(&module.computations).filter(|(_, found)| !found.nodes.is_empty());
        let mut computations: Vec<_> = numbered.map(|(number, found)| (found.nodes.start, number)).collect();
        computations.sort_unstable();
        let (spaces, on_tpu) = (Vec::new(), sizes.on_tpu);
        let mut live =
            LiveMemory { module, entry, schedule, aliases, ranges, buffers, uses, spaces, on_tpu, computations };
        live.measure(&sizes, assignment);
        Some(live)
    }
}

/// The facts on which the sizes of buffers depend, besides their shapes.
struct Spaces {
    numbers: Vec<u64>,
    /// Whether the program is for a TPU: a generation was given, or the text is one of a TPU.
    on_tpu: bool,
    /// On a TPU, the size of a table of pointers is rounded up to a multiple of this number of bytes.
    table_block: u64,
    /// For each part with a place in the buffer assignment, its size by the assignment, in bytes.
    assigned: HashMap<u32, u64>,
}

impl Spaces {
    fn of(module: &Module, generation: Option<TpuGeneration>) -> Spaces {
        let mut numbers: Vec<u64> = module.array_facts().iter().map(|array| array.space).collect();
        numbers.push(0);
        numbers.sort_unstable();
        numbers.dedup();
        let has = |test: fn(&ArrayFacts) -> bool| module.array_facts().iter().any(test);
        let table_block = match generation {
            Some(TpuGeneration::V2 | TpuGeneration::V3) => 1024,
            Some(TpuGeneration::V5p | TpuGeneration::V6e | TpuGeneration::V7x) => 32,
            None if has(|array| array.is_early_tpu) => 1024,
            _ => 512,
        };
        let on_tpu = generation.is_some() || module.is_for_tpu();
        Spaces { numbers, on_tpu, table_block, assigned: HashMap::new() }
    }

    /// The size of a table of pointers, in bytes. On a TPU a pointer takes 4 bytes, and the table is rounded
    /// up to whole blocks. Elsewhere a pointer takes 8 bytes.
    fn table(&self, elements: u64) -> u64 {
        if self.on_tpu {
            elements.saturating_mul(4).checked_next_multiple_of(self.table_block).unwrap_or(u64::MAX)
        } else {
            elements.saturating_mul(8)
        }
    }

    /// Returns the size of a part in bytes, and the position of its memory space in `numbers`.
    fn size(&self, module: &Module, kind: PartKind) -> (u64, u32) {
        let (bytes, space) = match kind {
            PartKind::Nothing => (0, 0),
            PartKind::Tuple(elements) => (self.table(elements.into()), 0),
            PartKind::Array(array) => {
                let array = module.array(array);
                (if self.on_tpu { array.padded_bytes } else { array.bytes_without_tiles }, array.space)
            }
        };
        let number = self.numbers.binary_search(&space).ok().and_then(|at| u32::try_from(at).ok());
        (bytes, number.unwrap_or(0))
    }
}

fn buffers_of(module: &Module, schedule: &Schedule, aliases: &mut Aliases, entry: u32, spaces: &Spaces) -> Vec<Buffer> {
    let mut buffers = vec![Buffer::default(); aliases.len()];
    let root = module.root(entry);
    let nodes = module.nodes_of(entry);
    for &id in &schedule.order {
        let role = module.role(id);
        for (part, kind) in module.parts(id).iter() {
            let part = aliases.part(id, part);
            let number = aliases.buffer(part);
            let Some(buffer) = buffers.get_mut(place(number)) else { continue };
            let (bytes, space) = spaces.size(module, kind);
            let bytes = spaces.assigned.get(&part).copied().unwrap_or(bytes);
            if bytes > buffer.bytes {
                (buffer.bytes, buffer.space) = (bytes, space);
            }
            buffer.is_argument |= role == Role::Parameter && nodes.contains(&id);
            buffer.is_result |= root == Some(id);
            buffer.is_constant |= role == Role::Constant;
        }
    }
    buffers
}

/// A time at which a buffer begins to be in use, or is no longer in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    space: u32,
    time: u32,
    begins: bool,
    buffer: u32,
}

impl Event {
    /// Returns the event at the first time of a use, and the event at the time after its last.
    pub(super) fn of(used: &Use, space: u32) -> [Event; 2] {
        let event = |time, begins| Event { space, time, begins, buffer: used.buffer };
        [event(used.start, true), event(used.end.saturating_add(1), false)]
    }
}

impl LiveMemory<'_> {
    pub(super) fn buffer(&self, number: u32) -> Buffer {
        self.buffers.get(place(number)).copied().unwrap_or_default()
    }

    /// Returns the events of all temporaries, or of the temporaries of one space, sorted by space and time.
    /// At one time, ends come before beginnings.
    fn events(&self, only: Option<u32>) -> Vec<Event> {
        let space = |used: &&Use| self.buffer(used.buffer).space;
        let uses = self.uses.iter().filter(|used| only.is_none_or(|only| only == space(used)));
        let mut events: Vec<Event> = uses.flat_map(|used| Event::of(used, space(&used))).collect();
        events.sort_unstable();
        events
    }

    /// Pairs each event with the number of bytes in use after it. The argument is the number before the first
    /// event.
    pub(super) fn running(&self, mut bytes: u128, events: Vec<Event>) -> impl Iterator<Item = (Event, u128)> {
        events.into_iter().map(move |event| {
            let size = u128::from(self.buffer(event.buffer).bytes);
            bytes = if event.begins { bytes.saturating_add(size) } else { bytes.saturating_sub(size) };
            (event, bytes)
        })
    }

    /// Whether temporaries of a space may leave gaps: they have several sizes, and some take the place of
    /// others. Temporaries of less than 1 % of the peak are not counted.
    fn may_have_gaps(&self, spaces: &Spaces, space: &SpaceUse) -> bool {
        let counts = |buffer: &&Buffer| {
            buffer.used_as() == BufferUse::Temporary
                && spaces.numbers.get(place(buffer.space)) == Some(&space.space)
                && u128::from(buffer.bytes).saturating_mul(100) >= space.total.peak_bytes
        };
        let sizes = || self.buffers.iter().filter(counts).map(|buffer| buffer.bytes);
        let all: u128 = sizes().map(u128::from).sum();
        sizes().min() != sizes().max() && all > space.total.temp_bytes
    }

    fn measure(&mut self, spaces: &Spaces, assignment: Option<&BufferAssignment>) {
        let new = |&space: &u64| SpaceUse {
            space,
            total: MemoryTotal::default(),
            live_bytes: 0,
            may_have_gaps: false,
            buffers: 0,
            peak_time: None,
        };
        let mut found: Vec<SpaceUse> = spaces.numbers.iter().map(new).collect();
        for buffer in self.buffers.iter().filter(|buffer| buffer.bytes > 0) {
            let Some(space) = found.get_mut(place(buffer.space)) else { continue };
            let bytes = u128::from(buffer.bytes);
            space.buffers = space.buffers.saturating_add(1);
            let total = &mut space.total;
            let add = |total: &mut u128, counts: bool| *total = total.saturating_add(if counts { bytes } else { 0 });
            add(&mut total.argument_bytes, buffer.is_argument);
            add(&mut total.output_bytes, buffer.is_result);
            add(&mut total.alias_bytes, buffer.is_argument && buffer.is_result);
            add(&mut total.constant_bytes, buffer.used_as() == BufferUse::Constant);
        }
        // One running sum is enough: events are sorted by space, and the sum is 0 again after the last event
        // of a space.
        for (event, now) in self.running(0, self.events(None)) {
            if let Some(space) = found.get_mut(place(event.space))
                && now > space.total.temp_bytes
            {
                space.total.temp_bytes = now;
                space.peak_time = Some(event.time);
            }
        }
        for space in &mut found {
            let total = &mut space.total;
            let outside = total.argument_bytes.saturating_add(total.output_bytes).saturating_sub(total.alias_bytes);
            total.peak_bytes = outside.saturating_add(total.temp_bytes);
            space.live_bytes = total.peak_bytes;
            if let Some(assignment) = assignment {
                *total = assignment.total(space.space);
            } else {
                space.may_have_gaps = self.is_scheduled() && self.may_have_gaps(spaces, space);
            }
        }
        self.spaces = found;
    }

    /// The sizes in the main memory, which is space 0.
    #[must_use]
    pub fn total(&self) -> MemoryTotal {
        self.spaces.first().map(|space| space.total).unwrap_or_default()
    }

    /// The use of each memory space, in ascending order of the spaces' numbers. Space 0 is always the first.
    #[must_use]
    pub fn spaces(&self) -> &[SpaceUse] {
        &self.spaces
    }

    /// An estimate of JAX's `peak_memory_in_bytes`, in bytes. It is the size of the parameters and results in
    /// all memory spaces, the host's included. On a TPU it also has the temporaries of the *one* space whose
    /// temporaries take most (libtpu 0.0.52); XLA's CPU backend counts no temporaries. The number leaves out
    /// fragmentation and the temporaries of other spaces, so it may be below the peak of the main memory.
    /// README.md states its error.
    ///
    /// ```
    /// use tensor_layout_hlo::Module;
    ///
    /// let dump = "HloModule m, is_scheduled=true
    ///
    /// ENTRY %main (p: f32[8,128]) -> f32[8,128] {
    ///   %p = f32[8,128]{1,0:T(8,128)} parameter(0)
    ///   %a = f32[8,128]{1,0:T(8,128)S(1)} sine(%p)
    ///   ROOT %b = f32[8,128]{1,0:T(8,128)} dot(%a, %p)
    /// }";
    /// let module = Module::read(dump.as_bytes())?;
    /// let memory = module.live_memory().ok_or("no entry computation")?;
    /// assert_eq!((memory.total().peak_bytes, memory.reported_peak()), (8192, 12_288));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn reported_peak(&self) -> u128 {
        let outside = |space: &SpaceUse| space.total.peak_bytes.saturating_sub(space.total.temp_bytes);
        let temporaries = self.spaces.iter().map(|space| space.live_bytes.saturating_sub(outside(space)));
        let most = temporaries.max().filter(|_| self.on_tpu).unwrap_or(0);
        self.spaces.iter().map(outside).fold(most, u128::saturating_add)
    }

    /// Whether the program is for a TPU: a generation was given, or the text is one of a TPU
    /// ([`Module::is_for_tpu`]).
    #[must_use]
    pub fn is_for_tpu(&self) -> bool {
        self.on_tpu
    }

    /// Whether the header has `is_scheduled=true`, so that instructions run in the order of the text.
    /// Otherwise the live ranges are only an estimate.
    #[must_use]
    pub fn is_scheduled(&self) -> bool {
        self.module.header.is_scheduled
    }

    /// The number of operands in the schedule whose names are not defined before them. A text that XLA wrote
    /// has none. If there are some, buffers may be in use for longer than the live ranges say.
    #[must_use]
    pub fn unknown_operands(&self) -> u64 {
        let count = |&id: &u32| self.module.operands(id).iter().filter(|&&operand| operand == NONE).count();
        let count: usize = self.schedule.order.iter().map(count).fold(0, usize::saturating_add);
        u64::try_from(count).unwrap_or(u64::MAX)
    }

    /// The number of instructions in the schedule, including those of called computations.
    #[must_use]
    pub fn instructions(&self) -> u32 {
        self.schedule.length()
    }

    /// The instruction that runs at a time. `None` after the end of the schedule.
    #[must_use]
    pub fn instruction(&self, time: u32) -> Option<InstructionPlace> {
        self.schedule.order.get(place(time)).map(|&id| self.place(id))
    }

    /// The bytes in use in a space over time: the time of each change, and the bytes from that time on.
    /// Parameters and results are included. The first entry has time 0.
    #[must_use]
    pub fn profile(&self, space: u64) -> Vec<(u32, u128)> {
        let Some((number, found)) = (0_u32..).zip(&self.spaces).find(|(_, found)| found.space == space) else {
            return Vec::new();
        };
        let fixed = found.total.peak_bytes.saturating_sub(found.total.temp_bytes);
        let mut profile = vec![(0, fixed)];
        for (event, bytes) in self.running(fixed, self.events(Some(number))) {
            match profile.last_mut() {
                Some(last) if last.0 == event.time => last.1 = bytes,
                _ => profile.push((event.time, bytes)),
            }
        }
        profile
    }
}
