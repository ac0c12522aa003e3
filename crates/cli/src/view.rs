//! `view`: the layout of a permuted, reshaped, sliced or repeated tensor on the same data.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Value, json};
use tensor_layout::AnyLayout;
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::{Error, IndexMap, ToIndexMap};
use tensor_layout_text::{Notated, Notation, Scaled, ViewStep, read_signed, text_in};

use crate::output::{Output, Stop, Verdict, each_layout, refused};
use crate::reversed;
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

fn one(layout: &str, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    if let Some(scaled) = crate::scaled::read(layout) {
        return of_planes(scaled.map_err(refused(layout))?, layout, arguments, output);
    }
    let (read, reversed) = read_signed(layout).map_err(refused(layout))?;
    let steps = &arguments.steps.0;
    let view = View::of((&read, reversed), steps, arguments.notation);
    match &view {
        // A step whose text cannot be read is refused as an input. It is not reported as a view that does not
        // exist.
        Err((Some(step), error))
            if error.code() == "parse" && !output.is_json()
                || error.code() == "parse"
                    && steps.get(*step).is_some_and(|(name, text)| ViewStep::read(name, text).is_err()) =>
        {
            let input = steps.get(*step).map_or("", |(_, text)| text.as_str());
            return Err(refused(input)(error.clone()));
        }
        _ if output.is_json() => output.line(object(&view))?,
        Ok(View { text: Some(layout), map, reversed, .. }) => {
            output.line(layout)?;
            output.lines(reversed::line(map, reversed, read.blocks().is_some()))?;
        }
        Ok(view) => output.lines(view.in_words())?,
        Err((step, error)) => {
            let named = step.and_then(|step| steps.get(step));
            let input = named.map_or_else(|| layout.to_owned(), |(name, text)| format!("{layout} --{name} {text}"));
            return Err(refused(&input)(error.clone()));
        }
    }
    Ok(Verdict::well_if(view.is_ok()))
}

/// The view of values with scales in planes of their own.
fn of_planes(mut scaled: Scaled, input: &str, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    if let Some(notation) = arguments.notation {
        let reason = format!("planes have no common text in {}", notation.title());
        return Err(refused(input)(Error::not_expressible("notation", reason)));
    }
    for (name, text) in &arguments.steps.0 {
        let view = scaled.values().to_index_map().and_then(|map| ViewStep::read_on(name, text, map.sizes()));
        scaled = view.and_then(|step| scaled.view(&step)).map_err(refused(&format!("{input} --{name} {text}")))?;
    }
    match output.is_json() {
        true => output.line(json!({ "type": "view", "ok": true, "layout": scaled.to_string() }))?,
        false => output.line(scaled.to_string())?,
    }
    Ok(Verdict::Well)
}

fn object(view: &Result<View, (Option<usize>, Error)>) -> Value {
    match view {
        Ok(view) => json!({
            "type": "view", "ok": true, "layout": view.text, "class": view.map.class().to_string(),
            "reason": view.text.is_none().then_some(NO_NOTATION), "sizes": view.blocks.as_ref().map_or(view.map.sizes(), |blocks| blocks.sizes()),
            "strides": view.blocks.as_ref().map_or(view.map.strides(), |blocks| Some(blocks.strides().to_vec())), "base_offset": view.map.base(), "like": view.like,
            "reversed": view.reversed, "first": reversed::first(&view.map, &view.reversed),
            "digits": view.digits(),
        }),
        Err((step, error)) => json!({
            "type": "view", "ok": false, "layout": null, "class": null, "reason": error.to_string(),
            "code": error.code(), "step": step,
        }),
    }
}

const NO_NOTATION: &str = "no notation here writes this layout with its base offset";

struct View {
    text: Option<String>,
    /// A layout that stores the elements as the view does, but from element 0 on. `None` if no notation can
    /// write it.
    like: Option<String>,
    map: IndexMap,
    /// The tensor of blocks whose bytes `map` has.
    blocks: Option<BlockTensorDesc>,
    reversed: Vec<usize>,
}

