//! `Role`: what an operation means for memory.

/// How the result of an operation is related to its operands and to the computations it calls.
///
/// The rules are those of XLA's dataflow and alias analyses (`HloDataflowAnalysis`, `AliasInfo`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Parameter,
    Constant,
    GetTupleElement,
    Tuple,
    /// The result is the first operand under another name.
    Forward,
    While,
    Conditional,
    Call,
    Fusion,
    /// Begins an operation that runs beside the next ones. The result holds the operands as its element of
    /// this number; what is called, if anything is, returns element 1.
    Start(usize),
    /// Goes on with one.
    Update,
    /// Ends one: the result is this element of the start's, or all of it.
    Done(Option<usize>),
    /// The result is written over the first operand (and, for several results, each over its own).
    InPlace,
    /// Each element of the result needs only the elements of the operands at its own place.
    Elementwise,
    /// Elementwise, but XLA never writes a copy over what it copies.
    Copy,
    /// Results may be written over the operands at their own position.
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
            _ if ELEMENTWISE.binary_search(&opcode).is_ok() => Role::Elementwise,
            _ if opcode.ends_with("-start") => Role::Start(0),
            _ if opcode.ends_with("-update") => Role::Update,
            _ if opcode.ends_with("-done") => Role::Done(Some(1)),
            _ => Role::Other,
        }
    }

    /// Is every part of the result another name for something that exists already?
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

/// In alphabetical order.
const ELEMENTWISE: [&str; 48] = [
    "abs",
    "add",
    "and",
    "atan2",
    "bitcast-convert",
    "cbrt",
    "ceil",
    "clamp",
    "compare",
    "complex",
    "convert",
    "cosine",
    "count-leading-zeros",
    "divide",
    "erf",
    "exponential",
    "exponential-minus-one",
    "floor",
    "imag",
    "is-finite",
    "log",
    "log-plus-one",
    "logistic",
    "map",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "or",
    "popcnt",
    "power",
    "real",
    "reduce-precision",
    "remainder",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "select",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "sign",
    "sine",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
];

#[cfg(test)]
mod tests;
