//! `Relayout`: a copy that is checked and planned once, and run any number of times.

use smallvec::SmallVec;
use strided_copy::SMALL_PROGRAM;

use crate::checked;
use crate::error::{Code, Error};
use crate::map::{IndexMap, ToIndexMap};

use super::Destination;
use super::choice::{Choice, Effort};
use super::exec;
use super::plan::fill::Fill;
use super::plan::machine::Knobs;
use super::plan::planned::PlannedBox;
use super::plan::program::{Passes, Program};
use super::plan::widths::Widths;
use super::settings::{Padding, Settings};

/// A planned copy of every element from one layout to another.
///
/// The source may repeat elements (broadcast); the destination may not. Buffers are plain bytes of any
/// alignment. Elements of fewer than 8 bits are packed low bits first. Elements may have any width up to 128
/// bits, or more bits if these are whole bytes.
///
/// Elements of 1, 2 or 4 bits on one side may take a byte each on the other side, as XLA stores `s4` unless
/// `E(4)` packs it. Signed integers are extended by their sign, and all other types by zeros: for zeros above
/// an `s4`, as JAX, ONNX and ml_dtypes write them, describe both sides as `u4`. Packing keeps the low bits.
/// No other pair of widths or types is converted.
///
/// ```
/// use tensor_layout::relayout::{Padding, Relayout};
/// use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
///
/// let packed = BufferTensorDesc::packed(DataType::U8, &[3, 5])?;
/// let tiled: ArrayShape = "u8[3,5]{1,0:T(2,2)}".parse()?;
/// let relayout = Relayout::new(&packed, &tiled)?.with_padding(Padding::Fill(0xff))?;
///
/// let source: Vec<u8> = (0..15).collect();
/// let mut destination = vec![0; relayout.destination_size_in_bytes() as usize];
/// relayout.run(&source, &mut destination)?;
/// assert_eq!(destination[..8], [0, 1, 5, 6, 2, 3, 7, 8]);
/// assert_eq!(destination[14..16], [255, 255]);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Relayout {
    pub(super) source: IndexMap,
    pub(super) destination: IndexMap,
    /// The axes that are walked backwards on one side, in ascending order. All of them are longer than 1.
    pub(super) reversed: SmallVec<[usize; 2]>,
    pub(super) settings: Settings,
    pub(super) choice: Choice,
    pub(super) fill: Fill,
    pub(super) passes: Passes,
    /// Whether the copy is one box and sets no padding, and the reach of the box is `source_needs` and
    /// `destination_needs`. If both buffers hold that reach, such a copy runs without another check.
    pub(super) is_direct: bool,
    /// The least length of the source, in bytes, for which every element is inside the buffer.
    pub(super) source_needs: u64,
    /// The least length of the destination, in bytes. The destination must hold every element and, if padding
    /// is set, all padding.
    pub(super) destination_needs: u64,
    pub(super) destination_size: u64,
}

impl Relayout {
    /// Plans the copy. Padding of the destination is left alone, unless [`with_padding`](Self::with_padding)
    /// sets it, or the destination is a named layout that demands zeros there.
    ///
    /// # Errors
    ///
    /// `rank_mismatch` or `size_mismatch` if the sizes differ; `data_type_mismatch` or
    /// `element_bits_mismatch` if the elements differ; `overlapping_destination` if two indices of the
    /// destination share an offset; `undecided` if the overlap could not be decided, or if a layout has
    /// dozens of tiles whose sizes do not divide each other, so that the copy would need more than 65,536
    /// boxes along one dimension; `unsupported_element_bits` for elements of more than 128 bits that are not
    /// whole bytes; and the errors of [`ToIndexMap::to_index_map`] (`overflow`, `not_expressible` for a
    /// layout with `SC(..)`).
    pub fn new(source: &impl ToIndexMap, destination: &impl ToIndexMap) -> Result<Relayout, Error> {
        // `with_settings` is not called here, so that only programs that call it contain the code for choices
        // and measurements.
        let settings = Settings::default();
        Self::planned(source, destination, &settings, Choice::default(), settings.knobs())
    }

