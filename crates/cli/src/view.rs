//! `view`: the layout of a permuted, reshaped, sliced or repeated tensor on the same data.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use tensor_layout::notation::{self, AnyLayout, Notated, Notation, ViewStep};
use tensor_layout::{Error, LayoutClass, ToIndexMap};

use crate::output::{Object, Output, Stop, Verdict, each_line};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout, or `-` to read one from each line of standard input.
    layout: String,
    #[command(flatten)]
    steps: Steps,
    /// Write the view in this notation: xla, strides, order, onednn, cute, numpy or directml.
    #[arg(long = "as", value_name = "NOTATION")]
    notation: Option<Notation>,
}

/// The options that change the layout, what follows them, and what they do.
const OPTIONS: [(&str, &str, &str); 4] = [
    ("reshape", "SIZES", "Other sizes for the same elements: 6,4"),
    ("permute", "AXES", "The axes in another order: 1,0"),
    ("slice", "SLICES", "A part, as start:end:step for each axis: 0:2,:,1:9:2 (or in brackets)"),
    ("broadcast", "SIZES", "Axes repeated up to these sizes: 8,3,4"),
];

/// What is done to the layout, in the order of the command line: which option, and what follows it.
struct Steps(Vec<(&'static str, String)>);

impl Args for Steps {
    fn augment_args(command: Command) -> Command {
        let argument = |(name, value, help): (&'static str, &'static str, &'static str)| {
            Arg::new(name).long(name).value_name(value).action(ArgAction::Append).help(help)
        };
        let names = OPTIONS.map(|(name, ..)| name);
        let group = ArgGroup::new("steps").args(names).required(true).multiple(true);
        command.args(OPTIONS.map(argument)).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Steps {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Steps, clap::Error> {
        let mut steps: Vec<(usize, &'static str, String)> = Vec::new();
        for (name, ..) in OPTIONS {
            let places = matches.indices_of(name).into_iter().flatten();
            let values = matches.get_many::<String>(name).into_iter().flatten();
            steps.extend(places.zip(values).map(|(place, value)| (place, name, value.clone())));
        }
        steps.sort_unstable();
        Ok(Steps(steps.into_iter().map(|(_, name, value)| (name, value)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let mut steps = Vec::new();
    for (option, text) in &arguments.steps.0 {
        match ViewStep::read(option, text) {
            Ok(view_step) => steps.push(view_step),
            Err(error) => return output.refuse(text, &error),
        }
    }
    match arguments.layout.as_str() {
        "-" => each_line(output, |layout, output| one(layout, &steps, arguments, output)),
        layout => one(layout, &steps, arguments, output),
    }
}

fn one(layout: &str, steps: &[ViewStep], arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let read: Notated = match layout.parse() {
        Ok(read) => read,
        Err(error) => return output.refuse(layout, &error),
    };
    let view = View::of(read.layout(), steps, arguments.notation);
    if output.is_json() {
        let object = Object::default().with("ok", view.is_ok());
        output.line(match &view {
            Ok(View { text, class }) => {
                object.with("layout", text.as_deref()).with("class", class.to_string()).with("reason", None::<String>)
            }
            Err((step, error)) => object
                .with("layout", None::<String>)
                .with("class", None::<String>)
                .with("reason", error.to_string())
                .with("code", error.code())
                .with("step", *step),
        })?;
    } else {
        match &view {
            Ok(View { text: Some(layout), .. }) => output.line(layout)?,
            Ok(View { text: None, class }) => {
                output.line(format_args!("a view of class {}, which no notation here spells", class))?
            }
            Err((step, error)) => {
                let named = step.and_then(|step| arguments.steps.0.get(step));
                let input = named.map_or_else(|| layout.to_owned(), |(name, text)| format!("{layout} --{name} {text}"));
                return output.refuse(&input, error);
            }
        }
    }
    Ok(Verdict::well_if(view.is_ok()))
}

/// The layout all steps lead to.
struct View {
    /// If it has a spelling.
    text: Option<String>,
    class: LayoutClass,
}

impl View {
    /// The view, or the number of the step that fails (from 0) and the reason.
    fn of(layout: &AnyLayout, steps: &[ViewStep], notation: Option<Notation>) -> Result<View, (Option<usize>, Error)> {
        let mut layout = layout.clone();
        for (step, view_step) in steps.iter().enumerate() {
            layout = layout.view(view_step).map_err(|error| (Some(step), error))?;
        }
        let class = layout.to_index_map().map_err(|error| (None, error))?.class();
        let text = match (notation, &layout) {
            (Some(notation), _) => Some(notation::text_in(&layout, notation).map_err(|error| (None, error))?),
            (None, layout) => layout.to_text().ok(),
        };
        Ok(View { text, class })
    }
}
