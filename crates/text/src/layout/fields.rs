//! The fields of a tensor of blocks as planes of values and of scales.

use std::borrow::Cow;

use smallvec::SmallVec;
use tensor_layout::element::{BlockField, FieldRole};
use tensor_layout::plan::counted;
use tensor_layout::{DataType, Error};

use super::places::name_of;
use super::{Layout, Part, Plane, Role};

impl Layout {
    /// Returns the planes that are copied to or from another layout: the fields of a tensor of blocks if the
    /// other has planes of scales, else the layout itself.
    pub(super) fn like(&self, other: &Layout) -> Result<Cow<'_, Layout>, Error> {
        let has_scales = |plane: &Plane| matches!(plane.role, Role::Scales { .. });
        match self.blocks().is_some() && other.planes.iter().any(has_scales) {
            true => self.in_fields(other).map(Cow::Owned),
            false => Ok(Cow::Borrowed(self)),
        }
    }

    /// Returns the values and the scales of a tensor of blocks as planes like those of another layout, all in
    /// the buffer of the blocks. Copies between the planes of both are copies from or to the blocks.
    ///
    /// The values of q4_0 are unsigned, with 8 added. Where the other plane is of `s4`, they are
    /// [flipped](super::Part::flip) to signed ones.
    fn in_fields(&self, like: &Layout) -> Result<Layout, Error> {
        let refused = |reason: String| Err(Error::not_expressible("copy between blocks and planes", reason));
        let (Some(blocks), [_]) = (self.blocks(), self.values().parts()) else {
            return refused(format!("{self} is no tensor of blocks in rows"));
        };
        let of = blocks.block_type();
        let (mut left, mut planes) = (of.fields().to_vec(), SmallVec::new());
        let mut is_like = true;
        for plane in &like.planes {
            let is_packed = |part: &Part| part.map.element_bits() == part.map.data_type().bits();
            if !plane.parts().iter().all(is_packed) {
                return refused(format!("the elements of {plane} have a byte each, and those of blocks are packed"));
            }
            let wanted = wanted(plane);
            let found = left.iter().position(|field| wanted.is_some_and(|wanted| wanted.flip_of(field).is_some()));
            let (Some(wanted), Some(mut field)) = (wanted, found.map(|place| left.remove(place))) else {
                is_like = false;
                break;
            };
            let flip = wanted.flip_of(&field).unwrap_or(0);
            field.data_type = wanted.data_type;
            let mut own = Plane::one(blocks.field(&field)?.into(), self.notation(), None);
            own.role = plane.role.clone();
            own.records = Some(of.to_string());
            // Two values of four bits share a byte, so the bits to flip are repeated in both halves.
            own.parts.iter_mut().for_each(|part| part.flip = flip.wrapping_mul(0x11));
            planes.push(own);
        }
        let bits = |field: &BlockField| {
            let entries = of.values().checked_div(field.per).unwrap_or(0);
            entries.saturating_mul(field.data_type.bits().into())
        };
        let held: u64 = of.fields().iter().map(bits).fold(0, u64::saturating_add);
        let others = of.bytes().saturating_mul(8).saturating_sub(held);
        if is_like && left.is_empty() && others == 0 {
            return Ok(Layout { planes, of: None });
        }
        let mut own: Vec<String> = of.fields().iter().map(field_in_words).collect();
        own.extend((others > 0).then(|| format!("{} of a block in no field", counted(others, "bit"))));
        let planes: Vec<String> = like.planes.iter().map(plane_in_words).collect();
        refused(format!("{of} has {}, and the planes are {}", listed(&own), listed(&planes)))
    }
}

/// The field of a block that a plane asks for.
#[derive(Clone, Copy)]
struct Wanted {
    role: FieldRole,
    per: u64,
    data_type: DataType,
}

fn wanted(plane: &Plane) -> Option<Wanted> {
    let data_type = plane.parts().first()?.map.data_type();
    match &plane.role {
        Role::Values => Some(Wanted { role: FieldRole::Values, per: 1, data_type }),
        Role::Scales { per } => {
            let (&per, outer) = per.split_last()?;
            outer.iter().all(|&per| per == 1).then_some(Wanted { role: FieldRole::Scales, per, data_type })
        }
        Role::Component { .. } | Role::Field { .. } | Role::Element { .. } => None,
    }
}

impl Wanted {
    /// Returns the bits to flip if the field is this plane.
    fn flip_of(self, field: &BlockField) -> Option<u8> {
        let is_signed = field.flip != 0 && (field.data_type, self.data_type) == (DataType::U4, DataType::S4);
        let flip = if is_signed { field.flip } else { 0 };
        let is_type = is_signed || field.data_type == self.data_type;
        ((field.role, field.per, field.lowest_bit) == (self.role, self.per, 0) && is_type).then_some(flip)
    }
}

fn field_in_words(field: &BlockField) -> String {
    let (name, bit) = (name_of(field), field.lowest_bit);
    let (role, per) = name.split_at(6);
    if bit == 0 {
        format!("{role} {}{per}", field.data_type)
    } else {
        format!("bits from {bit} on of {role} {}{per}", field.data_type)
    }
}

fn plane_in_words(plane: &Plane) -> String {
    match &plane.role {
        Role::Scales { per } => match per.split_last() {
            Some((last, outer)) if outer.iter().all(|&per| per == 1) => {
                format!("scales {} per {last}", plane.type_name())
            }
            _ => format!("scales {} per {}", plane.type_name(), crate::numbers::list(per)),
        },
        Role::Component { name, .. } => format!("{name} of a frame, {}", plane.type_name()),
        Role::Field { name } => format!("{name} of pages, {}", plane.type_name()),
        Role::Element { .. } => format!("an element of a tuple, {}", plane.type_name()),
        Role::Values => format!("values {}", plane.type_name()),
    }
}

fn listed(items: &[String]) -> String {
    match items {
        [front @ .., before, last] => {
            let front: String = front.iter().map(|item| format!("{item}, ")).collect();
            format!("{front}{before} and {last}")
        }
        items => items.concat(),
    }
}
