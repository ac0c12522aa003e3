//! `Code`: collects the statements of a function one after the other.

use std::sync::Arc;

use super::binding::Memory;
use super::expression::{Condition, Expr, Variable};
use super::reserved::is_reserved;
use super::statement::{Block, Statement};

/// The statements of a function, and the names that they declare.
///
/// ```text
/// let mut code = Code::new();
/// let word = code.bind("word", group * 256 + local);      // let word = ...;
/// let sum = code.variable("sum", 0, 1000);                // var sum = 0u;
/// code.repeat("i", 0, 8, 1, |code, i| {                   // for (var i = 0u; i < 8u; i++)
///     code.assign(&sum, Expr::from(&sum) + i);
/// });
/// code.store(&buffer, word, &sum);                        // buffer[word] = sum;
/// ```
#[derive(Debug, Clone, Default)]
pub(crate) struct Code {
    block: Block,
    /// The names in use. Beside each name is the last number that was appended to make a new name of it.
    names: Vec<(Arc<str>, u32)>,
    slots: usize,
}

impl Code {
    pub(crate) fn new() -> Code {
        Code::default()
    }

    /// Returns the statements, and the number of slots that the interpreter needs for their variables.
    pub(super) fn into_parts(self) -> (Block, usize) {
        (self.block, self.slots)
    }

    /// Reserves a name, so that no variable gets it.
    pub(crate) fn reserve(&mut self, name: &str) {
        self.names.push((name.into(), 1));
    }

    /// Declares a variable. If another variable or WGSL uses the name, a number is appended to it.
    fn declare(&mut self, name: &str, most: u32) -> Variable {
        let own = match self.names.iter().position(|(asked, _)| **asked == *name) {
            None if !is_reserved(name) => {
                let own: Arc<str> = name.into();
                self.names.push((own.clone(), 1));
                own
            }
            place => self.numbered(name, place),
        };
        let slot = self.slots;
        self.slots = self.slots.saturating_add(1);
        Variable { name: own, slot, most }
    }

    /// Makes a new name by appending the next free number. `place` is the index of `name` in `names`, if it
    /// is there.
    fn numbered(&mut self, name: &str, place: Option<usize>) -> Arc<str> {
        let mut number = place.and_then(|place| self.names.get(place)).map_or(1, |(_, number)| *number);
        loop {
            number = number.saturating_add(1);
            let own: Arc<str> = format!("{name}_{number}").into();
            if self.names.iter().any(|(asked, _)| *asked == own) {
                continue;
            }
            match place.and_then(|place| self.names.get_mut(place)) {
                Some((_, last)) => *last = number,
                None => self.names.push((name.into(), number)),
            }
            self.names.push((own.clone(), 1));
            return own;
        }
    }

    /// Adds a parameter of the function. Its arguments must be at most `most`.
    pub(crate) fn parameter(&mut self, name: &str, most: u32) -> Expr {
        Expr::from(&self.declare(name, most))
    }

    /// Adds `let name = value;` and returns the new name. A constant or a name is returned unchanged.
    pub(crate) fn bind(&mut self, name: &str, value: impl Into<Expr>) -> Expr {
        let value = value.into();
        if value.is_simple() {
            return value;
        }
        let variable = self.declare(name, value.most());
        let bound = Expr::from(&variable);
        self.block.push(Statement::Let(variable, value));
        bound
    }

    /// Adds `var name = value;`. The variable must never hold more than `most`.
    pub(crate) fn variable(&mut self, name: &str, value: impl Into<Expr>, most: u32) -> Variable {
        let variable = self.declare(name, most);
        self.block.push(Statement::Var(variable.clone(), value.into()));
        variable
    }

    pub(crate) fn assign(&mut self, variable: &Variable, value: impl Into<Expr>) {
        self.block.push(Statement::Assign(variable.clone(), value.into()));
    }

