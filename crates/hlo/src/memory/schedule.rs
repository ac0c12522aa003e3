//! `Schedule`: the order in which a program runs. Called computations are in the places of their calls.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::module::{Module, NONE, place};
use super::role::Role;

/// The time of every instruction that has buffers of its own.
///
/// The order is that of `HloLiveRange` of XLA. A computation that is called by a `while`, a `conditional`, a
/// `call` or the start of an asynchronous operation comes before its first caller. Whatever runs inside one
/// instruction, such as a fusion or the function of a `reduce`, has no time.
#[derive(Debug)]
pub(super) struct Schedule {
    /// The instructions in the order of their times, which count from 0.
    pub(super) order: Vec<u32>,
    /// For each computation the caller that placed it in the schedule.
    placed: Vec<Placed>,
    /// The time at which the asynchronous operation ends that an instruction starts.
    ends: HashMap<u32, u32>,
    /// Starts without operands, as for a SparseCore. An `async-update` brings the operands later, and the
    /// called computation runs from then on.
    deferred: HashSet<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Placed {
    is_entered: bool,
    /// The caller; [`NONE`] for the entry computation.
    caller: u32,
    /// The time of the first instruction.
    start: u32,
    /// The time after the last instruction, which is the time of the caller.
    end: u32,
    /// The start of the asynchronous operation around the computation, if there is one.
    asynchronous: u32,
}

const NOT_PLACED: Placed = Placed { is_entered: false, caller: NONE, start: 0, end: 0, asynchronous: NONE };

/// A computation that is being walked: its number, its next instruction, and whether the calls of that
/// instruction were entered.
struct Frame {
    computation: u32,
    next: u32,
    called: bool,
}

impl Schedule {
    /// The schedule from the entry computation on. Deep nesting uses no call stack. A computation that calls
    /// itself is entered once.
    pub(super) fn new(module: &Module, entry: u32) -> Schedule {
        let mut schedule = Schedule {
            order: Vec::new(),
            placed: vec![NOT_PLACED; module.computations.len()],
            ends: HashMap::new(),
            deferred: (0_u32..).take(module.nodes.len()).filter_map(|id| start_brought_to(module, id)).collect(),
        };
        let mut steps = Vec::new();
        schedule.enter(module, entry, NONE, NONE, &mut steps);
        while let Some(step) = steps.last_mut() {
            let (computation, id) = (step.computation, step.next);
            let Some(found) = module.computations.get(place(computation)) else { break };
            if id >= found.nodes.end {
                if let Some(placed) = schedule.placed.get_mut(place(computation)) {
                    placed.end = now(&schedule.order);
                }
                steps.pop();
                continue;
            }
            if !step.called {
                step.called = true;
                if id == found.nodes.start
                    && let Some(placed) = schedule.placed.get_mut(place(computation))
                {
                    placed.start = now(&schedule.order);
                }
                schedule.enter_called(module, id, computation, &mut steps);
                continue;
            }
            step.called = false;
            step.next = id.saturating_add(1);
            schedule.order.push(id);
        }
        schedule.find_ends(module);
        schedule
    }

    /// Puts the computations that an instruction calls on top of `steps`. The first one to run is on top.
    fn enter_called(&mut self, module: &Module, id: u32, computation: u32, steps: &mut Vec<Frame>) {
        // An update that brings operands runs the computation of its start from here on.
        let id = match start_brought_to(module, id) {
            Some(start) => start,
            None if self.deferred.contains(&id) => return,
            None => id,
        };
        let role = module.role(id);
        let around = self.placed.get(place(computation)).map_or(NONE, |placed| placed.asynchronous);
        let asynchronous = if matches!(role, Role::Start(_)) { id } else { around };
        if !matches!(role, Role::While | Role::Conditional | Role::Call | Role::Start(_)) {
            return;
        }
        let body = (role == Role::While).then(|| Schedule::body(module, id)).flatten();
        let others = module.calls(id).iter().rev().copied().filter(|&called| Some(called) != body);
        // The body of a loop runs after its condition, wherever the text names it.
        for called in body.into_iter().chain(others) {
            self.enter(module, called, id, asynchronous, steps);
        }
    }

