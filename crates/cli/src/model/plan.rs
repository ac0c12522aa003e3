//! `Plan`: the new layout of a tensor, decided before its bytes are read.

use crate::model_file::{Header, Model, Tensor};
use tensor_layout::bridge::lower;
use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};
use tensor_layout::{BufferTensorDesc, Error, IndexMap, ToIndexMap};
use tensor_layout_text::Notated;

use crate::binding::bound_as;
use crate::pieces::PIECE;
use crate::table::short_bytes;

use super::rules::Rules;
use super::trip::{Answer, Trip};

/// The most bytes of memory that the conversion of one tensor may take. A tensor that needs more is not
/// tried. Only layouts that cannot be divided into pieces take more than a few pieces.
const MEMORY: u64 = 8 << 30;

/// The most bytes of padding that one tensor may get. A tensor that needs more is not tried: with large
/// enough tiles, even a scalar would fill any disk.
const PADDING: u64 = 8 << 30;

/// A tensor, and what is known about its new layout.
pub(super) struct Plan<'m> {
    pub(super) tensor: &'m Tensor<'m>,
    pub(super) layout: Notated,
    pub(super) map: IndexMap,
    pub(super) packed_bytes: u64,
    pub(super) lowering: &'static str,
    pub(super) reason: Option<String>,
    /// The rules of the device that the tensor breaks.
    pub(super) limit_errors: Vec<Error>,
    pub(super) remark: Option<&'static str>,
    /// The layout in which the file stores the tensor.
    stored: IndexMap,
}

impl<'m> Plan<'m> {
    pub(super) fn new(tensor: &'m Tensor<'m>, rules: &Rules, limits: &DeviceLimits) -> Result<Plan<'m>, Error> {
        let stored = tensor.layout()?.to_index_map()?;
        let layout = new_layout(tensor, rules)?;
        let map = layout.to_index_map()?;
        let lowering = lower(layout.layout())?;
        let (desc, _) = bound_as(layout.layout())?;
        let buffer = UploadBuffer::new(desc.total_tensor_size_in_bytes().max(4), 0, Role::Input);
        let limit_errors = match validate(&desc, &buffer, limits) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().cloned().collect(),
        };
        let packed = BufferTensorDesc::packed(stored.data_type(), tensor.sizes())?.to_index_map()?;
        Ok(Plan {
            tensor,
            layout,
            map,
            packed_bytes: packed.physical_size_in_bytes(),
            lowering: lowering.name(),
            reason: lowering.reason(),
            limit_errors,
            remark: rules.of(tensor.name()).exception(tensor.sizes().len()),
            stored,
        })
    }

    /// Returns the size of the buffer in the new layout, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.map.physical_size_in_bytes()
    }

    /// Plans the copies to the new layout and back. If they would take too much memory or padding, the answer
    /// for the tensor is returned as the error.
    pub(super) fn trip(&self) -> Result<Trip, Answer> {
        let padding = self.bytes().saturating_sub(self.packed_bytes);
        if padding > PADDING {
            return Err(Answer::NotTried(format!("{} of padding", short_bytes(padding))));
        }
        let trip = Trip::new(&self.stored, &self.map, PIECE).map_err(Answer::Refused)?;
        match trip.memory() {
            0..=MEMORY => Ok(trip),
            memory => Err(Answer::NotTried(format!("{} of memory", short_bytes(memory)))),
        }
    }
}

/// Returns the header of the file that a model is converted to by these rules.
pub(super) fn new_header(model: &Model<'_>, rules: &Rules) -> Result<Header, Error> {
    let tensors = model.tensors().iter();
    let layouts: Vec<Notated> = tensors.map(|tensor| new_layout(tensor, rules)).collect::<Result<_, _>>()?;
    Header::new(model.tensors().iter().map(Tensor::name).zip(&layouts), model.metadata())
}

fn new_layout(tensor: &Tensor<'_>, rules: &Rules) -> Result<Notated, Error> {
    let stored = tensor.layout()?.to_index_map()?;
    rules.of(tensor.name()).layout(stored.data_type(), tensor.sizes())
}
