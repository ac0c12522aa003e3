//! `Plan`: the new layout of a tensor, decided before its bytes are read, and the copies there and back.

use std::io::Write;
use std::ops::Range;

use tensor_layout::bridge::lower;
use tensor_layout::relayout::{Padding, Relayout, Settings};
use tensor_layout::strided::BlockTensorDesc;
use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};
use tensor_layout::{AnyLayout, BufferTensorDesc, Error, IndexMap, ToIndexMap};
use tensor_layout_text::Layout;
use tensor_layout_text::layout::{copies, in_own_bytes};
use tensor_layout_text::named::NamedLayout;

use super::failure::Failure;
use super::row::{Answer, LaidOut, Refusal, Row};
use super::rules::Rules;
use crate::pieces::{PIECE, PieceError, Pieces, Progress};
use crate::{Input, Tensor};

/// The most bytes of memory that the conversion of one tensor may take, and the most bytes of padding that it
/// may get. A tensor that needs more is not tried: with large enough tiles, even a scalar would fill any
/// disk.
const MOST: u64 = 8 << 30;

/// The code of a data type that a device does not have.
const NO_TYPE: &str = "unsupported_data_type";

/// Returns what the limits refuse of a layout in a buffer of its own.
pub(crate) fn limit_errors(layout: &Layout, limits: &DeviceLimits) -> Result<Vec<Error>, Error> {
    let mut refused = Vec::new();
    for plane in layout.planes() {
        let desc = plane.bound()?.desc;
        let buffer = UploadBuffer::new(desc.total_tensor_size_in_bytes().max(4), 0, Role::Input);
        let described: &dyn ToIndexMap = if plane.blocks().is_some() && plane.whole().is_ok() { plane } else { &desc };
        refused.extend(validate(described, &buffer, limits).err().map(|errors| errors.to_vec()).unwrap_or_default());
    }
    Ok(refused)
}

pub(super) struct Plan<'f> {
    pub(super) tensor: Tensor<'f>,
    pub(super) layout: Layout,
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
    /// The layout of the elements in the words of the tensor, if the settings name one.
    words: Option<Layout>,
}

