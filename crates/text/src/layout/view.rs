//! Views of a layout of any kind.

use std::sync::Arc;

use smallvec::SmallVec;
use tensor_layout::plan::counted;
use tensor_layout::strided::{BlockTensorDesc, Slice};
use tensor_layout::{AnyLayout, Error};

use crate::notation::ViewStep;

use super::{Layout, Plane, Role, Whole, Written};
use crate::part::{Part, Run};

impl Layout {
    /// Returns the view that a step makes of this layout. A view of a tensor of blocks has whole blocks. A
    /// view of values with scales also has the scales of these values. A view of several parts has the parts
    /// that hold its indices.
    ///
    /// # Errors
    ///
    /// `not_expressible` for a tuple, for a part that begins inside a block of values with one scale, for a
    /// reshape of several parts or of an axis that runs backwards, and the errors of [`ViewStep::apply`].
    ///
    /// ```
    /// use tensor_layout_text::{Layout, ViewStep};
    ///
    /// let weights: Layout = "f4e2m1fn[128,320] with f8e8m0fnu per 32".parse()?;
    /// let part = weights.view(&ViewStep::read("slice", "64:,32:96")?)?;
    /// assert_eq!(part.to_string(), "f4e2m1fn[64,64]:[320,1]+20512 with f8e8m0fnu[64,2]:[10,1]+641 per 32");
    /// assert!(weights.view(&ViewStep::read("slice", ":,40:104")?).is_err());
    ///
    /// let table: Layout = "kv:BNHC:u8[B=[3,0]/4,H=1,N=4,C=2]".parse()?;
    /// let second = table.view(&ViewStep::read("slice", "1:,:,:,:")?)?;
    /// assert_eq!(second.to_string(), "u8[1,1,4,2]:[8,8,2,1]+0");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn view(&self, step: &ViewStep) -> Result<Layout, Error> {
        Ok(self.viewed_by(step)?.with_steps(self, written(step, self.sizes()).into_iter().collect()))
    }

    /// Returns this view with the steps that made it of `source`, if its text is made of them.
    pub(super) fn with_steps(mut self, source: &Layout, mut steps: Vec<ViewStep>) -> Layout {
        if self.of.is_some() || self.planes.iter().all(Plane::is_written) {
            return self;
        }
        let source = match source.of.as_deref() {
            Some(Whole::View(source, before)) => {
                steps.splice(0..0, before.iter().cloned());
                Arc::clone(source)
            }
            _ => Arc::new(source.clone()),
        };
        self.of = Some(Box::new(Whole::View(source, steps)));
        self
    }

    pub(super) fn viewed_by(&self, step: &ViewStep) -> Result<Layout, Error> {
        if self.is_tuple() {
            return Err(refused("it is a tuple, and a view is of one array"));
        }
        if let Some(pages) = self.pages() {
            return match step {
                ViewStep::Slice(slices) => match slices.split_first() {
                    Some((first, others)) if others.iter().all(|slice| *slice == Slice::ALL) => {
                        pages.slice(*first)?.try_into()
                    }
                    _ => Err(refused(
                        "its fields have sizes of their own: slice the pages alone, as in 0:2, or view one of the fields",
                    )),
                },
                _ => Err(refused(
                    "it is pages of several fields, which are sliced by whole pages: view one of the fields",
                )),
            };
        }
        if let (Some(_), [_, .., last]) = (self.frame(), self.planes.as_slice()) {
            let reason = format!("it is a frame, whose planes have sizes of their own: view one of them, as in {last}");
            return Err(refused(reason));
        }
        let sizes = self.sizes();
        let shared = self.planes.iter().find_map(|plane| match &plane.role {
            Role::Scales { per } => per.iter().enumerate().max_by_key(|(_, per)| **per),
            _ => None,
        });
        if let (Some((axis, per)), ViewStep::Reshape(_) | ViewStep::Broadcast(_)) = (shared, step) {
            let values = counted(*per, "value");
            return Err(refused(format!("it has a scale for {values} of axis {axis}, so it is sliced or permuted")));
        }
        let view = |plane: &Plane| match &plane.role {
            Role::Scales { per } => {
                let (step, per) = step_of_scales(step, sizes, per)?;
                Ok(Plane { role: Role::Scales { per }, ..plane.view(&step)? })
            }
            _ => plane.view(step),
        };
        let planes = self.planes.iter().map(view).collect::<Result<_, Error>>()?;
        Ok(Layout { planes, of: None })
    }
}

