//! `Lever`: a change to the program that would make its peak memory smaller.

use std::collections::BTreeMap;

use tensor_layout::ArrayShape;
use tensor_layout::tiled::TpuGeneration;

use super::live::LiveMemory;
use super::report::{BufferUse, LiveBuffer};

/// A change to the source program that makes the peak of a memory smaller. The saving is an upper bound: the
/// compiler may have used that memory already, or may use it for something else.
///
/// ```
/// use tensor_layout_hlo::{LeverKind, Module};
///
/// let dump = "HloModule m, is_scheduled=true
///
/// ENTRY %main (p: f32[1000,1]) -> f32[1000,1] {
///   %p = f32[1000,1]{1,0:T(8,128)} parameter(0)
///   ROOT %b = f32[1000,1]{1,0:T(8,128)} sine(%p)
/// }";
/// let module = Module::read(dump.as_bytes())?;
/// let memory = module.live_memory().ok_or("no entry computation")?;
/// let levers = memory.levers(0);
/// assert_eq!((levers[0].kind, levers[0].saved_bytes, levers[0].arrays), (LeverKind::Unpad, 1_016_000, 2));
/// assert_eq!((levers[1].kind, levers[1].saved_bytes), (LeverKind::Donate, 512_000));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lever {
    /// The kind of the change.
    pub kind: LeverKind,
    /// The most bytes by which the change lowers the peak.
    pub saved_bytes: u128,
    /// The number of arrays that are changed.
    pub arrays: u64,
    /// The largest of the changed arrays, as an example.
    pub first: LiveBuffer,
    /// The shape of [`first`](Self::first).
    pub shape: ArrayShape,
}

/// The kinds of a [`Lever`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeverKind {
    /// Donate parameters (JAX: `donate_argnums`), so that results of the same shape and layout are written
    /// over them.
    Donate,
    /// Give the arrays of one shape an order of dimensions or a shape that needs no padding.
    Unpad,
}

impl LeverKind {
    /// The kind in one word: `donate` or `unpad`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            LeverKind::Donate => "donate",
            LeverKind::Unpad => "unpad",
        }
    }
}

/// The arrays of one shape that are alive at the peak: all arrays, and those that are parameters or results.
#[derive(Debug, Default)]
struct OfShape {
    arguments: Vec<LiveBuffer>,
    results: u64,
    all: Vec<LiveBuffer>,
}

impl LiveMemory<'_> {
    /// The levers for the peak of a memory space, the largest saving first. There is at most one of each
    /// kind.
    #[must_use]
    pub fn levers(&self, space: u64) -> Vec<Lever> {
        let time = self.spaces().iter().find(|found| found.space == space).and_then(|found| found.peak_time);
        let mut shapes: BTreeMap<String, OfShape> = BTreeMap::new();
        for buffer in self.live_at(space, time.unwrap_or(0)) {
            let found = shapes.entry(buffer.shape.clone()).or_default();
            match buffer.used_as {
                BufferUse::Argument => found.arguments.push(buffer.clone()),
                BufferUse::Result => found.results = found.results.saturating_add(1),
                _ => {}
            }
            found.all.push(buffer);
        }
        let shapes: Vec<(ArrayShape, OfShape)> =
            shapes.into_iter().filter_map(|(shape, found)| Some((shape.parse().ok()?, found))).collect();
        let mut levers: Vec<Lever> = donation(&shapes).into_iter().collect();
        let unpad = shapes.iter().filter(|_| self.on_tpu).filter_map(|(shape, found)| {
            let arrays = u64::try_from(found.all.len()).ok()?;
            let saved_bytes = u128::from(unpadded(shape)?).saturating_mul(arrays.into());
            let (first, shape) = (found.all.first()?.clone(), shape.clone());
            Some(Lever { kind: LeverKind::Unpad, saved_bytes, arrays, first, shape })
        });
        levers.extend(unpad.max_by_key(|lever| lever.saved_bytes));
        levers.retain(|lever| lever.saved_bytes > 0);
        levers.sort_by_key(|lever| std::cmp::Reverse(lever.saved_bytes));
        levers
    }
}

/// Finds the lever that donates parameters. Each result that is alive at the peak takes the memory of one
/// parameter of its shape and layout, as far as there are enough parameters.
fn donation(shapes: &[(ArrayShape, OfShape)]) -> Option<Lever> {
    let pairs = |found: &OfShape| found.results.min(u64::try_from(found.arguments.len()).unwrap_or(u64::MAX));
    let bytes = |found: &OfShape| {
        let one = found.arguments.first().map_or(0, |first| first.bytes);
        u128::from(one).saturating_mul(pairs(found).into())
    };
    let (shape, found) = shapes.iter().max_by_key(|(_, found)| bytes(found))?;
    Some(Lever {
        kind: LeverKind::Donate,
        saved_bytes: shapes.iter().map(|(_, found)| bytes(found)).sum(),
        arrays: shapes.iter().map(|(_, found)| pairs(found)).sum(),
        first: found.arguments.first()?.clone(),
        shape: shape.clone(),
    })
}

/// The bytes that a layout without padding saves. The sizes that are stored beside an array with dynamic
/// dimensions are no padding.
fn unpadded(shape: &ArrayShape) -> Option<u64> {
    shape.physical_size_in_bytes().ok()?.checked_sub(shape.logical_size_in_bytes().ok()?)
}

/// The size of the HBM of one device, in bytes. Compilers keep some 0.25 GiB of it for themselves.
///
/// Google's pages give the capacity of a chip: v3 32 GiB, v4 32, v5e 16, v5p 95, v6e 32, TPU7x 192 (the pages
/// `v3`, `v4`, `v5e`, `v5p`, `v6e` and `tpu7x` of <https://docs.cloud.google.com/tpu/docs>). JAX's hardware
/// table has v2 with 16 GB (<https://docs.jax.dev/en/latest/pallas/tpu/hardware.html>). A chip of v2, v3 and
/// v7x is two devices, and each has half of the memory.
///
/// ```
/// use tensor_layout::tiled::TpuGeneration;
///
/// assert_eq!(tensor_layout_hlo::hbm_bytes(TpuGeneration::V5e), Some(16 << 30));
/// ```
#[must_use]
pub fn hbm_bytes(generation: TpuGeneration) -> Option<u64> {
    let gibibytes: u64 = match generation {
        TpuGeneration::V2 => 8,
        TpuGeneration::V3 | TpuGeneration::V5e => 16,
        TpuGeneration::V4 | TpuGeneration::V6e => 32,
        TpuGeneration::V5p => 95,
        TpuGeneration::V7x => 96,
        _ => return None,
    };
    gibibytes.checked_mul(1 << 30)
}
