//! The passes of every form but the general one.

use std::ops::Range;

use tensor_layout::Error;
use tensor_layout::checked;

use super::form::Form;
use super::interleave::Interleave;
use super::pass::{Pass, Shader};
use super::planner::Planner;
use super::rows::{self, Content};
use super::special::MOST_BOXES;
use super::strided_box::{StridedBox, StridedLoop};
use super::transpose::Transpose;
use super::window::WORDS;

/// The most passes a box is divided into where it does not fit the bindings.
const MOST_PARTS: usize = 4096;

impl Planner<'_> {
    /// Passes that set the padding box by box; `None` if some of it is not a whole words.
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
        Ok(Some(passes))
    }

    /// The passes of a box of words.
    pub(super) fn rows(&self, form: Form, words: StridedBox, content: Content) -> Result<Option<Vec<Pass>>, Error> {
        let reads = content == Content::Source;
        let on_fours = |offset: u64| offset.is_multiple_of(16);
        let options = self.options;
        let may_be_wide = on_fours(self.profile.offset_alignment)
            && on_fours(options.destination_offset)
            && (!reads || on_fours(options.source_offset));
        let fours = words.in_fours(reads).filter(|_| may_be_wide);
        let (copy, unit) = fours.map_or((words, 1), |fours| (fours, 4));
        let fits = |part: &StridedBox| {
            let (from, to) = part.reach();
            self.fits(from.saturating_mul(unit)) && self.fits(to.saturating_mul(unit)) && part.count() < 1 << 31
        };
        let Some(parts) = copy.parts(&fits, MOST_PARTS) else { return Ok(None) };
        let mut shaders = Shaders::default();
        let mut passes = Vec::new();
        for part in parts {
            let shader = shaders
                .get((&part.steps, [0; 3]), || Some(rows::shader(&part.steps, unit == 4, content, self.invocations)));
            let Some(shader) = shader else { return Ok(None) };
            let (from, to) = part.reach();
            let span = |first: u64, reach: u64| {
                let first = first.saturating_mul(unit);
                first..first.saturating_add(reach.saturating_add(1).saturating_mul(unit))
            };
            let (destination, base) = self.bound(options.destination_offset, span(part.destination, to))?;
            let mut uniforms = vec![part.count(), base.checked_div(unit).unwrap_or(base)];
            let mut source = None;
            if reads {
                let (bytes, base) = self.bound(options.source_offset, span(part.source, from))?;
                uniforms.push(base.checked_div(unit).unwrap_or(base));
                source = Some(bytes);
            }
            let groups = part.count().div_ceil(self.invocations.into());
            passes.push(self.pass(form, shader, groups, &uniforms, source, destination)?);
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
            let Some(shader) = shaders.get((&own.outer.steps, [0; 3]), || Some(own.shader(self.invocations))) else {
                return Ok(None);
            };
            let (from, to) = reach(&own.outer);
            let span = |first: u64, reach: u64| first..first.saturating_add(reach).saturating_add(1);
            let (destination, to_base) =
                self.bound(self.options.destination_offset, span(own.outer.destination, to))?;
            let (source, from_base) = self.bound(self.options.source_offset, span(own.outer.source, from))?;
            let uniforms = [own.outer.count(), to_base, from_base];
            let groups = own.outer.count().div_ceil(self.invocations.into());
            passes.push(self.pass(Form::Interleave, shader, groups, &uniforms, Some(source), destination)?);
        }
        Ok(Some(passes))
    }

    pub(super) fn transpose(&self, transpose: &Transpose) -> Result<Option<Vec<Pass>>, Error> {
        let span = |first: u64, reach: u64| {
            let end = first.saturating_add(reach).saturating_add(1);
            let whole = u64::from(transpose.width.in_period);
            transpose.words(first)..transpose.words(end.saturating_add(whole).saturating_sub(1))
        };
        let fits = |part: &StridedBox| {
            let (from, to) = part.reach();
            let words = |words: Range<u64>| words.end.saturating_sub(words.start);
            self.fits(words(span(part.source, from))) && self.fits(words(span(part.destination, to)))
        };
        let Some(parts) = transpose.whole.clone().parts(&fits, MOST_PARTS) else { return Ok(None) };
        let mut shaders = Shaders::default();
        let mut passes = Vec::new();
        for part in parts {
            let Some(own) = Transpose::new(&part, transpose.width.bits, self.profile) else { return Ok(None) };
            let Some(shader) = shaders.get((&own.whole.steps, own.variant()), || own.shader(self.invocations)) else {
                return Ok(None);
            };
            let (from, to) = part.reach();
            let (destination, to_base) = self.bound(self.options.destination_offset, span(part.destination, to))?;
            let words = span(part.source, from);
            let (source, base) = self.bound(self.options.source_offset, words.clone())?;
            let last = base.saturating_add(words.end.saturating_sub(words.start)).saturating_sub(1);
            // Where the first word begins, and how far into it the first element is stored.
            let units = own.units_in_word();
            let inside = part.source.checked_rem(units).unwrap_or(0);
            let from_base = base.saturating_mul(units).saturating_add(inside);
            let uniforms = [own.workgroups(), to_base, from_base, last];
            passes.push(self.pass(Form::Transpose, shader, own.workgroups(), &uniforms, Some(source), destination)?);
        }
        Ok(Some(passes))
    }

    /// Does a binding hold a part of this many words, wherever it begins?
    pub(super) fn fits(&self, words: u64) -> bool {
        let bytes = words.saturating_add(4).saturating_mul(4).saturating_add(self.profile.offset_alignment);
        bytes <= self.profile.max_binding.min(1 << 32)
    }

    /// What is bound for these words of a tensor that begins at byte `offset` of its buffer, and which word
    /// of that is the first.
    fn bound(&self, offset: u64, words: Range<u64>) -> Result<(Range<u64>, u64), Error> {
        let byte = |word: u64| checked::add(offset, checked::mul(word, 4, checked::BYTES)?, checked::BYTES);
        let (first, end) = (byte(words.start)?, byte(words.end)?);
        let rest = first.checked_rem(self.profile.offset_alignment).unwrap_or(0);
        Ok((first.saturating_sub(rest)..end, rest.div_euclid(4)))
    }

    /// A pass of this many workgroups; the words of its uniform block come after those of the grid.
    pub(super) fn pass(
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

/// The shader of the part before, which mostly serves the next one as well: they differ in how many steps the
/// outermost loop takes, and a transpose in where it begins inside words.
#[derive(Default)]
struct Shaders {
    last: Option<(Vec<StridedLoop>, [u64; 3], Shader)>,
}

impl Shaders {
    fn get(
        &mut self,
        (steps, variant): (&[StridedLoop], [u64; 3]),
        make: impl FnOnce() -> Option<super::super::code::ComputeShader>,
    ) -> Option<Shader> {
        if let Some((of, last, shader)) = &self.last
            && of.as_slice() == steps
            && *last == variant
        {
            return Some(shader.clone());
        }
        let shader = Shader::new(make()?);
        self.last = Some((steps.to_vec(), variant, shader.clone()));
        Some(shader)
    }
}
