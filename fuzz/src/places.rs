//! Where the elements of a tiled layout are stored, literally: an index and the sizes around it go through
//! each tile as XLA's page says it, joined, padded, cut and moved. Nothing here shares a line with the crate.

/// A tiled layout as numbers. Entries of a tile are `None` for `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiling {
    pub sizes: Vec<u64>,
    /// The dimensions, the fastest first.
    pub minor_to_major: Vec<usize>,
    /// Each with a size as its last entry.
    pub tiles: Vec<Vec<Option<u64>>>,
    /// What the number of places is rounded up to a multiple of.
    pub tail: u64,
}

impl Tiling {
    /// The index through all tiles, as (position, size) of every dimension there is then.
    fn through_tiles(&self, index: &[u64], at: &mut Vec<(u64, u64)>, next: &mut Vec<(u64, u64)>) {
        at.clear();
        at.extend(self.minor_to_major.iter().rev().map(|&dim| (index[dim], self.sizes[dim])));
        for tile in &self.tiles {
            while at.len() < tile.len() {
                at.insert(0, (0, 1));
            }
            let prefix = at.len() - tile.len();
            next.clear();
            next.extend_from_slice(&at[..prefix]);
            // First the number of the tile in each dimension, and then the place inside that tile.
            for inside in [false, true] {
                let mut joined = (0, 1);
                for (&(position, size), entry) in at[prefix..].iter().zip(tile) {
                    joined = (joined.0 * size + position, joined.1 * size);
                    if let &Some(length) = entry {
                        next.push(match inside {
                            false => (joined.0 / length, joined.1.div_ceil(length)),
                            true => (joined.0 % length, length),
                        });
                        joined = (0, 1);
                    }
                }
            }
            std::mem::swap(at, next);
        }
    }

    /// The number of places, padding included.
    pub fn places(&self) -> u64 {
        let (mut at, mut next) = (Vec::new(), Vec::new());
        self.through_tiles(&vec![0; self.sizes.len()], &mut at, &mut next);
        at.iter().map(|&(_, size)| size).product::<u64>().next_multiple_of(self.tail)
    }

    /// An upper bound of [`places`](Self::places) that cannot overflow.
    pub fn most_places(&self) -> f64 {
        let elements: f64 = self.sizes.iter().map(|&size| size.max(1) as f64).product();
        let padding: f64 = self.tiles.iter().flatten().flatten().map(|&length| length as f64).product();
        elements * padding
    }

    /// The place of every index, in row-major order.
    pub fn offsets(&self) -> Vec<u64> {
        let (mut at, mut next) = (Vec::new(), Vec::new());
        let mut offsets = Vec::new();
        for_each_index(&self.sizes, |index| {
            self.through_tiles(index, &mut at, &mut next);
            offsets.push(at.iter().fold(0, |number, &(position, size)| number * size + position));
        });
        offsets
    }
}

/// Every index in row-major order.
pub fn for_each_index(sizes: &[u64], mut visit: impl FnMut(&[u64])) {
    if sizes.contains(&0) {
        return;
    }
    let mut index = vec![0; sizes.len()];
    loop {
        visit(&index);
        let Some(axis) = (0..sizes.len()).rev().find(|&axis| index[axis] + 1 < sizes[axis]) else { return };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// The place of every index of a strided tensor, in row-major order.
pub fn strided_offsets(sizes: &[u64], strides: &[u64], base: u64) -> Vec<u64> {
    let mut offsets = Vec::new();
    for_each_index(sizes, |index| offsets.push(base + index.iter().zip(strides).map(|(i, s)| i * s).sum::<u64>()));
    offsets
}

#[cfg(test)]
mod tests;
