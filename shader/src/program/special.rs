//! Which form a copy takes, and the passes of every form but the general one.
//!
//! Each box of the copy gets a form of its own; that of the largest is the program's. The general form is for
//! what no other one fits.

use std::ops::Range;

use tensor_layout::Error;
use tensor_layout::checked;

use super::form::Form;
use super::interleave::Interleave;
use super::pass::{Pass, Shader};
use super::plan::Planner;
use super::rows::{self, Content};
use super::strided_box::{StridedBox, StridedLoop};
use super::transpose::Transpose;
use super::window::WORDS;
use super::words::Width;

/// The most boxes that get a pass each: beyond, launching them takes longer than gathering.
const MOST_BOXES: u64 = 16;

/// The most passes a box is divided into where it does not fit the bindings.
const MOST_PARTS: usize = 4096;

/// The shortest run, in words, that is copied as it is where something else would make longer ones: a sector
/// of a GPU's cache.
const LEAST_RUN: u64 = 8;

/// A form, why it was taken, and the passes; or why no form but the general one applies.
type Special = Result<(Form, String, Vec<Pass>), String>;

/// How one box is copied.
enum Choice {
    /// In words.
    Rows(StridedBox),
    Interleave(Interleave),
    Transpose(Transpose),
}

impl Choice {
    fn form(&self, only: bool) -> Form {
        match self {
            Choice::Rows(words) if only && is_run(words) => Form::Linear,
            Choice::Rows(_) => Form::Rows,
            Choice::Interleave(_) => Form::Interleave,
            Choice::Transpose(_) => Form::Transpose,
        }
    }
}

/// Is the box one run, and nothing else?
fn is_run(copy: &StridedBox) -> bool {
    matches!(copy.steps.as_slice(), [] | [StridedLoop { source: 1, destination: 1, .. }])
}

/// The words of the runs of a box of words.
fn run(words: &StridedBox) -> u64 {
    words.steps.last().filter(|last| last.source == 1 && last.destination == 1).map_or(1, |last| last.extent)
}