    /// Loads 32 bits that begin at bit `shift` of a word, into the variable `name`. If `goes_on` holds at run
    /// time, the upper bits come from the next word. Otherwise they are 0, and the next word is not read.
    pub(crate) fn load_across(
        &mut self,
        name: &str,
        from: &Memory,
        word: &Expr,
        shift: &Expr,
        goes_on: Condition,
    ) -> Expr {
        let bits = self.variable(name, from.at(word) >> shift, u32::MAX);
        self.when(goes_on, |code| {
            let next = from.at(word + 1).wrapping_shl(Expr::from(32) - shift);
            code.assign(&bits, Expr::from(&bits) | next);
        });
        Expr::from(&bits)
    }

    /// Loads the words of the group at `index`. A buffer of width 1 has groups of one word.
    pub(crate) fn load_group(&mut self, name: &str, from: &Memory, index: impl Into<Expr>) -> Vec<Expr> {
        let index = index.into();
        if from.width() == 1 {
            return vec![self.bind(name, from.at(index))];
        }
        let name = self.declare(name, u32::MAX).name;
        let mut word = |part: &str| {
            let slot = self.slots;
            self.slots = self.slots.saturating_add(1);
            Variable { name: format!("{name}.{part}").into(), slot, most: u32::MAX }
        };
        let parts = ["x", "y", "z", "w"].into_iter().take(usize::try_from(from.width()).unwrap_or(4));
        let words: Vec<Variable> = parts.map(&mut word).collect();
        let loaded = words.iter().map(Expr::from).collect();
        self.block.push(Statement::LoadGroup { name, words, from: from.clone(), index });
        loaded
    }

    /// Stores the words of the group at `index`. `words` must have as many words as a group of the buffer.
    pub(crate) fn store_group(&mut self, to: &Memory, index: impl Into<Expr>, words: &[Expr]) {
        let index = index.into();
        match words {
            [word] => self.store(to, index, word),
            _ => self.block.push(Statement::StoreGroup { to: to.clone(), index, words: words.to_vec() }),
        }
    }

    pub(crate) fn store(&mut self, to: &Memory, index: impl Into<Expr>, value: impl Into<Expr>) {
        self.block.push(Statement::Store { to: to.clone(), index: index.into(), value: value.into() });
    }

    /// Adds `if (condition) { .. }`. If the condition is constant, only its branch is added, without an `if`.
    pub(crate) fn when(&mut self, condition: Condition, then: impl FnOnce(&mut Code)) {
        self.when_else(condition, then, |_| {});
    }

    pub(crate) fn when_else(
        &mut self,
        condition: Condition,
        then: impl FnOnce(&mut Code),
        otherwise: impl FnOnce(&mut Code),
    ) {
        match condition {
            Condition::True => then(self),
            Condition::False => otherwise(self),
            condition => {
                let then = self.block_of(then);
                let otherwise = self.block_of(otherwise);
                self.block.push(Statement::If { condition, then, otherwise });
            }
        }
    }

    /// Adds `for (var name = start; name < end; name += step) { .. }`.
    pub(crate) fn repeat(
        &mut self,
        name: &str,
        start: impl Into<Expr>,
        end: impl Into<Expr>,
        step: u32,
        body: impl FnOnce(&mut Code, Expr),
    ) {
        let (start, end) = (start.into(), end.into());
        let counter = self.declare(name, end.most().saturating_sub(1));
        let value = Expr::from(&counter);
        let body = self.block_of(|code| body(code, value));
        self.block.push(Statement::For { counter, start, end, step, body });
    }

    /// Adds `workgroupBarrier();`. All invocations must reach the barrier, so it must not be in a branch that
    /// some do not take.
    pub(crate) fn barrier(&mut self) {
        self.block.push(Statement::Barrier);
    }

    /// Returns the statements that `fill` adds, as a block. Their names stay reserved, so no name hides
    /// another.
    fn block_of(&mut self, fill: impl FnOnce(&mut Code)) -> Block {
        let outer = std::mem::take(&mut self.block);
        fill(self);
        std::mem::replace(&mut self.block, outer)
    }
}
