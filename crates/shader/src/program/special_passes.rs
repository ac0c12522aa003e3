//! The passes of every form but the general one.

use std::ops::Range;

use tensor_layout::Error;
use tensor_layout::checked;

use super::super::code::ComputeShader;
use super::draft::Draft;
use super::form::Form;
use super::interleave::Interleave;
use super::pass::{Pass, Shader};
use super::planner::Planner;
use super::rows::{self, Content, EACH};
use super::special::MOST_BOXES;
use super::strided_box::StridedBox;
use super::tile::Tile;
use super::transpose::Bound;
use super::window::WORDS;
use super::words::Width;

/// The most passes that a box is divided into if it does not fit in the bindings. A box that needs more is
/// left to the general form.
const MOST_PARTS: usize = 4096;

impl Planner<'_> {
    /// Returns passes that set the padding box by box. Returns `None` if some of the padding is no whole
    /// words, or if the padding takes too many boxes.
    pub(super) fn fill(&self) -> Result<Option<Vec<Pass>>, Error> {
        let Some(pattern) = self.pattern().filter(|_| self.has_padding()) else { return Ok(Some(Vec::new())) };
        let Some(word) = pattern.only_word() else { return Ok(None) };
        let Ok(boxes) = self.relayout.destination().buffer_boxes() else { return Ok(None) };
        let bits = u128::from(self.relayout.destination().physical_elements()).saturating_mul(self.width.bits.into());
        let padding = boxes.padding;
        if u64::try_from(padding.len()).unwrap_or(u64::MAX) > MOST_BOXES || !bits.is_multiple_of(8) {
            return Ok(None);
        }
        let mut passes = Vec::new();
        for part in &padding {
            let Some(words) = StridedBox::of_padding(part).in_words(self.width, false) else { return Ok(None) };
            let Some(filled) = self.rows(Form::Rows, words, Content::Word(word))? else { return Ok(None) };
            passes.extend(filled);
        }
        let Some(tail) = self.tail()? else { return Ok(None) };
        passes.extend(tail);
        Ok(Some(passes))
    }

    /// The offsets of the source and the destination in their buffers, in words.
    pub(super) fn starts(&self) -> [u64; 2] {
        [self.options.source_offset, self.options.destination_offset].map(|bytes| bytes.div_euclid(4))
    }

    /// Returns the box in groups of words, and the number of words of a group: 4 or 2, if every group on both
    /// sides begins at a multiple of this number, and otherwise 1.
    pub(super) fn widest(&self, words: &StridedBox, reads: bool) -> (StridedBox, u64) {
        let [source, destination] = self.starts();
        let fits = |width: u64| {
            self.profile.offset_alignment.is_multiple_of(width.saturating_mul(4))
                && destination.is_multiple_of(width)
                && (!reads || source.is_multiple_of(width))
        };
        let groups = [4, 2].into_iter().filter(|&width| fits(width));
        let grouped = groups.into_iter().find_map(|width| Some((words.in_groups(width, reads)?, width)));
        grouped.unwrap_or_else(|| (words.clone(), 1))
    }

    /// Returns the passes of a box whose offsets and strides count words of the buffers. Returns `None` if
    /// the box must be cut into more than [`MOST_PARTS`] parts, so that each fits in the bindings.
    pub(super) fn rows(&self, form: Form, words: StridedBox, content: Content) -> Result<Option<Vec<Pass>>, Error> {
        let reads = content == Content::Source;
        let (copy, unit) = self.widest(&words, reads);
        let fits = |part: &StridedBox| {
            let (from, to) = part.reach();
            self.fits(from.saturating_mul(unit)) && self.fits(to.saturating_mul(unit)) && part.count() < 1 << 30
        };
        let Some(parts) = copy.parts(&fits, MOST_PARTS) else { return Ok(None) };
        let mut shaders = Shaders::default();
        let mut passes = Vec::new();
        for part in parts {
            let (from, to) = part.reach();
            let span = |first: u64, reach: u64| {
                let first = first.saturating_mul(unit);
                first..first.saturating_add(reach.saturating_add(1).saturating_mul(unit))
            };
            let in_groups = |base: u64| base.checked_div(unit).unwrap_or(base);
            let (destination, to_base) = self.bound(self.options.destination_offset, span(part.destination, to))?;
            let (source, from_base) = match reads {
                true => {
                    let (bytes, base) = self.bound(self.options.source_offset, span(part.source, from))?;
                    (Some(bytes), base)
                }
                false => (None, 0),
            };
            let bases = [in_groups(from_base), in_groups(to_base)];
            let width = u32::try_from(unit).unwrap_or(1);
            let draft = rows::draft(self.profile.sizes, &part, width, content, self.invocations, bases);
            let groups = part.count().div_ceil(u64::from(self.invocations).saturating_mul(EACH.into()));
            passes.push(self.pass(form, &mut shaders, draft, groups, source, destination)?);
        }
        Ok(Some(passes))
    }

    pub(super) fn interleave(&self, interleave: &Interleave) -> Result<Option<Vec<Pass>>, Error> {
        let rows = interleave.reach();
        let reach = |part: &StridedBox| {
            let (from, to) = part.reach();
            (from.saturating_add(rows.0), to.saturating_add(rows.1))
        };
        let fits = |part: &StridedBox| {
            let (from, to) = reach(part);
            self.fits(from) && self.fits(to) && part.count() < 1 << 31
        };
        let Some(parts) = interleave.outer.clone().parts(&fits, MOST_PARTS) else { return Ok(None) };
        let mut shaders = Shaders::default();
        let mut passes = Vec::new();
        for part in parts {
            let mut own = interleave.clone();
            own.outer = part;
            let (from, to) = reach(&own.outer);
            let span = |first: u64, reach: u64| first..first.saturating_add(reach).saturating_add(1);
            let (destination, to_base) =
                self.bound(self.options.destination_offset, span(own.outer.destination, to))?;
            let (source, from_base) = self.bound(self.options.source_offset, span(own.outer.source, from))?;
            let group = own.group(self.starts(), self.profile.offset_alignment);
            let memory = u64::from(self.profile.max_workgroup_memory);
            let invocations = own.invocations(self.invocations, group, memory);
            let draft = own.draft(self.profile.sizes, invocations, group, [from_base, to_base]);
            let groups = own.outer.count().div_ceil(invocations.into());
            passes.push(self.pass(Form::Interleave, &mut shaders, draft, groups, Some(source), destination)?);
        }
        Ok(Some(passes))
    }

    /// Returns the passes of a box of elements that goes through workgroup memory in tiles. If the box is
    /// divided, tiles are chosen for each part. Returns `None` if the parts are too many, or one has no
    /// tiles.
    pub(super) fn transpose(&self, copy: &StridedBox, width: Width, tile: Tile) -> Result<Option<Vec<Pass>>, Error> {
        // `words` converts an offset in elements to words, rounded down. `span` is the range of words that
        // contains the elements from `first` to `first + reach`.
        let words = |elements: u64| {
            let words = u128::from(elements).saturating_mul(width.bits.into()).div_euclid(32);
            u64::try_from(words).unwrap_or(u64::MAX)
        };
        let span = |first: u64, reach: u64| {
            let end = first.saturating_add(reach).saturating_add(1);
            let whole = u64::from(width.in_period);
            words(first)..words(end.saturating_add(whole).saturating_sub(1))
        };
        let fits = |part: &StridedBox| {
            let (from, to) = part.reach();
            let words = |words: Range<u64>| words.end.saturating_sub(words.start);
            self.fits(words(span(part.source, from))) && self.fits(words(span(part.destination, to)))
        };
        let Some(parts) = copy.clone().parts(&fits, MOST_PARTS) else { return Ok(None) };
        let mut shaders = Shaders::default();
        let mut passes = Vec::new();
        let mut whole = Some(tile).filter(|_| parts.len() == 1);
        for part in parts {
            let tile = whole.take().or_else(|| Tile::new(&part, width, self.profile, self.starts()));
            let Some(tile) = tile else { return Ok(None) };
            let (from, to) = part.reach();
            let (destination, to_base) = self.bound(self.options.destination_offset, span(part.destination, to))?;
            let words = span(part.source, from);
            let (source, base) = self.bound(self.options.source_offset, words.clone())?;
            let source_last = base.saturating_add(words.end.saturating_sub(words.start)).saturating_sub(1);
            // If rows begin inside words, the base is the index of the first element, and otherwise the index
            // of the first word.
            let square = if tile.aligned { 1 } else { tile.square };
            let inside = if tile.aligned { 0 } else { part.source.checked_rem(square).unwrap_or(0) };
            let from_base = base.saturating_mul(square).saturating_add(inside);
            let bound = Bound { destination: to_base, source: from_base, source_last };
            let draft = tile.draft(self.profile.sizes, self.invocations, &bound);
            let groups = tile.workgroups();
            passes.push(self.pass(Form::Transpose, &mut shaders, draft, groups, Some(source), destination)?);
        }
        Ok(Some(passes))
    }

    /// Whether a part of this many words fits in a binding, wherever it begins in its buffer.
    pub(super) fn fits(&self, words: u64) -> bool {
        let bytes = words.saturating_add(4).saturating_mul(4).saturating_add(self.profile.offset_alignment);
        bytes <= self.profile.max_binding.min(8 << 30)
    }

    /// Returns the byte range to bind for these words of a tensor that begins at byte `offset` of its buffer,
    /// and the index of the first word in the binding.
    fn bound(&self, offset: u64, words: Range<u64>) -> Result<(Range<u64>, u64), Error> {
        let byte = |word: u64| checked::add(offset, checked::mul(word, 4, checked::BYTES)?, checked::BYTES);
        let (first, end) = (byte(words.start)?, byte(words.end)?);
        let rest = first.checked_rem(self.profile.offset_alignment).unwrap_or(0);
        Ok((first.saturating_sub(rest)..end, rest.div_euclid(4)))
    }

    /// Returns a pass of `groups` workgroups. Its shader is printed only if it differs from the last one in
    /// `shaders`.
    fn pass(
        &self,
        form: Form,
        shaders: &mut Shaders,
        draft: Draft,
        groups: u64,
        source: Option<Range<u64>>,
        destination: Range<u64>,
    ) -> Result<Pass, Error> {
        self.dispatch(form, shaders.get(draft.shader), groups, &draft.values, source, destination)
    }

    /// Returns a pass of this many workgroups. `uniforms` are the words of the uniform block after those of
    /// the [`Grid`](super::grid::Grid).
    pub(super) fn dispatch(
        &self,
        form: Form,
        shader: Shader,
        groups: u64,
        uniforms: &[u64],
        source: Option<Range<u64>>,
        destination: Range<u64>,
    ) -> Result<Pass, Error> {
        let workgroups = self.workgroups(groups)?;
        let [x, y, _] = workgroups;
        let mut words = vec![x, y];
        for &uniform in uniforms {
            words.push(checked::narrow(uniform, WORDS)?);
        }
        Ok(Pass { form, shader, workgroups, uniforms: words, source, destination })
    }
}

/// The shader of the previous part. The next part mostly has an equal shader, which then is not printed
/// again.
#[derive(Default)]
struct Shaders {
    last: Option<Shader>,
}

impl Shaders {
    fn get(&mut self, shader: ComputeShader) -> Shader {
        if let Some(last) = self.last.as_ref().filter(|last| *last.shader == shader) {
            return last.clone();
        }
        let shader = Shader::new(shader);
        self.last = Some(shader.clone());
        shader
    }
}
