//! `Scaled`: values and their scales as one text.

use core::fmt;
use core::str::FromStr;

use tensor_layout::checked::Dims;
use tensor_layout::cursor::Cursor;
use tensor_layout::plan::read_type_and_sizes;
use tensor_layout::strided::Slice;
use tensor_layout::upload::ScaledTensor;
use tensor_layout::{BufferTensorDesc, Error, ToIndexMap};

use crate::{Notated, ViewStep, read_list, text};

/// A tensor of small numbers with scales in planes of their own, read from a text:
/// `f4e2m1fn[128,320] with f8e8m0fnu per 32`.
///
/// Each plane is a layout in any notation; `f4e2m1fn[128,320]` alone is packed, each value in its own bits.
/// `per` says how many values of the last axis have one scale, or,
/// as `[128,128]`, of each axis; `per tensor` is one scale for all. Scales without sizes have one for each
/// block, in row-major order or in a named layout. There may be several levels.
///
/// ```
/// use tensor_layout::DeviceLimits;
/// use tensor_layout_text::Scaled;
///
/// // NVFP4, with the scales in the order of the tensor cores and a second level.
/// let weights: Scaled = "f4e2m1fn[200,160] with nvidia.sf_128x4:f8e4m3fn per 16 with f32 per tensor".parse()?;
/// assert_eq!(weights.scales()[0].0.to_string(), "nvidia.sf_128x4:f8e4m3fn[200,10]");
/// assert_eq!(weights.to_string().parse::<Scaled>()?, weights);
/// let tensor = weights.tensor()?;
/// assert_eq!(tensor.pack(&DeviceLimits::webgpu())?.offsets, [0, 16_128, 19_200]);
/// // The value, its scale and the scale of the tensor, each in elements of its plane.
/// assert_eq!(tensor.offsets(&[130, 95])?, [20_895, 2081 , 0]);
///
/// let error = "f4e2m1fn[200,160] with f8e4m3fn[200,9] per 16".parse::<Scaled>().unwrap_err();
/// assert_eq!(error.to_string(), "axis 1 has size 9, but size 10 was expected");
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scaled {
    values: Notated,
    scales: Vec<(Notated, Vec<u64>)>,
}

impl Scaled {
    /// The word between the planes. No notation of a single layout has it.
    pub const WORD: &str = " with ";

    /// The layout of the values.
    #[must_use]
    pub fn values(&self) -> &Notated {
        &self.values
    }

    /// The layouts of the scales, each with the values of each axis that have one scale.
    #[must_use]
    pub fn scales(&self) -> &[(Notated, Vec<u64>)] {
        &self.scales
    }

    /// All layouts, that of the values first.
    pub fn planes(&self) -> impl Iterator<Item = &Notated> {
        core::iter::once(&self.values).chain(self.scales.iter().map(|(layout, _)| layout))
    }

    /// Returns the planes as a tensor that is packed into a buffer, and that says where a value and its
    /// scales are.
    ///
    /// # Errors
    ///
    /// The errors of [`ScaledTensor::new`].
    pub fn tensor(&self) -> Result<ScaledTensor<'_>, Error> {
        let scales: Vec<(&(dyn ToIndexMap + Sync), &[u64])> =
            self.scales.iter().map(|(layout, block)| (layout as &(dyn ToIndexMap + Sync), block.as_slice())).collect();
        ScaledTensor::new(&self.values, &scales)
    }
}

impl Scaled {
    /// Returns a view of the values with the scales that they have: a part along whole blocks, or other axes.
    ///
    /// # Errors
    ///
    /// `not_expressible` for a part that begins inside a block, for a step on an axis of blocks, and for a
    /// view that is neither a slice nor a permutation. The errors of [`ViewStep::apply`] and of the text of a
    /// plane.
    ///
    /// ```
    /// use tensor_layout_text::{Scaled, ViewStep};
    ///
    /// let weights: Scaled = "f4e2m1fn[128,320] with f8e8m0fnu per 32".parse()?;
    /// let part = weights.view(&ViewStep::read("slice", "64:,32:96")?)?;
    /// assert_eq!(part.to_string(), "f4e2m1fn[64,64]:[320,1]+20512 with f8e8m0fnu[64,2]:[10,1]+641 per 32");
    /// assert!(weights.view(&ViewStep::read("slice", ":,40:104")?).is_err());
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn view(&self, step: &ViewStep) -> Result<Scaled, Error> {
        let view = |layout: &Notated, step: &ViewStep| text(step.apply(layout.layout())?)?.parse();
        let sizes = self.values.to_index_map()?.sizes().to_vec();
        let mut scales = Vec::new();
        for (layout, block) in &self.scales {
            let (step, block) = match step {
                ViewStep::Permute(axes) => {
                    (step.clone(), axes.iter().filter_map(|&axis| block.get(axis).copied()).collect())
                }
                ViewStep::Slice(slices) => {
                    let axes = slices.iter().zip(block).zip(&sizes).enumerate();
                    let parts: Result<Vec<(Slice, u64)>, Error> =
                        axes.map(|(axis, ((slice, &block), &size))| scales_of(slice, axis, block, size)).collect();
                    let (slices, block): (Vec<Slice>, Vec<u64>) = parts?.into_iter().unzip();
                    (ViewStep::Slice(slices.into()), block)
                }
                _ => return Err(Error::not_expressible("view", "values with scales are sliced or permuted")),
            };
            scales.push((view(layout, &step)?, block));
        }
        Ok(Scaled { values: view(&self.values, step)?, scales })
    }
}

