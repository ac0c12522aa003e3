//! `same`: whether two layouts store every element at the same offset.

use clap::Args;
use serde_json::json;
use tensor_layout_text::Layout;

use crate::output::{Output, Stop, Verdict, each_line, refused, two_columns};
use crate::terminal::{Ink, painted};

#[derive(Args)]
pub(crate) struct Arguments {
    /// One layout, or `-` to read lines of two layouts with a tab between them from standard input.
    #[arg(value_name = "LAYOUT")]
    first: String,
    /// The other layout.
    #[arg(value_name = "LAYOUT")]
    second: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    match (arguments.first.as_str(), &arguments.second) {
        ("-", None) => each_line(output, |line, output| {
            let (first, second) = two_columns(line, "the other layout")?;
            one(first, second, output)
        }),
        ("-", Some(_)) => Err(Stop::Unusable("with `-` both layouts come from standard input".into())),
        (first, Some(second)) => one(first, second, output),
        (_, None) => Err(Stop::Unusable("the second layout is missing".into())),
    }
}

fn one(first: &str, second: &str, output: &mut Output) -> Result<Verdict, Stop> {
    let read = |text: &str| text.parse::<Layout>().map_err(refused(text));
    let difference = read(first)?.difference(&read(second)?).map_err(refused(""))?;
    let (same, reason) = (difference.is_none(), difference.as_ref().map(|difference| &difference.reason));
    let index = difference.as_ref().and_then(|difference| difference.index.as_ref());
    let mut answer = output.new_answer("same");
    answer.keys(|| json!({ "same": same, "index": index, "reason": reason }));
    answer.line(match reason {
        None => format!("{} every element is stored at the same offset", painted("yes:", Ink::Green)),
        Some(reason) => format!("{} {reason}", painted("no:", Ink::Red)),
    });
    Ok(Verdict::well_if(same).and(output.answer(&answer)?))
}
