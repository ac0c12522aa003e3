//! `Value`: what an expression stands for: sizes, and pieces of sources, each with its place.
//!
//! A step changes the views of the sources, so that the copies go from the files to the destination at once.
//! A step that no view of a piece makes (a reshape of what was permuted) is undone on the destination: the
//! piece keeps a list of views that lead from its box of the value to its own sizes.
//!
//! ```text
//! cat 0 (q, k) | permute 1,0     q permuted -> [0:8, 0:6]     k permuted -> [0:8, 6:8]
//! q | permute 1,0 | reshape 48   q -> [0:48], reshaped to 8,6, permuted
//! ```

use std::ops::Range;

use tensor_layout::plan::{Code, counted};
use tensor_layout::strided::{BlockTensorDesc, Slice};
use tensor_layout::{AnyLayout, BufferTensorDesc, DataType, Error, ToIndexMap};
use tensor_layout_text::layout::{Role, step_of_scales};
use tensor_layout_text::{Layout, ViewStep, words_as};

use super::error::REFUSED;

/// The units that the sizes of a value count: elements of a type, or whole blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Element(DataType),
    Block(tensor_layout::element::BlockType),
}

/// A step on the layout of the destination, which undoes a step that the view of the source could not take.
#[derive(Debug, Clone)]
pub(super) enum Undo {
    View(ViewStep),
    As(Unit),
}

/// A view of a source, and the box of the value's indices that it fills.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) source: usize,
    pub(super) view: Layout,
    pub(super) ranges: Vec<Range<u64>>,
    /// The steps that turn the box on the destination into a layout with the sizes of `view`.
    pub(super) undo: Vec<Undo>,
}

#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) unit: Unit,
    pub(super) sizes: Vec<u64>,
    pub(super) pieces: Vec<Piece>,
    /// The scales, and for each axis the number of values that have one scale.
    pub(super) scales: Option<Box<(Value, Vec<u64>)>>,
}

impl Unit {
    pub(super) fn read(name: &str) -> Result<Unit, Error> {
        let of_blocks = |_| name.parse().map(Unit::Block);
        name.parse().map(Unit::Element).or_else(|error: Error| of_blocks(()).map_err(|_: Error| error))
    }

    pub(super) fn packed(self, sizes: &[u64]) -> Result<Layout, Error> {
        match self {
            Unit::Element(data_type) => Ok(BufferTensorDesc::packed(data_type, sizes)?.into()),
            Unit::Block(block_type) => Ok(BlockTensorDesc::packed(block_type, sizes)?.into()),
        }
    }

    pub(super) fn name(self) -> String {
        match self {
            Unit::Element(data_type) => data_type.to_string(),
            Unit::Block(block_type) => block_type.to_string(),
        }
    }
}

impl Undo {
    pub(super) fn of(&self, destination: &Layout) -> Result<Layout, Error> {
        match self {
            Undo::View(step) => destination.view(step),
            Undo::As(unit) => read_as(destination, *unit),
        }
    }
}

/// Returns the bytes of a layout as another type. The last axis grows or shrinks.
fn read_as(layout: &Layout, unit: Unit) -> Result<Layout, Error> {
    let desc = match layout.blocks() {
        Some(blocks) => {
            let bytes = blocks.bytes();
            let mut sizes = bytes.sizes().to_vec();
            let block = sizes.pop().unwrap_or(1);
            sizes.last_mut().into_iter().for_each(|last| *last = last.saturating_mul(block));
            bytes.reshape(&sizes)?
        }
        None => match layout.any()? {
            AnyLayout::Strided(desc) => desc.clone(),
            other => {
                let map = other.to_index_map()?;
                let strides = map.strides().filter(|_| map.element_bits() == map.data_type().bits());
                let strides = strides.ok_or_else(|| refused(format!("{layout} has no strides, so its bytes stay")))?;
                BufferTensorDesc::new(map.data_type(), map.sizes(), Some(&strides))?.with_base_offset(map.base())?
            }
        },
    };
    match unit {
        Unit::Element(data_type) => Ok(desc.reinterpret(data_type)?.into()),
        Unit::Block(block_type) => {
            let bytes = desc.reinterpret(DataType::U8)?;
            let (mut sizes, block) = (bytes.sizes().to_vec(), block_type.bytes());
            let last = sizes.last_mut().filter(|last| last.is_multiple_of(block)).ok_or_else(|| {
                refused(format!("{bytes} has no whole blocks of {block} bytes, which {block_type} has"))
            })?;
            *last = last.checked_div(block).unwrap_or(0);
            sizes.push(block);
            Ok(BlockTensorDesc::from_bytes(block_type, bytes.reshape(&sizes)?)?.into())
        }
    }
}