/// Returns the step as it is written for a layout of these sizes: nothing if it changes nothing.
pub(super) fn written(step: &ViewStep, sizes: &[u64]) -> Option<ViewStep> {
    match step {
        ViewStep::Slice(slices) => {
            let slices: Vec<Slice> = slices.iter().zip(sizes).map(|(slice, &size)| whole_or(*slice, size)).collect();
            slices.iter().any(|slice| *slice != Slice::ALL).then(|| ViewStep::Slice(slices.into()))
        }
        ViewStep::Reverse(axes) => {
            let is_long = |axis: &usize| sizes.get(*axis).is_some_and(|&size| size > 1);
            let axes: Vec<usize> = axes.iter().copied().filter(is_long).collect();
            (!axes.is_empty()).then_some(ViewStep::Reverse(axes))
        }
        ViewStep::Permute(axes) if axes.is_empty() => None,
        _ => Some(step.clone()),
    }
}

/// Returns the step for the scales that matches a step for values of these sizes. Also returns the number of
/// values of each axis that have one scale after the step; `per` has these numbers before the step.
///
/// # Errors
///
/// `not_expressible` for a step that takes parts of blocks of values with one scale.
///
/// ```
/// use tensor_layout_text::ViewStep;
/// use tensor_layout_text::layout::step_of_scales;
///
/// let (step, per) = step_of_scales(&ViewStep::read("slice", "64:,32:96")?, &[128, 320], &[1, 32])?;
/// assert_eq!((step, per), (ViewStep::read("slice", "64:,1:3")?, vec![1, 32]));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
pub fn step_of_scales(step: &ViewStep, sizes: &[u64], per: &[u64]) -> Result<(ViewStep, Vec<u64>), Error> {
    let blocks = || sizes.iter().zip(per).enumerate();
    match step {
        ViewStep::Permute(axes) => Ok((step.clone(), axes.iter().filter_map(|&axis| per.get(axis).copied()).collect())),
        ViewStep::Reverse(axes) => {
            let ragged =
                |(axis, (size, per)): (usize, (&u64, &u64))| axes.contains(&axis) && !size.is_multiple_of(*per);
            match blocks().find(|&block| ragged(block)) {
                None => Ok((step.clone(), per.to_vec())),
                Some((axis, (size, per))) => Err(refused(format!(
                    "axis {axis} has {size} values and a scale for {per} of them, so its last block is narrower and stays last"
                ))),
            }
        }
        ViewStep::Slice(slices) => {
            let pairs = slices.iter().zip(blocks());
            let parts: Result<Vec<_>, Error> =
                pairs.map(|(slice, (axis, (&size, &per)))| scales_of(slice, axis, per, size)).collect();
            let (slices, per): (Vec<Slice>, Vec<u64>) = parts?.into_iter().unzip();
            Ok((ViewStep::Slice(slices.into()), per))
        }
        _ => Ok((step.clone(), per.to_vec())),
    }
}

/// Returns the slice of the scales that belongs to a slice of the values, and the number of values that have
/// one scale after it.
fn scales_of(slice: &Slice, axis: usize, per: u64, size: u64) -> Result<(Slice, u64), Error> {
    let (start, end) = (slice.start, slice.end.unwrap_or(size));
    let number = |value: u64| value.checked_div(per).unwrap_or(0);
    let (is_one, is_whole) =
        (end > start && number(start) == number(end.saturating_sub(1)), start == number(start).saturating_mul(per));
    match (per, slice.step, is_one, is_whole) {
        (1, ..) => Ok((*slice, 1)),
        (_, 1, true, false) => Ok(((number(start)..number(start).saturating_add(1)).into(), end.saturating_sub(start))),
        (_, 1, _, true) => Ok(((number(start)..end.div_ceil(per)).into(), per)),
        _ => Err(refused(format!("it takes parts of blocks of {per} values of axis {axis}, which share a scale"))),
    }
}

