//! Whether two layouts store every element at the same offset.

use tensor_layout::checked;
use tensor_layout::plan::{EQUALITY_WORK_LIMIT, counted};
use tensor_layout::{DataType, Error};

use crate::numbers::{joined, list};

use super::{Layout, Plane, Role, Written};
use crate::part::{Run, common};

/// Why two layouts are not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The reason, as a sentence without its full stop.
    pub reason: String,
    /// The first index, in row-major order, that the two layouts store at different offsets. `None` if
    /// something else differs, or if the index takes too long to find.
    pub index: Option<Vec<u64>>,
}

impl Layout {
    /// Returns why this layout and another one are not the same; `None` if both store every element at the
    /// same offset. Planes are compared one by one.
    ///
    /// # Errors
    ///
    /// `undecided` if the comparison takes too long, and the reason why a plane has no index map.
    ///
    /// ```
    /// use tensor_layout_text::layout::Layout;
    ///
    /// let read = |text: &str| text.parse::<Layout>();
    /// assert_eq!(read("f32[2,3]:[5,1]")?.difference(&read("f32[2,3]{1,0:T(5)}")?)?, None);
    /// let (table, other) = (read("kv:BNHC:u8[B=[3,0]/4,H=1,N=4,C=2]")?, read("kv:BNHC:u8[B=[3,1]/4,H=1,N=4,C=2]")?);
    /// let difference = table.difference(&other)?.unwrap();
    /// assert_eq!(difference.index, Some(vec![1, 0, 0, 0]));
    /// assert_eq!(difference.reason, "index [1,0,0,0] is stored at offset 0 in the first and 8 in the second");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn difference(&self, other: &Layout) -> Result<Option<Difference>, Error> {
        let differ = |reason: String| Ok(Some(Difference { reason, index: None }));
        if self.is_tuple() != other.is_tuple() {
            return differ("one is a tuple and the other is none".into());
        }
        let (count, noun) = (self.planes.len(), if self.is_tuple() { "element" } else { "plane" });
        if count != other.planes.len() {
            let [a, b] = [count, other.planes.len()].map(|count| counted(count, noun));
            return differ(format!("one has {a} and the other {b}"));
        }
        for (place, (plane, other)) in self.planes.iter().zip(&other.planes).enumerate() {
            if plane.role != other.role {
                return differ(match (&plane.role, &other.role) {
                    (Role::Scales { per: a }, Role::Scales { per: b }) => {
                        format!("one has a scale per {} and the other per {}", list(a), list(b))
                    }
                    (Role::Element { path: a }, Role::Element { path: b }) => {
                        format!("one has an element {{{}}} and the other {{{}}}", joined(a), joined(b))
                    }
                    (Role::Component { name: a, per: p }, Role::Component { name: b, per: q }) => {
                        format!("one has {a} for each {} pixels and the other {b} for each {}", by(p), by(q))
                    }
                    (Role::Field { name: a }, Role::Field { name: b }) => {
                        format!("field {place} is {a} in one and {b} in the other")
                    }
                    _ => format!("plane {place} holds other things"),
                });
            }
            if let Some(mut difference) = plane.difference(other)? {
                let of = match &plane.role {
                    Role::Values => String::new(),
                    Role::Scales { .. } => "of the scales, ".into(),
                    role @ (Role::Component { .. } | Role::Field { .. }) => {
                        format!("of {}, ", role.name().unwrap_or_default())
                    }
                    Role::Element { path } => format!("of element {{{}}}, ", joined(path)),
                };
                difference.reason.insert_str(0, &of);
                return Ok(Some(difference));
            }
        }
        Ok(None)
    }
}

/// Writes `2 x 2`.
fn by(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ")
}

impl Plane {
    fn difference(&self, other: &Plane) -> Result<Option<Difference>, Error> {
        let differ = |reason: String| Ok(Some(Difference { reason, index: None }));
        if let (Written::Shape(a), Written::Shape(b)) = (&self.written, &other.written) {
            return if a == b { Ok(None) } else { differ(format!("one is {a} and the other {b}")) };
        }
        if let Some(reason) = self.unlike_blocks(other) {
            return differ(reason);
        }
        let (Some(part), Some(others)) = (self.parts().first(), other.parts().first()) else {
            let without = if self.parts().is_empty() { self } else { other };
            return Err(without.why_without_map());
        };
        // If one side is a tensor of blocks and the other its bytes, the sizes in bytes are compared.
        let (sizes, their_sizes) = match self.blocks.is_some() == other.blocks.is_some() {
            true => (self.sizes.as_slice(), other.sizes.as_slice()),
            false => (part.map.sizes(), others.map.sizes()),
        };
        if sizes != their_sizes {
            return differ(format!("the sizes are {} and {}", list(sizes), list(their_sizes)));
        }
        let [a, b] = [part, others].map(|part| part.map.element_bits());
        if a != b {
            let [a, b] = [a, b].map(|bits| counted(bits, "bit"));
            return differ(format!("an element takes {a} in one and {b} in the other"));
        }
        let (found, index) = if self.reversed == other.reversed {
            self.first_difference(other)?
        } else {
            self.first_difference_of_turned(other)?
        };
        if !found {
            return Ok(None);
        }
        // The layouts are known to differ. The first difference may take too long to find.
        let Some(index) = index else { return differ("some elements are stored at different offsets".into()) };
        let (a, b) = (self.offset_in_map(&index)?, other.offset_in_map(&index)?);
        let blocks = self.blocks.as_ref().or(other.blocks.as_ref()).map(|blocks| blocks.block_type().values());
        let reason = match (blocks, index.as_slice()) {
            (Some(values), [outer @ .., block, byte]) => format!(
                "byte {byte} of the block of {} is stored at byte {a} in the first and {b} in the second",
                list(&[outer, &[block.saturating_mul(values)]].concat())
            ),
            _ => format!("index {} is stored at offset {a} in the first and {b} in the second", list(&index)),
        };
        Ok(Some(Difference { reason, index: Some(index) }))
    }

