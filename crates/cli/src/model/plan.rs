//! `Rules`: which rule each tensor is laid out by: the rule of `--to`, or an exception of `--to-for`.
//! `Plan`: the new layout of a tensor, decided before its bytes are read, and the copies there and back.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use glob::Pattern;
use indicatif::ProgressBar;
use tensor_layout::bridge::lower;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};
use tensor_layout::{BufferTensorDesc, Error, IndexMap, ToIndexMap};
use tensor_layout_text::Notated;
use tensor_layout_text::layout::{bound_as, in_own_bytes};
use tensor_layout_text::named::NamedLayout;

use crate::output::Stop;
use crate::pieces::Pieces;
use crate::rule::Rule;
use crate::table::{printable, short_bytes};

use super::file::{Model, Tensor};

/// `PATTERN=RULE`: a rule for the tensors whose names match a pattern of a shell: `*`, `?`, `[a-z]`,
/// `[!a-z]`. Dots and slashes are ordinary characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Exception {
    pattern: Pattern,
    rule: Rule,
}

impl FromStr for Exception {
    type Err = String;

    fn from_str(text: &str) -> Result<Exception, String> {
        // The text is split at its last `=`, because a pattern may contain `=` and a rule never does.
        let (pattern, rule) =
            text.rsplit_once('=').ok_or("expected PATTERN=RULE, such as 'conv*.weight=OIhw16i16o'")?;
        if pattern.is_empty() {
            return Err("an empty pattern matches nothing".into());
        }
        let pattern = pattern.parse::<Pattern>().map_err(|error| {
            // The library calls a `[` without its `]` an "invalid range pattern". That does not say what to
            // do, so the message is replaced.
            let cause = if error.msg.contains("range") { "opens a [ that it does not close" } else { error.msg };
            format!("`{pattern}` {cause}")
        })?;
        Ok(Exception { pattern, rule: rule.parse()? })
    }
}

/// A rule for all tensors, and exceptions to it. If several exceptions match a tensor, the last one on the
/// command line is used. So a general pattern can come first, and a special pattern after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules {
    pub(super) all: Rule,
    pub(super) exceptions: Vec<Exception>,
}

impl Rules {
    pub(super) fn of(&self, tensor: &str) -> &Rule {
        let matching = self.exceptions.iter().rev().find(|exception| exception.pattern.matches(tensor));
        matching.map_or(&self.all, |exception| &exception.rule)
    }

    pub(super) fn unused(&self, models: &[Model<'_>]) -> Option<String> {
        let tensors = || models.iter().flat_map(|model| &model.tensors);
        let unused = |exception: &&Exception| !tensors().any(|tensor| exception.pattern.matches(&tensor.name));
        self.exceptions.iter().find(unused).map(|exception| exception.pattern.to_string())
    }
}

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.all.fmt(f)?;
        self.exceptions.iter().try_for_each(|exception| write!(f, ", {}={}", exception.pattern, exception.rule))
    }
}

/// The most bytes of memory that the conversion of one tensor may take, and the most bytes of padding that it
/// may get. A tensor that needs more is not tried: with large enough tiles, even a scalar would fill any
/// disk.
const MOST: u64 = 8 << 30;

pub(super) struct Plan<'m> {
    pub(super) tensor: &'m Tensor<'m>,
    pub(super) layout: Notated,
    pub(super) map: IndexMap,
    pub(super) packed_bytes: u64,
    pub(super) lowering: &'static str,
    pub(super) reason: Option<String>,
    pub(super) limit_errors: Vec<Error>,
    pub(super) remark: Option<&'static str>,
    /// The repacked form of a tensor of blocks. It has several parts, so `layout` is the packed one, whose
    /// size it has.
    pub(super) repacked: Option<NamedLayout>,
    stored: IndexMap,
}