impl Value {
    pub(super) fn of_source(source: usize, view: Layout) -> Result<Value, Error> {
        let unit = match (view.blocks(), view.planes(), view.values().parts()) {
            (Some(blocks), [_], _) => Unit::Block(blocks.block_type()),
            (None, [_], [part]) => Unit::Element(part.map.data_type()),
            _ => return Err(view.whole().err().unwrap_or_else(|| refused(format!("{view} is not one tensor")))),
        };
        let sizes = view.sizes().to_vec();
        let ranges: Vec<Range<u64>> = sizes.iter().map(|&size| 0..size).collect();
        let pieces = if sizes.contains(&0) { Vec::new() } else { vec![Piece { source, view, ranges, undo: vec![] }] };
        Ok(Value { unit, sizes, pieces, scales: None })
    }

    pub(super) fn cat(axis: usize, values: Vec<Value>) -> Result<Value, Error> {
        let mut values = values.into_iter();
        let mut all = values.next().ok_or_else(|| refused("there is nothing to join".into()))?;
        let rank = all.sizes.len();
        if axis >= rank {
            return Err(Error::axis_out_of_range(axis, rank));
        }
        for mut next in values {
            if next.unit != all.unit {
                return Err(Error::data_type_mismatch(all.unit.name(), next.unit.name()));
            }
            if next.sizes.len() != rank {
                let [one, other] = [rank, next.sizes.len()].map(|rank| counted(rank, "axis").replace("axiss", "axes"));
                return Err(refused(format!("one value has {one} and another {other}")));
            }
            let unlike = all.sizes.iter().zip(&next.sizes).enumerate().find(|(other, (a, b))| *other != axis && a != b);
            if let Some((axis, (&expected, &found))) = unlike {
                return Err(Code::SizeMismatch.on_axis(axis, found, expected));
            }
            let start = all.sizes.get(axis).copied().unwrap_or(0);
            let scales = match (all.scales.take(), next.scales.take()) {
                (None, None) => None,
                (Some(one), Some(other)) if one.1 == other.1 => {
                    let per = one.1.get(axis).copied().unwrap_or(1);
                    if start.checked_rem(per) != Some(0) {
                        return Err(refused(format!(
                            "axis {axis} is joined at {start}, inside a group of {per} values"
                        )));
                    }
                    Some(Box::new((Value::cat(axis, vec![one.0, other.0])?, one.1)))
                }
                _ => return Err(refused("one value has other scales than another".into())),
            };
            for piece in &mut next.pieces {
                if let Some(range) = piece.ranges.get_mut(axis) {
                    *range = range.start.saturating_add(start)..range.end.saturating_add(start);
                }
            }
            all.pieces.append(&mut next.pieces);
            let size = next.sizes.get(axis).copied().unwrap_or(0).checked_add(start);
            let size = size.ok_or_else(|| refused("a size passes 64 bits".into()))?;
            all.sizes.get_mut(axis).into_iter().for_each(|slot| *slot = size);
            all.scales = scales;
        }
        all.unit.packed(&all.sizes)?;
        Ok(all)
    }

    /// Adds an axis of size 1.
    pub(super) fn with_axis(self, axis: usize) -> Result<Value, Error> {
        let mut sizes = self.sizes.clone();
        if axis > sizes.len() {
            return Err(Error::axis_out_of_range(axis, sizes.len().saturating_add(1)));
        }
        sizes.insert(axis, 1);
        self.step(&ViewStep::Reshape(sizes))
    }

    pub(super) fn with_scales(self, scales: Value, per: &str) -> Result<Value, Error> {
        // The reader of layouts checks the sizes.
        let text = format!("{} with {} per {per}", self.packed()?, scales.packed()?);
        let layout: Layout = text.parse()?;
        let [_, plane] = layout.planes() else { return Err(refused("the values have scales already".into())) };
        let Role::Scales { per } = plane.role() else { return Ok(self) };
        Ok(Value { scales: Some(Box::new((scales, per.clone()))), ..self })
    }

    pub(super) fn packed(&self) -> Result<Layout, Error> {
        self.unit.packed(&self.sizes)
    }