impl View {
    /// Applies all steps. The error has the number of the step that fails, counted from 0, and the reason.
    fn of(
        (read, mut reversed): (&Notated, Vec<usize>),
        steps: &[(&'static str, String)],
        notation: Option<Notation>,
    ) -> Result<View, (Option<usize>, Error)> {
        let (mut layout, mut blocks) = (read.layout().clone(), read.blocks().cloned());
        for (step, (name, text)) in steps.iter().enumerate() {
            let sizes = match &blocks {
                Some(blocks) => Ok(blocks.sizes().to_vec()),
                None => layout.to_index_map().map(|map| map.sizes().to_vec()),
            };
            let view = sizes.and_then(|sizes| {
                let text = match *name {
                    "permute" => (text.clone(), reversed::permuted(text, &reversed, sizes.len())),
                    _ if !reversed.is_empty() => {
                        let reason = "an axis runs backwards, and no step but --permute may follow";
                        return Err(Error::not_expressible("view", reason));
                    }
                    "slice" => reversed::turned(text, &sizes),
                    _ => (text.clone(), Vec::new()),
                };
                reversed = text.1;
                let innermost = sizes.len().saturating_sub(1);
                if blocks.is_some() && reversed.contains(&innermost) {
                    let reason = format!("axis {innermost} is stored in blocks of values, so it runs forwards");
                    return Err(Error::not_expressible("view", reason));
                }
                let step = ViewStep::read_on(name, &text.0, &sizes)?;
                let Some(tensor) = &mut blocks else { return step.apply(&layout) };
                *tensor = step.apply_to_blocks(tensor)?;
                Ok(tensor.bytes().into())
            });
            layout = view.map_err(|error| (Some(step), error))?;
        }
        let refuse = |error| (None, error);
        let map = layout.to_index_map().map_err(refuse)?;
        if let (Some(tensor), None) = (&blocks, notation) {
            return Ok(View { text: Some(tensor.to_string()), like: None, map, blocks, reversed });
        }
        let text = match notation {
            Some(notation) => Some(text_in(&layout, notation).map_err(refuse)?),
            None => tensor_layout_text::text(&layout).ok(),
        };
        let has_tag = read.notation() == Notation::OneDnn;
        let is_mapped = notation.is_none() && (has_tag || matches!(layout, AnyLayout::Mapped(_)));
        let like = if is_mapped { like(read, &map, text.is_none()) } else { None };
        let text = like.clone().filter(|_| map.base() == 0).or(text);
        let is_numpy = notation == Some(Notation::Numpy);
        let text = text.map(|text| match reversed::numpy_text(&text, &reversed) {
            Some(signed) if is_numpy && !reversed.is_empty() => signed,
            _ => text,
        });
        Ok(View { text, like, map, blocks, reversed })
    }

    /// Returns the digits of each axis as `5 x 1024 + 16 x 1`: how many values each digit has, and its
    /// stride.
    fn digits(&self) -> Vec<String> {
        let digits = |(axis, &size): (usize, &u64)| {
            let component = self.map.components().iter().find(|component| component.dims().contains(&axis));
            let digits = component.map(|component| component.chain.digits()).unwrap_or_default();
            let above = std::iter::once(size).chain(digits.iter().map(|digit| digit.divisor.get()));
            let terms = digits
                .iter()
                .zip(above)
                .map(|(digit, above)| format!("{} x {}", above.div_ceil(digit.divisor.get()), digit.stride));
            let terms: Vec<String> = terms.collect();
            if terms.is_empty() { "1 x 0".into() } else { terms.join(" + ") }
        };
        self.map.sizes().iter().enumerate().map(digits).collect()
    }

    fn in_words(&self) -> Vec<String> {
        let (base, map) = (self.map.base(), &self.map);
        let mut lines = match &self.like {
            Some(like) => vec![format!("{like} from element {base}")],
            None => vec![format!("a view of class {} from element {base}", map.class())],
        };
        lines.push(format!("  sizes      {}", write_list(map.sizes())));
        let strides = map.strides().map_or_else(|| self.digits().join(", "), |strides| write_list(&strides));
        lines.push(format!("  strides    {strides}"));
        lines.push(format!("  not as text: {NO_NOTATION}"));
        lines
    }
}

/// Returns the text of a layout that stores the elements of `map` in the same way, but from element 0 on. It
/// is in the notation of `read`. With `any`, CuTe is tried if this notation fails.
fn like(read: &Notated, map: &IndexMap, any: bool) -> Option<String> {
    let moved = map.clone().with_base(0).ok()?;
    let text = read.to_string();
    // The part of the text after the sizes: tiles, an axis order or a tag.
    let after = text.split_once(']').map_or("", |(_, after)| after);
    let candidate = format!("{}{}{after}", map.data_type(), write_list(map.sizes()));
    let is_like = |text: &String| {
        let map = text.parse::<Notated>().and_then(|layout| layout.to_index_map());
        map.is_ok_and(|map| map.element_bits() == moved.element_bits() && map.same_places(&moved).unwrap_or(false))
    };
    let has_tag = matches!(read.notation(), Notation::OneDnn | Notation::AxisOrder | Notation::Xla);
    let cute = || text_in(AnyLayout::from(moved.clone()), Notation::CuTe).ok().filter(|text| any && is_like(text));
    Some(candidate).filter(|text| has_tag && is_like(text)).or_else(cute)
}
