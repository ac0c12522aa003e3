//! Prints shader code as WGSL and as CUDA C++.
//!
//! The text is meant to be read by people. Constants are literals, and no value is written twice. Parentheses
//! are only where readers or compilers need them: WGSL has no precedence between shifts, masks and sums, and
//! few readers know the precedence of C++. Both languages share the syntax of expressions, except names,
//! calls and conditional expressions ([`Language`]).

use std::fmt::{self, Write};
use std::mem::discriminant;

use super::expression::{BuiltIn, Comparison, Condition, Expr, Node, Op, Variable};
use super::language::{In, Language, Style};
use super::statement::Statement;

/// The precedence of an expression's outermost operator, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    /// Shifts and bit operations. As an operand, such an expression always gets parentheses.
    Bits,
    Sum,
    Product,
    /// Names, literals and calls, which need no parentheses.
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
        Op::HighMul => ("high_product", Binding::Unary),
    }
}

fn binding(expr: &Expr) -> Binding {
    match &*expr.node {
        Node::Binary(Op::Xor, _, ones) if ones.constant() == Some(u32::MAX) => Binding::Unary,
        Node::Binary(op, ..) => operator(*op).1,
        _ => Binding::Unary,
    }
}

/// An operand. It is printed in parentheses if its precedence is below the one that is given.
struct Operand<'a>(Style<'a>, &'a Expr, Binding);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Operand(style, expr, needed) = *self;
        if binding(expr) >= needed { In(style, expr).fmt(f) } else { write!(f, "({})", In(style, expr)) }
    }
}

/// Prints the expression as WGSL, for messages to people.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        In(Style::WGSL, self).fmt(f)
    }
}

impl fmt::Display for In<'_, Expr> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let In(style, expr) = *self;
        let language = style.language;
        match &*expr.node {
            Node::Constant(value) => write!(f, "{value}u"),
            Node::Variable(variable) => f.write_str(&variable.name),
            Node::Uniform(_, name) => match language {
                Language::Wgsl => write!(f, "uniforms{}.{name}", style.suffix),
                Language::Cuda => write!(f, "uniforms.{name}"),
            },
            Node::BuiltIn(BuiltIn::WorkgroupId(axis)) => {
                write!(f, "{}.{}", language.workgroup_id(), ["x", "y", "z"].get(*axis).unwrap_or(&"x"))
            }
            Node::BuiltIn(BuiltIn::LocalInvocationIndex) => f.write_str(language.local_index()),
            Node::Binary(op @ (Op::Min | Op::HighMul), a, b) => {
                let function = if *op == Op::Min { "min" } else { language.high_product() };
                write!(f, "{function}({}, {})", In(style, a), In(style, b))
            }
            Node::Binary(Op::Xor, a, b) if b.constant() == Some(u32::MAX) => {
                write!(f, "~{}", Operand(style, a, Binding::Unary))
            }
            Node::Binary(op, a, b) => {
                let (sign, own) = operator(*op);
                let (left, right) = match own {
                    Binding::Sum => (Binding::Sum, if sign == "+" { Binding::Sum } else { Binding::Product }),
                    Binding::Product => (Binding::Product, Binding::Unary),
                    _ => (Binding::Unary, Binding::Unary),
                };
                write!(f, "{} {sign} ", Operand(style, a, left))?;
                match b.constant().filter(|&mask| *op == Op::And && mask > 9) {
                    Some(mask) => write!(f, "{mask:#x}u"),
                    None => Operand(style, b, right).fmt(f),
                }
            }
            Node::Select { condition, yes, no } => {
                let (yes, no, condition) = (In(style, yes), In(style, no), In(style, condition));
                match language {
                    Language::Wgsl => write!(f, "select({no}, {yes}, {condition})"),
                    Language::Cuda => write!(f, "({condition} ? {yes} : {no})"),
                }
            }
            Node::Load(from, index) => write!(f, "{}[{}]", from.called(style), In(style, index)),
        }
    }
}

/// Prints the condition as WGSL, for messages to people.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        In(Style::WGSL, self).fmt(f)
    }
}