impl Planner<'_> {
    /// The program in a special form: in `wanted`, or in the one that should be fastest.
    pub(super) fn special(&self, wanted: Option<Form>) -> Result<Special, Error> {
        let refused = |reason: &str| Ok(Err(reason.to_owned()));
        if self.relayout.changes_width() {
            return refused("elements change their width");
        }
        let mut passes = self.relayout.passes();
        let (Some(pass), None) = (passes.next(), passes.next()) else {
            return refused("the copy takes several steps, one a tile level");
        };
        if pass.box_count() > MOST_BOXES {
            return Ok(Err(format!("the copy falls into {} boxes, more than {MOST_BOXES}", pass.box_count())));
        }
        let Some(boxes) = pass.boxes().map(|copy| StridedBox::new(&copy)).collect::<Option<Vec<_>>>() else {
            return refused("blocks of both sides clash, or an axis is walked backwards, and only digits follow that");
        };
        let Some(largest) = boxes.iter().max_by_key(|copy| copy.count()) else {
            return refused("there is nothing to copy");
        };
        let only = boxes.len() == 1;
        let mut rest = None;
        let Some((first, reason)) = self.choose(largest, only, wanted, &mut rest) else {
            return Ok(Err(self.why_not(wanted)));
        };
        let form = first.form(only);
        let mut all = match self.fill()? {
            Some(fill) => fill,
            None if wanted.is_none() => {
                return refused("padding begins inside words, and is set along with the elements");
            }
            None => self.padding()?,
        };
        let mut first = Some(first);
        for copy in &boxes {
            let choice = match first.take_if(|_| std::ptr::eq(copy, largest)) {
                Some(choice) => Some(choice),
                None => self.choose(copy, false, None, &mut None).or_else(|| self.any(copy)).map(|(choice, _)| choice),
            };
            let Some(choice) = choice else {
                return refused("a ragged edge begins inside words of the destination");
            };
            let Some(passes) = self.passes_of(choice, only)? else {
                return refused("it does not fit the bindings in parts");
            };
            all.extend(passes);
        }
        if let Some(first) = rest {
            let Some(passes) = self.rest(first)? else {
                return refused("its last word does not fit the bindings together with the source");
            };
            all.extend(passes);
        }
        Ok(Ok((form, reason, all)))
    }

    /// The form of a box, and why. `rest` becomes the first word that is left to the general form.
    fn choose(
        &self,
        copy: &StridedBox,
        only: bool,
        wanted: Option<Form>,
        rest: &mut Option<u64>,
    ) -> Option<(Choice, String)> {
        let is = |form| wanted.is_none_or(|wanted| wanted == form);
        let in_words = copy.in_words(self.width, true);
        if only && is(Form::Linear) && is_run(copy) {
            let words = match in_words.clone() {
                Some(words) => words,
                None => self.whole_words(copy, rest)?,
            };
            let reason = format!("because all elements are one run of {} words", words.count());
            return Some((Choice::Rows(words), reason));
        }
        let interleave = || is(Form::Interleave).then(|| Interleave::new(copy, self.width.bits)).flatten();
        let transpose = || {
            let transpose = is(Form::Transpose).then(|| Transpose::new(copy, self.width.bits, self.profile)).flatten();
            transpose.filter(|transpose| wanted.is_some() || transpose.is_large())
        };
        let rows = in_words.filter(|_| is(Form::Rows)).map(|words| {
            let reason = format!("because elements are contiguous in runs of {} words", run(&words));
            (run(&words), (Choice::Rows(words), reason))
        });
        let rows = match rows {
            Some((run, rows)) if run >= LEAST_RUN => return Some(rows),
            short => short.map(|(_, rows)| rows),
        };
        if let Some(interleave) = interleave() {
            let reason = format!("because it makes {}", interleave.words());
            return Some((Choice::Interleave(interleave), reason));
        }
        if let Some(transpose) = transpose() {
            let reason = "because rows that are packed on the source are columns on the destination".to_owned();
            return Some((Choice::Transpose(transpose), reason));
        }
        // Short runs, or single words: still fewer divisions than to find them from the destination.
        rows
    }

    /// Any form that a ragged edge can have.
    fn any(&self, copy: &StridedBox) -> Option<(Choice, String)> {
        let (rows, transpose) = (Some(Form::Rows), Some(Form::Transpose));
        self.choose(copy, false, rows, &mut None).or_else(|| self.choose(copy, false, transpose, &mut None))
    }

    /// The whole words of a run that begins with one on both sides; what is left after them is `rest`.
    fn whole_words(&self, copy: &StridedBox, rest: &mut Option<u64>) -> Option<StridedBox> {
        let Width { in_period, period, .. } = self.width;
        let mut whole = copy.clone();
        let last = whole.steps.last_mut()?;
        last.extent = last.extent.saturating_sub(last.extent.checked_rem(in_period.into())?);
        if last.extent < 2 {
            return None;
        }
        let words = whole.in_words(self.width, true)?;
        // Elements in front of the run do not exist, so it ends where its last word does.
        let end = copy.destination.checked_add(whole.count())?.checked_div(in_period.into())?;
        *rest = Some(end.checked_mul(period.into())?);
        Some(words)
    }

    /// Why the largest box has no special form, or not this one.
    fn why_not(&self, wanted: Option<Form>) -> String {
        let bits = self.width.bits;
        match wanted {
            Some(Form::Linear) => "its elements are not one run of words on both sides".to_owned(),
            Some(Form::Rows) => format!("its elements of {bits} bits do not come in whole words on both sides"),
            Some(Form::Transpose) => {
                "it has no two loops of which one is packed on the source and the other one, in whole words, on the destination".to_owned()
            }
            Some(Form::Interleave) => "it interleaves no rows of whole words, 2 to 16 of them".to_owned(),
            _ => format!("elements of {bits} bits begin inside words of the destination, or in short runs"),
        }
    }

    fn passes_of(&self, choice: Choice, only: bool) -> Result<Option<Vec<Pass>>, Error> {
        let form = choice.form(only);
        match choice {
            Choice::Rows(words) => self.rows(form, words, Content::Source),
            Choice::Interleave(interleave) => self.interleave(&interleave),
            Choice::Transpose(transpose) => self.transpose(&transpose),
        }
    }

    /// Passes that set the padding box by box; `None` if some of it is not a whole words.
    fn fill(&self) -> Result<Option<Vec<Pass>>, Error> {
        let Some(pattern) = self.pattern().filter(|_| self.has_padding()) else { return Ok(Some(Vec::new())) };
        let Some(word) = pattern.only_word() else { return Ok(None) };
        let Ok(boxes) = self.relayout.padding_boxes() else { return Ok(None) };
        let bits = u128::from(self.relayout.destination().physical_elements()).saturating_mul(self.width.bits.into());
        if u64::try_from(boxes.len()).unwrap_or(u64::MAX) > MOST_BOXES || !bits.is_multiple_of(8) {
            return Ok(None);
        }
        let mut passes = Vec::new();
        for padding in &boxes {
            let Some(words) = StridedBox::of_padding(padding).in_words(self.width, false) else { return Ok(None) };
            let Some(filled) = self.rows(Form::Rows, words, Content::Word(word))? else { return Ok(None) };
            passes.extend(filled);
        }
        Ok(Some(passes))
    }

    /// The passes of a box of words.
    fn rows(&self, form: Form, words: StridedBox, content: Content) -> Result<Option<Vec<Pass>>, Error> {
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

    fn interleave(&self, interleave: &Interleave) -> Result<Option<Vec<Pass>>, Error> {
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
            let own = interleave.with_outer(part);
            let Some(shader) = shaders.get((&own.outer.steps, [0; 3]), || Some(own.shader(self.invocations))) else {
                return Ok(None);
            };
            let (from, to) = reach(&own.outer);
            let span = |first: u64, reach: u64| first..first.saturating_add(reach).saturating_add(1);
            let (destination, to_base) =
                self.bound(self.options.destination_offset, span(own.outer.destination, to))?;
            let (source, from_base) = self.bound(self.options.source_offset, span(own.outer.source, from))?;
            let uniforms = [own.count(), to_base, from_base];
            let groups = own.count().div_ceil(self.invocations.into());
            passes.push(self.pass(Form::Interleave, shader, groups, &uniforms, Some(source), destination)?);
        }
        Ok(Some(passes))
    }

    fn transpose(&self, transpose: &Transpose) -> Result<Option<Vec<Pass>>, Error> {
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
            let Some(own) = transpose.of_part(&part, self.profile) else { return Ok(None) };
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
    fn fits(&self, words: u64) -> bool {
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

    fn pass(
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
