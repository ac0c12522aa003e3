//! `Plan`: what is known about a tensor before its bytes are read, and `Outcome`: what its bytes showed.

use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::upload::{Buffer, Limits, Role, validate};
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};

use crate::binding::bound_as;
use crate::describe::Lowered;
use crate::input_file::zeroed;
use crate::output::Stop;

use super::rule::Rule;
use super::source::Tensor;

/// The most bytes of memory that one tensor may take, in all its forms together.
const MEMORY: u64 = 8 << 30;

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

    /// The bytes that converting there and back holds at once.
    pub(super) fn memory(&self) -> u64 {
        self.tensor.bytes.saturating_mul(2).saturating_add(self.bytes())
    }

    pub(super) fn fits_memory(&self) -> bool {
        self.memory() <= MEMORY
    }

    /// Moves the tensor into its layout and back, and compares.
    pub(super) fn try_out(&self, source: &[u8]) -> Result<Outcome, Stop> {
        let mut laid_out = zeroed(self.bytes())?;
        let mut back = zeroed(self.tensor.bytes)?;
        let there = Relayout::new(&self.packed, &self.map)
            .and_then(|plan| plan.with_padding(Padding::Zero))
            .and_then(|plan| plan.run(source, &mut laid_out));
        let done = there.and_then(|()| Relayout::new(&self.map, &self.packed)?.run(&laid_out, &mut back));
        let identical = done.map(|()| back == source);
        Ok(Outcome { identical, laid_out })
    }
}

/// A tensor in its new layout.
pub(super) struct Outcome {
    /// Are the bytes the same after the way there and back? An error if there is no way.
    pub(super) identical: Result<bool, Error>,
    pub(super) laid_out: Vec<u8>,
}
