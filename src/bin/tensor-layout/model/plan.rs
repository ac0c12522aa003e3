//! `Plan`: what is known about a tensor before its bytes are read.

use tensor_layout::upload::{Buffer, Limits, Role, validate};
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};

use crate::binding::bound_as;
use crate::describe::Lowered;
use crate::pieces::PIECE;
use crate::table::short_bytes;

use super::rule::Rule;
use super::source::Tensor;
use super::trip::{Answer, Trip};

/// The most bytes of memory that one tensor may take, in all its forms together. Only layouts that cannot be cut take more
/// than a few pieces.
const MEMORY: u64 = 8 << 30;

/// The most bytes of padding that one tensor may get: large tiles make any disk too small for a scalar.
const PADDING: u64 = 8 << 30;

/// A tensor and the layout it gets.
pub(super) struct Plan {
    pub(super) tensor: Tensor,
    pub(super) data_type: DataType,
    pub(super) text: String,
    pub(super) map: IndexMap,
    pub(super) lowering: &'static str,
    pub(super) reason: Option<String>,
    /// What is wrong with it in the eyes of the device.
    pub(super) limit_errors: Vec<Error>,
    pub(super) remark: Option<&'static str>,
    packed: BufferTensorDesc,
}

impl Plan {
    pub(super) fn new(tensor: &Tensor, rule: &Rule, limits: &Limits) -> Result<Plan, Error> {
        let unknown = || Error::UnknownDataType { name: tensor.type_name.clone() };
        let data_type = tensor.data_type.ok_or_else(unknown)?;
        let packed = BufferTensorDesc::packed(data_type, &tensor.sizes)?;
        let (layout, text) = rule.layout(data_type, &tensor.sizes)?;
        let map = layout.to_index_map()?;
        let lowered = Lowered::of(&layout, &map)?;
        let (desc, _) = bound_as(&layout)?;
        let buffer = Buffer::new(desc.total_tensor_size_in_bytes().max(4), 0, Role::Input);
        let limit_errors = match validate(&desc, &buffer, limits) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().cloned().collect(),
        };
        Ok(Plan {
            tensor: tensor.clone(),
            data_type,
            text,
            map,
            lowering: lowered.name,
            reason: lowered.reason,
            limit_errors,
            remark: rule.exception(tensor.sizes.len()),
            packed,
        })
    }

    /// The bytes of the buffer in the new layout.
    pub(super) fn bytes(&self) -> u64 {
        self.map.physical_size_in_bytes()
    }

    /// Does the new layout put every element where the packed one does, without padding?
    pub(super) fn is_packed(&self) -> bool {
        self.packed.to_index_map().is_ok_and(|packed| packed == self.map)
    }

    /// The way into the new layout and back, or the answer if that is not to be tried.
    pub(super) fn trip(&self) -> Result<Trip, Answer> {
        let padding = self.bytes().saturating_sub(self.tensor.bytes);
        if padding > PADDING {
            return Err(Answer::NotTried(format!("{} of padding", short_bytes(padding))));
        }
        let trip = Trip::new(&self.packed, &self.map, PIECE).map_err(Answer::Refused)?;
        match trip.memory() {
            0..=MEMORY => Ok(trip),
            memory => Err(Answer::NotTried(format!("{} of memory", short_bytes(memory)))),
        }
    }
}
