//! The cache of a list of fields: where each axis and each block is, and blocks that differ in their place.

use tensor_layout::Error;
use tensor_layout::checked::{self, ELEMENTS};
use tensor_layout::map::IndexMap;
use tensor_layout::short_sort::sort_by_key;
use tensor_layout::strided::Slice;

use super::KvCache;
use super::layout::{FIELDS, Field, Written};
use crate::part::Part;

impl Written {
    /// Returns the cache with this field instead of the field of the same name.
    pub(super) fn with(mut self, field: Field) -> Result<KvCache, Error> {
        self.fields.retain(|other| other.name != field.name);
        self.fields.push(field);
        self.cache()
    }

    pub(super) fn cache(mut self) -> Result<KvCache, Error> {
        sort_by_key(&mut self.fields, |field| FIELDS.iter().position(|name| *name == field.name));
        let digits = self.digits()?;
        let (strides, elements) = self.strides(&digits)?;
        let has = |axis: char| digits.iter().any(|digit| digit.0 == axis);
        let (tokens, is_content) = (self.size("T"), has('C') || has('2'));
        let logical = |letter: char| match letter {
            'B' | 'N' if tokens.is_some() => 'T',
            '2' | 'C' | 'D' => {
                if is_content {
                    'C'
                } else {
                    'D'
                }
            }
            _ => letter,
        };
        let of = |axis: char| {
            let own = digits.iter().zip(&strides).filter(move |((letter, _), _)| logical(*letter) == axis);
            let mut own: Vec<_> = own.map(|(&(letter, size), &stride)| (letter, size, stride)).collect();
            // A token counts the blocks before it, also where memory has N outside B.
            sort_by_key(&mut own, |digit| digit.0 == 'N');
            own.into_iter().map(|(_, size, stride)| (size, stride)).collect::<Vec<_>>()
        };
        let axes: String = "LBTHNCD".chars().filter(|&axis| !of(axis).is_empty()).collect();
        let dimensions: Vec<Vec<(u64, u64)>> = axes.chars().map(of).collect();
        let whole = IndexMap::from_digits(self.data_type, self.data_type.bits(), &dimensions)?;
        let whole = if whole.element_count() > 0 { whole.with_physical_elements(elements)? } else { whole };
        let range = |axis: char| {
            let (name, scale) = if axis == 'C' && has('2') { ('2', self.size("D").unwrap_or(1)) } else { (axis, 1) };
            match self.axis(name).and_then(|field| field.part) {
                Some((start, end)) => Ok::<Slice, Error>(
                    (checked::mul(start, scale, ELEMENTS)?..checked::mul(end, scale, ELEMENTS)?).into(),
                ),
                None => Ok(Slice::ALL),
            }
        };
        let mut ranges = axes.chars().map(range).collect::<Result<Vec<_>, _>>()?;
        let is_whole = ranges.iter().all(|range| *range == Slice::ALL);
        let place = axes.find(['B', 'T']);
        if let (Some(tokens), Some(range)) = (tokens, place.and_then(|place| ranges.get_mut(place)))
            && *range == Slice::ALL
        {
            *range = (0..tokens).into();
        }
        let block = digits.iter().zip(&strides).find(|(digit, _)| digit.0 == 'B').map_or(0, |(_, &stride)| stride);
        let tokens_of_block = tokens.and(self.size("N")).unwrap_or(1);
        let cache = KvCache { written: self, axes, whole, ranges, is_whole, place, block, tokens_of_block };
        cache.check()?;
        Ok(cache)
    }
}

impl KvCache {
    /// The number of parts: the runs of neighbouring blocks, or 1 without a block table.
    pub(crate) fn run_count(&self) -> usize {
        self.runs().count()
    }

    /// The map of all blocks and all heads in memory.
    pub(crate) fn all_blocks(&self) -> &IndexMap {
        &self.whole
    }

    /// Returns the part of a run of blocks, made of the part of another run, from which it differs in its
    /// first block alone. `None` if it has another length.
    pub(super) fn moved(&self, other: (u64, &[u64]), part: &Part, (start, run): (u64, &[u64])) -> Option<Part> {
        let count = checked::len_u64(run.len()).checked_mul(self.tokens_of_block)?;
        let is_cut = start.checked_add(count)? > self.written.size("T").unwrap_or(u64::MAX);
        let place = self.place?;
        if is_cut || part.map.sizes().get(place) != Some(&count) || part.map.sizes().contains(&0) {
            return None;
        }
        let [first, before] = [run, other.1].map(|run| run.first()?.checked_mul(self.block));
        let base = part.map.base().checked_add(first?)?.checked_sub(before?)?;
        let map = part.map.clone().with_base(base).ok()?.with_physical_elements(self.whole.physical_elements()).ok()?;
        let mut indices = part.indices.clone();
        *indices.get_mut(place)? = (start..start.checked_add(count)?).into();
        Some(Part { indices, map: map.with_gap_owner(part.map.gap_owner()), flip: part.flip })
    }
}
