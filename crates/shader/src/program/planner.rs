//! `Planner`: chooses the passes of a program.

use tensor_layout::Error;
use tensor_layout::checked;
use tensor_layout::element::ElementKind;
use tensor_layout::plan::Code;
use tensor_layout::relayout::{Padding, Relayout};

use super::super::profile::Profile;
use super::form::{Form, ProgramOptions};
use super::gather::Gather;
use super::general::{General, Task};
use super::pass::{Pass, Shader};
use super::window::{WORDS, Window};
use super::words::{Pattern, Width};

/// What a program is planned from: the copy, the limits of the device, and the choices of the caller.
pub(super) struct Planner<'a> {
    pub(super) relayout: &'a Relayout,
    pub(super) profile: &'a Profile,
    pub(super) options: &'a ProgramOptions,
    /// The widths of the destination's and the source's elements.
    pub(super) width: Width,
    source_width: Width,
    pub(super) invocations: u32,
    /// The number of words of each tensor that the program touches, counted from the start of the tensor.
    source_words: u64,
    destination_words: u64,
    /// The end of what is set if padding is set, in bytes. A descriptor's size may be above that of its
    /// elements.
    end: u64,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        relayout: &'a Relayout,
        profile: &'a Profile,
        options: &'a ProgramOptions,
    ) -> Result<Planner<'a>, Error> {
        let (source, destination) = (relayout.source(), relayout.destination());
        [source, destination].into_iter().try_for_each(crate::index::refuse_streams)?;
        for offset in [options.source_offset, options.destination_offset] {
            if !offset.is_multiple_of(4) {
                return Err(Code::OffsetUnaligned.for_value(offset, 4));
            }
        }
        let limit = |what, value: u32, min: u64| match u64::from(value) {
            value if value < min => Err(Error::out_of_limits(what, value, min, u64::MAX)),
            _ => Ok(()),
        };
        limit("the profile's number of storage buffers", profile.max_storage_buffers, 2)?;
        limit("the profile's number of workgroups", profile.max_workgroups, 1)?;
        let invocations = profile.max_invocations.min(profile.max_workgroup_size).min(256);
        limit("the profile's number of invocations", invocations, 1)?;
        if profile.offset_alignment < 4 || !profile.offset_alignment.is_power_of_two() {
            let (value, max) = (profile.offset_alignment, 1 << 28);
            return Err(Error::out_of_limits("the profile's alignment of bindings", value, 4, max));
        }
        let (from, to) = (source.element_bits(), destination.element_bits());
        let words = |elements: u64, bits: u32| Ok::<_, Error>(checked::bytes_for(elements, bits)?.div_ceil(4));
        let padded = relayout.settings().padding != Padding::Keep;
        let end = match destination.is_part() {
            true => destination.physical_size_in_bytes(),
            false => relayout.destination_size_in_bytes(),
        };
        Ok(Planner {
            relayout,
            profile,
            options,
            width: Width::new(to),
            source_width: Width::new(from),
            invocations,
            source_words: words(source.span_elements(), from)?,
            destination_words: if padded { end.div_ceil(4) } else { words(destination.span_elements(), to)? },
            end,
        })
    }

    /// Returns the passes of the general form: a single pass, or a pass for the padding and then a pass for
    /// each pair of windows.
    pub(super) fn general(&self) -> Result<Vec<Pass>, Error> {
        self.check_words()?;
        if self.destination_words == 0 {
            return Ok(Vec::new());
        }
        let sources = Window::all(self.options.source_offset, self.source_words, 1, self.profile)?;
        let mut passes = Vec::new();
        if let [only] = sources.as_slice() {
            let both = self.general_shader(Task::Both)?;
            for window in &self.destinations()? {
                passes.push(self.general_pass(&both, Some(only), window)?);
            }
            return Ok(passes);
        }
        passes.extend(self.padding()?);
        let elements = self.general_shader(Task::Elements)?;
        for window in &self.destinations()? {
            for source in &sources {
                passes.push(self.general_pass(&elements, Some(source), window)?);
            }
        }
        Ok(passes)
    }

    /// Checks that the index of every element and every word fits 32 bits.
    fn check_words(&self) -> Result<(), Error> {
        // A shader computes the offsets of all elements of a word, even past the end of the tensor. There are
        // fewer than 64 such elements, so offsets up to this limit cannot pass 32 bits.
        let most = u64::from(u32::MAX).saturating_sub(64);
        let maps = [self.relayout.source(), self.relayout.destination()];
        let places = maps.into_iter().map(|map| map.physical_elements()).max().unwrap_or(0);
        let in_words = self.destination_words.checked_div(self.width.period.into()).unwrap_or(0);
        let places = places.max(in_words.saturating_mul(self.width.in_period.into()));
        if places > most || self.source_words.max(self.destination_words) > most {
            return Err(Error::overflow("an offset in a shader", 32));
        }
        Ok(())
    }

    fn destinations(&self) -> Result<Vec<Window>, Error> {
        Window::all(self.options.destination_offset, self.destination_words, 0, self.profile)
    }

    pub(super) fn pattern(&self) -> Option<Pattern> {
        Pattern::new(self.relayout.settings().padding, self.width)
    }

    fn general_shader(&self, task: Task) -> Result<Shader, Error> {
        let (source, destination) = (self.relayout.source(), self.relayout.destination());
        let gather = Gather { source, destination, reversed: self.relayout.reversed_axes() };
        let signed = source.data_type().kind() == ElementKind::Signed;
        let (pattern, width) = (self.pattern().filter(|_| task != Task::Elements), self.width);
        let words = checked::narrow(self.destination_words, WORDS)?;
        Ok(Shader::new(
            General {
                gather,
                width,
                source_width: self.source_width,
                signed,
                pattern,
                task,
                invocations: self.invocations,
                words,
                end: self.end,
            }
            .shader(),
        ))
    }

    /// Returns passes of the general form that set all padding, and no elements.
    pub(super) fn padding(&self) -> Result<Vec<Pass>, Error> {
        if self.pattern().is_none() || !self.has_padding() {
            return Ok(Vec::new());
        }
        self.check_words()?;
        let shader = self.general_shader(Task::Padding)?;
        self.destinations()?.iter().map(|window| self.general_pass(&shader, None, window)).collect()
    }

    /// Returns passes of the general form for the destination's words from `first` on, padding included.
    /// Returns `None` if the source or these words do not fit in one binding.
    pub(super) fn rest(&self, first: u64) -> Result<Option<Vec<Pass>>, Error> {
        self.check_words()?;
        let (offsets, profile) = (self.options, self.profile);
        let source = Window::new(offsets.source_offset, 0..self.source_words, self.source_words, profile)?;
        let words = first..self.destination_words;
        let destination = Window::new(offsets.destination_offset, words, self.destination_words, profile)?;
        let (Some(source), Some(destination)) = (source, destination) else { return Ok(None) };
        let shader = self.general_shader(Task::Both)?;
        Ok(Some(vec![self.general_pass(&shader, Some(&source), &destination)?]))
    }

    /// Whether the destination has padding: gaps between elements, or bits and bytes after the last element.
    pub(super) fn has_padding(&self) -> bool {
        let map = self.relayout.destination();
        let bits = u128::from(map.physical_elements()).saturating_mul(self.width.bits.into());
        map.physical_elements() != map.element_count() || !bits.is_multiple_of(8) || self.has_tail()
    }

    /// Whether bytes after the destination's elements are set: those by which a descriptor's size is larger.
    fn has_tail(&self) -> bool {
        self.end > self.relayout.destination().physical_size_in_bytes()
    }

    /// Returns the passes that set the bytes after the destination's elements. Returns `None` if these bytes
    /// do not fit in one binding.
    pub(super) fn tail(&self) -> Result<Option<Vec<Pass>>, Error> {
        if !self.has_tail() {
            return Ok(Some(Vec::new()));
        }
        self.check_words()?;
        let words = self.relayout.destination().physical_size_in_bytes().div_euclid(4)..self.destination_words;
        let window = Window::new(self.options.destination_offset, words, self.destination_words, self.profile)?;
        let Some(window) = window else { return Ok(None) };
        let shader = self.general_shader(Task::Padding)?;
        Ok(Some(vec![self.general_pass(&shader, None, &window)?]))
    }

    fn general_pass(&self, shader: &Shader, source: Option<&Window>, destination: &Window) -> Result<Pass, Error> {
        let word = |number: u64| checked::narrow::<u32>(number, WORDS);
        let mut uniforms = vec![destination.count(), destination.words.start, destination.base];
        if let Some(window) = source {
            let first = word(window.words.start)?.wrapping_sub(word(window.base)?);
            uniforms.extend([first.into(), window.words.start, window.count()]);
        }
        let groups = destination.count().div_ceil(self.invocations.into());
        let bytes = source.map(|window| window.bytes.clone());
        self.dispatch(Form::General, shader.clone(), groups, &uniforms, bytes, destination.bytes.clone())
    }

    /// Spreads `count` workgroups over the axes of a dispatch, so that few workgroups have nothing to do.
    pub(super) fn workgroups(&self, count: u64) -> Result<[u32; 3], Error> {
        let most = u64::from(self.profile.max_workgroups.min(65_535));
        let fit = |count: u64, axes: u64| count.div_ceil(axes);
        let planes = fit(count, most.saturating_mul(most)).max(1);
        let in_plane = fit(count, planes);
        let rows = fit(in_plane, most).max(1);
        let sides = [fit(in_plane, rows).max(1), rows, planes];
        if let Some(&value) = sides.iter().find(|&&side| side > most) {
            return Err(Error::out_of_limits("the number of workgroups along an axis", value, 1, most));
        }
        let side = |place: usize| checked::narrow(sides.get(place).copied().unwrap_or(1), WORDS);
        Ok([side(0)?, side(1)?, side(2)?])
    }
}
