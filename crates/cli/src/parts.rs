//! `convert` to and from named layouts of several parts, such as a repacked tensor of blocks.

use std::path::Path;

use serde_json::json;
use tensor_layout::{Error, ToIndexMap};
use tensor_layout_text::Notated;
use tensor_layout_text::named::{NamedLayout, PartsCopy};

use crate::input::{Input, zeroed};
use crate::new_file::NewFile;
use crate::output::{Output, Stop, Verdict, refused};
use crate::table::long_bytes;

pub(crate) struct Parts {
    from: String,
    to: String,
    copy: PartsCopy,
    named: NamedLayout,
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
    let is_known = tensor_layout_text::named::full_name(text.split(':').next()?).is_ok();
    match named {
        Ok(named) => (named.parts.len() > 1).then_some(Ok(named)),
        // A name of block rows, whose error says what they need.
        Err(error) => {
            let of_blocks = other.parse::<Notated>().is_ok_and(|other| other.blocks().is_some());
            (is_known && of_blocks).then_some(Err(error))
        }
    }
}

impl Parts {
    /// Returns the copy between two layouts of which one has several parts.
    pub(crate) fn of(from: &str, to: &str) -> Option<Result<Parts, Error>> {
        let (source, destination) = (named(from, to), named(to, from));
        let copy = |named: NamedLayout, other: &str, is_source: bool| {
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
            Ok(Parts { from, to, copy, named })
        };
        match (source, destination) {
            (None, None) => None,
            (Some(Err(error)), _) | (_, Some(Err(error))) => Some(Err(error)),
            (Some(Ok(_)), Some(Ok(named))) => {
                let reason =
                    format!("both sides have several parts: convert to a plain layout first, then to {}", named.name());
                Some(Err(Error::not_expressible("copy", reason)))
            }
            (Some(Ok(named)), None) => Some(copy(named, to, true)),
            (None, Some(Ok(named))) => Some(copy(named, from, false)),
        }
    }

    pub(crate) fn run(
        self,
        files: Option<(&Path, &Path)>,
        explain: bool,
        output: &mut Output,
    ) -> Result<Verdict, Stop> {
        let (needs, bytes) = (self.copy.source_size_in_bytes(), self.copy.destination_size_in_bytes());
        let flip = self.named.row.flip;
        if let Some((input, target)) = files {
            let file = Input::open(input)?;
            let length = u64::try_from(file.len()).unwrap_or(u64::MAX);
            if length != needs {
                let (path, length, needs) = (input.display(), long_bytes(length), long_bytes(needs));
                return Err(Stop::Failed(format!("{path} has {length}, but {} takes {needs}", self.from)));
            }
            let mut converted = zeroed(bytes)?;
            self.copy.run(&file, &mut converted).map_err(refused(&self.from))?;
            file.check_unchanged()?;
            drop(file);
            NewFile::write(target, &converted)?;
        }
        if output.is_json() {
            let object = json!({
                "type": "copy", "from": self.from, "to": self.to, "source_bytes": needs, "destination_bytes": bytes,
                "parts": self.named.parts.len(), "flipped_bits": flip,
            });
            output.line(object)?;
            return Ok(Verdict::Well);
        }
        if explain {
            output.line(format_args!("from {}\nto   {}", self.from, self.to))?;
            output.line(format_args!("{} parts, {} in all", self.named.parts.len(), long_bytes(bytes)))?;
            if flip != 0 {
                output.line(format_args!("{flip:#04x} is flipped in every byte of the last part"))?;
            }
        }
        if let Some((_, target)) = files {
            output.line(format_args!("{}: {} of {}", target.display(), long_bytes(bytes), self.to))?;
        }
        Ok(Verdict::Well)
    }
}