impl Plane {
    fn view(&self, step: &ViewStep) -> Result<Plane, Error> {
        match step {
            ViewStep::Reverse(axes) => self.reverse(axes),
            ViewStep::Permute(axes) => {
                let reversed = |(place, axis)| self.reversed.contains(axis).then_some(place);
                let reversed = axes.iter().enumerate().filter_map(reversed).collect();
                Ok(Plane { reversed, ..self.forwards(step)? })
            }
            ViewStep::Slice(slices) if !self.reversed.is_empty() => {
                let mut slices: Vec<Slice> = slices.to_vec();
                for &axis in &self.reversed {
                    if let (Some(slice), Some(&size)) = (slices.get_mut(axis), self.sizes.get(axis)) {
                        *slice = turned(*slice, size);
                    }
                }
                let view = self.forwards(&ViewStep::Slice(slices.into()))?;
                let is_long = |axis: &usize| view.sizes.get(*axis).is_some_and(|&size| size > 1);
                let reversed = self.reversed.iter().copied().filter(is_long).collect();
                Ok(Plane { reversed, ..view })
            }
            _ => match self.reversed.first().and_then(|axis| Some((axis, self.sizes.get(*axis)?))) {
                Some((axis, size)) => {
                    Err(refused(format!("axis {axis} of size {size} runs backwards, so it is sliced or permuted")))
                }
                None => self.forwards(step),
            },
        }
    }

    fn reverse(&self, axes: &[usize]) -> Result<Plane, Error> {
        let (rank, innermost) = (self.sizes.len(), self.sizes.len().saturating_sub(1));
        if let Some(&axis) = axes.iter().find(|&&axis| axis >= rank) {
            return Err(Error::axis_out_of_range(axis, rank));
        }
        if let Some(blocks) = self.blocks.as_ref().filter(|_| axes.contains(&innermost)) {
            let values = blocks.block_type().values();
            let reason = format!("axis {innermost} is stored in blocks of {values} values, so it runs forwards");
            return Err(refused(reason));
        }
        let is_turned = |axis: &usize| self.reversed.contains(axis) != axes.contains(axis);
        let is_long = |axis: &usize| self.sizes.get(*axis).is_some_and(|&size| size > 1);
        let reversed = (0..self.sizes.len()).filter(|axis| is_turned(axis) && is_long(axis)).collect();
        Ok(Plane { reversed, ..self.clone() })
    }

    /// Returns a view of the plane from the lowest address on, without regard to axes that run backwards.
    fn forwards(&self, step: &ViewStep) -> Result<Plane, Error> {
        let view: Plane = match (&self.written, &self.blocks) {
            (Written::One { .. }, Some(blocks)) => {
                let blocks = step.apply_to_blocks(blocks)?;
                Layout::from(blocks).planes.into_iter().next().unwrap_or_default()
            }
            (Written::One { layout, .. }, None) => {
                Layout::from(step.apply(layout)?).planes.into_iter().next().unwrap_or_default()
            }
            _ if self.parts().is_empty() => return Err(self.why_without_map()),
            _ => self.view_of_parts(step)?,
        };
        Ok(Plane { role: self.role.clone(), records: self.records.clone(), ..view })
    }

