//! Checks a plane beside the values of a tensor against the rules of its role.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::checked;
use crate::error::{Code, Error};
use crate::map::IndexMap;

use super::limits::{DeviceLimits, Field, read_size};
use super::planes::{PlaneLimits, PlaneRole};

impl Field for Cow<'static, [PlaneLimits]> {
    fn read(text: &str) -> Result<Self, Error> {
        let rules = text.split(';').filter(|rule| !rule.is_empty()).map(|rule| {
            let mut parts = rule.split(':');
            let mut part = || parts.next().unwrap_or("");
            let (role, data_types) = (part().parse()?, Field::read(part())?);
            let (block, bits) = (read_size(part())?, read_size(part())?);
            Ok(PlaneLimits { role, data_types, block, max_value_bits: u32::try_from(bits).unwrap_or(u32::MAX) })
        });
        rules.collect::<Result<Vec<_>, Error>>().map(Cow::Owned)
    }
}

impl DeviceLimits {
    /// Returns the limits for a plane beside these values, of which one element is for `block` values of each
    /// axis, and the rules that the pair breaks: `plane_role`, `plane_values`, `plane_block` and
    /// `rank_limit`.
    ///
    /// A device without rules for [`planes`](Self::planes) takes a plane as a tensor like any other.
    ///
    /// ```
    /// use tensor_layout::upload::{DeviceLimits, PlaneRole, validate_description};
    /// use tensor_layout::{BufferTensorDesc, ToIndexMap};
    ///
    /// let metal: DeviceLimits = "metal-tensor".parse()?;
    /// let values = "s8[128,320]:[384,1]".parse::<BufferTensorDesc>()?.to_index_map()?;
    /// let scales: BufferTensorDesc = "f8e8m0fnu[128,10]:[128,1]".parse()?;
    /// let (limits, errors) = metal.for_plane(PlaneRole::Scales, &values, &[1, 32]);
    /// assert!(errors.is_empty() && validate_description(&scales, &limits).is_ok());
    /// let (_, errors) = metal.for_plane(PlaneRole::Scales, &values, &[1, 16]);
    /// assert_eq!(errors[0].to_string(), "axis 1 has one scale for 16 values, but the device takes one for 32");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn for_plane(&self, role: PlaneRole, values: &IndexMap, block: &[u64]) -> (DeviceLimits, Vec<Error>) {
        let mut errors = Vec::new();
        let Some(planes) = &self.planes else { return (self.clone(), errors) };
        let Some(plane) = planes.iter().find(|plane| plane.role == role) else {
            let what = role.to_string().replace('_', " ");
            errors.push(Code::PlaneRole.with_reason(self.name.clone(), what));
            return (self.clone(), errors);
        };
        if values.sizes().is_empty() {
            errors.push(Code::RankLimit.for_value(0, checked::len_u64(self.max_rank)).with_other(1));
        }
        if values.element_bits() > plane.max_value_bits {
            errors.push(Code::PlaneValues.for_value(values.element_bits().into(), plane.max_value_bits.into()));
        }
        let last = block.len().saturating_sub(1);
        for (axis, &found) in block.iter().enumerate() {
            let expected = if axis == last { plane.block } else { 1 };
            if found != expected {
                errors.push(Code::PlaneBlock.on_axis(axis, found, expected));
            }
        }
        (DeviceLimits { data_types: Some(plane.data_types.clone()), ..self.clone() }, errors)
    }
}