    fn enter(&mut self, module: &Module, computation: u32, caller: u32, asynchronous: u32, steps: &mut Vec<Frame>) {
        let Some(found) = module.computations.get(place(computation)) else { return };
        let Some(placed) = self.placed.get_mut(place(computation)) else { return };
        if placed.is_entered || found.nodes.is_empty() {
            return;
        }
        // The times are filled in when the walk reaches the computation.
        *placed = Placed { is_entered: true, caller, asynchronous, ..NOT_PLACED };
        steps.push(Frame { computation, next: found.nodes.start, called: false });
    }

    /// Finds the ends of the asynchronous operations.
    fn find_ends(&mut self, module: &Module) {
        // The start of the asynchronous operation that a value belongs to.
        let mut starts: HashMap<u32, u32> = HashMap::new();
        for (time, &id) in (0_u32..).zip(&self.order) {
            let operand = module.operands(id).first().copied().unwrap_or(NONE);
            match module.role(id) {
                Role::Start(_) if !module.calls(id).is_empty() => {
                    starts.insert(id, id);
                }
                Role::Update => {
                    if let Some(&start) = starts.get(&operand) {
                        starts.insert(id, start);
                    }
                }
                Role::Done(_) => {
                    if let Some(&start) = starts.get(&operand) {
                        self.ends.insert(start, time);
                    }
                }
                _ => {}
            }
        }
    }

    /// The body of a `while`: the called computation that returns the shape of the loop. The condition
    /// returns a `pred[]`.
    pub(super) fn body(module: &Module, id: u32) -> Option<u32> {
        let calls = || module.calls(id).iter().rev().copied();
        let returns = |wanted: &dyn Fn(u32) -> bool| calls().find(|&called| module.root(called).is_some_and(wanted));
        let shape = module.shape_number(id);
        returns(&|root| module.shape_number(root) == shape)
            .or_else(|| returns(&|root| module.parts(root).len() == module.parts(id).len()))
    }

    /// Whether this caller placed the computation in the schedule.
    pub(super) fn is_placed_by(&self, computation: u32, caller: u32) -> bool {
        self.placed.get(place(computation)).is_some_and(|placed| placed.is_entered && placed.caller == caller)
    }

    /// The times of a computation. Its end is the time of its caller.
    pub(super) fn times(&self, computation: u32) -> Range<u32> {
        self.placed.get(place(computation)).map_or(0..0, |placed| placed.start..placed.end)
    }

    /// The computations in the schedule.
    pub(super) fn computations(&self) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.placed).filter(|(_, placed)| placed.is_entered).map(|(computation, _)| computation)
    }

    /// The time until which values of a computation stay in use because it runs beside the instructions after
    /// it.
    pub(super) fn asynchronous_end(&self, computation: u32) -> Option<u32> {
        let start = self.placed.get(place(computation))?.asynchronous;
        self.ends.get(&start).copied()
    }

    /// The number of instructions in the schedule.
    pub(super) fn length(&self) -> u32 {
        now(&self.order)
    }
}

/// The `async-start` without operands that this `async-update` brings operands to.
fn start_brought_to(module: &Module, id: u32) -> Option<u32> {
    let (&start, brought) = module.operands(id).split_first().filter(|_| module.role(id) == Role::Update)?;
    let is_empty = matches!(module.role(start), Role::Start(_)) && module.operands(start).is_empty();
    (is_empty && !brought.is_empty()).then_some(start)
}

fn now(order: &[u32]) -> u32 {
    // There are at most 2^32 instructions, and each is in the order at most once.
    u32::try_from(order.len()).unwrap_or(u32::MAX)
}