    fn view_of_parts(&self, step: &ViewStep) -> Result<Plane, Error> {
        // The view of the tensor of blocks refuses what is no view of whole blocks, and determines the bytes.
        let blocks = self.blocks.as_ref().map(|blocks| step.apply_to_blocks(blocks)).transpose()?;
        let blocks = blocks.map(|view| BlockTensorDesc::packed(view.block_type(), view.sizes())).transpose()?;
        let mut parts: SmallVec<[Part; 1]> = SmallVec::new();
        match step {
            ViewStep::Permute(axes) => {
                let mut axes = axes.clone();
                axes.extend(self.blocks.is_some().then_some(axes.len()));
                for part in self.parts() {
                    let indices = axes.iter().filter_map(|&axis| part.indices.get(axis).copied()).collect();
                    parts.push(Part { map: part.map.permute(&axes)?, indices, flip: part.flip });
                }
            }
            ViewStep::Slice(slices) => {
                let taken = self.taken(slices)?;
                for part in self.parts() {
                    let Some(runs) = part.common(&taken) else { continue };
                    let inside = |(run, taken): (&Run, &Run)| whole_or(run.within(*taken), taken.count);
                    let indices = runs.iter().zip(&taken).map(inside).collect();
                    parts.push(Part { map: part.map_of(&runs)?, indices, flip: part.flip });
                }
            }
            _ => {
                let count = self.part_count();
                let cut = self.parts().first().zip(self.parts().get(1)).and_then(|(part, next)| {
                    let axis = part.indices.iter().zip(&next.indices).position(|(slice, other)| slice != other)?;
                    Some((axis, next.indices.get(axis)?.start))
                });
                let parts = format!("into {}, which are sliced or permuted", counted(count, "part"));
                return Err(refused(match (cut, &self.blocks) {
                    (Some((bytes, at)), Some(blocks)) if bytes == self.sizes.len() => {
                        let (axis, values) = (bytes.saturating_sub(1), blocks.block_type().values());
                        format!("the blocks of {values} values of axis {axis} are cut at byte {at} {parts}")
                    }
                    (Some((axis, at)), _) => format!("axis {axis} is cut at {at} {parts}"),
                    (None, _) => format!("it is cut {parts}"),
                }));
            }
        }
        let sizes = match (&blocks, step, parts.as_slice()) {
            (Some(blocks), ..) => blocks.sizes().to_vec(),
            (None, ViewStep::Permute(axes), _) => {
                axes.iter().filter_map(|&axis| self.sizes.get(axis).copied()).collect()
            }
            (None, ViewStep::Slice(slices), _) => self.taken(slices)?.iter().map(|run| run.count).collect(),
            _ => Vec::new(),
        };
        // A view without elements, or of one part, has a map of its own.
        if let ([], Some(part), None) = (parts.as_slice(), self.parts().first(), &blocks) {
            let empty = tensor_layout::BufferTensorDesc::packed(part.map.data_type(), &sizes)?;
            return Ok(Layout::from(empty).planes.into_iter().next().unwrap_or_default());
        }
        if let ([part @ Part { flip: 0, .. }], None) = (parts.as_slice(), &blocks) {
            let map = AnyLayout::Mapped(part.map.clone());
            return Ok(Layout::from(map).planes.into_iter().next().unwrap_or_default());
        }
        Ok(Plane { blocks, ..Plane::in_parts(sizes, parts, None) })
    }

    /// Converts slices of the values to ranges of the indices of the maps.
    fn taken(&self, slices: &[Slice]) -> Result<Vec<Run>, Error> {
        // Slices that leave the sizes are refused by a slice of a row-major tensor of these sizes.
        let view = tensor_layout::BufferTensorDesc::packed(tensor_layout::DataType::U8, &self.sizes)?.slice(slices)?;
        let mut taken: Vec<Run> =
            slices.iter().zip(view.sizes()).map(|(slice, &count)| Run::new(*slice, count)).collect();
        if let (Some(blocks), Some(last)) = (&self.blocks, taken.last_mut()) {
            let (values, bytes) = (blocks.block_type().values(), blocks.block_type().bytes());
            let blocks_of = |number: u64| number.checked_div(values).unwrap_or(0);
            *last = Run { start: blocks_of(last.start), step: 1, count: blocks_of(last.count) };
            taken.push(Run { start: 0, step: 1, count: bytes });
        }
        Ok(taken)
    }
}

/// Returns a slice, or `Slice::ALL` if it is a whole axis of this size.
fn whole_or(slice: Slice, size: u64) -> Slice {
    let is_whole = slice.start == 0 && slice.step == 1 && slice.end == Some(size);
    if is_whole { Slice::ALL } else { slice }
}

/// Returns the slice of an axis that runs backwards, counted from its other end.
fn turned(slice: Slice, size: u64) -> Slice {
    let (end, step) = (slice.end.unwrap_or(size), slice.step.max(1));
    let Some(last) = end.checked_sub(1).filter(|last| slice.start <= *last && *last < size) else { return slice };
    let last = last.saturating_sub(last.saturating_sub(slice.start).checked_rem(step).unwrap_or(0));
    let (first, past) = (size.saturating_sub(1).saturating_sub(last), size.saturating_sub(slice.start));
    Slice { start: first, end: Some(past), step: slice.step }
}

fn refused(reason: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::not_expressible("view", reason)
}
