//! `Relayout`: a copy that is checked and planned once, and run any number of times.

use smallvec::SmallVec;

use crate::checked;
use crate::error::{Code, Error};
use crate::map::{IndexMap, ToIndexMap};
use crate::strided::BufferTensorDesc;

use super::exec;
use strided_copy::Destination;

use super::plan::fill::Fill;
use super::plan::machine::Knobs;
use super::plan::passes::Passes;
use super::plan::program::Plain;
use super::plan::widths::Widths;
use super::settings::{Padding, Settings};

/// A planned copy of every element from one layout to another.
///
/// The source may repeat elements (broadcast); the destination may not. Buffers are plain bytes of any
/// alignment. Elements of fewer than 8 bits are packed low bits first. Any element of 1, 2, 4 or a multiple
/// of 8 bits can be moved, and any other width up to 128 bits.
///
/// Elements of 1, 2 or 4 bits may take a byte each on the other side, as XLA stores `s4` unless `E(4)` packs
/// it. Signed integers are extended by their sign, and all other types by zeros. Packing keeps the low bits.
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
    pub(super) reversed: SmallVec<[usize; 8]>,
    pub(super) settings: Settings,
    pub(super) fill: Fill,
    pub(super) passes: Passes,
    /// Whether the program of the last pass is the whole copy, because there is no other pass and no padding
    /// is set.
    pub(super) is_direct: bool,
    /// Whether plain loops may run instead of a kernel.
    pub(super) allows_plain: bool,
    /// The least length of the source, in bytes, for which every element is inside the buffer.
    pub(super) source_needs: u64,
    pub(super) destination_needs: u64,
    /// Size of the destination in bytes, padding included. It is kept here because every run needs it.
    pub(super) destination_size: u64,
    /// The number of bytes after the destination by which its total size is rounded up. These bytes count as
    /// padding.
    pub(super) tail: u64,
}

impl Relayout {
    /// Plans the copy. Padding of the destination is left alone, unless [`with_padding`](Self::with_padding)
    /// sets it, or the destination demands zeros there (a named layout may).
    ///
    /// # Errors
    ///
    /// `rank_mismatch` or `size_mismatch` if the sizes differ;
    /// `data_type_mismatch` or `element_bits_mismatch` if the elements differ;
    /// `overlapping_destination` if two indices of the destination share an offset;
    /// `undecided` if the overlap could not be decided, or if one layout is cut into blocks that do
    /// not divide each other (dozens of tiles), so that the copy would need more than 65,536 boxes along one
    /// dimension; `unsupported_element_bits` for elements of more than 128 bits that are
    /// not whole bytes; and the errors of [`ToIndexMap::to_index_map`] (`overflow`,
    /// `not_expressible` for a layout with `SC(..)`).
    pub fn new(source: &impl ToIndexMap, destination: &impl ToIndexMap) -> Result<Relayout, Error> {
        Self::with(source, destination, &Settings::default())
    }