    /// Returns why a tensor of blocks and the other plane do not hold the same values, wherever these are
    /// stored. A tensor of `u8` that has the bytes of the blocks counts as the same.
    fn unlike_blocks(&self, other: &Plane) -> Option<String> {
        let of = |plane: &Plane| format!("blocks of {}", plane.type_name());
        let elements = |other: &Plane, plane: &Plane| {
            let (map, bytes) = (&other.parts().first()?.map, plane.blocks.as_ref()?.bytes());
            let is_bytes = map.data_type() == DataType::U8 && map.sizes() == bytes.sizes();
            (!is_bytes).then(|| format!("{} elements {}", map.data_type(), list(map.sizes())))
        };
        let differ = |a: String, b: String| Some(format!("one has {a} and the other {b}"));
        match (&self.blocks, &other.blocks) {
            (Some(a), Some(b)) if a.block_type() != b.block_type() => differ(of(self), of(other)),
            (Some(_), None) => differ(of(self), elements(other, self)?),
            (None, Some(_)) => differ(elements(self, other)?, of(other)),
            _ => None,
        }
    }

    /// Returns whether an element is stored elsewhere, and the first such index of the maps if it is found.
    /// The parts of both planes are cut at their common indices.
    fn first_difference(&self, other: &Plane) -> Result<(bool, Option<Vec<u64>>), Error> {
        let (mut differs, mut first): (bool, Option<Vec<u64>>) = (false, None);
        for (part, runs, others) in common(self.parts(), other.parts()) {
            let (one, two) = (part.map_of(&runs)?, others.map_of(&runs)?);
            if one.same_places(&two)? {
                continue;
            }
            differs = true;
            let Ok(Some(index)) = one.first_difference(&two) else { return Ok((true, None)) };
            let inside = |(i, run): (&u64, &Run)| run.start.saturating_add(i.saturating_mul(run.step));
            let index: Vec<u64> = index.iter().zip(&runs).map(inside).collect();
            first = first.filter(|first| *first < index).or(Some(index));
        }
        Ok((differs, first.map(|index| self.forwards_index(&index))))
    }

    /// Returns what [`first_difference`](Self::first_difference) returns for two planes in which different
    /// axes run backwards. Planes with one stride an axis differ at the first index, at one of its
    /// neighbours, or nowhere. Others are compared index by index.
    fn first_difference_of_turned(&self, other: &Plane) -> Result<(bool, Option<Vec<u64>>), Error> {
        let sizes = self.map_sizes();
        let differs = |index: &[u64]| Ok::<_, Error>(self.offset_in_map(index)? != other.offset_in_map(index)?);
        let mut index = vec![0; sizes.len()];
        if sizes.contains(&0) {
            return Ok((false, None));
        }
        let has_strides = |plane: &Plane| matches!(plane.parts(), [part] if part.map.strides().is_some());
        if has_strides(self) && has_strides(other) {
            let neighbours = (0..sizes.len()).rev().filter(|&axis| sizes.get(axis).is_some_and(|&size| size > 1));
            let neighbours = neighbours.map(|axis| (0..sizes.len()).map(|other| u64::from(other == axis)).collect());
            for index in core::iter::once(index).chain(neighbours) {
                if differs(&index)? {
                    return Ok((true, Some(index)));
                }
            }
            return Ok((false, None));
        }
        // Each index is looked for in all parts of both planes.
        let steps = checked::len_u64(self.part_count().saturating_add(other.part_count()));
        let mut left = EQUALITY_WORK_LIMIT;
        loop {
            if differs(&index)? {
                return Ok((true, Some(index)));
            }
            left = left.checked_sub(steps).ok_or_else(|| {
                Error::undecided("whether two layouts put every element at the same place", EQUALITY_WORK_LIMIT)
            })?;
            // The next index in row-major order.
            let Some(axis) = index.iter().zip(sizes).rposition(|(i, size)| i.saturating_add(1) < *size) else {
                return Ok((false, None));
            };
            for (number, i) in index.iter_mut().enumerate().skip(axis) {
                *i = if number == axis { i.saturating_add(1) } else { 0 };
            }
        }
    }
}
