//! Functions: named numbers in, a number or a struct out.

use std::fmt::Write;

use super::builder::Code;
use super::expression::{Condition, Expr, Variable};
use super::fault::Outcome;
use super::interpret::{Machine, Words};
use super::statement::Block;
use super::wgsl;

/// What a field of a struct holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field {
    Number(Expr),
    Truth(Condition),
}

/// A function over `u32`s. Its name and those of its structs are given when it is printed.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    /// Lines in front of it.
    pub(crate) comment: Vec<String>,
    /// The parameters in order. Those that begin with the same word and a point are the fields of one struct.
    parameters: Vec<Variable>,
    body: Block,
    slots: usize,
    result: Returned,
}

#[derive(Debug, Clone)]
pub(crate) enum Returned {
    Nothing,
    Number(Expr),
    Struct(Vec<(String, Field)>),
}

impl Function {
    /// What `code` does with its parameters, or makes of them.
    pub(crate) fn new(parameters: &[Expr], code: Code, result: Returned) -> Function {
        let (body, slots) = code.into_parts();
        let parameters = parameters.iter().filter_map(|parameter| parameter.node.variable().cloned()).collect();
        Function { comment: Vec::new(), parameters, body, slots, result }
    }

    pub(crate) fn with_comment(mut self, lines: impl IntoIterator<Item = String>) -> Function {
        self.comment.extend(lines);
        self
    }

    /// The results for these arguments: one number, or one for each field, 0 and 1 for truths.
    pub(crate) fn call(&self, arguments: &[u32], buffers: Vec<Words<'_>>) -> Outcome<Vec<u32>> {
        let mut machine = Machine::single(self.slots, buffers);
        for (parameter, &argument) in self.parameters.iter().zip(arguments) {
            machine.set(parameter, 0, argument)?;
        }
        machine.block(&self.body, &[0])?;
        match &self.result {
            Returned::Nothing => Ok(Vec::new()),
            Returned::Number(result) => Ok(vec![machine.value(result, 0)?]),
            Returned::Struct(fields) => fields
                .iter()
                .map(|(_, field)| match field {
                    Field::Number(value) => machine.value(value, 0),
                    Field::Truth(condition) => Ok(u32::from(machine.holds(condition, 0)?)),
                })
                .collect(),
        }
    }

    /// The declaration of the struct that it returns.
    pub(crate) fn declaration(&self, structure: &str) -> String {
        let Returned::Struct(fields) = &self.result else { return String::new() };
        let mut text = format!("struct {structure} {{\n");
        for (name, field) in fields {
            let kind = match field {
                Field::Number(_) => "u32",
                Field::Truth(_) => "bool",
            };
            let _ = writeln!(text, "    {name}: {kind},");
        }
        text.push_str("}\n");
        text
    }

    /// The function under this name; `structure` is the name of the struct that it takes or returns, if any.
    pub(crate) fn wgsl(&self, name: &str, structure: &str) -> String {
        let mut text = String::new();
        for line in &self.comment {
            let _ = writeln!(text, "// {line}");
        }
        let mut parameters: Vec<String> = Vec::new();
        for parameter in &self.parameters {
            let written = match parameter.name.split_once('.') {
                Some((whole, _)) => format!("{whole}: {structure}"),
                None => format!("{}: u32", parameter.name),
            };
            if !parameters.contains(&written) {
                parameters.push(written);
            }
        }
        let arrow = match &self.result {
            Returned::Nothing => String::new(),
            Returned::Number(_) => " -> u32".to_owned(),
            Returned::Struct(_) => format!(" -> {structure}"),
        };
        let _ = writeln!(text, "fn {name}({}){arrow} {{", parameters.join(", "));
        wgsl::statements(&mut text, &self.body, 1);
        match &self.result {
            Returned::Nothing => {}
            Returned::Number(result) => {
                let _ = writeln!(text, "    return {result};");
            }
            Returned::Struct(fields) => {
                let values = fields.iter().map(|(_, field)| match field {
                    Field::Number(value) => value.to_string(),
                    Field::Truth(condition) => condition.to_string(),
                });
                let _ = writeln!(text, "    return {structure}({});", values.collect::<Vec<_>>().join(", "));
            }
        }
        text.push_str("}\n");
        text
    }
}
