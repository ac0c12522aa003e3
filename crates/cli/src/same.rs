//! `same`: whether two layouts store every element at the same offset.

use clap::Args;
use serde_json::json;
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::{DataType, Error, IndexMap, ToIndexMap};
use tensor_layout_text::Notated;

use crate::output::{Ink, Output, Stop, Verdict, each_line, painted, refused, two_columns};
use crate::table::{counted, write_list};

#[derive(Args)]
pub(crate) struct Arguments {
    /// One layout, or `-` to read lines of two layouts with a tab between them from standard input.
    #[arg(value_name = "LAYOUT")]
    first: String,
    /// The other.
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
    let read = |text: &str| {
        let read = text.parse().and_then(|layout: Notated| Ok((layout.to_index_map()?, layout)));
        read.map_err(refused(text))
    };
    let ((first, one), (second, other)) = (read(first)?, read(second)?);
    let answer = match unlike_blocks(&one, &other) {
        Some(reason) => Answer { same: false, index: None, reason: Some(reason) },
        None => compare((&first, &one), (&second, &other)).map_err(refused(""))?,
    };
    let Answer { same, index, reason } = &answer;
    let object = || json!({ "type": "same", "same": same, "index": index, "reason": reason });
    output.answer(object, || match reason {
        None => format!("{} every element is stored at the same offset", painted("yes:", Ink::Green)),
        Some(reason) => format!("{} {reason}", painted("no:", Ink::Red)),
    })?;
    Ok(Verdict::well_if(answer.same))
}

struct Answer {
    same: bool,
    /// The first index that the two layouts store at different offsets.
    index: Option<Vec<u64>>,
    reason: Option<String>,
}

/// Says why a tensor of blocks and the other tensor hold different things, whatever bytes they have. A tensor
/// of the same bytes as u8 is no other thing.
fn unlike_blocks(first: &Notated, second: &Notated) -> Option<String> {
    let of = |blocks: &BlockTensorDesc| format!("blocks of {}", blocks.block_type());
    let elements = |other: &Notated, blocks: &BlockTensorDesc| {
        let map = other.to_index_map().ok()?;
        let is_bytes = map.data_type() == DataType::U8 && map.sizes() == blocks.bytes().sizes();
        (!is_bytes).then(|| format!("{} elements {}", map.data_type(), write_list(map.sizes())))
    };
    match (first.blocks(), second.blocks()) {
        (Some(a), Some(b)) if a.block_type() != b.block_type() => {
            Some(format!("one has {} and the other {}", of(a), of(b)))
        }
        (Some(a), Some(b)) if a.sizes() != b.sizes() => {
            Some(format!("the sizes are {} and {}", write_list(a.sizes()), write_list(b.sizes())))
        }
        (Some(blocks), None) => Some(format!("one has {} and the other {}", of(blocks), elements(second, blocks)?)),
        (None, Some(blocks)) => Some(format!("one has {} and the other {}", elements(first, blocks)?, of(blocks))),
        _ => None,
    }
}

fn compare((first, one): (&IndexMap, &Notated), (second, other): (&IndexMap, &Notated)) -> Result<Answer, Error> {
    let differ = |reason: String| Ok(Answer { same: false, index: None, reason: Some(reason) });
    if first.sizes() != second.sizes() {
        return differ(format!("the sizes are {} and {}", write_list(first.sizes()), write_list(second.sizes())));
    }
    if first.element_bits() != second.element_bits() {
        let (a, b) = (first.element_bits(), second.element_bits());
        return differ(format!("an element takes {} in one and {} in the other", counted(a, "bit"), counted(b, "bit")));
    }
    if first.same_places(second)? {
        return Ok(Answer { same: true, index: None, reason: None });
    }
    // The layouts are known to differ. The first difference may take too long to find, and then is left out.
    let Ok(Some(index)) = first.first_difference(second) else {
        return differ("some elements are stored at different offsets".into());
    };
    let (a, b) = (first.offset(&index)?, second.offset(&index)?);
    let reason = match (one.blocks().or(other.blocks()), index.as_slice()) {
        (Some(blocks), [outer @ .., block, byte]) => format!(
            "byte {byte} of the block of {} is stored at byte {a} in the first and {b} in the second",
            write_list(&[outer, &[block.saturating_mul(blocks.block_type().values())]].concat())
        ),
        _ => format!("index {} is stored at offset {a} in the first and {b} in the second", write_list(&index)),
    };
    Ok(Answer { same: false, index: Some(index), reason: Some(reason) })
}