impl fmt::Display for In<'_, Condition> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let In(style, condition) = *self;
        match condition {
            Condition::True => f.write_str("true"),
            Condition::False => f.write_str("false"),
            Condition::Compare(comparison, a, b) => {
                let sign = match comparison {
                    Comparison::Less => "<",
                    Comparison::NotLess => ">=",
                    Comparison::Equal => "==",
                    Comparison::NotEqual => "!=",
                };
                write!(f, "{} {sign} {}", Operand(style, a, Binding::Sum), Operand(style, b, Binding::Sum))
            }
            Condition::And(pair) | Condition::Or(pair) => {
                let sign = if let Condition::And(_) = condition { "&&" } else { "||" };
                // WGSL does not allow `&&` and `||` together without parentheses.
                let part = |part: &Condition| match part {
                    Condition::And(_) | Condition::Or(_) if discriminant(part) != discriminant(condition) => {
                        format!("({})", In(style, part))
                    }
                    _ => In(style, part).to_string(),
                };
                write!(f, "{} {sign} {}", part(&pair.0), part(&pair.1))
            }
        }
    }
}

/// Prints statements, indented by `depth` steps.
pub(crate) fn statements(text: &mut String, style: Style<'_>, block: &[Statement], depth: usize) {
    for statement in block {
        write_statement(text, style, statement, depth);
    }
}

fn write_statement(text: &mut String, style: Style<'_>, statement: &Statement, depth: usize) {
    let indent = "    ".repeat(depth);
    let inner = depth.saturating_add(1);
    let language = style.language;
    let declared = |Variable { name, .. }: &Variable, fixed| language.declaration(name, fixed);
    // Writing to a string never fails.
    let _ = match statement {
        Statement::Let(variable, value) => {
            writeln!(text, "{indent}{} = {};", declared(variable, true), In(style, value))
        }
        Statement::Var(variable, value) => {
            writeln!(text, "{indent}{} = {};", declared(variable, false), In(style, value))
        }
        Statement::Assign(variable, value) => match &*value.node {
            // `x = x + 1` is printed as `x += 1`.
            Node::Binary(op, a, b) if a.node.variable() == Some(variable) && !matches!(op, Op::Min | Op::HighMul) => {
                writeln!(text, "{indent}{} {}= {};", variable.name, operator(*op).0, In(style, b))
            }
            _ => writeln!(text, "{indent}{} = {};", variable.name, In(style, value)),
        },
        Statement::Store { to, index, value } => {
            writeln!(text, "{indent}{}[{}] = {};", to.called(style), In(style, index), In(style, value))
        }
        Statement::LoadGroup { name, from, index, .. } => {
            let declared = match language {
                Language::Wgsl => format!("let {name}"),
                Language::Cuda => format!("const {} {name}", language.group(from.width())),
            };
            writeln!(text, "{indent}{declared} = {}[{}];", from.called(style), In(style, index))
        }
        Statement::StoreGroup { to, index, words } => {
            let value = match whole_group(words) {
                Some(name) => name.to_owned(),
                None => {
                    let words: Vec<String> = words.iter().map(|word| In(style, word).to_string()).collect();
                    format!("{}({})", language.make_group(to.width()), words.join(", "))
                }
            };
            writeln!(text, "{indent}{}[{}] = {value};", to.called(style), In(style, index))
        }
        Statement::If { condition, then, otherwise } => {
            let _ = writeln!(text, "{indent}if ({}) {{", In(style, condition));
            statements(text, style, then, inner);
            if !otherwise.is_empty() {
                let _ = writeln!(text, "{indent}}} else {{");
                statements(text, style, otherwise, inner);
            }
            writeln!(text, "{indent}}}")
        }
        Statement::For { counter, start, end, step, body } => {
            let name = &counter.name;
            let step = if *step == 1 { format!("{name}++") } else { format!("{name} += {step}u") };
            let less = Condition::Compare(Comparison::Less, Expr::from(counter), end.clone());
            let (declared, start, less) = (declared(counter, false), In(style, start), In(style, &less));
            let _ = writeln!(text, "{indent}for ({declared} = {start}; {less}; {step}) {{");
            statements(text, style, body, inner);
            writeln!(text, "{indent}}}")
        }
        Statement::Barrier => writeln!(text, "{indent}{};", language.barrier()),
    };
}

/// Returns the name of a loaded group if `words` are all words of that group in order, so that the group is
/// stored as a whole.
fn whole_group(words: &[Expr]) -> Option<&str> {
    let name = |word: &Expr| word.node.variable().map(|variable| variable.name.clone());
    let (first, _) = words.first()?.node.variable()?.name.split_once('.')?;
    let all = words.iter().zip(["x", "y", "z", "w"]);
    all.into_iter()
        .all(|(word, part)| name(word).is_some_and(|name| *name == *format!("{first}.{part}")))
        .then_some(first)
}

#[cfg(test)]
mod tests;