    /// Plans the copy with all [settings](Settings) at once. If a named layout demands zeros
    /// in its padding, the padding is set to zero unless the settings give another pattern.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new), [`reversing`](Self::reversing) and
    /// [`with_padding`](Self::with_padding).
    ///
    /// ```
    /// use tensor_layout::relayout::{Padding, Relayout, Settings};
    /// use tensor_layout::ArrayShape;
    ///
    /// let (rows, tiles): (ArrayShape, ArrayShape) = ("u8[2,3]".parse()?, "u8[2,3]{1,0:T(4)}".parse()?);
    /// let settings = Settings { padding: Padding::Fill(b'.'.into()), reversed: vec![1], ..Settings::default() };
    /// let mut memory = [0; 8];
    /// Relayout::with(&rows, &tiles, &settings)?.run(b"abcdef", &mut memory)?;
    /// assert_eq!(&memory, b"cba.fed.");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with(
        source: &impl ToIndexMap,
        destination: &impl ToIndexMap,
        settings: &Settings,
    ) -> Result<Relayout, Error> {
        Self::planned(source, destination, settings, settings.knobs())
    }

    /// Plans the copy with some axes walked backwards: index `i` of such an axis is written from index
    /// `size - 1 - i`.
    ///
    /// This is the form for negative strides: `a[::-1]` in NumPy, the rows of an image bottom up, BGR for
    /// RGB. A layout itself has no direction. Describe the places of the elements with positive strides from
    /// the lowest address, and name the axes that one side of the copy walks backwards. Either side gives the
    /// same copy. Do not name an axis that both sides walk backwards. An axis of size 1 changes nothing, and
    /// an axis that is named twice counts once.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new), and `axis_out_of_range`.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, BufferTensorDesc, DataType};
    ///
    /// let image = BufferTensorDesc::packed(DataType::U8, &[2, 2, 3])?;
    /// let (upside_down, bgr) = (Relayout::reversing(&image, &image, &[0])?, Relayout::reversing(&image, &image, &[2])?);
    /// let mut turned = [0; 12];
    /// upside_down.run(b"RGBrgbXYZxyz", &mut turned)?;
    /// assert_eq!(&turned, b"XYZxyzRGBrgb");
    /// bgr.run(b"RGBrgbXYZxyz", &mut turned)?;
    /// assert_eq!(&turned, b"BGRbgrZYXzyx");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn reversing(
        source: &impl ToIndexMap,
        destination: &impl ToIndexMap,
        axes: &[usize],
    ) -> Result<Relayout, Error> {
        Self::with(source, destination, &Settings { reversed: axes.to_vec(), ..Settings::default() })
    }

    /// Plans a copy between the layouts of this copy with other [settings](Settings).
    ///
    /// # Errors
    ///
    /// The errors of [`with`](Self::with).
    ///
    /// ```
    /// use tensor_layout::relayout::{CpuFamily, Relayout, Settings};
    /// use tensor_layout::ArrayShape;
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[64,96]{1,0}".parse()?, "f32[64,96]{0,1}".parse()?);
    /// let plan = Relayout::new(&rows, &columns)?;
    /// let other = plan.again(&Settings { family: Some(CpuFamily::Zen5), ..plan.settings().clone() })?;
    /// assert!(other.explain().contains("family: Zen5"));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn again(&self, settings: &Settings) -> Result<Relayout, Error> {
        let kept = Settings { padding: Padding::Keep, ..settings.clone() };
        let plan = Self::planned(&self.source, &self.destination, &kept, kept.knobs())?;
        Relayout { tail: self.tail, ..plan }.with_padding(settings.padding)
    }

    /// The settings that the copy was planned with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Plans the copy with these numbers of the machine.
    pub(super) fn planned(
        source: &impl ToIndexMap,
        destination: &impl ToIndexMap,
        settings: &Settings,
        knobs: Knobs,
    ) -> Result<Relayout, Error> {
        let axes = &settings.reversed;
        let rounded = destination.as_descriptor().map_or(0, BufferTensorDesc::total_tensor_size_in_bytes);
        let zero_padding = destination.storage_rule().zero_padding;
        let (source, destination) = (source.to_index_map()?, destination.to_index_map()?);
        let destination_is_part = destination.is_part();
        let destination_size = destination.physical_size_in_bytes();
        let tail = rounded.saturating_sub(destination_size);
        check_pair(&source, &destination)?;
        destination.check_injective()?;
        let (bits, to_bits) = (source.element_bits(), destination.element_bits());
        if !bits.is_multiple_of(8) && bits > 128 {
            return Err(Error::unsupported_bits(bits, "whole bytes, or up to 128 bits"));
        }
        let rank = source.sizes().len();
        if let Some(&axis) = axes.iter().find(|&&axis| axis >= rank) {
            return Err(Error::axis_out_of_range(axis, rank));
        }
        let long = source.sizes().iter().enumerate().filter(|&(_, &size)| size > 1);
        let reversed: SmallVec<[usize; 8]> = long.map(|(axis, _)| axis).filter(|axis| axes.contains(axis)).collect();
        let source_needs = checked::bytes_for(source.span_elements(), bits)?;
        let destination_needs = checked::bytes_for(destination.span_elements(), to_bits)?;
        let passes = Passes::new(&source, &destination, &reversed, &knobs)?;
        let (is_direct, allows_plain) = (passes.direct().is_some(), settings.allows_plain_loops());
        let plan = Relayout {
            source,
            destination,
            reversed,
            settings: Settings { padding: Padding::Keep, ..settings.clone() },
            fill: Fill::Nothing,
            passes,
            is_direct,
            allows_plain,
            source_needs,
            destination_needs,
            destination_size,
            tail: if destination_is_part { 0 } else { tail },
        };
        match settings.padding {
            Padding::Keep if zero_padding => plan.with_padding(Padding::Zero),
            // The plan is a KiB long, and every step of `with_padding` would move it.
            Padding::Keep => Ok(plan),
            padding => plan.with_padding(padding),
        }
    }

    /// Size of the whole source buffer in bytes, padding included. A source that lacks padding at its end may
    /// be shorter.
    ///
    /// ```
    /// use tensor_layout::relayout::{KernelLevel, Relayout, Settings, Stores};
    /// use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
    ///
    /// let packed = BufferTensorDesc::packed(DataType::F32, &[3, 100])?;
    /// let tiled: ArrayShape = "f32[3,100]{1,0:T(8,128)}".parse()?;
    /// let plan = Relayout::new(&packed, &tiled)?;
    /// assert_eq!((plan.source_size_in_bytes(), plan.destination_size_in_bytes()), (1200, 4096));
    /// println!("{}", plan.explain());
    ///
    /// // In safe Rust and with ordinary stores, whatever the CPU has: the same bytes.
    /// let settings = Settings { kernels: Some(KernelLevel::Portable), stores: Stores::Cached, ..Settings::default() };
    /// let plain = Relayout::with(&packed, &tiled, &settings)?;
    /// let (source, mut a, mut b) = (vec![7; 1200], vec![0; 4096], vec![0; 4096]);
    /// plan.run(&source, &mut a)?;
    /// plain.run(&source, &mut b)?;
    /// assert!(a == b);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    #[must_use]
    pub fn source_size_in_bytes(&self) -> u64 {
        self.source.physical_size_in_bytes()
    }

    /// The axes longer than 1 that one side of the copy walks [backwards](Self::reversing), ascending.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, BufferTensorDesc, DataType};
    ///
    /// let desc = BufferTensorDesc::packed(DataType::F32, &[4])?;
    /// assert!(Relayout::new(&desc, &desc)?.reversed_axes().is_empty());
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
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

    /// Size of the whole destination buffer in bytes, padding included.
    #[must_use]
    pub fn destination_size_in_bytes(&self) -> u64 {
        self.destination_size
    }

    /// Copies every element. Bytes after the two layouts are neither read nor written, except for the tail of
    /// a descriptor whose padding [is set](Self::with_padding).
    ///
    /// # Errors
    ///
    /// `buffer_too_short`, before a byte is written.
    pub fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        if let Some(nest) = self.plain().and_then(Plain::nest)
            && nest.is_inside(source.len(), destination.len())
        {
            nest.run(source, destination.into());
            return Ok(());
        }
        if self.is_direct
            && let Some(copy) = self.passes.last.only_copy()
            && self.has_room(source.len(), destination.len())
        {
            copy.run(source, destination.into());
            return Ok(());
        }
        self.run_whole(source, destination)
    }

    /// Whether all elements are inside buffers of these lengths, in bytes.
    #[inline]
    fn has_room(&self, source: usize, destination: usize) -> bool {
        let bytes = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        bytes(source) >= self.source_needs && bytes(destination) >= self.destination_needs
    }

    /// The whole copy, if it is small and sets no padding. [`run`](Self::run) needs nothing else then.
    #[inline]
    pub(super) fn plain(&self) -> Option<&Plain> {
        self.passes.last.plain.as_ref().filter(|_| self.is_direct && self.allows_plain)
    }

    /// Copies like [`run`](Self::run), whatever the plan is.
    fn run_whole(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        require("source", source.len(), self.source_needs)?;
        require("destination", destination.len(), self.writes_to())?;
        self.set_tail((&mut *destination).into());
        let whole = usize::try_from(self.destination_size_in_bytes()).unwrap_or(usize::MAX);
        let end = whole.min(destination.len());
        let destination = destination.get_mut(..end).unwrap_or_default();
        if self.fill.is_first() && self.run_in_blocks(source, destination)? {
            return Ok(());
        }
        exec::fill_before(&self.fill, destination);
        exec::run_passes(&self.passes, source, destination)?;
        exec::fill_after(&self.fill, destination.into());
        Ok(())
    }

    /// If padding is set, sets the tail of a destination to zero. The buffer may end inside the tail.
    pub(super) fn set_tail(&self, destination: Destination<'_>) {
        self.set_tail_at(self.destination_size_in_bytes(), destination);
    }

    /// Sets the tail to zero. The tail begins at byte `start` of a buffer.
    pub(super) fn set_tail_at(&self, start: u64, mut destination: Destination<'_>) {
        if self.tail == 0 || self.settings.padding == Padding::Keep {
            return;
        }
        let inside = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX).min(destination.len());
        destination.fill(inside(start)..inside(start.saturating_add(self.tail)), 1, 0);
    }

    /// The least length of a destination buffer, in bytes. If padding is set, the buffer must hold all
    /// padding.
    pub(super) fn writes_to(&self) -> u64 {
        if self.settings.padding == Padding::Keep { self.destination_needs } else { self.destination_size_in_bytes() }
    }

    /// Copies like [`run`](Self::run), between buffers of any plain type that is as wide as an element.
    ///
    /// # Errors
    ///
    /// `element_bits_mismatch` if `T` is not as wide as an element, and the errors of
    /// [`run`](Self::run).
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, BufferTensorDesc, DataType};
    ///
    /// let rows = BufferTensorDesc::packed(DataType::F32, &[2, 3])?;
    /// let columns = BufferTensorDesc::new(DataType::F32, &[2, 3], Some(&[1, 2]))?;
    /// let mut turned = [0.0_f32; 6];
    /// Relayout::new(&rows, &columns)?.run_typed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut turned)?;
    /// assert_eq!(turned, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn run_typed<T: bytemuck::Pod>(&self, source: &[T], destination: &mut [T]) -> Result<(), Error> {
        for bits in [self.source.element_bits(), self.destination.element_bits()] {
            require_width::<T>(bits)?;
        }
        self.run(bytemuck::cast_slice(source), bytemuck::cast_slice_mut(destination))
    }
}

