//! `offset`: index to offset and back.

use clap::Args;
use tensor_layout::notation::Notated;
use tensor_layout::{Error, IndexMap, ToIndexMap};

use crate::index_text::{read_list, read_number, write_list};
use crate::output::{Object, Output, Stop, Verdict, each_line, two_columns};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout, or `-` to read lines of a layout, a tab and an index from standard input.
    layout: String,
    /// The index, as [2,3] or 2,3 ([] for rank 0); with --inverse the offset in elements.
    #[arg(value_name = "INDEX", allow_hyphen_values = true)]
    place: Option<String>,
    /// Print the index at an offset, or "padding".
    #[arg(long)]
    inverse: bool,
    /// Show every step of the calculation.
    #[arg(long)]
    explain: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let what = if arguments.inverse { "an offset" } else { "an index" };
    let one = |layout: &str, place: &str, output: &mut Output| {
        let answer = Answer::of(layout, place, arguments.inverse);
        match answer {
            Ok(answer) if output.is_json() => output.line(answer.object(layout, arguments.explain))?,
            Ok(answer) => output.line(answer.text(arguments))?,
            Err(error) => return output.refuse(layout, &error),
        }
        Ok(Verdict::Well)
    };
    match (arguments.layout.as_str(), &arguments.place) {
        ("-", None) => each_line(output, |line, output| match two_columns(line, what) {
            Ok((layout, place)) => one(layout, place, output),
            Err(error) => output.refuse(line, &error),
        }),
        ("-", Some(_)) => Err(Stop::Unusable(format!("with `-` the layout and {what} come from standard input"))),
        (layout, Some(place)) => one(layout, place, output),
        (_, None) => Err(Stop::Unusable(format!("{what} is missing after the layout"))),
    }
}

/// An index and its offset.
struct Answer {
    layout: Notated,
    map: IndexMap,
    /// `None` for padding.
    index: Option<Vec<u64>>,
    offset: u64,
}

impl Answer {
    fn of(layout: &str, place: &str, inverse: bool) -> Result<Answer, Error> {
        let layout: Notated = layout.parse()?;
        let map = layout.to_index_map()?;
        let (index, offset) = if inverse {
            let offset = read_number(place, "an offset in elements")?;
            (map.inverse(offset)?.map(|index| index.to_vec()), offset)
        } else {
            let index = read_list(place, "an index")?;
            let offset = map.offset(&index)?;
            (Some(index), offset)
        };
        Ok(Answer { layout, map, index, offset })
    }

    fn object(&self, input: &str, explain: bool) -> Object {
        let object = Object::default()
            .with("input", input)
            .with("index", self.index.clone())
            .with("offset", self.offset)
            .with("padding", self.index.is_none());
        if explain { object.with("steps", self.steps()) } else { object }
    }

    fn text(&self, arguments: &Arguments) -> String {
        let index = self.index.as_deref().map_or_else(|| "padding".into(), write_list);
        let answer = if arguments.inverse { index } else { self.offset.to_string() };
        if !arguments.explain {
            return answer;
        }
        let mut lines = vec![self.layout.to_string()];
        lines.extend(self.steps().iter().map(|step| format!("  {step}")));
        lines.push(answer);
        lines.join("\n")
    }

    /// The calculation in words.
    fn steps(&self) -> Vec<String> {
        let Some(index) = &self.index else {
            return vec![format!(
                "no element of {} is stored at offset {}: it is padding",
                write_list(self.map.sizes()),
                self.offset
            )];
        };
        // Cannot fail: the index is within the sizes.
        self.layout.layout().offset_steps(index).unwrap_or_default()
    }
}
