//! Printing shader code as WGSL.
//!
//! The text is meant to be read: constants are literals, parentheses are only where WGSL needs them (it has
//! no precedence between shifts, masks and sums), and nothing is written twice.

use std::fmt::Write;

use super::binding::Access;
use super::compute::ComputeShader;
use super::expression::{BuiltIn, Comparison, Condition, Expr, Node, Op};
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

/// An expression as text.
pub(crate) fn expression(expr: &Expr) -> String {
    let mut text = String::new();
    write_expression(&mut text, expr);
    text
}

/// `expr`, in parentheses if it holds together less tightly than `needed`.
fn write_operand(text: &mut String, expr: &Expr, needed: Binding) {
    if binding(expr) >= needed {
        write_expression(text, expr);
    } else {
        text.push('(');
        write_expression(text, expr);
        text.push(')');
    }
}

fn write_expression(text: &mut String, expr: &Expr) {
    // Writing to a string does not fail.
    let _ = match &*expr.node {
        Node::Constant(value) => write!(text, "{value}u"),
        Node::Variable(variable) => write!(text, "{}", variable.name),
        Node::Uniform(_, name) => write!(text, "uniforms.{name}"),
        Node::BuiltIn(built_in) => write!(text, "{}", built_in_name(*built_in)),
        Node::Binary(Op::Min, a, b) => {
            text.push_str("min(");
            write_expression(text, a);
            text.push_str(", ");
            write_expression(text, b);
            text.push(')');
            Ok(())
        }
        Node::Binary(Op::Xor, a, b) if b.constant() == Some(u32::MAX) => {
            text.push('~');
            write_operand(text, a, Binding::Unary);
            Ok(())
        }
        Node::Binary(op, a, b) => {
            let (sign, own) = operator(*op);
            let (left, right) = match own {
                Binding::Sum => (Binding::Sum, if sign == "+" { Binding::Sum } else { Binding::Product }),
                Binding::Product => (Binding::Product, Binding::Unary),
                _ => (Binding::Unary, Binding::Unary),
            };
            write_operand(text, a, left);
            let _ = write!(text, " {sign} ");
            match b.constant().filter(|&mask| *op == Op::And && mask > 9) {
                Some(mask) => write!(text, "{mask:#x}u"),
                None => {
                    write_operand(text, b, right);
                    Ok(())
                }
            }
        }
        Node::Select { condition, yes, no } => {
            text.push_str("select(");
            write_expression(text, no);
            text.push_str(", ");
            write_expression(text, yes);
            text.push_str(", ");
            write_condition(text, condition);
            text.push(')');
            Ok(())
        }
        Node::Load { name, index, .. } | Node::LoadShared { name, index, .. } => {
            let _ = write!(text, "{name}[");
            write_expression(text, index);
            text.push(']');
            Ok(())
        }
    };
}

fn built_in_name(built_in: BuiltIn) -> String {
    let axis = |axis: usize| ["x", "y", "z"].get(axis).copied().unwrap_or("x");
    match built_in {
        BuiltIn::WorkgroupId(of) => format!("workgroup_id.{}", axis(of)),
        BuiltIn::LocalInvocationIndex => "local_index".to_owned(),
    }
}

/// A condition as text.
pub(crate) fn condition(condition: &Condition) -> String {
    let mut text = String::new();
    write_condition(&mut text, condition);
    text
}

fn write_condition(text: &mut String, condition: &Condition) {
    match condition {
        Condition::True => text.push_str("true"),
        Condition::False => text.push_str("false"),
        Condition::Compare(comparison, a, b) => {
            let sign = match comparison {
                Comparison::Less => "<",
                Comparison::NotLess => ">=",
                Comparison::Equal => "==",
                Comparison::NotEqual => "!=",
            };
            write_operand(text, a, Binding::Sum);
            let _ = write!(text, " {sign} ");
            write_operand(text, b, Binding::Sum);
        }
        Condition::And(pair) => write_both(text, pair, "&&"),
        Condition::Or(pair) => write_both(text, pair, "||"),
    }
}

