//! `view`: the layout of a permuted, reshaped, sliced or repeated tensor on the same data.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Value, json};
use tensor_layout::{AnyLayout, Error, IndexMap, ToIndexMap};
use tensor_layout_text::{Layout, Notation, ViewStep};

use crate::answer::Answer;
use crate::output::{Output, Stop, Verdict, each_layout, refused};
use crate::parts::{part_object, parts_in_words, reversed_line};
use crate::table::write_list;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout, or `-` to read one from each line of standard input.
    layout: String,
    #[command(flatten)]
    steps: Steps,
    /// Write the view in this notation: xla, strides, order, onednn, cute, numpy, directml, torch, jax, mlir,
    /// ndarray, candle, ggml or tvm.
    #[arg(long = "as", value_name = "NOTATION")]
    notation: Option<Notation>,
}

/// The options that change the layout: the name of each, the name of its value, and its help.
const OPTIONS: [(&str, &str, &str); 4] = [
    ("reshape", "SIZES", "Other sizes for the same elements: 6,4; one of them may be -1"),
    ("permute", "AXES", "The axes in another order: 1,0"),
    (
        "slice",
        "SLICES",
        "A part, as start:end:step for each axis: 0:2,:,1:9:2; -2: are the last two; ::-1 runs backwards",
    ),
    ("broadcast", "SIZES", "Axes repeated up to these sizes: 8,3,4"),
];

