//! `Plan`: the outputs of a recipe for one model, each with its layout and its copies.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use tensor_layout_text::Layout;
use tensor_layout_text::rule::Rule;

use super::form::{Copy, Form};
use crate::error::printable;
use crate::{File, Tensor};

/// What a plan is made for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The rule of the outputs whose lines end without a rule. Blocks stay packed, unless this rule is the
    /// name of one of their repacked layouts.
    pub to: Rule,
    /// The rank for which `shard` takes its share, counted from 0, and the number of ranks.
    pub rank: Option<(u64, u64)>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { to: Rule::Packed, rank: None }
    }
}

impl Settings {
    /// Returns the settings for one of `ranks` ranks, counted from 0.
    #[must_use]
    pub fn of_rank(rank: u64, ranks: u64) -> Settings {
        Settings { rank: Some((rank, ranks)), ..Settings::default() }
    }
}

/// The outputs of a recipe for one model.
#[derive(Debug)]
pub struct Plan<'f> {
    pub(super) file: &'f File,
    pub(super) tensors: Vec<Tensor<'f>>,
    pub(super) outputs: Vec<Output>,
    pub(super) unused: Vec<usize>,
    pub(super) forms: usize,
}

/// A new tensor of a [`Plan`].
#[derive(Debug)]
pub struct Output {
    pub(super) name: String,
    pub(super) sources: Vec<usize>,
    pub(super) form: Arc<Form>,
    /// The position of the output's line in the text of the recipe, in bytes.
    pub(super) at: usize,
}

impl Output {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The layout.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.form.layout
    }

    /// The size in bytes, with the padding of the layout.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.form.bytes
    }

    /// The size of the elements that are read, in bytes.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.form.read
    }

    /// The copies. Together they write each element once, and none reads what another writes.
    pub fn copies(&self) -> impl Iterator<Item = &Copy> {
        self.form.windows.iter().flat_map(|window| &window.copies)
    }
}

impl<'f> Plan<'f> {
    /// The outputs, in the order of the lines and of their numbers.
    #[must_use]
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The sources of an output, in the order of its line.
    pub fn sources(&self, output: &Output) -> impl Iterator<Item = Tensor<'f>> {
        output.sources.iter().filter_map(|&source| self.tensors.get(source).copied())
    }

    /// The number of different plans of outputs. Outputs of one line whose sources have equal layouts share a
    /// plan.
    #[must_use]
    pub fn forms(&self) -> usize {
        self.forms
    }

    /// Returns a sentence about the sources that no line uses. `None` if all are used.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let first = self.tensors.get(*self.unused.first()?)?;
        let more = match self.unused.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all.saturating_sub(1)),
        };
        Some(format!("no line of the recipe uses `{}`{more}", printable(first.name())))
    }

    /// The bytes that all copies read, and those of all outputs.
    #[must_use]
    pub fn bytes(&self) -> [u64; 2] {
        let sum = |bytes: fn(&Output) -> u64| self.outputs.iter().map(bytes).fold(0, u64::saturating_add);
        [sum(Output::bytes_read), sum(Output::size_in_bytes)]
    }

    /// An output as a line of `model --recipe --json`.
    #[must_use]
    pub fn object(&self, output: &Output) -> Json {
        let names: Vec<&str> = self.sources(output).map(|source| source.name()).collect();
        json!({
            "type": "output", "name": output.name, "sources": names, "layout": output.layout().to_string(),
            "bytes": output.form.bytes, "copies": output.copies().count(),
        })
    }

    /// Says where the bytes of an output come from: its layout, its sources, and the copies with their plans.
    #[must_use]
    pub fn explain(&self, output: &Output) -> String {
        let (name, form) = (printable(&output.name), &output.form);
        let mut text = format!("{name}: {}, {} bytes read, {} written\n", form.layout, form.read, form.bytes);
        for source in self.sources(output) {
            let layout = source.layout().map_or_else(|error| error.to_string(), |layout| layout.to_string());
            let _ = writeln!(text, "  from {}: {layout}", printable(source.name()));
        }
        for copy in output.copies() {
            let source = output.sources.get(copy.source).and_then(|&source| self.tensors.get(source));
            let (source, [from, to]) = (source.map_or_else(String::new, |source| printable(source.name())), copy.at);
            let _ = writeln!(text, "  copy from byte {from} of {source} to byte {to}");
            for line in copy.plan.explain().lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
        text
    }
}