fn write_both(text: &mut String, (a, b): &(Condition, Condition), sign: &str) {
    for (place, part) in [a, b].into_iter().enumerate() {
        if place > 0 {
            let _ = write!(text, " {sign} ");
        }
        let other = match part {
            Condition::And(_) => sign != "&&",
            Condition::Or(_) => sign != "||",
            _ => false,
        };
        if other {
            text.push('(');
        }
        write_condition(text, part);
        if other {
            text.push(')');
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
    let _ = match statement {
        Statement::Let(variable, value) => writeln!(text, "{indent}let {} = {};", variable.name, expression(value)),
        Statement::Var(variable, value) => writeln!(text, "{indent}var {} = {};", variable.name, expression(value)),
        Statement::Assign(variable, value) => {
            // `x = x + 1` is `x += 1`.
            match &*value.node {
                Node::Binary(op, a, b) if a.node.variable() == Some(&variable.name) && *op != Op::Min => {
                    writeln!(text, "{indent}{} {}= {};", variable.name, operator(*op).0, expression(b))
                }
                _ => writeln!(text, "{indent}{} = {};", variable.name, expression(value)),
            }
        }
        Statement::Store { name, index, value, .. } | Statement::StoreShared { name, index, value, .. } => {
            writeln!(text, "{indent}{name}[{}] = {};", expression(index), expression(value))
        }
        Statement::CopyFour { to, at, from, index } => {
            writeln!(text, "{indent}{}[{}] = {}[{}];", to.name, expression(at), from.name, expression(index))
        }
        Statement::FillFour { to, at, word } => {
            writeln!(text, "{indent}{}[{}] = vec4<u32>({word}u);", to.name, expression(at))
        }
        Statement::If { condition: when, then, otherwise } => {
            let _ = writeln!(text, "{indent}if ({}) {{", condition(when));
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
            let less = condition(&Condition::Compare(Comparison::Less, Expr::from(counter), end.clone()));
            let _ = writeln!(text, "{indent}for (var {name} = {}; {less}; {step}) {{", expression(start));
            statements(text, body, inner);
            writeln!(text, "{indent}}}")
        }
        Statement::Barrier => writeln!(text, "{indent}workgroupBarrier();"),
    };
}

impl ComputeShader {
    /// The text of a module with this one entry point.
    pub(crate) fn wgsl(&self) -> String {
        module(self)
    }
}

/// A whole module with one entry point.
fn module(shader: &ComputeShader) -> String {
    let mut body = String::new();
    statements(&mut body, &shader.body, 1);

    let mut text = String::new();
    if !shader.uniforms.is_empty() {
        text.push_str("struct Uniforms {\n");
        for (name, _) in &shader.uniforms {
            let _ = writeln!(text, "    {name}: u32,");
        }
        text.push_str("}\n\n");
    }
    for buffer in &shader.buffers {
        let access = match buffer.access {
            Access::Read => "read",
            Access::ReadWrite => "read_write",
        };
        let (place, name) = (buffer.place, &buffer.name);
        let element = if buffer.wide { "vec4<u32>" } else { "u32" };
        let _ = writeln!(text, "@group(0) @binding({place}) var<storage, {access}> {name}: array<{element}>;");
    }
    if !shader.uniforms.is_empty() {
        let place = shader.buffers.len();
        let _ = writeln!(text, "@group(0) @binding({place}) var<uniform> uniforms: Uniforms;");
    }
    for array in &shader.shared {
        let _ = writeln!(text, "var<workgroup> {}: array<u32, {}>;", array.name, array.words);
    }
    let [x, y, z] = shader.workgroup_size;
    let size = match (y, z) {
        (1, 1) => format!("{x}"),
        (_, 1) => format!("{x}, {y}"),
        _ => format!("{x}, {y}, {z}"),
    };
    let _ = writeln!(text, "\n@compute @workgroup_size({size})\nfn {}(", shader.name);
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

#[cfg(test)]
mod tests;
