//! Printing shader code as WGSL.
//!
//! The text is meant to be read: constants are literals, parentheses are only where WGSL needs them (it has
//! no precedence between shifts, masks and sums), and nothing is written twice.

use std::fmt::{self, Write};
use std::mem::discriminant;

use super::binding::{Access, MemoryKind};
use super::compute::ComputeShader;
use super::expression::{BuiltIn, Comparison, Condition, Expr, Node, Op, Variable};
use super::statement::Statement;

/// How tightly an expression holds together, as far as WGSL orders operators.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    /// Shifts and bit operations: operands of nothing without parentheses.
    Bits,
    Sum,
    Product,
    /// Names, literals, calls.
    Unary,
}

fn operator(op: Op) -> (&'static str, Binding) {
    match op {
        Op::Add | Op::WrappingAdd => ("+", Binding::Sum),
        Op::Sub | Op::WrappingSub => ("-", Binding::Sum),
        Op::Mul => ("*", Binding::Product),
        Op::Div => ("/", Binding::Product),
        Op::Rem => ("%", Binding::Product),
        Op::And => ("&", Binding::Bits),
        Op::Or => ("|", Binding::Bits),
        Op::Xor => ("^", Binding::Bits),
        Op::Shl | Op::WrappingShl => ("<<", Binding::Bits),
        Op::Shr => (">>", Binding::Bits),
        Op::Min => ("min", Binding::Unary),
    }
}

fn binding(expr: &Expr) -> Binding {
    match &*expr.node {
        Node::Binary(Op::Xor, _, ones) if ones.constant() == Some(u32::MAX) => Binding::Unary,
        Node::Binary(op, ..) => operator(*op).1,
        _ => Binding::Unary,
    }
}

/// An expression, in parentheses if it holds together less tightly than this.
struct Operand<'a>(&'a Expr, Binding);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Operand(expr, needed) = self;
        if binding(expr) >= *needed { expr.fmt(f) } else { write!(f, "({expr})") }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.node {
            Node::Constant(value) => write!(f, "{value}u"),
            Node::Variable(variable) => f.write_str(&variable.name),
            Node::Uniform(_, name) => write!(f, "uniforms.{name}"),
            Node::BuiltIn(BuiltIn::WorkgroupId(axis)) => {
                write!(f, "workgroup_id.{}", ["x", "y", "z"].get(*axis).unwrap_or(&"x"))
            }
            Node::BuiltIn(BuiltIn::LocalInvocationIndex) => f.write_str("local_index"),
            Node::Binary(Op::Min, a, b) => write!(f, "min({a}, {b})"),
            Node::Binary(Op::Xor, a, b) if b.constant() == Some(u32::MAX) => {
                write!(f, "~{}", Operand(a, Binding::Unary))
            }
            Node::Binary(op, a, b) => {
                let (sign, own) = operator(*op);
                let (left, right) = match own {
                    Binding::Sum => (Binding::Sum, if sign == "+" { Binding::Sum } else { Binding::Product }),
                    Binding::Product => (Binding::Product, Binding::Unary),
                    _ => (Binding::Unary, Binding::Unary),
                };
                write!(f, "{} {sign} ", Operand(a, left))?;
                match b.constant().filter(|&mask| *op == Op::And && mask > 9) {
                    Some(mask) => write!(f, "{mask:#x}u"),
                    None => Operand(b, right).fmt(f),
                }
            }
            Node::Select { condition, yes, no } => write!(f, "select({no}, {yes}, {condition})"),
            Node::Load(from, index) => write!(f, "{}[{index}]", from.name),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::True => f.write_str("true"),
            Condition::False => f.write_str("false"),
            Condition::Compare(comparison, a, b) => {
                let sign = match comparison {
                    Comparison::Less => "<",
                    Comparison::NotLess => ">=",
                    Comparison::Equal => "==",
                    Comparison::NotEqual => "!=",
                };
                write!(f, "{} {sign} {}", Operand(a, Binding::Sum), Operand(b, Binding::Sum))
            }
            Condition::And(pair) | Condition::Or(pair) => {
                let sign = if let Condition::And(_) = self { "&&" } else { "||" };
                // WGSL does not mix the two without parentheses.
                let part = |part: &Condition| match part {
                    Condition::And(_) | Condition::Or(_) if discriminant(part) != discriminant(self) => {
                        format!("({part})")
                    }
                    _ => part.to_string(),
                };
                write!(f, "{} {sign} {}", part(&pair.0), part(&pair.1))
            }
        }
    }
}

