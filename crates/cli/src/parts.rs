//! `convert` to and from layouts in several places: a named layout of several parts, such as a repacked
//! tensor of blocks, or a cache with a block table.

use std::path::Path;

use serde_json::json;
use tensor_layout::relayout::Relayout;
use tensor_layout::{Error, ToIndexMap};
use tensor_layout_text::Notated;
use tensor_layout_text::kv::{KvCache, pairs};
use tensor_layout_text::named::{LayoutPart, NamedLayout, PartsCopy, full_name};

use crate::input::{Input, zeroed};
use crate::new_file::NewFile;
use crate::output::{Output, Stop, Verdict, refused};
use crate::rule::layout_or_rule;
use crate::table::long_bytes;

/// A copy between two layouts of which at least one is in several places.
pub(crate) struct Parts {
    pub(crate) from: String,
    pub(crate) to: String,
    bytes: [u64; 2],
    pub(crate) copies: Copies,
}

pub(crate) enum Copies {
    Named(PartsCopy, NamedLayout),
    /// A copy for each run of blocks that is one run on both sides.
    Runs(Vec<Relayout>),
}

/// Returns a named layout of several parts. A name alone takes the type and the sizes of the other side.
fn named(text: &str, other: &str) -> Option<Result<NamedLayout, Error>> {
    let named = text.parse().or_else(|error| {
        let other: Notated = other.parse()?;
        match (other.blocks(), text.contains([':', '[', '{', '('])) {
            (_, true) => Err(error),
            (Some(blocks), _) => NamedLayout::of_blocks(text, blocks),
            (None, _) => {
                let map = other.to_index_map()?;
                NamedLayout::new(text, map.data_type(), map.sizes())
            }
        }
    });
    let is_known = full_name(text.split(':').next()?).is_ok();
    match named {
        Ok(named) => (named.parts.len() > 1).then_some(Ok(named)),
        // A name of block rows, whose error says what they need.
        Err(error) => {
            let of_blocks = other.parse::<Notated>().is_ok_and(|other| other.blocks().is_some());
            (is_known && of_blocks).then_some(Err(error))
        }
    }
}

fn cache(text: &str) -> Option<KvCache> {
    text.parse::<KvCache>().ok().filter(|cache| cache.parts().len() > 1)
}

impl Parts {
    /// Returns the copy between two layouts. `None` if both are in one place.
    pub(crate) fn of(from: &str, to: &str) -> Option<Result<Parts, Error>> {
        match (named(from, to), named(to, from)) {
            (None, None) => cache(from).or(cache(to)).map(|_| Parts::runs(from, to)),
            (Some(Err(error)), _) | (_, Some(Err(error))) => Some(Err(error)),
            (Some(Ok(_)), Some(Ok(named))) => {
                let reason =
                    format!("both sides have several parts: convert to a plain layout first, then to {}", named.name());
                Some(Err(Error::not_expressible("copy", reason)))
            }
            (Some(Ok(named)), None) => Some(Parts::named(named, to, true)),
            (None, Some(Ok(named))) => Some(Parts::named(named, from, false)),
        }
    }

    fn named(named: NamedLayout, other: &str, is_source: bool) -> Result<Parts, Error> {
        let plain: Notated = other.parse()?;
        // Blocks of another type may have as many bytes.
        if let (Some(expected), Some(found)) = (named.blocks(), plain.blocks()) {
            let (expected, found) = (expected.block_type().to_string(), found.block_type().to_string());
            if expected != found {
                return Err(Error::data_type_mismatch(expected, found));
            }
        }
        let copy = if is_source { named.copy_to(&plain) } else { named.copy_from(&plain) }?;
        let mut texts = [named.to_string(), plain.to_string()];
        texts.rotate_left(usize::from(!is_source));
        let [from, to] = texts;
        let bytes = [copy.source_size_in_bytes(), copy.destination_size_in_bytes()];
        Ok(Parts { from, to, bytes, copies: Copies::Named(copy, named) })
    }

    fn runs(from: &str, to: &str) -> Result<Parts, Error> {
        let side = |text: &str, other: &str| -> Result<_, Error> {
            if let Some(cache) = cache(text) {
                return Ok((cache.to_string(), cache.parts().to_vec()));
            }
            let layout = layout_or_rule(text, other)?;
            Ok((layout.to_string(), vec![LayoutPart::whole(layout.to_index_map()?)]))
        };
        let ((from, source), (to, destination)) = (side(from, to)?, side(to, from)?);
        let plans = pairs(&source, &destination)?;
        let plans: Result<_, Error> = plans.iter().map(|(from, to)| Relayout::new(from, to)).collect();
        let bytes = [source, destination]
            .map(|parts| parts.iter().map(|part| part.map.physical_size_in_bytes()).max().unwrap_or(0));
        Ok(Parts { from, to, bytes, copies: Copies::Runs(plans?) })
    }

    fn convert(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        match &self.copies {
            Copies::Named(copy, _) => copy.run(source, destination),
            Copies::Runs(plans) => plans.iter().try_for_each(|plan| plan.run(source, &mut *destination)),
        }
    }

    pub(crate) fn run(
        self,
        files: Option<(&Path, &Path)>,
        explain: bool,
        output: &mut Output,
    ) -> Result<Verdict, Stop> {
        let Parts { from, to, bytes: [needs, bytes], copies } = &self;
        if let Some((input, target)) = files {
            let file = Input::open(input)?;
            file.check_length(&[*needs], from)?;
            let mut converted = zeroed(*bytes)?;
            self.convert(&file, &mut converted).map_err(refused(from))?;
            file.check_unchanged()?;
            drop(file);
            NewFile::write(target, &converted)?;
        }
        let mut object =
            json!({ "type": "copy", "from": from, "to": to, "source_bytes": needs, "destination_bytes": bytes });
        let mut lines = vec![format!("from {from}\nto   {to}")];
        match copies {
            Copies::Named(_, named) => {
                let (parts, flip) = (named.parts.len(), named.row.flip);
                object["parts"] = parts.into();
                object["flipped_bits"] = flip.into();
                lines.push(format!("{parts} parts, {} in all", long_bytes(*bytes)));
                if flip != 0 {
                    lines.push(format!("{flip:#04x} is flipped in every byte of the last part"));
                }
                lines.retain(|_| explain);
                lines.extend(files.map(|(_, target)| format!("{}: {} of {to}", target.display(), long_bytes(*bytes))));
            }
            Copies::Runs(plans) => {
                object["parts"] = plans.len().into();
                lines.push(format!("{} copies, one for each run of blocks", plans.len()));
            }
        }
        if output.is_json() {
            output.line(object)?
        } else {
            output.lines(lines)?
        }
        Ok(Verdict::Well)
    }
}
