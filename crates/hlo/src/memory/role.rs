//! `Role`: how the result of an operation shares memory with its operands.

use std::collections::HashSet;
use std::sync::LazyLock;

/// How the memory of an operation's result depends on its operands, and on the computations that it calls.
///
/// The rules are those of XLA's dataflow and alias analyses (`HloDataflowAnalysis`, `AliasInfo`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Parameter,
    Constant,
    GetTupleElement,
    Tuple,
    /// The result is only another name for the first operand.
    Forward,
    While,
    Conditional,
    Call,
    Fusion,
    /// The start of an asynchronous operation, which runs beside the next instructions. The number is the
    /// element of the result that holds the operands. Element 1 is the result of the called computation, if
    /// there is one.
    Start(usize),
    /// A step between the start and the end of an asynchronous operation.
    Update,
    /// The end of an asynchronous operation. The number is the element of the start's result that it returns;
    /// `None` means all of that result.
    Done(Option<usize>),
    /// The result is written over the first operand. If there are several results, each is written over its
    /// own operand.
    InPlace,
    /// An element of the result depends only on the elements of the operands at the same place.
    Elementwise,
    /// An elementwise operation, but XLA never writes a copy over its operand.
    Copy,
    /// Each result may be written over the operand at the same position.
    Sort,
    CustomCall,
    Other,
}

impl Role {
    pub(super) fn of(opcode: &str) -> Role {
        match opcode {
            "parameter" => Role::Parameter,
            "constant" => Role::Constant,
            "get-tuple-element" => Role::GetTupleElement,
            "tuple" => Role::Tuple,
            "bitcast" | "optimization-barrier" | "add-dependency" | "domain" => Role::Forward,
            "while" => Role::While,
            "conditional" => Role::Conditional,
            "call" => Role::Call,
            "fusion" => Role::Fusion,
            "copy-start" => Role::Start(1),
            "all-reduce-start" => Role::Other,
            "send" => Role::Start(0),
            "copy-done" | "recv-done" => Role::Done(Some(0)),
            "all-reduce-done" => Role::Done(None),
            "send-done" => Role::Other,
            "dynamic-update-slice" | "scatter" => Role::InPlace,
            "copy" => Role::Copy,
            "sort" => Role::Sort,
            "custom-call" => Role::CustomCall,
            _ if ELEMENTWISE.contains(opcode) => Role::Elementwise,
            _ if opcode.ends_with("-start") => Role::Start(0),
            _ if opcode.ends_with("-update") => Role::Update,
            _ if opcode.ends_with("-done") => Role::Done(Some(1)),
            _ => Role::Other,
        }
    }

    /// Whether every part of the result is only another name for an existing value.
    pub(super) fn is_name_only(self) -> bool {
        matches!(
            self,
            Role::GetTupleElement
                | Role::Forward
                | Role::While
                | Role::Conditional
                | Role::Call
                | Role::Update
                | Role::Done(_)
        )
    }
}

/// The names of the elementwise operations, except `copy`.
static ELEMENTWISE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "abs add and atan2 bitcast-convert cbrt ceil clamp compare complex convert cosine count-leading-zeros \
     divide erf exponential exponential-minus-one floor imag is-finite log log-plus-one logistic map \
     maximum minimum multiply negate not or popcnt power real reduce-precision remainder \
     round-nearest-afz round-nearest-even rsqrt select shift-left shift-right-arithmetic \
     shift-right-logical sign sine sqrt subtract tan tanh"
        .split(' ')
        .collect()
});

#[cfg(test)]
mod tests;