/// Statements, indented by `depth` steps.
pub(crate) fn statements(text: &mut String, block: &[Statement], depth: usize) {
    for statement in block {
        write_statement(text, statement, depth);
    }
}

fn write_statement(text: &mut String, statement: &Statement, depth: usize) {
    let indent = "    ".repeat(depth);
    let inner = depth.saturating_add(1);
    // Writing to a string does not fail.
    let _ = match statement {
        Statement::Let(Variable { name, .. }, value) => writeln!(text, "{indent}let {name} = {value};"),
        Statement::Var(Variable { name, .. }, value) => writeln!(text, "{indent}var {name} = {value};"),
        Statement::Assign(variable, value) => match &*value.node {
            // `x = x + 1` is `x += 1`.
            Node::Binary(op, a, b) if a.node.variable() == Some(variable) && *op != Op::Min => {
                writeln!(text, "{indent}{} {}= {b};", variable.name, operator(*op).0)
            }
            _ => writeln!(text, "{indent}{} = {value};", variable.name),
        },
        Statement::Store { to, index, value } if to.width() > 1 && value.constant().is_some() => {
            writeln!(text, "{indent}{}[{index}] = vec4<u32>({value});", to.name)
        }
        Statement::Store { to, index, value } => writeln!(text, "{indent}{}[{index}] = {value};", to.name),
        Statement::If { condition, then, otherwise } => {
            let _ = writeln!(text, "{indent}if ({condition}) {{");
            statements(text, then, inner);
            if !otherwise.is_empty() {
                let _ = writeln!(text, "{indent}}} else {{");
                statements(text, otherwise, inner);
            }
            writeln!(text, "{indent}}}")
        }
        Statement::For { counter, start, end, step, body } => {
            let name = &counter.name;
            let step = if *step == 1 { format!("{name}++") } else { format!("{name} += {step}u") };
            let less = Condition::Compare(Comparison::Less, Expr::from(counter), end.clone());
            let _ = writeln!(text, "{indent}for (var {name} = {start}; {less}; {step}) {{");
            statements(text, body, inner);
            writeln!(text, "{indent}}}")
        }
        Statement::Barrier => writeln!(text, "{indent}workgroupBarrier();"),
    };
}

impl ComputeShader {
    /// The text of a module with this one entry point.
    pub(crate) fn wgsl(&self) -> String {
        let mut body = String::new();
        statements(&mut body, &self.body, 1);

        let mut text = String::new();
        if !self.uniforms.is_empty() {
            text.push_str("struct Uniforms {\n");
            for (name, _) in &self.uniforms {
                let _ = writeln!(text, "    {name}: u32,");
            }
            text.push_str("}\n\n");
        }
        let mut arrays = String::new();
        for memory in &self.memories {
            let (place, name) = (memory.place, &memory.name);
            let _ = match memory.kind {
                MemoryKind::Buffer { access, wide } => {
                    let access = if access == Access::Read { "read" } else { "read_write" };
                    let element = if wide { "vec4<u32>" } else { "u32" };
                    writeln!(text, "@group(0) @binding({place}) var<storage, {access}> {name}: array<{element}>;")
                }
                MemoryKind::Workgroup(words) => writeln!(arrays, "var<workgroup> {name}: array<u32, {words}>;"),
            };
        }
        if !self.uniforms.is_empty() {
            let place = self.buffers().count();
            let _ = writeln!(text, "@group(0) @binding({place}) var<uniform> uniforms: Uniforms;");
        }
        let [x, y, z] = self.workgroup_size;
        let size = match (y, z) {
            (1, 1) => format!("{x}"),
            (_, 1) => format!("{x}, {y}"),
            _ => format!("{x}, {y}, {z}"),
        };
        let _ = writeln!(text, "{arrays}\n@compute @workgroup_size({size})\nfn {}(", self.name);
        // The expressions are the only place where these names are: no variable gets them.
        for (used, parameter) in [
            ("workgroup_id.", "@builtin(workgroup_id) workgroup_id: vec3<u32>"),
            ("local_index", "@builtin(local_invocation_index) local_index: u32"),
        ] {
            if body.contains(used) {
                let _ = writeln!(text, "    {parameter},");
            }
        }
        let _ = write!(text, ") {{\n{body}}}\n");
        text
    }
}

#[cfg(test)]
mod tests;