impl<'f> Plan<'f> {
    pub(super) fn new(tensor: Tensor<'f>, rules: &Rules, limits: &DeviceLimits) -> Result<Plan<'f>, Error> {
        let held = rules.layout_of(&tensor)?;
        let (stored, blocks) = (held.to_index_map()?, held.blocks());
        let rule = rules.of(tensor.name());
        let (layout, (repacked, remark), packed): (Layout, _, _) = match blocks {
            Some(blocks) => {
                let packed = BlockTensorDesc::packed(blocks.block_type(), blocks.sizes())?;
                (packed.clone().into(), rule.blocks(blocks)?, packed.to_index_map()?)
            }
            None => {
                let packed = BufferTensorDesc::packed(stored.data_type(), held.sizes())?.to_index_map()?;
                let remark = rule.exception(held.sizes().len());
                (rule.layout(stored.data_type(), held.sizes())?, (None, remark), packed)
            }
        };
        let map = layout.to_index_map()?;
        let lowering = lower(layout.any()?)?;
        let limit_errors = limit_errors(&layout, limits)?;
        Ok(Plan {
            tensor,
            layout,
            map,
            packed_bytes: packed.physical_size_in_bytes(),
            lowering: lowering.name(),
            reason: lowering.reason(),
            limit_errors,
            remark,
            repacked,
            words: (held.values().type_name() != tensor.type_name()).then_some(held),
            stored,
        })
    }

    pub(super) fn text(&self) -> String {
        self.repacked.as_ref().map_or_else(|| self.layout.to_string(), ToString::to_string)
    }

    /// Returns the answer for a tensor that needs no [`Trip`]: it stays as it is, or is repacked in memory
    /// and back.
    fn without_trip(&self) -> Option<Answer> {
        let held = self.tensor.bytes();
        let repack = |named: &NamedLayout| {
            let (rows, named) = (Layout::from(AnyLayout::from(self.stored.clone())), Layout::try_from(named.clone())?);
            if bytes(held.len()) > MOST / 3 {
                return Ok(Answer::TooLarge { padding: false, bytes: self.bytes().saturating_mul(3) });
            }
            let (mut repacked, mut back) = (vec![0; held.len()], vec![0; held.len()]);
            copies(&rows, &named, &Settings::default())?.run(held, &mut repacked)?;
            copies(&named, &rows, &Settings::default())?.run(&repacked, &mut back)?;
            Ok(Answer::Tried { identical: back == held })
        };
        match &self.repacked {
            Some(named) => Some(repack(named).unwrap_or_else(Answer::Refused)),
            None => (self.stored == self.map).then_some(Answer::Tried { identical: true }),
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.map.physical_size_in_bytes()
    }

    /// Returns what stays of the tensor. `explained` has the codes whose sentences an earlier row of the
    /// part has.
    pub(super) fn row(&self, part: usize, answer: Answer, explained: &mut Vec<&'static str>) -> Row {
        let refusals = self.limit_errors.iter().map(|error| {
            let code = error.code();
            let what = match code {
                NO_TYPE => Some(error.found().to_owned()),
                _ if explained.contains(&code) => None,
                _ => {
                    explained.push(code);
                    Some(error.to_string())
                }
            };
            Refusal { code, what }
        });
        let laid_out = LaidOut {
            layout: self.text(),
            packed_bytes: self.packed_bytes,
            bytes: self.bytes(),
            class: self.map.class(),
            lowering: self.lowering,
            reason: self.reason.clone(),
            refusals: refusals.collect(),
            remark: self.remark,
            answer,
        };
        let row = Row::new(self.tensor, part, Ok(laid_out));
        match &self.words {
            Some(held) => Row {
                sizes: held.sizes().into(),
                type_name: held.values().type_name(),
                from: Some(held.to_string()),
                ..row
            },
            None => row,
        }
    }

    /// Plans the copies to the new layout and back. If they would take too much memory or padding, the answer
    /// for the tensor is returned as the error.
    pub(super) fn trip(&self) -> Result<Trip, Answer> {
        let padding = self.bytes().saturating_sub(self.packed_bytes);
        if padding > MOST {
            return Err(Answer::TooLarge { padding: true, bytes: padding });
        }
        let trip = Trip::new(&self.stored, &self.map).map_err(Answer::Refused)?;
        match trip.memory() {
            0..=MOST => Ok(trip),
            memory => Err(Answer::TooLarge { padding: false, bytes: memory }),
        }
    }

    /// Converts the tensor and converts it back, through memory, or through a temporary file if it is long.
    pub(super) fn try_out(&self, progress: Progress<'_>) -> Result<Answer, Failure> {
        let held = self.tensor.bytes();
        if let Some(answer) = self.without_trip() {
            progress(bytes(held.len()));
            return Ok(answer);
        }
        let unusable = |error: std::io::Error| {
            let (length, folder) = (self.bytes(), std::env::temp_dir());
            let folder = folder.display();
            Failure::Unusable(format!("a temporary file of {length} bytes in {folder} cannot be used: {error}"))
        };
        let trip = match self.trip() {
            Ok(trip) => trip,
            Err(answer) => return Ok(answer),
        };
        let mut aside = tempfile::spooled_tempfile(usize::try_from(PIECE).unwrap_or(usize::MAX));
        match trip.lay_out(held, |bytes| aside.write_all(bytes)) {
            Ok(()) => trip.compare(&Input::of_spooled(aside).map_err(unusable)?, held, progress),
            Err(PieceError::Copy(error)) => Ok(Answer::Refused(error)),
            Err(PieceError::Taken(error)) => Err(unusable(error)),
            Err(PieceError::Memory(bytes)) => Err(Failure::memory(bytes)),
        }
    }
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
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

    pub(super) fn lay_out<E>(
        &self,
        stored: &[u8],
        mut append: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), PieceError<E>> {
        self.there.run(stored, &|_| (), |_, _| (), |_, bytes| append(bytes))
    }

    /// Converts `laid_out` back and compares every element with `stored`, bit by bit.
    ///
    /// The padding of the stored layout may hold any bits, so it cannot be compared. Before a piece is
    /// written, its bytes are set to the inverse of the stored bytes. Each bit of an element must then be
    /// changed back by the copy. So the bits that still differ are the padding, and their number must be the
    /// number of bits of padding. A layout without padding needs no such fill, because every byte is written.
    pub(super) fn compare(&self, laid_out: &[u8], stored: &[u8], progress: Progress<'_>) -> Result<Answer, Failure> {
        let (mut compared, mut different) = (0_usize, 0_u128);
        let held = |range: Range<usize>| stored.get(range).unwrap_or_default();
        let oppose = |range, bytes: &mut [u8]| {
            if self.padding_bits > 0 {
                bytes.iter_mut().zip(held(range)).for_each(|(byte, held)| *byte = !held);
            }
        };
        let done = self.back.run(laid_out, progress, oppose, |range, bytes| {
            let held = held(range);
            compared = compared.saturating_add(held.len());
            if bytes != held {
                let bits = bytes.iter().zip(held).map(|(byte, held)| u128::from((byte ^ held).count_ones()));
                different = different.saturating_add(bits.sum());
            }
            Ok::<(), std::convert::Infallible>(())
        });
        match done {
            Ok(()) => {
                let identical = compared == stored.len() && different == self.padding_bits;
                Ok(Answer::Tried { identical })
            }
            Err(PieceError::Copy(error)) => Ok(Answer::Refused(error)),
            Err(PieceError::Memory(bytes)) => Err(Failure::memory(bytes)),
            Err(PieceError::Taken(never)) => match never {},
        }
    }
}
