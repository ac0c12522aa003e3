//! `convert` to and from layouts in several places: a named layout of several parts, such as a repacked
//! tensor of blocks, a cache with a block table, or values with scales.

use std::path::Path;

use serde_json::{Value, json};
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::{Error, ToIndexMap};
use tensor_layout_text::kv::{KvCache, pairs};
use tensor_layout_text::layout::{Part, Plane};
use tensor_layout_text::named::{NamedLayout, PartsCopy, full_name};
use tensor_layout_text::{Notated, Scaled};

use crate::input::{Input, zeroed};
use crate::new_file::NewFile;
use crate::output::{Output, Stop, Verdict, refused};
use crate::rule::layout_or_rule;
use crate::scaled::in_a_file;
use crate::table::{long_bytes, write_list};

/// The parts of a plane for people, the first four of them.
pub(crate) fn parts_in_words(parts: &[Part]) -> impl Iterator<Item = String> {
    let line = |part: &Part| {
        let base = part.map.base();
        let text = tensor_layout_text::text(&part.map).or_else(|_| {
            let like = tensor_layout_text::text(part.map.clone().with_base(0)?)?;
            Ok::<_, Error>(format!("{like} from element {base}"))
        });
        let text = text.unwrap_or_else(|_| format!("from element {base}"));
        format!("  part       {}: {text}", indices_of(part))
    };
    let others = (parts.len() > 4).then(|| format!("  part       and {} others", parts.len().saturating_sub(4)));
    parts.iter().take(4).map(line).chain(others)
}

fn indices_of(part: &Part) -> String {
    let slices: Vec<String> = part.indices.iter().map(ToString::to_string).collect();
    format!("[{}]", slices.join(","))
}

/// A part as the object that `--json` prints.
pub(crate) fn part_object(part: &Part) -> Value {
    let text = tensor_layout_text::text(&part.map).ok();
    json!({ "indices": indices_of(part), "layout": text, "base_offset": part.map.base() })
}

/// Says which axes run backwards, and where index 0 is stored.
pub(crate) fn reversed_line(plane: &Plane) -> Option<String> {
    let axes: Vec<u64> = plane.reversed().iter().map(|&axis| axis as u64).collect();
    let unit = if plane.blocks().is_some() { "byte" } else { "element" };
    let (zeros, first) = (vec![0; plane.sizes().len()], plane.first()?);
    (!axes.is_empty()).then(|| {
        let (axes, zeros) = (write_list(&axes), write_list(&zeros));
        format!("  reversed   axes {axes}: index {zeros} is stored at {unit} {first}")
    })
}

/// A copy between two layouts of which at least one is in several places.
pub(crate) struct Parts {
    pub(crate) from: String,
    pub(crate) to: String,
    bytes: [u64; 2],
    pub(crate) copies: Copies,
}

pub(crate) enum Copies {
    /// The layouts of several parts, of which there are one or two.
    Named(PartsCopy, Vec<NamedLayout>),
    /// A copy for each run of blocks that is one run on both sides.
    Runs(Vec<Relayout>),
    /// A copy for each plane, with the byte where it begins on either side.
    Planes(Vec<(Relayout, [u64; 2])>),
}

