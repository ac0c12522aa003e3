//! The boxes of one pass, planned.

use crate::error::Error;
use crate::map::{BoxGroups, CopyBox};

use super::cost::{PREFETCH_FROM, PREPARED_BOXES, STREAMING_FROM};
use super::nest::Nest;
use super::select;
use super::subbyte::{self, SubByteBox};

/// The boxes of one pass, ready to run.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) boxes: BoxGroups,
    /// Of an element.
    pub(crate) bits: u32,
    /// Store whole lines past the cache.
    pub(crate) streaming: bool,
    /// Prefetch what will be read.
    pub(crate) prefetch: bool,
    pub(crate) traffic: Traffic,
    /// All boxes, or none if there are more than [`PREPARED_BOXES`]: then each is planned as it is run.
    pub(crate) prepared: Vec<PlannedBox>,
}

/// What a pass moves, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traffic {
    /// Elements read: those that are repeated once, as they stay in the cache.
    pub(crate) read: u64,
    /// Elements written.
    pub(crate) written: u64,
    /// Both buffers.
    pub(crate) buffers: u64,
}

impl Traffic {
    pub(crate) fn is_streamed(&self) -> bool {
        self.buffers >= STREAMING_FROM
    }
}

/// One box, planned.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "nearly every box is a nest; a box of its own would cost an allocation")]
pub(crate) enum PlannedBox {
    /// Whole bytes.
    Nest(Nest),
    /// Elements that begin inside bytes.
    SubByte(SubByteBox),
}

impl Program {
    pub(crate) fn new(boxes: BoxGroups, bits: u32, traffic: Traffic) -> Result<Program, Error> {
        let mut prepared = Vec::new();
        if boxes.count() <= PREPARED_BOXES {
            prepared.reserve_exact(usize::try_from(boxes.count()).unwrap_or(0));
            for copy in boxes.iter() {
                prepared.push(PlannedBox::new(copy, bits)?);
            }
        }
        let (streaming, prefetch) = (traffic.is_streamed(), traffic.buffers >= PREFETCH_FROM);
        Ok(Program { boxes, bits, streaming, prefetch, traffic, prepared })
    }

    /// Some boxes of another program, clipped.
    pub(crate) fn of_boxes(&self, boxes: Vec<CopyBox>) -> Result<Program, Error> {
        let prepared = boxes.into_iter().map(|copy| PlannedBox::new(copy, self.bits)).collect::<Result<_, _>>()?;
        Ok(Program { boxes: BoxGroups::none(), prepared, ..*self })
    }
}

impl PlannedBox {
    pub(crate) fn new(copy: CopyBox, bits: u32) -> Result<PlannedBox, Error> {
        if bits.is_multiple_of(8) {
            select::nest(&copy, u64::from(bits / 8)).map(PlannedBox::Nest)
        } else if let Some(whole) = subbyte::in_whole_bytes(&copy, bits) {
            select::nest(&whole, 1).map(PlannedBox::Nest)
        } else if let Some(nest) = subbyte::interleaved(&copy, bits) {
            Ok(PlannedBox::Nest(nest))
        } else {
            Ok(PlannedBox::SubByte(SubByteBox::new(copy, bits)))
        }
    }
}