    /// Plans the copy with all [settings](Settings) at once. If a named layout demands zeros
    /// in its padding, the padding is set to zero unless the settings give another pattern.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new) and [`with_padding`](Self::with_padding), and
    /// `axis_out_of_range` for an axis that is to be walked backwards.
    ///
    /// ```
    /// use tensor_layout::relayout::{Padding, Relayout, Settings};
    /// use tensor_layout::ArrayShape;
    ///
    /// let (rows, tiles): (ArrayShape, ArrayShape) = ("u8[2,3]".parse()?, "u8[2,3]{1,0:T(4)}".parse()?);
    /// let padding = Padding::Fill(b'.'.into());
    /// let settings = Settings { padding, reversed: vec![1], ..Settings::default() };
    /// let mut memory = [0; 8];
    /// Relayout::with_settings(&rows, &tiles, &settings)?.run(b"abcdef", &mut memory)?;
    /// assert_eq!(&memory, b"cba.fed.");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_settings(
        source: &impl ToIndexMap,
        destination: &impl ToIndexMap,
        settings: &Settings,
    ) -> Result<Relayout, Error> {
        let read = settings.read_choice();
        let choice = read.as_ref().map_or(Choice::default(), |&choice| choice);
        let planned = || Self::planned(source, destination, settings, choice, choice.apply(settings.knobs()));
        match settings.effort {
            Effort::Measure { most_bytes } if settings.choice.is_none() || read.is_err() => {
                let plan = planned()?;
                Ok(plan.measured_within(most_bytes).unwrap_or(plan))
            }
            // The plan is returned where it is made: it has about 1 KiB, and is moved if anything follows.
            _ => planned(),
        }
    }

    /// The settings that the copy was planned with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    fn planned(
        source: &impl ToIndexMap,
        destination: &impl ToIndexMap,
        settings: &Settings,
        choice: Choice,
        knobs: Knobs,
    ) -> Result<Relayout, Error> {
        let axes = &settings.reversed;
        // The maps are made one after the other: a function that returns both would move them once more.
        let source = source.to_index_map()?;
        let destination = destination.to_index_map()?;
        let (destination_size, zero_padding) = (destination.total_size_in_bytes(), destination.has_zero_padding());
        let widths = check_pair(&source, &destination)?;
        let (bits, to_bits) = (source.element_bits(), destination.element_bits());
        if !bits.is_multiple_of(8) && bits > 128 {
            return Err(Error::unsupported_bits(bits, "whole bytes, or up to 128 bits"));
        }
        let rank = source.sizes().len();
        if let Some(&axis) = axes.iter().find(|&&axis| axis >= rank) {
            return Err(Error::axis_out_of_range(axis, rank));
        }
        let mut reversed = SmallVec::<[usize; 2]>::new();
        if !axes.is_empty() {
            let long = source.sizes().iter().enumerate().filter(|&(_, &size)| size > 1);
            reversed.extend(long.map(|(axis, _)| axis).filter(|axis| axes.contains(axis)));
        }
        let source_needs = checked::bytes_for(source.span_elements(), bits)?;
        let destination_needs = checked::bytes_for(destination.span_elements(), to_bits)?;
        let passes = Passes::new(&source, &destination, &reversed, widths, &knobs)?;
        let is_direct = is_one_box(&passes, [source_needs, destination_needs]);
        let plan = Relayout {
            source,
            destination,
            reversed,
            choice,
            settings: Settings { padding: Padding::Keep, ..settings.clone() },
            fill: Fill::Nothing,
            passes,
            is_direct,
            source_needs,
            destination_needs,
            destination_size,
        };
        match settings.padding {
            Padding::Keep if zero_padding => plan.with_padding(Padding::Zero),
            Padding::Keep => Ok(plan),
            padding => plan.with_padding(padding),
        }
    }

    /// Returns this copy with another treatment of the destination's padding. Padding is every index of the
    /// buffer without an element, the rest of the last byte of elements below a byte, and the bytes by which
    /// the size of a descriptor is rounded up (`u8[3]` takes 4 bytes). The rounded-up bytes are set to zero,
    /// whatever the pattern is. If padding is set, the destination must hold all of it.
    ///
    /// # Errors
    ///
    /// `padding_of_part` if the destination has gaps that it does not [own](crate::strided::GapOwner):
    /// the rows of a cache between the rows of a slice do not belong to the slice. `fill_too_wide` if
    /// a pattern has bits outside an element.
    ///
    /// ```
    /// use tensor_layout::{relayout::{Padding, Relayout}, BufferTensorDesc, DataType};
    ///
    /// let cache = BufferTensorDesc::packed(DataType::F16, &[8, 128, 64])?;
    /// let token = BufferTensorDesc::packed(DataType::F16, &[8, 1, 64])?;
    /// let append = Relayout::new(&token, &cache.slice_axis(1, 17..18)?)?;
    /// let error = append.with_padding(Padding::Zero).unwrap_err();
    /// assert_eq!(error.code(), "padding_of_part", "the other tokens would be lost");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_padding(self, padding: Padding) -> Result<Relayout, Error> {
        let Some(pattern) = padding.pattern() else { return self.with_padding_of_whole_buffer(padding) };
        padding.check(self.destination.element_bits())?;
        match Fill::owned(&self.destination, pattern, self.passes.direct().is_some()) {
            Some(fill) => self.with_fill(fill, padding),
            None => Err(Code::PaddingOfPart.for_value(self.destination.base(), 0)),
        }
    }

    /// Returns this copy like [`with_padding`](Self::with_padding), even if the destination is a part of a
    /// larger buffer. Everything from the start of that buffer to the end of the destination is overwritten,
    /// including the bytes of other tensors.
    ///
    /// # Errors
    ///
    /// `fill_too_wide` if a pattern has bits outside an element.
    ///
    /// ```
    /// use tensor_layout::{relayout::{Padding, Relayout}, BufferTensorDesc};
    ///
    /// let cache: BufferTensorDesc = "u8[2,3]:[4,1]".parse()?;
    /// let (row, place) = ("u8[2,1]:[1,1]".parse::<BufferTensorDesc>()?, cache.slice(&[0..2, 1..2])?);
    /// let copy = Relayout::new(&row, &place)?;
    /// assert_eq!(copy.clone().with_padding(Padding::Zero).unwrap_err().code(), "padding_of_part");
    /// let mut memory = *b"abc.def.";
    /// copy.with_padding_of_whole_buffer(Padding::Zero)?.run(b"xy", &mut memory)?;
    /// assert_eq!(&memory, b"\0x\0\0\0yf.");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_padding_of_whole_buffer(self, padding: Padding) -> Result<Relayout, Error> {
        padding.check(self.destination.element_bits())?;
        let fill = Fill::new(&self.destination, padding.pattern(), self.passes.direct().is_some());
        self.with_fill(fill, padding)
    }

    fn with_fill(self, fill: Fill, padding: Padding) -> Result<Relayout, Error> {
        let destination_needs = match padding {
            Padding::Keep => self.destination_span()?,
            // Bytes of the buffer after the destination may belong to other tensors.
            _ if self.destination.is_part() => self.destination.physical_size_in_bytes(),
            _ => self.destination_size,
        };
        let needs = [self.source_needs, destination_needs];
        let is_direct = padding == Padding::Keep && is_one_box(&self.passes, needs);
        let settings = Settings { padding, ..self.settings };
        Ok(Relayout { fill, is_direct, settings, destination_needs, ..self })
    }

    fn destination_span(&self) -> Result<u64, Error> {
        checked::bytes_for(self.destination.span_elements(), self.destination.element_bits())
    }

    /// Size of the whole source in bytes, padding included. A source that lacks padding at its end may be
    /// shorter.
    #[must_use]
    pub fn source_size_in_bytes(&self) -> u64 {
        self.source.physical_size_in_bytes()
    }

    /// The axes longer than 1 that run [backwards](Settings::reversed) on one side of the copy, ascending.
    #[must_use]
    pub fn reversed_axes(&self) -> &[usize] {
        &self.reversed
    }

    /// Whether the copy changes the storage width of its elements. Such a copy unpacks elements of 1, 2 or 4
    /// bits to a byte each, or packs them.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (packed, bytes): (ArrayShape, ArrayShape) = ("s4[4]{0:E(4)}".parse()?, "s4[4]{0}".parse()?);
    /// let unpack = Relayout::new(&packed, &bytes)?;
    /// let mut numbers = [0; 4];
    /// unpack.run(&[0x21, 0xf7], &mut numbers)?;
    /// assert!(unpack.changes_width() && numbers == [1, 2, 7, 0xff]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn changes_width(&self) -> bool {
        self.source.element_bits() != self.destination.element_bits()
    }

    /// The size, in bytes, with which to allocate the destination's buffer, padding included. For a
    /// descriptor it is [`total_tensor_size_in_bytes`](crate::BufferTensorDesc::total_tensor_size_in_bytes),
    /// which is rounded up for the device, and for any other layout
    /// [`physical_size_in_bytes`](IndexMap::physical_size_in_bytes).
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape, BufferTensorDesc, DataType};
    ///
    /// let packed: BufferTensorDesc = "f16[3]:[1]".parse()?;
    /// let tiled: ArrayShape = "f16[3]{0:T(128)}".parse()?;
    /// let plan = Relayout::new(&tiled, &packed)?;
    /// assert_eq!((plan.source_size_in_bytes(), plan.destination_size_in_bytes()), (256, 8));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn destination_size_in_bytes(&self) -> u64 {
        self.destination_size
    }

    /// Copies every element, and sets the padding if it [is to be set](Self::with_padding). All other bytes
    /// of the destination keep their values.
    ///
    /// The destination is a `&mut [u8]`, a `&mut Vec<u8>`, a `&mut [u8; N]`, or memory that can only be
    /// written, such as a mapped GPU buffer ([`Destination::write_only`]). `bytemuck::cast_slice_mut` turns a
    /// slice of numbers into a slice of bytes.
    ///
    /// **Post-condition** (`every_pair_copies_as_the_literal_one`): the element at each index of the
    /// destination is the element at this index of the source, or at the mirrored index of a reversed axis.
    ///
    /// # Errors
    ///
    /// Before a byte is written, `buffer_too_short`, and `destination_read` if the copy has to read its
    /// destination, and the destination can only be written. Such a copy moves elements that share bytes with
    /// others.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, BufferTensorDesc, DataType};
    ///
    /// let rows = BufferTensorDesc::packed(DataType::F32, &[2, 3])?;
    /// let columns = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[1, 2]))?;
    /// let (numbers, mut turned) = ([1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], [0.0_f32; 6]);
    /// let bytes = bytemuck::cast_slice_mut::<f32, u8>(&mut turned);
    /// Relayout::new(&rows, &columns)?.run(bytemuck::cast_slice(&numbers), bytes)?;
    /// assert_eq!(turned, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[inline]
    pub fn run<'a>(&self, source: &[u8], destination: impl Into<Destination<'a>>) -> Result<(), Error> {
        self.run_into(source, destination.into())
    }

    /// Copies like [`run`](Self::run), into a new vector of
    /// [`destination_size_in_bytes`](Self::destination_size_in_bytes). Padding that is not set is zero.
    ///
    /// # Errors
    ///
    /// `buffer_too_short` for the source; `overflow` if the destination has more bytes than memory has
    /// addresses.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    ///
    /// let (from, to): (ArrayShape, ArrayShape) = ("u8[2,3]{1,0}".parse()?, "u8[2,3]{0,1:T(4)}".parse()?);
    /// assert_eq!(Relayout::new(&from, &to)?.to_vec(b"abcdef")?, b"ad\0\0be\0\0cf\0\0");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn to_vec(&self, source: &[u8]) -> Result<Vec<u8>, Error> {
        require("source", source.len(), self.source_needs)?;
        let size: isize = checked::narrow(self.destination_size, checked::BYTES)?;
        let mut bytes = vec![0; size.unsigned_abs()];
        self.run_into(source, (&mut bytes).into())?;
        Ok(bytes)
    }

    fn run_into(&self, source: &[u8], destination: Destination<'_>) -> Result<(), Error> {
        let (from, to) = (source.len(), destination.len());
        match &self.passes.last.prepared[..] {
            [PlannedBox::Plain(nest)] if self.is_direct && nest.is_inside(from, to) => nest.run(source, destination),
            [PlannedBox::Copy(copy)] if self.is_direct && copy.is_inside(from, to) => copy.run(source, destination),
            _ => return self.run_whole(source, destination),
        }
        Ok(())
    }

    fn run_whole(&self, source: &[u8], mut destination: Destination<'_>) -> Result<(), Error> {
        require("source", source.len(), self.source_needs)?;
        require("destination", destination.len(), self.destination_needs)?;
        if !destination.is_readable() && exec::reads(&self.passes.last, &self.fill) {
            return Err(Code::DestinationRead.for_value(0, 0));
        }
        let bytes = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        let (whole, end) = (self.destination.physical_size_in_bytes(), self.destination_needs);
        let mut destination = without_tail(&mut destination, bytes(whole), bytes(end));
        if self.fill.is_first() && !SMALL_PROGRAM && self.run_in_blocks(source, destination.reborrow())? {
            return Ok(());
        }
        exec::fill_before(&self.fill, destination.reborrow());
        exec::run_passes(&self.passes, source, destination.reborrow())?;
        exec::fill_after(&self.fill, destination);
        Ok(())
    }
}