impl<'m> Plan<'m> {
    pub(super) fn new(tensor: &'m Tensor<'m>, rules: &Rules, limits: &DeviceLimits) -> Result<Plan<'m>, Error> {
        let held = tensor.layout.as_ref().map_err(Clone::clone)?;
        let (stored, blocks) = (held.to_index_map()?, held.blocks());
        let rule = rules.of(&tensor.name);
        let (layout, (repacked, remark), packed) = match blocks {
            Some(blocks) => {
                let packed = BlockTensorDesc::packed(blocks.block_type(), blocks.sizes())?;
                (packed.clone().into(), rule.blocks(blocks)?, packed.to_index_map()?)
            }
            None => {
                let packed = BufferTensorDesc::packed(stored.data_type(), &tensor.sizes)?.to_index_map()?;
                let remark = rule.exception(tensor.sizes.len());
                (rule.layout(stored.data_type(), &tensor.sizes)?, (None, remark), packed)
            }
        };
        let map = layout.to_index_map()?;
        let lowering = lower(layout.layout())?;
        let desc = bound_as(layout.layout())?.desc;
        let buffer = UploadBuffer::new(desc.total_tensor_size_in_bytes().max(4), 0, Role::Input);
        let described: &dyn ToIndexMap = if layout.blocks().is_some() { &layout } else { &desc };
        let limit_errors = validate(described, &buffer, limits).err().map(|errors| errors.to_vec());
        Ok(Plan {
            tensor,
            layout,
            map,
            packed_bytes: packed.physical_size_in_bytes(),
            lowering: lowering.name(),
            reason: lowering.reason(),
            limit_errors: limit_errors.unwrap_or_default(),
            remark,
            repacked,
            stored,
        })
    }

    pub(super) fn text(&self) -> String {
        self.repacked.as_ref().map_or_else(|| self.layout.to_string(), ToString::to_string)
    }

    /// Returns the answer for a tensor that needs no [`Trip`]: it stays as it is, or is repacked in memory
    /// and back.
    pub(super) fn without_trip(&self) -> Option<Answer> {
        let repack = |named: &NamedLayout| {
            let length = self.tensor.bytes.len();
            if length as u64 > MOST / 3 {
                return Ok(Answer::NotTried(format!("{} of memory", short_bytes(self.bytes().saturating_mul(3)))));
            }
            let (mut repacked, mut back) = (vec![0; length], vec![0; length]);
            named.copy_from(&self.stored)?.run(self.tensor.bytes, &mut repacked)?;
            named.copy_to(&self.stored)?.run(&repacked, &mut back)?;
            Ok(Answer::Tried { identical: back == self.tensor.bytes })
        };
        match &self.repacked {
            Some(named) => Some(repack(named).unwrap_or_else(Answer::Refused)),
            None => (self.stored == self.map).then_some(Answer::Tried { identical: true }),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.map.physical_size_in_bytes()
    }

    /// Plans the copies to the new layout and back. If they would take too much memory or padding, the answer
    /// for the tensor is returned as the error.
    pub(super) fn trip(&self, bar: &ProgressBar) -> Result<Trip, Answer> {
        bar.set_message(printable(&self.tensor.name));
        let padding = self.bytes().saturating_sub(self.packed_bytes);
        if padding > MOST {
            return Err(Answer::NotTried(format!("{} of padding", short_bytes(padding))));
        }
        let trip = Trip::new(&self.stored, &self.map).map_err(Answer::Refused)?;
        match trip.memory() {
            0..=MOST => Ok(trip),
            memory => Err(Answer::NotTried(format!("{} of memory", short_bytes(memory)))),
        }
    }
}

#[derive(Debug)]
pub(super) enum Answer {
    /// The tensor has no plan, or its conversion would take too much. The text says how much memory or
    /// padding it would take.
    NotTried(String),
    Tried {
        identical: bool,
    },
    Refused(Error),
}

impl Answer {
    pub(super) fn identical(&self) -> Option<bool> {
        match self {
            Answer::Tried { identical } => Some(*identical),
            _ => None,
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Answer::NotTried(_) => "not tried",
            Answer::Tried { identical: true } => "identical",
            Answer::Tried { identical: false } => "DIFFERS",
            Answer::Refused(_) => "refused",
        }
    }
}

/// The copy to the new layout and the copy back, both cut into pieces.
pub(super) struct Trip {
    there: Pieces,
    back: Pieces,
    /// The number of bits of the stored layout that belong to no element.
    padding_bits: u128,
}

impl Trip {
    fn new(stored: &IndexMap, new: &IndexMap) -> Result<Trip, Error> {
        let (stored, new) = (&in_own_bytes(stored)?, &in_own_bytes(new)?);
        let there = Relayout::new(stored, new)?.with_padding(Padding::Zero)?;
        let back = Relayout::new(new, stored)?.with_padding(Padding::Keep)?;
        let elements = u128::from(stored.element_count()).saturating_mul(stored.element_bits().into());
        let bits = u128::from(stored.physical_size_in_bytes()).saturating_mul(8);
        let padding_bits = bits.saturating_sub(elements);
        Ok(Trip { there: Pieces::of(&there)?, back: Pieces::of(&back)?, padding_bits })
    }

    /// Returns how many bytes of memory the two copies take: a piece in each direction, and a packed buffer
    /// between the passes of a layout that cannot be divided.
    fn memory(&self) -> u64 {
        self.back.longest().saturating_mul(2).saturating_add(self.there.longest())
    }

    pub(super) fn lay_out(
        &self,
        stored: &[u8],
        bar: &ProgressBar,
        mut append: impl FnMut(&[u8]) -> Result<(), Stop>,
    ) -> Result<Result<(), Error>, Stop> {
        self.there.run(stored, bar, |_, _| (), |_, bytes| append(bytes))
    }

    /// Converts `laid_out` back and compares every element with `stored`, bit by bit.
    ///
    /// The padding of the stored layout may hold any bits, so it cannot be compared. Before a piece is
    /// written, its bytes are set to the inverse of the stored bytes. Each bit of an element must then be
    /// changed back by the copy. So the bits that still differ are the padding, and their number must be the
    /// number of bits of padding. A layout without padding needs no such fill, because every byte is written.
    pub(super) fn compare(&self, laid_out: &[u8], stored: &[u8], bar: &ProgressBar) -> Result<Answer, Stop> {
        let (mut compared, mut different) = (0_usize, 0_u128);
        let held = |range: Range<usize>| stored.get(range).unwrap_or_default();
        let oppose = |range, bytes: &mut [u8]| {
            if self.padding_bits > 0 {
                bytes.iter_mut().zip(held(range)).for_each(|(byte, held)| *byte = !held);
            }
        };
        let done = self.back.run(laid_out, bar, oppose, |range, bytes| {
            let held = held(range);
            compared = compared.saturating_add(held.len());
            if bytes != held {
                let bits = bytes.iter().zip(held).map(|(byte, held)| u128::from((byte ^ held).count_ones()));
                different = different.saturating_add(bits.sum());
            }
            Ok(())
        })?;
        let identical = compared == stored.len() && different == self.padding_bits;
        Ok(done.map_or_else(Answer::Refused, |()| Answer::Tried { identical }))
    }
}