    pub(super) fn step(self, step: &ViewStep) -> Result<Value, Error> {
        let sizes = self.packed()?.view(step)?.sizes().to_vec();
        let scales = match self.scales {
            None => None,
            Some(_) if matches!(step, ViewStep::Reshape(_) | ViewStep::Broadcast(_)) => {
                return Err(refused("values with scales are sliced, permuted or joined".into()));
            }
            Some(scales) => {
                let (value, per) = *scales;
                let groups = value.sizes.clone();
                let (of_scales, new) = step_of_scales(step, &self.sizes, &per)?;
                let cut = per.iter().zip(&new).zip(&groups).position(|((per, new), &groups)| per != new && groups > 1);
                if let (Some(axis), ViewStep::Slice(_)) = (cut, step) {
                    let per = per.get(axis).copied().unwrap_or(1);
                    return Err(refused(format!("axis {axis} is cut inside a group of {per} values with one scale")));
                }
                Some(Box::new((value.step(&of_scales)?, new)))
            }
        };
        let pieces = if sizes.contains(&0) { Vec::new() } else { self.pieces };
        let pieces = pieces.into_iter().map(|piece| piece.step(step, &self.sizes, &sizes));
        let pieces = pieces.filter_map(Result::transpose).collect::<Result<_, Error>>()?;
        Ok(Value { unit: self.unit, sizes, pieces, scales })
    }

    /// Reads the words of a whole source as the layout with this name.
    pub(super) fn words_as(self, name: &str) -> Result<Value, Error> {
        match self.pieces.as_slice() {
            [piece] if self.scales.is_none() && piece.undo.is_empty() && piece.view.sizes() == self.sizes => {
                Value::of_source(piece.source, words_as(name, &piece.view)?)
            }
            _ => Err(refused(format!("`{name}` says what the words of one source are, before other steps"))),
        }
    }

    /// Reads the bytes as another type.
    pub(super) fn read_as(self, unit: Unit) -> Result<Value, Error> {
        if self.scales.is_some() {
            return Err(refused("the values and the scales are read as other types before `with`".into()));
        }
        let sizes = read_as(&self.packed()?, unit)?.sizes().to_vec();
        let whole = |sizes: &[u64]| -> Vec<Range<u64>> { sizes.iter().map(|&size| 0..size).collect() };
        let pieces = self.pieces.into_iter().map(|mut piece| {
            let has_rows = piece.ranges.last().zip(self.sizes.last()).is_some_and(|(range, size)| *range == (0..*size));
            match read_as(&piece.view, unit) {
                Ok(view) if piece.undo.is_empty() && (has_rows || sizes == self.sizes) => {
                    if let (Some(range), Some(&size), true) = (piece.ranges.last_mut(), sizes.last(), has_rows) {
                        *range = 0..size;
                    }
                    Piece { view, ..piece }
                }
                _ => piece.undone([Undo::As(self.unit)], whole(&sizes)),
            }
        });
        Ok(Value { unit, pieces: pieces.collect(), sizes: sizes.clone(), scales: None })
    }
}

impl Piece {
    /// Returns a piece that fills `ranges` of the value. On the destination, `views` lead from the sizes of
    /// that value to the sizes before the step, of which the old box is then cut out.
    fn undone(self, views: impl IntoIterator<Item = Undo>, ranges: Vec<Range<u64>>) -> Piece {
        let slices: Vec<Slice> = self.ranges.iter().map(|range| Slice::from(range.clone())).collect();
        let cut = Undo::View(ViewStep::Slice(slices.into()));
        Piece { undo: views.into_iter().chain([cut]).chain(self.undo).collect(), ranges, ..self }
    }

    /// Returns the piece after a step that turns the sizes `old` of the value into `new`. `None` if the step
    /// leaves out all elements of the piece.
    fn step(mut self, step: &ViewStep, old: &[u64], new: &[u64]) -> Result<Option<Piece>, Error> {
        match step {
            ViewStep::Permute(axes) => {
                self.ranges = axes.iter().filter_map(|&axis| self.ranges.get(axis).cloned()).collect();
                if self.undo.is_empty() {
                    self.view = self.view.view(step)?;
                } else {
                    let mut back: Vec<usize> = (0..axes.len()).collect();
                    back.sort_by_key(|&place| axes.get(place).copied());
                    self.undo.insert(0, Undo::View(ViewStep::Permute(back)));
                }
            }
            ViewStep::Slice(slices) => return self.sliced(slices, new),
            ViewStep::Broadcast(_) => {
                if !self.undo.is_empty() {
                    return Err(refused(
                        "what was reshaped out of its order is not repeated: broadcast it before".into(),
                    ));
                }
                let added = new.len().saturating_sub(old.len());
                let own = |axis: usize| self.ranges.get(axis.checked_sub(added)?).cloned();
                let is_kept = |axis: usize| axis.checked_sub(added).and_then(|axis| old.get(axis)) == new.get(axis);
                let range = |(axis, &size): (usize, &u64)| own(axis).filter(|_| is_kept(axis)).unwrap_or(0..size);
                self.ranges = new.iter().enumerate().map(range).collect();
                let sizes = self.ranges.iter().map(|range| range.end.saturating_sub(range.start)).collect();
                self.view = self.view.view(&ViewStep::Broadcast(sizes))?;
            }
            ViewStep::Reverse(axes) => {
                for &axis in axes {
                    if let (Some(range), Some(size)) = (self.ranges.get_mut(axis), old.get(axis)) {
                        *range = size.saturating_sub(range.end)..size.saturating_sub(range.start);
                    }
                }
                if self.undo.is_empty() {
                    self.view = self.view.view(step)?;
                } else {
                    self.undo.insert(0, Undo::View(step.clone()));
                }
            }
            ViewStep::Reshape(_) => {
                if let Some(ranges) = reshaped(&self.ranges, old, new).filter(|_| self.undo.is_empty()) {
                    let sizes = ranges.iter().map(|range| range.end.saturating_sub(range.start)).collect();
                    if let Ok(view) = self.view.view(&ViewStep::Reshape(sizes)) {
                        return Ok(Some(Piece { view, ranges, ..self }));
                    }
                }
                let whole = new.iter().map(|&size| 0..size).collect();
                return Ok(Some(self.undone([Undo::View(ViewStep::Reshape(old.to_vec()))], whole)));
            }
            _ => return Err(refused("there is no such step".into())),
        }
        Ok(Some(self))
    }

