//! `check --box`: the box of a CUDA tensor map.

use clap::Args;
use serde_json::json;
use tensor_layout::Error;
use tensor_layout::upload::{BoxReport, DeviceLimits, Im2col, Interleave, TensorMapBox};
use tensor_layout_text::to_text;

use crate::answer::Answer;
use crate::output::Stop;
use crate::table::{long_bytes, read_list, write_list};

#[derive(Args, Clone, Default)]
pub(crate) struct BoxArguments {
    /// For cuda-tensor-map: the sizes of the box that a copy takes, one for each axis, outermost first.
    #[arg(long = "box", value_name = "SIZES")]
    sizes: Option<String>,
    /// The step between the elements of the box that are copied, for each axis, outermost first.
    #[arg(long, value_name = "STEPS")]
    element_strides: Option<String>,
    /// The bytes of a block of interleaved channels, 16 or 32, as in NC/8HWC8.
    #[arg(long, value_name = "BYTES", value_parser = ["16", "32"])]
    interleave: Option<String>,
    /// For an im2col tensor map, in place of the box: `lower=-1,-1;upper=-1,-1;channels=64;pixels=128`, with
    /// a corner for each spatial axis, outermost first.
    #[arg(long, value_name = "PIXELS", allow_hyphen_values = true)]
    im2col: Option<String>,
}

impl BoxArguments {
    /// Returns the box that the options describe. `None` without them.
    ///
    /// Options without a box, and a box for limits that have none, are wrong usage.
    pub(crate) fn read(&self, limits: &DeviceLimits) -> Result<Option<TensorMapBox>, Stop> {
        let BoxArguments { sizes, element_strides, interleave, im2col } = self;
        let unusable = |error: Error| Stop::Unusable(error.to_string());
        let mut found = match (sizes, im2col) {
            (None, None) => {
                let lone = [("--element-strides", element_strides), ("--interleave", interleave)];
                let lone = lone.into_iter().find(|(_, value)| value.is_some());
                return match lone {
                    Some((name, _)) => Err(Stop::Unusable(format!("{name} belongs to a --box or an --im2col"))),
                    None => Ok(None),
                };
            }
            (Some(sizes), _) => TensorMapBox::new(&read_list(sizes, "the sizes of a box").map_err(unusable)?),
            (None, Some(_)) => TensorMapBox::default(),
        };
        if limits.box_span.is_none() {
            let sentence = format!("--box and --im2col go with --limits cuda-tensor-map, not with {}", limits.name);
            return Err(Stop::Unusable(sentence));
        }
        if let Some(text) = im2col {
            found = found.with_im2col(read_im2col(text)?);
        }
        if let Some(steps) = element_strides {
            found = found.with_element_strides(&read_list(steps, "element strides").map_err(unusable)?);
        }
        Ok(Some(match interleave.as_deref() {
            Some("16") => found.with_interleave(Interleave::Bytes16),
            Some(_) => found.with_interleave(Interleave::Bytes32),
            None => found,
        }))
    }
}

fn read_im2col(text: &str) -> Result<Im2col, Stop> {
    let wrong = |what: &str| {
        Stop::Unusable(format!("--im2col: {what}, as in lower=-1,-1;upper=-1,-1;channels=64;pixels=128, found {text}"))
    };
    let mut im2col = Im2col { lower: Vec::new(), upper: Vec::new(), channels: 0, pixels: 0 };
    let mut given: Vec<&str> = Vec::new();
    for field in text.split(';') {
        let (name, value) = field.split_once('=').ok_or_else(|| wrong("expected fields with a name and `=`"))?;
        let (name, value) = (name.trim(), value.trim());
        if given.contains(&name) {
            return Err(wrong(&format!("{name} is given twice")));
        }
        let number = || value.parse().map_err(|_| wrong(&format!("{name} is not a number")));
        let corner = || {
            let offsets = value.split(',').map(|offset| offset.trim().parse::<i64>());
            offsets.collect::<Result<Vec<_>, _>>().map_err(|_| wrong(&format!("{name} is not a list of numbers")))
        };
        match name {
            "lower" => im2col.lower = corner()?,
            "upper" => im2col.upper = corner()?,
            "channels" => im2col.channels = number()?,
            "pixels" => im2col.pixels = number()?,
            _ => return Err(wrong(&format!("no field is called {name}"))),
        }
        given.push(name);
    }
    match ["lower", "upper", "channels", "pixels"].iter().find(|name| !given.contains(name)) {
        Some(missing) => Err(wrong(&format!("{missing} is missing"))),
        None => Ok(im2col),
    }
}

/// Adds what a box that breaks no rule copies.
pub(crate) fn add_box(found: Option<&BoxReport>, answer: &mut Answer) {
    let Some(BoxReport { sizes, cuda_sizes, bytes, alignment, layout, no_layout, .. }) = found else {
        return answer.key("box", ());
    };
    let layout = layout.as_ref().and_then(|layout| to_text(layout).ok());
    answer.key(
        "box",
        json!({
            "sizes": sizes, "cuda_sizes": cuda_sizes, "layout": layout, "bytes": bytes, "alignment": alignment,
        }),
    );
    let (sizes, cuda_sizes) = (write_list(sizes), write_list(cuda_sizes));
    answer.says("box", format_args!("{sizes} (in CUDA's order {cuda_sizes})"));
    answer.says("shared memory", format_args!("{}, aligned to {alignment} bytes", long_bytes(*bytes)));
    answer.says("", layout.unwrap_or_else(|| format!("not known: {no_layout}")));
}