/// Whether a copy is one box, and the reach of the box is `needs`: how long the layouts ask buffers to be.
/// (Irreducible layouts may ask for more than elements reach.)
pub(super) fn is_one_box(passes: &Passes, needs: [u64; 2]) -> bool {
    let reach = passes.direct().and_then(Program::reach);
    reach.is_some_and(|reach| reach.map(|bytes| u64::try_from(bytes).ok()) == needs.map(Some))
}

fn check_pair(source: &IndexMap, destination: &IndexMap) -> Result<Widths, Error> {
    let (from, to) = (source.sizes(), destination.sizes());
    if from.len() != to.len() {
        return Err(Error::rank_mismatch("sizes", from.len(), to.len()));
    }
    if let Some((axis, (&expected, &found))) = from.iter().zip(to).enumerate().find(|(_, (a, b))| a != b) {
        return Err(Code::SizeMismatch.on_axis(axis, found, expected));
    }
    if source.data_type() != destination.data_type() {
        return Err(Error::data_type_mismatch(source.data_type().xla_name(), destination.data_type().xla_name()));
    }
    let widths = Widths::between(source, destination);
    if !widths.can_hold(source.data_type()) {
        return Err(Code::ElementBitsMismatch.for_value(widths.destination.into(), widths.source.into()));
    }
    Ok(widths)
}

pub(super) fn require(what: &'static str, length: usize, needed: u64) -> Result<(), Error> {
    let found = u64::try_from(length).unwrap_or(u64::MAX);
    if found < needed { Err(Error::buffer_too_short(what, needed, found)) } else { Ok(()) }
}

/// Returns the first `whole` bytes of a destination, and sets its bytes from `whole` to `end` to zero. These
/// bytes round up the size of a descriptor.
pub(super) fn without_tail<'a>(destination: &'a mut Destination<'_>, whole: usize, end: usize) -> Destination<'a> {
    let length = destination.len();
    let whole = whole.min(length);
    destination.fill(whole..end.clamp(whole, length), 1, 0);
    destination.part(0..whole).unwrap_or_else(|| unreachable!("the bytes are inside the destination"))
}