    fn sliced(mut self, slices: &[Slice], new: &[u64]) -> Result<Option<Piece>, Error> {
        let mut own = Vec::with_capacity(slices.len());
        let mut is_whole = true;
        for ((slice, range), &size) in slices.iter().zip(&mut self.ranges).zip(new) {
            let step = slice.step.max(1);
            let number = |index: u64| index.saturating_sub(slice.start).div_ceil(step).min(size);
            let (first, last) = (number(range.start), number(range.end));
            if first >= last {
                return Ok(None);
            }
            let at = |number: u64| number.saturating_mul(step).saturating_add(slice.start).saturating_sub(range.start);
            let (start, end) = (at(first), at(last.saturating_sub(1)).saturating_add(1));
            is_whole &= last.saturating_sub(first) == range.end.saturating_sub(range.start);
            own.push(Slice { start, end: Some(end), step });
            *range = first..last;
        }
        if !is_whole && !self.undo.is_empty() {
            return Err(refused("what was reshaped out of its order is not cut: slice it before".into()));
        }
        if !is_whole {
            self.view = self.view.view(&ViewStep::Slice(own.into()))?;
        }
        Ok(Some(self))
    }
}

/// Returns the box that the elements of a box form after a reshape from `old` to `new` sizes. `None` if they
/// do not form a box.
fn reshaped(ranges: &[Range<u64>], old: &[u64], new: &[u64]) -> Option<Vec<Range<u64>>> {
    let product = |sizes: &[u64]| sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
    let (mut found, mut from, mut to) = (Vec::with_capacity(new.len()), 0, 0);
    while from < old.len() || to < new.len() {
        // The shortest groups of old and of new axes with equal products of their sizes.
        let (mut end, mut new_end) = (from.saturating_add(1).min(old.len()), to.saturating_add(1).min(new.len()));
        loop {
            let (a, b) = (product(old.get(from..end)?)?, product(new.get(to..new_end)?)?);
            match a.cmp(&b) {
                std::cmp::Ordering::Equal => break,
                std::cmp::Ordering::Less if end < old.len() => end = end.saturating_add(1),
                std::cmp::Ordering::Greater if new_end < new.len() => new_end = new_end.saturating_add(1),
                _ => return None,
            }
        }
        let sizes = old.get(from..end)?.iter().zip(ranges.get(from..end)?);
        // The row-major numbers of the elements in these axes are `start` to `start + count`. They are
        // contiguous only if every axis after the first one with several indices is taken whole.
        let (mut start, mut count, mut is_open) = (0_u64, 1_u64, false);
        for (&size, range) in sizes {
            let length = range.end.saturating_sub(range.start);
            if is_open && length != size {
                return None;
            }
            is_open |= length > 1;
            start = start.checked_mul(size)?.checked_add(range.start)?;
            count = count.checked_mul(length)?;
        }
        let mut stride = product(new.get(to..new_end)?)?;
        let mut stop = start.checked_add(count)?;
        for &size in new.get(to..new_end)? {
            stride = stride.checked_div(size)?;
            let (first, last) = (start.checked_div(stride)?, stop.checked_sub(1)?.checked_div(stride)?);
            if first != last && (start.checked_rem(stride)? != 0 || stop.checked_rem(stride)? != 0) {
                return None;
            }
            found.push(first..last.checked_add(1)?);
            if first == last {
                let before = first.checked_mul(stride)?;
                (start, stop) = (start.checked_sub(before)?, stop.checked_sub(before)?);
            } else {
                (start, stop) = (0, stride);
            }
        }
        (from, to) = (end, new_end);
    }
    Some(found)
}

fn refused(reason: String) -> Error {
    Error::not_expressible(REFUSED, reason)
}