/// The steps in the order of the command line. Each is the name of the option, and its value.
struct Steps(Vec<(&'static str, String)>);

impl Args for Steps {
    fn augment_args(command: Command) -> Command {
        let argument = |(name, value, help): (&'static str, &'static str, &'static str)| {
            Arg::new(name).long(name).value_name(value).action(ArgAction::Append).allow_hyphen_values(true).help(help)
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
    each_layout(&arguments.layout, output, |layout, output| one(layout, arguments, output))
}

fn one(text: &str, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let layout: Layout = text.parse().map_err(refused(text))?;
    let steps = &arguments.steps.0;
    let view = view(&layout, steps)
        .and_then(|view| View::of(&layout, view, arguments.notation).map_err(|error| (None, error)));
    match view {
        // A step whose text cannot be read is refused as an input. It is not reported as a view that does not
        // exist.
        Err((Some(step), ref error))
            if error.code() == "parse" && !output.is_json()
                || error.code() == "parse"
                    && steps.get(step).is_some_and(|(name, text)| ViewStep::read(name, text).is_err()) =>
        {
            let input = steps.get(step).map_or("", |(_, text)| text.as_str());
            return Err(refused(input)(error.clone()));
        }
        Ok(view) => output.line(view.answer(output.is_json()))?,
        Err((step, error)) if output.is_json() => {
            output.line(json!({
                "type": "view", "ok": false, "layout": null, "class": null, "reason": error.to_string(),
                "code": error.code(), "step": step,
            }))?;
            return Ok(Verdict::Failed);
        }
        Err((step, error)) => {
            let named = step.and_then(|step| steps.get(step));
            let input = named.map_or_else(|| text.to_owned(), |(name, argument)| format!("{text} --{name} {argument}"));
            return Err(refused(&input)(error));
        }
    }
    Ok(Verdict::Well)
}

/// Applies all steps. The error has the number of the step that fails, counted from 0.
fn view(layout: &Layout, steps: &[(&'static str, String)]) -> Result<Layout, (Option<usize>, Error)> {
    let mut view = layout.clone();
    for (number, (name, text)) in steps.iter().enumerate() {
        let read = ViewStep::read_all_on(name, text, view.sizes());
        let done = read.and_then(|steps| steps.iter().try_fold(view, |view, step| view.view(step)));
        view = done.map_err(|error| (Some(number), error))?;
    }
    Ok(view)
}

struct View {
    layout: Layout,
    text: String,
    /// A layout that stores the elements as the view does, but from element 0 on. `None` if no notation can
    /// write it.
    like: Option<String>,
}

impl View {
    fn of(read: &Layout, layout: Layout, notation: Option<Notation>) -> Result<View, Error> {
        let plane = layout.values();
        let ([part], [_], None) = (plane.parts(), layout.planes(), plane.blocks().filter(|_| notation.is_none()))
        else {
            let text = notation.map_or_else(|| Ok(layout.to_string()), |notation| layout.to_notation(notation))?;
            return Ok(View { text, like: None, layout });
        };
        let strides = plane.to_notation(Notation::Strides).ok();
        let text = match (notation, plane.any()) {
            (Some(notation), _) => Some(plane.to_notation(notation)?),
            (None, _) if !plane.reversed().is_empty() => Some(layout.to_string()),
            (None, any) => {
                let text = any.and_then(|layout| tensor_layout_text::to_text(layout).ok());
                // A view of what has no tiles is strides rather than tiles.
                let in_strides = strides.clone().filter(|_| !read.to_string().contains(":T("));
                in_strides.filter(|_| text.as_ref().is_some_and(|text| text.contains(":T("))).or(text)
            }
        };
        let has_tag = read.notation() == Notation::OneDnn;
        let is_mapped = notation.is_none()
            && plane.reversed().is_empty()
            && (has_tag || matches!(plane.any(), Some(AnyLayout::Mapped(_))));
        let like = if is_mapped { like(read, &part.map) } else { None };
        let own = like.as_ref().and_then(|like| match part.map.base() {
            0 => Some(like.clone()),
            base => strides.is_none().then(|| format!("{like}+{base}")),
        });
        Ok(View { text: own.or(text).unwrap_or_else(|| layout.to_string()), like, layout })
    }

    fn answer(&self, is_json: bool) -> Answer {
        let (plane, planes, mut answer) = (self.layout.values(), self.layout.planes(), Answer::new(is_json, "view"));
        answer.keys(|| json!({ "ok": true, "layout": self.text }));
        answer.line(&self.text);
        match (plane.parts(), planes) {
            ([part], [_]) => {
                let (map, blocks) = (&part.map, plane.blocks());
                answer.keys(|| {
                    json!({
                        "class": map.class().to_string(), "sizes": plane.sizes(),
                        "strides": blocks.map_or(map.strides(), |blocks| Some(blocks.strides().to_vec())),
                        "base_offset": map.base(), "like": self.like, "reversed": plane.reversed(),
                        "first": plane.first(), "digits": digits(map),
                    })
                });
                if self.text.contains(STEP) {
                    answer.says("sizes", write_list(map.sizes()));
                    let strides = map.strides().map_or_else(|| digits(map).join(", "), |strides| write_list(&strides));
                    answer.says("strides", format_args!("{strides}, from element {} on", map.base()));
                }
            }
            (parts, planes) => {
                answer.keys(|| {
                    let parts: Vec<Value> = parts.iter().map(part_object).collect();
                    json!({ "sizes": plane.sizes(), "parts": parts })
                });
                if let [_] = planes {
                    answer.lines(parts_in_words(parts));
                } else if self.text.contains(STEP) {
                    planes.iter().for_each(|plane| answer.says(plane.role().noun(), plane));
                }
            }
        }
        answer.lines(reversed_line(plane));
        answer
    }
}

/// What the text of a view has that no notation writes: the text of the layout, and the steps to the view.
const STEP: &str = " --";

/// Returns the digits of each axis as `5 x 1024 + 16 x 1`: how many values each digit has, and its stride.
fn digits(map: &IndexMap) -> Vec<String> {
    let digits = |(axis, &size): (usize, &u64)| {
        let component = map.components().iter().find(|component| component.dims().contains(&axis));
        let digits = component.map(|component| component.chain.digits()).unwrap_or_default();
        let above = std::iter::once(size).chain(digits.iter().map(|digit| digit.divisor.get()));
        let terms = digits
            .iter()
            .zip(above)
            .map(|(digit, above)| format!("{} x {}", above.div_ceil(digit.divisor.get()), digit.stride));
        let terms: Vec<String> = terms.collect();
        if terms.is_empty() { "1 x 0".into() } else { terms.join(" + ") }
    };
    map.sizes().iter().enumerate().map(digits).collect()
}

/// Returns the text of a layout that stores the elements of `map` in the same way, but from element 0 on, in
/// the notation of `read`.
fn like(read: &Layout, map: &IndexMap) -> Option<String> {
    let moved = map.clone().with_base(0).ok()?;
    let text = read.to_string();
    // The part of the text after the sizes: tiles, an axis order or a tag.
    let after = text.split_once(']').map_or("", |(_, after)| after);
    let candidate = format!("{}{}{after}", map.data_type(), write_list(map.sizes()));
    let is_like = |text: &String| {
        let map = text.parse::<Layout>().and_then(|layout| layout.to_index_map());
        map.is_ok_and(|map| map.element_bits() == moved.element_bits() && map.same_places(&moved).unwrap_or(false))
    };
    let has_tag = matches!(read.notation(), Notation::OneDnn | Notation::AxisOrder | Notation::Xla);
    Some(candidate).filter(|text| has_tag && is_like(text))
}
