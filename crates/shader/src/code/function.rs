//! Shader functions: their parameters are named numbers, and they return a number or a struct.

use std::fmt::Write;

use super::builder::Code;
use super::expression::{Condition, Expr, Variable};
use super::fault::Outcome;
use super::interpret::{Machine, Words};
use super::language::{In, Language, Style};
use super::print::statements;
use super::statement::Block;

/// The value of a field of the struct that a function returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field {
    Number(Expr),
    Truth(Condition),
}

/// A function over `u32`s. Its name and the names of its structs are given when it is printed.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) comment: Vec<String>,
    /// The parameters in order. Parameters such as `at.offset` and `at.below_8` are fields of one struct,
    /// `at`.
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
    pub(crate) fn new(parameters: &[Expr], code: Code, result: Returned) -> Function {
        let (body, slots) = code.into_parts();
        let parameters = parameters.iter().filter_map(|parameter| parameter.node.variable().cloned()).collect();
        Function { comment: Vec::new(), parameters, body, slots, result }
    }

    pub(crate) fn with_comment(mut self, lines: impl IntoIterator<Item = String>) -> Function {
        self.comment.extend(lines);
        self
    }

    /// Runs the function and returns its results: one number, or a number for each field of the struct. A
    /// truth value is returned as 0 or 1.
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

    /// Returns the declaration of the struct that the function returns.
    pub(crate) fn declaration(&self, structure: &str, language: Language) -> String {
        let Returned::Struct(fields) = &self.result else { return String::new() };
        let mut text = format!("struct {structure} {{\n");
        for (name, field) in fields {
            let _ = match (language, field) {
                (Language::Wgsl, Field::Number(_)) => writeln!(text, "    {name}: u32,"),
                (Language::Wgsl, Field::Truth(_)) => writeln!(text, "    {name}: bool,"),
                (Language::Cuda, Field::Number(_)) => writeln!(text, "    unsigned {name};"),
                (Language::Cuda, Field::Truth(_)) => writeln!(text, "    bool {name};"),
            };
        }
        text.push_str(if language == Language::Wgsl { "}\n" } else { "};\n" });
        text
    }

    /// Returns the text of the function with the name `name`. `structure` is the name of the struct that the
    /// function takes or returns, if any. The parameters `first` come before the function's own.
    pub(crate) fn text(&self, language: Language, name: &str, structure: &str, first: &[String]) -> String {
        let style = Style { language, suffix: "" };
        let mut text = String::new();
        for line in &self.comment {
            let _ = writeln!(text, "// {line}");
        }
        let mut parameters = first.to_vec();
        for parameter in &self.parameters {
            let written = match (language, parameter.name.split_once('.')) {
                (Language::Wgsl, Some((whole, _))) => format!("{whole}: {structure}"),
                (Language::Wgsl, None) => format!("{}: u32", parameter.name),
                (Language::Cuda, Some((whole, _))) => format!("const {structure} {whole}"),
                (Language::Cuda, None) => format!("const unsigned {}", parameter.name),
            };
            if !parameters.contains(&written) {
                parameters.push(written);
            }
        }
        let (result, is_struct) = match &self.result {
            Returned::Nothing => (None, false),
            Returned::Number(_) => (Some(language.group(1)), false),
            Returned::Struct(_) => (Some(structure), true),
        };
        let parameters = parameters.join(", ");
        let _ = match language {
            Language::Wgsl => {
                let arrow = result.map_or_else(String::new, |result| format!(" -> {result}"));
                writeln!(text, "fn {name}({parameters}){arrow} {{")
            }
            Language::Cuda => {
                writeln!(text, "static __device__ {} {name}({parameters}) {{", result.unwrap_or("void"))
            }
        };
        statements(&mut text, style, &self.body, 1);
        match &self.result {
            Returned::Nothing => {}
            Returned::Number(result) => {
                let _ = writeln!(text, "    return {};", In(style, result));
            }
            Returned::Struct(fields) => {
                let values = fields.iter().map(|(_, field)| match field {
                    Field::Number(value) => In(style, value).to_string(),
                    Field::Truth(condition) => In(style, condition).to_string(),
                });
                let values = values.collect::<Vec<_>>().join(", ");
                let (open, close) = if language == Language::Wgsl && is_struct { ("(", ")") } else { ("{", "}") };
                let _ = writeln!(text, "    return {structure}{open}{values}{close};");
            }
        }
        text.push_str("}\n");
        text
    }
}