/// Refuses a type `T` that is not as wide as an element of `bits` bits.
pub(super) fn require_width<T>(bits: u32) -> Result<(), Error> {
    let found: u32 = checked::narrow(size_of::<T>().saturating_mul(8), checked::BYTES)?;
    if found == bits { Ok(()) } else { Err(Code::ElementBitsMismatch.by(found.into(), bits.into())) }
}

fn check_pair(source: &IndexMap, destination: &IndexMap) -> Result<(), Error> {
    let (from, to) = (source.sizes(), destination.sizes());
    if from.len() != to.len() {
        return Err(Error::rank_mismatch("sizes", from.len(), to.len()));
    }
    if let Some((axis, (&expected, &found))) = from.iter().zip(to).enumerate().find(|(_, (a, b))| a != b) {
        return Err(Code::SizeMismatch.at(axis, found, expected));
    }
    if source.data_type() != destination.data_type() {
        return Err(Error::data_type_mismatch(source.data_type().xla_name(), destination.data_type().xla_name()));
    }
    if !Widths::between(source, destination).can_hold(source.data_type()) {
        return Err(Code::ElementBitsMismatch.by(destination.element_bits().into(), source.element_bits().into()));
    }
    Ok(())
}

/// Refuses a buffer whose length is less than `needed` bytes.
pub(super) fn require(what: &'static str, length: usize, needed: u64) -> Result<(), Error> {
    let found = u64::try_from(length).unwrap_or(u64::MAX);
    if found < needed { Err(Error::buffer_too_short(what, needed, found)) } else { Ok(()) }
}