/// Returns a named layout of several parts. A name alone takes the type and the sizes of the other side.
fn named(text: &str, other: &str) -> Option<Result<NamedLayout, Error>> {
    let named = text.parse::<NamedLayout>().or_else(|error| {
        if text.contains([':', '[', '{', '(']) {
            return Err(error);
        }
        let (of, sizes) = match other.parse::<NamedLayout>() {
            Ok(other) => (other.type_name(), other.logical_sizes().to_vec()),
            Err(_) => {
                let other: Notated = other.parse()?;
                match other.blocks() {
                    Some(blocks) => (blocks.block_type().to_string(), blocks.sizes().to_vec()),
                    None => other.to_index_map().map(|map| (map.data_type().to_string(), map.sizes().to_vec()))?,
                }
            }
        };
        format!("{text}:{of}{}", write_list(&sizes)).parse()
    });
    let is_known = full_name(text.split(':').next()?).is_ok();
    match named {
        Ok(named) => (!named.has_map()).then_some(Ok(named)),
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
        if [from, to].iter().any(|text| text.contains(Scaled::WORD)) {
            return Some(Parts::planes(from, to));
        }
        match (named(from, to), named(to, from)) {
            (None, None) => cache(from).or(cache(to)).map(|_| Parts::runs(from, to)),
            (Some(Err(error)), _) | (_, Some(Err(error))) => Some(Err(error)),
            (Some(Ok(from)), Some(Ok(to))) => Some(from.copy_to_named(&to).map(|copy| {
                let texts = [from.to_string(), to.to_string()];
                Parts::of_named(texts, copy, vec![from, to])
            })),
            (Some(Ok(named)), None) => Some(Parts::named(named, to, true)),
            (None, Some(Ok(named))) => Some(Parts::named(named, from, false)),
        }
    }

    fn named(named: NamedLayout, other: &str, is_source: bool) -> Result<Parts, Error> {
        let packed = format!("{}{}", named.type_name(), write_list(named.logical_sizes()));
        let plain = layout_or_rule(other, &packed)?;
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
        Ok(Parts::of_named(texts, copy, vec![named]))
    }

    fn of_named([from, to]: [String; 2], copy: PartsCopy, named: Vec<NamedLayout>) -> Parts {
        let bytes = [copy.source_size_in_bytes(), copy.destination_size_in_bytes()];
        Parts { from, to, bytes, copies: Copies::Named(copy, named) }
    }

    /// Copies each plane to the plane of the same number.
    fn planes(from: &str, to: &str) -> Result<Parts, Error> {
        let (from, to): (Scaled, Scaled) = (from.parse()?, to.parse()?);
        let blocks = |scaled: &Scaled| scaled.scales().iter().map(|(_, block)| write_list(block)).collect::<Vec<_>>();
        if blocks(&from) != blocks(&to) {
            let blocks = [blocks(&from), blocks(&to)].map(|blocks| blocks.join(" and "));
            let reason = format!("one side has a scale per {} and the other per {}", blocks[0], blocks[1]);
            return Err(Error::not_expressible("copy", reason));
        }
        let (source, destination) = (in_a_file(&from)?, in_a_file(&to)?);
        let mut plans = Vec::new();
        for (planes, starts) in from.planes().zip(to.planes()).zip(source.offsets.iter().zip(&destination.offsets)) {
            let plan = Relayout::new(planes.0, planes.1)?.with_padding(Padding::Zero)?;
            plans.push((plan, [*starts.0, *starts.1]));
        }
        let bytes = [source.len, destination.len];
        Ok(Parts { from: from.to_string(), to: to.to_string(), bytes, copies: Copies::Planes(plans) })
    }

    fn runs(from: &str, to: &str) -> Result<Parts, Error> {
        let side = |text: &str, other: &str| -> Result<_, Error> {
            if let Some(cache) = cache(text) {
                return Ok((cache.to_string(), cache.parts().to_vec()));
            }
            let layout = layout_or_rule(text, other)?;
            Ok((layout.to_string(), vec![Part::whole(layout.to_index_map()?)]))
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
            Copies::Planes(plans) => plans.iter().try_for_each(|(plan, starts)| {
                let [from, to] = starts.map(|start| usize::try_from(start).unwrap_or(usize::MAX));
                plan.run(source.get(from..).unwrap_or_default(), destination.get_mut(to..).unwrap_or_default())
            }),
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
                // What both sides flip stays.
                let flip = named.iter().fold(0, |flip, named| flip ^ named.row.flip);
                object["parts"] = named.iter().map(|named| named.parts.len()).max().into();
                object["flipped_bits"] = flip.into();
                lines.extend(named.iter().map(|named| format!("{}: {} parts", named.name(), named.parts.len())));
                if flip != 0 {
                    lines.push(format!("{flip:#04x} is flipped in every byte of the last field"));
                }
                lines.retain(|_| explain);
                lines.extend(files.map(|(_, target)| format!("{}: {} of {to}", target.display(), long_bytes(*bytes))));
            }
            Copies::Runs(plans) => {
                object["parts"] = plans.len().into();
                lines.push(format!("{} copies, one for each run of blocks", plans.len()));
            }
            Copies::Planes(plans) => {
                object["planes"] = plans.len().into();
                let starts =
                    |side: usize| plans.iter().filter_map(|plan| plan.1.get(side).copied()).collect::<Vec<_>>();
                let (from, to) = (write_list(&starts(0)), write_list(&starts(1)));
                lines.push(format!("planes at bytes {from} of {needs}, and {to} of {bytes}"));
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
