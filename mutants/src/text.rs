//! The text of a file with all of its mutants, each behind `crate::mutant(number)`.
//!
//! Every operand is written once, so that mutants inside of mutants do not multiply the text. Comments `/*<7*/ .. /*>7*/` are around what a
//! mutant needs: an error of the compiler in there is the mutant's.

use std::ops::Range;

use crate::places::{Kind, Node};

pub fn with_mutants(text: &str, nodes: &[Node]) -> String {
    Writer { text, nodes }.range(0..text.len(), 0)
}

struct Writer<'a> {
    text: &'a str,
    nodes: &'a [Node],
}

fn marked(mutants: &[usize], text: &str) -> String {
    let numbers: Vec<String> = mutants.iter().map(usize::to_string).collect();
    let numbers = numbers.join(",");
    format!("/*<{numbers}*/{text}/*>{numbers}*/")
}

fn on(mutant: usize) -> String {
    format!("crate::mutant({mutant})")
}

/// `if mutant(1) { l - r } else if mutant(2) { l * r } else `
fn choices(others: &[(usize, String)], left: &str, right: &str) -> String {
    let choice = |(mutant, operator): &(usize, String)| {
        format!("if {} {{ {} }} else ", on(*mutant), marked(&[*mutant], &format!("{left} {operator} {right}")))
    };
    others.iter().map(choice).collect()
}

impl Writer<'_> {
    /// A part of the text, with the nodes in it from this one on.
    fn range(&self, bytes: Range<usize>, from: usize) -> String {
        let inside = |&at: &usize| {
            let node = &self.nodes[at].bytes;
            node.start >= bytes.start && node.end <= bytes.end
        };
        let mut nodes: Vec<usize> = (from..self.nodes.len()).filter(inside).collect();
        // Insertions first, then the longest: what lies in a node is written with it.
        nodes.sort_by_key(|&at| {
            let node = &self.nodes[at];
            (node.bytes.start, !node.kind.is_insertion(), std::cmp::Reverse(node.bytes.end), at)
        });
        let (mut out, mut done) = (String::new(), bytes.start);
        for at in nodes {
            let node = &self.nodes[at];
            if node.bytes.start < done {
                continue;
            }
            out.push_str(&self.text[done..node.bytes.start]);
            out.push_str(&self.node(at));
            done = node.bytes.end;
        }
        out.push_str(&self.text[done..bytes.end]);
        out
    }

    fn node(&self, at: usize) -> String {
        let part = |bytes: &Range<usize>| self.range(bytes.clone(), at + 1);
        let numbers = |others: &[(usize, String)]| others.iter().map(|other| other.0).collect::<Vec<_>>();
        match &self.nodes[at].kind {
            Kind::Operator { left, right, operator, others } => {
                // Comparisons borrow what they compare.
                let compares = ["==", "!=", "<", ">", "<=", ">="].contains(&operator.as_str());
                let by = if compares { "&" } else { "" };
                let operands = format!("({by}({}), {by}({}))", part(left), part(right));
                let choices = choices(others, "__l", "__r");
                marked(
                    &numbers(others),
                    &format!("(match {operands} {{ (__l, __r) => {choices}{{ __l {operator} __r }} }})"),
                )
            }
            Kind::Logic { left, right, and, mutant } => {
                let (left, right, goes_on) = (part(left), part(right), if *and { "!=" } else { "==" });
                let switch = on(*mutant);
                let text =
                    format!("(match ({left}) {{ __l => if __l {goes_on} {switch} {{ {right} }} else {{ __l }} }})");
                marked(&[*mutant], &text)
            }
            Kind::Assignment { left, right, operator, others } => {
                let (left, right) = (part(left), part(right));
                let choices = choices(others, &left, "__r");
                let text = format!("{{ match ({right}) {{ __r => {choices}{{ {left} {operator} __r }} }} }}");
                marked(&numbers(others), &text)
            }
            Kind::Unary { operand, operator, mutant } => {
                let (operand, switch) = (part(operand), on(*mutant));
                let text = format!("(match ({operand}) {{ __x => if {switch} {{ __x }} else {{ {operator}__x }} }})");
                marked(&[*mutant], &text)
            }
            Kind::Guard { without, is_true, is_false } => {
                let unless = |mutant: &Option<usize>| mutant.map_or(String::new(), |at| format!("!{} && ", on(at)));
                let or = is_true.map_or(String::new(), |at| format!("{} || ", on(at)));
                let guard = part(&self.nodes[at].bytes);
                let all: Vec<usize> = [*without, *is_true, *is_false].into_iter().flatten().collect();
                marked(&all, &format!("{}({or}{}({guard}))", unless(without), unless(is_false)))
            }
            Kind::Arm { mutant } => marked(&[*mutant], &format!(" if !{}", on(*mutant))),
            Kind::Field { mutant, name, short, base, base_type } => {
                let of_base = match base_type {
                    Some(path) => format!("let __base: {path} = {base}; __base.{name}"),
                    None => format!("({base}).{name}"),
                };
                let value = part(&self.nodes[at].bytes);
                let label = if *short { format!("{name}: ") } else { String::new() };
                let text = format!("if {} {{ {of_base} }} else {{ {value} }}", on(*mutant));
                format!("{label}{}", marked(&[*mutant], &text))
            }
            Kind::Returns { values } => {
                let value = |(mutant, value): &(usize, String)| {
                    marked(&[*mutant], &format!("if {} {{ return {value}; }} ", on(*mutant)))
                };
                values.iter().map(value).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests;
