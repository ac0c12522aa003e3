//! A view as the list of its offsets.

use crate::places::for_each_index;

/// The offset of every index, as a list in row-major order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offsets {
    pub sizes: Vec<u64>,
    pub list: Vec<u64>,
}

impl Offsets {
    pub fn at(&self, index: &[u64]) -> u64 {
        let place = index.iter().zip(&self.sizes).fold(0, |number, (i, size)| number * size + i);
        self.list[place as usize]
    }

    /// New sizes, and the old index of each new one.
    pub fn view(&self, sizes: Vec<u64>, old: impl Fn(&[u64], &mut [u64])) -> Offsets {
        let (mut list, mut index) = (Vec::new(), vec![0; self.sizes.len()]);
        for_each_index(&sizes, |new| {
            old(new, &mut index);
            list.push(self.at(&index));
        });
        Offsets { sizes, list }
    }

    /// Do any strides put these offsets at the indices of these sizes? They are forced: each is what one step
    /// on its axis does.
    pub fn has_strides(&self, sizes: &[u64]) -> bool {
        let below: Vec<u64> = (0..sizes.len()).map(|axis| sizes[axis + 1..].iter().product()).collect();
        let first = self.list[0];
        let step = |axis: usize| self.list[below[axis] as usize] as i64 - first as i64;
        let mut place = 0;
        let mut fits = true;
        for_each_index(sizes, |index| {
            let sum: i64 =
                (0..sizes.len()).filter(|&axis| sizes[axis] > 1).map(|axis| step(axis) * index[axis] as i64).sum();
            fits &= first as i64 + sum == self.list[place] as i64;
            place += 1;
        });
        fits
    }
}
