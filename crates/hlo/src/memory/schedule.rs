//! `Schedule`: the order in which the instructions of a program run, including those of called computations.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::module::{Module, NONE, place};
use super::role::Role;

/// The time of every instruction whose result has buffers. Times count instructions from 0.
///
/// The order is that of `HloLiveRange` of XLA. A computation that is called by a `while`, a `conditional`, a
/// `call` or the start of an asynchronous operation runs before its first caller. What runs inside one
/// instruction, such as a fusion or the function of a `reduce`, has no time.
#[derive(Debug)]
pub(super) struct Schedule {
    /// The numbers of the instructions, in the order in which they run. The position of an instruction is its
    /// time.
    pub(super) order: Vec<u32>,
    /// For each computation, which caller placed it in the schedule, and at which times it runs.
    placed: Vec<Placed>,
    /// For an instruction that starts an asynchronous operation, the time at which the operation ends.
    ends: HashMap<u32, u32>,
    /// The starts of asynchronous operations without operands, as programs for a SparseCore have them. An
    /// `async-update` brings the operands later, and the called computation runs from then on.
    deferred: HashSet<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Placed {
    is_entered: bool,
    /// The instruction that calls the computation; [`NONE`] for the entry computation.
    caller: u32,
    /// The time of the computation's first instruction.
    start: u32,
    /// The time after the computation's last instruction, which is the time of the caller.
    end: u32,
    /// The start of the asynchronous operation that the computation runs in; [`NONE`] if there is none.
    asynchronous: u32,
}

const NOT_PLACED: Placed = Placed { is_entered: false, caller: NONE, start: 0, end: 0, asynchronous: NONE };

/// A computation that the walk is inside of: its number, its next instruction, and whether the computations
/// that this instruction calls were entered already.
struct Frame {
    computation: u32,
    next: u32,
    called: bool,
}

impl Schedule {
    /// Walks the program from its entry computation. Deep nesting is safe, because the walk keeps a stack of
    /// its own. A computation that calls itself is entered once.
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

    /// Puts the computations that an instruction calls on top of the stack `steps`. The computation that runs
    /// first is on top.
    fn enter_called(&mut self, module: &Module, id: u32, computation: u32, steps: &mut Vec<Frame>) {
        // A computation that was started without operands runs at the update that brings the operands.
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
        // The body of a loop runs after its condition, even if the text names it first. So the body is pushed
        // first.
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

    fn find_ends(&mut self, module: &Module) {
        // For each result of a start or an update, the start of its asynchronous operation.
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

    /// Returns the body of a `while`: the called computation that returns the shape of the loop. The
    /// condition returns a `pred[]`.
    pub(super) fn body(module: &Module, id: u32) -> Option<u32> {
        let calls = || module.calls(id).iter().rev().copied();
        let returns = |wanted: &dyn Fn(u32) -> bool| calls().find(|&called| module.root(called).is_some_and(wanted));
        let shape = module.shape_number(id);
        returns(&|root| module.shape_number(root) == shape)
            .or_else(|| returns(&|root| module.parts(root).len() == module.parts(id).len()))
    }

    /// Whether this caller placed the computation in the schedule, because it is the first that calls it.
    pub(super) fn is_placed_by(&self, computation: u32, caller: u32) -> bool {
        self.placed.get(place(computation)).is_some_and(|placed| placed.is_entered && placed.caller == caller)
    }

    /// The times at which a computation runs. The end of the range is the time of its caller.
    pub(super) fn times(&self, computation: u32) -> Range<u32> {
        self.placed.get(place(computation)).map_or(0..0, |placed| placed.start..placed.end)
    }

    pub(super) fn computations(&self) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.placed).filter(|(_, placed)| placed.is_entered).map(|(computation, _)| computation)
    }

    /// The time until which the values of a computation stay in use, if an asynchronous operation runs it
    /// beside other instructions. `None` for other computations.
    pub(super) fn asynchronous_end(&self, computation: u32) -> Option<u32> {
        let start = self.placed.get(place(computation))?.asynchronous;
        self.ends.get(&start).copied()
    }

    pub(super) fn length(&self) -> u32 {
        now(&self.order)
    }
}

/// Returns the `async-start` without operands that an `async-update` brings operands to. `None` for other
/// instructions.
fn start_brought_to(module: &Module, id: u32) -> Option<u32> {
    let (&start, brought) = module.operands(id).split_first().filter(|_| module.role(id) == Role::Update)?;
    let is_empty = matches!(module.role(start), Role::Start(_)) && module.operands(start).is_empty();
    (is_empty && !brought.is_empty()).then_some(start)
}

fn now(order: &[u32]) -> u32 {
    // The number fits, because there are at most 2^32 instructions and each is in the order at most once.
    u32::try_from(order.len()).unwrap_or(u32::MAX)
}
