//! `convert` to and from caches with a block table, whose blocks are in several places.

use std::path::Path;

use serde_json::json;
use tensor_layout::relayout::Relayout;
use tensor_layout::{Error, ToIndexMap};
use tensor_layout_text::kv::{KvCache, pairs};
use tensor_layout_text::named::LayoutPart;

use crate::input::{Input, zeroed};
use crate::new_file::NewFile;
use crate::output::{Output, Stop, Verdict, refused};
use crate::rule::layout_or_rule;
use crate::table::long_bytes;

pub(crate) struct Tables {
    from: String,
    to: String,
    /// A copy for each run of blocks that is one run on both sides.
    pub(crate) plans: Vec<Relayout>,
    source_bytes: u64,
    destination_bytes: u64,
}

/// Returns the cache of a text, if its blocks are in several places.
fn cache(text: &str) -> Option<KvCache> {
    text.parse::<KvCache>().ok().filter(|cache| cache.parts().len() > 1)
}

impl Tables {
    /// Returns the copy between two layouts of which one has a block table at least.
    pub(crate) fn of(from: &str, to: &str) -> Option<Result<Tables, Error>> {
        cache(from).or(cache(to))?;
        let side = |text: &str, other: &str| match cache(text) {
            Some(cache) => Ok((cache.to_string(), cache.parts().to_vec())),
            None => {
                let layout = layout_or_rule(text, other)?;
                Ok((layout.to_string(), vec![LayoutPart::whole(layout.to_index_map()?)]))
            }
        };
        let bytes =
            |parts: &[LayoutPart]| parts.iter().map(|part| part.map.physical_size_in_bytes()).max().unwrap_or(0);
        Some(side(from, to).and_then(|(from_text, source)| {
            let (to_text, destination) = side(to, from)?;
            let plans: Result<_, Error> =
                pairs(&source, &destination)?.iter().map(|(from, to)| Relayout::new(from, to)).collect();
            let (source_bytes, destination_bytes) = (bytes(&source), bytes(&destination));
            Ok(Tables { from: from_text, to: to_text, plans: plans?, source_bytes, destination_bytes })
        }))
    }

    /// The texts of both sides.
    #[cfg(feature = "transfers")]
    pub(crate) fn texts(&self) -> [&str; 2] {
        [&self.from, &self.to]
    }

    pub(crate) fn run(&self, files: Option<(&Path, &Path)>, output: &mut Output) -> Result<Verdict, Stop> {
        let Tables { from, to, plans, source_bytes, destination_bytes } = self;
        if let Some((input, target)) = files {
            let file = Input::open(input)?;
            if u64::try_from(file.len()) != Ok(*source_bytes) {
                let (path, needs) = (input.display(), long_bytes(*source_bytes));
                return Err(Stop::Failed(format!("{path} has {} bytes, but {from} takes {needs}", file.len())));
            }
            let mut copied = zeroed(*destination_bytes)?;
            for plan in plans {
                plan.run(&file, &mut copied[..]).map_err(refused(from))?;
            }
            file.check_unchanged()?;
            drop(file);
            NewFile::write(target, &copied)?;
        }
        if output.is_json() {
            output.line(json!({
                "type": "copy", "from": from, "to": to, "source_bytes": source_bytes,
                "destination_bytes": destination_bytes, "parts": plans.len(),
            }))?;
        } else {
            output.line(format_args!("from {from}\nto   {to}\n{} copies, one for each run of blocks", plans.len()))?;
        }
        Ok(Verdict::Well)
    }
}
