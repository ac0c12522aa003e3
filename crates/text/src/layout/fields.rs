//! The fields of a tensor of blocks, as planes of values and of scales.

use smallvec::SmallVec;
use tensor_layout::element::{BlockField, FieldRole};
use tensor_layout::plan::counted;
use tensor_layout::{DataType, Error};

use super::{Layout, Part, Plane, Role};

impl Layout {
    /// Returns the values and the scales of a tensor of blocks as planes like those of another layout, all in
    /// the buffer of the blocks. Copies between the planes of both are copies from or to the blocks.
    ///
    /// The values of q4_0 are unsigned, with 8 added. Where the other plane is of `s4`, they are
    /// [flipped](super::Part::flip) to signed ones.
    ///
    /// # Errors
    ///
    /// `not_expressible` for a layout that is no tensor of blocks in rows, or if its fields are not the
    /// planes: other types or numbers of values for a scale, or fields that no plane has.
    ///
    /// ```
    /// use tensor_layout::{relayout::copy, ToIndexMap};
    /// use tensor_layout_text::Layout;
    ///
    /// let blocks: Layout = "mxfp4[4,64]".parse()?;
    /// let planes: Layout = "f4e2m1fn[4,64] with f8e8m0fnu per 32".parse()?;
    /// let fields = blocks.in_fields(&planes)?;
    /// // The scales are the first bytes of the blocks of 17.
    /// let (source, mut scales) = ((0..136).collect::<Vec<u8>>(), [0; 8]);
    /// copy(&fields.planes()[1], &planes.planes()[1], &source, &mut scales)?;
    /// assert_eq!(scales, [0, 17, 34, 51, 68, 85, 102, 119]);
    ///
    /// let error = "q4_1[4,64]".parse::<Layout>()?.in_fields(&"u4[4,64] with f16 per 32".parse()?).unwrap_err();
    /// assert_eq!(error.to_string(), "no copy between blocks and planes describes this layout: q4_1 has values u4, \
    ///     scales f16 per 32 and minima f16 per 32, and the planes are values u4 and scales f16 per 32");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn in_fields(&self, like: &Layout) -> Result<Layout, Error> {
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
        (field.role == self.role && field.per == self.per && is_type).then_some(flip)
    }
}

fn field_in_words(field: &BlockField) -> String {
    let role = match field.role {
        FieldRole::Values => "values",
        FieldRole::UpperBits => "upper bits",
        FieldRole::Minima => "minima",
        _ => "scales",
    };
    let per = if field.per == 1 { String::new() } else { format!(" per {}", field.per) };
    format!("{role} {}{per}", field.data_type)
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