/// Returns the slice of the scales that a slice of the values has, and the values that then have one scale.
fn scales_of(slice: &Slice, axis: usize, block: u64, size: u64) -> Result<(Slice, u64), Error> {
    let (start, end) = (slice.start, slice.end.unwrap_or(size));
    let number = |value: u64| value.checked_div(block).unwrap_or(0);
    let (is_one, is_whole) =
        (end > start && number(start) == number(end.saturating_sub(1)), start == number(start).saturating_mul(block));
    match (block, slice.step, is_one, is_whole) {
        (1, ..) => Ok((*slice, 1)),
        (_, 1, true, false) => Ok(((number(start)..number(start).saturating_add(1)).into(), end.saturating_sub(start))),
        (_, 1, _, true) => Ok(((number(start)..end.div_ceil(block)).into(), block)),
        _ => {
            let reason = format!("it takes parts of blocks of {block} values of axis {axis}, which share a scale");
            Err(Error::not_expressible("view", reason))
        }
    }
}

impl FromStr for Scaled {
    type Err = Error;

    fn from_str(whole: &str) -> Result<Self, Error> {
        let mut planes = whole.split(Scaled::WORD);
        let first = planes.next().unwrap_or_default();
        let values = plane(first)?;
        if values.blocks().is_some() {
            let reason = format!("{values} has its scales in its blocks");
            return Err(Error::not_expressible("plane of values", reason));
        }
        let sizes = values.to_index_map()?.sizes().to_vec();
        let (mut scales, mut column) = (Vec::new(), first.len());
        for text in planes {
            column = column.saturating_add(Scaled::WORD.len());
            let Some((layout, per)) = text.rsplit_once(" per ") else {
                return Err(Cursor::new(whole).error_at(column, "the layout of scales, ` per ` and a number of values"));
            };
            let block = match per.trim() {
                "tensor" => sizes.iter().map(|&size| size.max(1)).collect(),
                list if list.starts_with('[') => read_list(list, "the values of each axis that have one scale")?,
                number => {
                    let mut block = vec![1; sizes.len()];
                    let number = number.parse().ok().zip(block.last_mut()).map(|(number, last)| *last = number);
                    let at = column.saturating_add(layout.len()).saturating_add(" per ".len());
                    number.ok_or_else(|| Cursor::new(whole).error_at(at, "a number such as 32, [1,32] or `tensor`"))?;
                    block
                }
            };
            let layout = if layout.contains(['[', '(', '{']) {
                layout.to_owned()
            } else {
                let count = |(size, block): (&u64, &u64)| size.div_ceil((*block).max(1)).to_string();
                let counts: Vec<String> = sizes.iter().zip(&block).map(count).collect();
                format!("{layout}[{}]", counts.join(","))
            };
            column = column.saturating_add(text.len());
            scales.push((plane(&layout)?, block));
        }
        let scaled = Scaled { values, scales };
        scaled.tensor()?;
        Ok(scaled)
    }
}

/// Reads a plane. A type and sizes alone are a packed tensor.
fn plane(text: &str) -> Result<Notated, Error> {
    let mut cursor = Cursor::new(text);
    match read_type_and_sizes(&mut cursor) {
        Ok((data_type, sizes)) if cursor.end("").is_ok() => Ok(BufferTensorDesc::packed(data_type, &sizes)?.into()),
        _ => text.parse(),
    }
}

impl fmt::Display for Scaled {
    /// Writes every layout with its sizes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)?;
        let sizes = self.values.to_index_map().map(|map| Dims::from_slice(map.sizes())).unwrap_or_default();
        for (layout, block) in &self.scales {
            write!(f, "{}{layout} per ", Scaled::WORD)?;
            match block.split_last() {
                _ if block.iter().eq(sizes.iter().map(|size| size.max(&1))) => f.write_str("tensor")?,
                Some((last, outer)) if outer.iter().all(|&number| number == 1) => last.fmt(f)?,
                _ => {
                    let numbers: Vec<String> = block.iter().map(u64::to_string).collect();
                    write!(f, "[{}]", numbers.join(","))?;
                }
            }
        }
        Ok(())
    }
}
