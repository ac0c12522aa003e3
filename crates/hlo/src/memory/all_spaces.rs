//! The peak of all memory spaces together.

use std::collections::HashMap;

use super::live::{Event, LiveMemory};
use super::report::{BufferUse, SpaceUse};
use super::uses::{Use, join};

impl LiveMemory<'_> {
    /// The most that all memory spaces together hold at one time, parameters, results and constants included:
    /// the `peak_memory_in_bytes` of JAX's memory analysis. A copy from one memory to another does not count
    /// twice, because the compiler takes this figure before it places arrays in faster memories.
    ///
    /// ```
    /// use tensor_layout_hlo::Module;
    ///
    /// let dump = "HloModule m, is_scheduled=true
    ///
    /// ENTRY %main (p: f32[256]) -> f32[256] {
    ///   %p = f32[256]{0} parameter(0)
    ///   %a = f32[256]{0:S(1)} sine(%p)
    ///   ROOT %b = f32[256]{0} dot(%a, %p)
    /// }";
    /// let module = Module::read(dump.as_bytes())?;
    /// let memory = module.live_memory().ok_or("no entry computation")?;
    /// assert_eq!((memory.total().peak_bytes, memory.peak_of_all_spaces()), (2048, 3072));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn peak_of_all_spaces(&self) -> u128 {
        let copies = self.copies_between_spaces();
        // Where a copy begins as another one, the first of them counts.
        let original = |buffer: u32| std::iter::successors(Some(buffer), |next| copies.get(next).copied()).last();
        let mut uses: Vec<Use> =
            self.uses.iter().filter_map(|used| Some(Use { buffer: original(used.buffer)?, ..*used })).collect();
        uses.retain(|used| self.buffer(used.buffer).used_as() == BufferUse::Temporary);
        join(&mut uses);
        let fixed = |space: &SpaceUse| {
            space.total.peak_bytes.saturating_sub(space.total.temp_bytes).saturating_add(space.total.constant_bytes)
        };
        let fixed: u128 = self.spaces.iter().map(fixed).sum();
        // As if they were one space.
        let mut events: Vec<Event> = uses.iter().flat_map(|used| Event::of(used, 0)).collect();
        events.sort_unstable();
        self.running(fixed, events).fold(fixed, |most, (_, bytes)| most.max(bytes))
    }

    /// The buffers that only copy (a part of) a buffer of another memory, each with that buffer.
    fn copies_between_spaces(&self) -> HashMap<u32, u32> {
        let mut copies = HashMap::new();
        for &id in &self.schedule.order {
            let opcode = self.module.opcode(id);
            let root = self.module.calls(id).first().and_then(|&called| self.module.root(called));
            let result = match opcode {
                "copy-start" => 0,
                "async-start" if root.is_some_and(|root| matches!(self.module.opcode(root), "slice" | "copy")) => 1,
                _ => continue,
            };
            let Some(part) = self.module.parts(id).at(&[result]) else { continue };
            let copy = self.aliases.buffer_of(self.aliases.part(id, part));
            let source = self.aliases.buffer_of(self.aliases.part(self.module.operand(id, 0), 0));
            if self.buffer(copy).space != self.buffer(source).space && original_is_new(&copies, source, copy) {
                copies.insert(copy, source);
            }
        }
        copies
    }
}

/// Whether a chain of copies that goes on from `source` does not come back to `copy`.
fn original_is_new(copies: &HashMap<u32, u32>, source: u32, copy: u32) -> bool {
    std::iter::successors(Some(source), |next| copies.get(next).copied()).all(|buffer| buffer != copy)
}
