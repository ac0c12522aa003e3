//! `together`: pixels of four channels whose order differs on the two sides of a copy, as one copy.
//!
//! No index map has the places 2, 1, 0 and 3 of `bgra`, so a plane of `bgra` has a part for each channel. A
//! copy from `bgra` to `rgba` or back takes place p of a pixel from place 2, 1, 0 or 3. It is one copy of
//! pixels of 2 x 2 units, both axes of which run backwards on a side, and whose low bit the high one flips:
//!
//! ```text
//! unit of both axes        0,0  0,1  1,0  1,1
//! place, strides 2 and 1   0    1    2^1  3^1      backwards  2  3  1  0
//! place, strides 1 and 2   0    2^1  1    3^1                 0  3  1  2
//! ```

use tensor_layout::map::Swizzle;
use tensor_layout::{BufferTensorDesc, Error, IndexMap, ToIndexMap};

use super::{Part, Plane};

/// Pixels of four units.
struct Pixels<'p> {
    part: &'p Part,
    /// The strides of every axis but the channels, in units, and the first unit of the first pixel.
    strides: Vec<u64>,
    first: u64,
    /// The place of each channel in a pixel.
    order: [u64; 4],
}

const SAME: [u64; 4] = [0, 1, 2, 3];
const SWAPPED: [u64; 4] = [2, 1, 0, 3];

/// The maps of a copy, and the axes that one side walks backwards.
type Pair = ([IndexMap; 2], Vec<usize>);

/// Returns one copy between two planes of pixels, if the channels of a side are in parts of their own.
///
/// # Errors
///
/// `overflow`.
pub(super) fn together(from: &Plane, to: &Plane) -> Result<Option<Pair>, Error> {
    let in_parts = from.parts().len().max(to.parts().len()) > 1;
    let (Some(source), Some(destination), true) = (Pixels::of(from), Pixels::of(to), in_parts) else {
        return Ok(None);
    };
    let mut moved = SAME;
    for (&place, &taken) in destination.order.iter().zip(&source.order) {
        let place = usize::try_from(place).ok().and_then(|place| moved.get_mut(place));
        place.into_iter().for_each(|slot| *slot = taken);
    }
    let rank = source.strides.len();
    match moved {
        SAME => Ok(Some(([source.map(&[4], &[1], false)?, destination.map(&[4], &[1], false)?], Vec::new()))),
        SWAPPED => {
            let maps = [source.map(&[2, 2], &[2, 1], true)?, destination.map(&[2, 2], &[1, 2], true)?];
            Ok(Some((maps, vec![rank, rank.saturating_add(1)])))
        }
        _ => Ok(None),
    }
}

impl<'p> Pixels<'p> {
    /// Returns the pixels of a plane. `None` for another plane, and for rows that are no whole pixels apart.
    fn of(plane: &'p Plane) -> Option<Pixels<'p>> {
        let channels = plane.sizes().len().checked_sub(1)?;
        let part = plane.parts().iter().min_by_key(|part| part.map.base())?;
        let mut strides = part.map.strides()?;
        let inner = strides.pop()?;
        let first = part.map.base();
        let is_whole = first.is_multiple_of(4) && strides.iter().all(|stride| stride.is_multiple_of(4));
        if plane.sizes().last() != Some(&4)
            || plane.blocks().is_some()
            || plane.reversed().contains(&channels)
            || !is_whole
        {
            return None;
        }
        let order = match plane.parts() {
            [_] => (inner == 1 && part.map.swizzle().is_none() && part.flip == 0).then_some(SAME)?,
            [_, _, _, _] => {
                let mut order = SAME;
                for (channel, (other, slot)) in (0_u64..).zip(plane.parts().iter().zip(&mut order)) {
                    let mut own = other.map.strides()?;
                    own.pop();
                    let is_channel = other.inside(&[vec![0; channels], vec![channel]].concat()).is_some();
                    let is_all =
                        other.map.sizes().iter().zip(plane.sizes()).take(channels).all(|(own, all)| own == all);
                    *slot = other.map.base().checked_sub(first).filter(|place| *place < 4)?;
                    (own == strides && is_channel && is_all && other.flip == 0).then_some(())?;
                }
                order
            }
            _ => return None,
        };
        SAME.iter().all(|place| order.contains(place)).then_some(Pixels { part, strides, first, order })
    }

    /// Returns the units in the order of their places, where the channels have these sizes and strides.
    fn map(&self, sizes: &[u64], strides: &[u64], is_flipped: bool) -> Result<IndexMap, Error> {
        let map = &self.part.map;
        let outer = map.sizes().get(..self.strides.len()).unwrap_or_default();
        let (sizes, strides) = ([outer, sizes].concat(), [&self.strides, strides].concat());
        let desc = BufferTensorDesc::new(map.data_type(), &sizes, Some(&strides))?.with_base_offset(self.first)?;
        let whole = desc.to_index_map()?.with_physical_elements(map.physical_elements())?;
        let whole = if is_flipped { whole.with_swizzle(&Swizzle::new(&[(0, 2)])?)? } else { whole };
        Ok(whole.with_gap_owner(map.gap_owner()))
    }
}
