//! Recognises a cache from the sizes and strides of its tensor.
//!
//! Engines hand out tensors without names of axes, and guess from sizes which axis is which. A guess can be
//! wrong without a sign: `[2,2,4,3,6]` has K and V in front, or two blocks. This reader does not guess: it
//! returns every order of the table that has these bytes, and what would tell them apart.
//!
//! ```text
//! for each order, and each without its layers          2BNHD, BLNHC, BNHC, ..
//!     sort the axes of the tensor by stride             (2,360) (5,72) (4,18) (3,6) (6,1)
//!     give each axis letters of the order, in order     2=2     B=5    N=4    H=3   D=6
//!     keep the cache if its places are those of the tensor
//! ```
//!
//! An axis takes several letters if all but one of their sizes are known: all tokens, or a page that is one
//! axis. An axis of size 1 may be any letter. A gap is the distance of blocks or layers, the place of a
//! layer that the tensor is a slice of, or the other half of the content: the tensor is K or V.

use core::cmp::Reverse;

use tensor_layout::plan::Component;
use tensor_layout::short_sort::sort_by_key;
use tensor_layout::{Error, IndexMap, ToIndexMap};

use crate::spell::memory_order::digits_by_dimension;

use super::layout::items;
use super::{KvCache, orders};

/// The caches that a tensor may be, and what would tell them apart.
///
/// ```
/// use tensor_layout::BufferTensorDesc;
/// use tensor_layout_text::kv::recognise;
///
/// let tensor: BufferTensorDesc = "bf16[2,5,4,3,6]:[360,72,18,6,1]".parse()?;
/// let found = recognise(&tensor, &[("H", 3), ("N", 4), ("D", 6)])?;
/// let texts: Vec<String> = found.caches.iter().map(ToString::to_string).collect();
/// assert_eq!(texts, ["kv:2BNHD:bf16[B=5,H=3,N=4,D=6]"]);
/// assert!(recognise(&tensor, &[("B", 5), ("D", 6)])?.apart.contains(&"H is 2 or 3 or 4".to_owned()));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recognised {
    /// The caches that store every element where the tensor stores it.
    pub caches: Vec<KvCache>,
    /// What would tell the caches apart, as sentences without a full stop.
    pub apart: Vec<String>,
}

/// Returns every cache with a known order that has the places of this tensor. `known` are sizes by their
/// letters, such as `("H", 8)`, and `("bytes", n)` is the size of the buffer. Tensors of several layers
/// become one by their addresses: an axis with the distance of the layers as its stride.
///
/// # Errors
///
/// `not_expressible` for tiles that cut across each other, and the errors of [`ToIndexMap::to_index_map`].
pub fn recognise(layout: &impl ToIndexMap, known: &[(&str, u64)]) -> Result<Recognised, Error> {
    let map = layout.to_index_map()?.with_base(0)?;
    let is_cut = |component: &Component| {
        component.chain.digits().first().is_some_and(|digit| !component.extent.is_multiple_of(digit.divisor.get()))
    };
    let digits = digits_by_dimension(&map).filter(|_| !map.components().iter().any(is_cut));
    let mut axes = digits.map(|digits| digits.concat()).ok_or_else(|| {
        Error::not_expressible("KV cache", "its tiles are cut by its sizes, and those of caches are whole")
    })?;
    sort_by_key(&mut axes, |axis| Reverse(axis.1));
    let ones = map.sizes().iter().filter(|&&size| size == 1).count();
    let places = joined(axes.clone());
    let mut search = Search { map: &map, known, places, axes: &axes, word: Word::default(), found: Vec::new() };
    for word in words() {
        let letters = word.letters.to_ascii_uppercase();
        // An order that lacks an axis whose size is known is skipped. An order of a single layer may lack
        // `L`, and any order may lack an axis of size 1.
        let is_without = |&(name, size): &(&str, u64)| match name {
            "L" | "2" | "bytes" => false,
            "D" if word.letters.contains('c') => false,
            _ => !letters.contains(name) && (size > 1 || name == "C" || name == "D"),
        };
        if known.iter().any(is_without) {
            continue;
        }
        search.word = word.clone();
        // An order with blocks is tried only if the sizes of its blocked axes are known. With free sizes it
        // would match nearly every tensor.
        if word.blocks.iter().any(|block| search.known(block.0.to_ascii_uppercase()).is_none()) {
            continue;
        }
        // The content and the head size have more than one value, so they are not among the letters of size
        // 1.
        let unknown = word.letters.chars().filter(|&letter| !"cCD".contains(letter) && search.size(letter).is_none());
        let unknown: Vec<char> = unknown.collect();
        // An axis of size 1 may be any other letter: each choice of letters of size 1 is tried.
        for choice in 0..1_u32 << unknown.len() {
            let chosen = unknown.iter().enumerate().filter(|(place, _)| choice >> place & 1 == 1);
            let chosen: Vec<(char, u64)> = chosen.map(|(_, &letter)| (letter, 1)).collect();
            if chosen.len() <= ones {
                search.assign(&word.letters, &chosen, &[]);
            }
        }
    }
    let found = search.found;
    let mut apart = Vec::new();
    for letter in "LBHNCD2".chars() {
        let size = |sizes: &Sizes| sizes.iter().find(|size| size.0 == letter).map_or(1, |size| size.1);
        let mut sizes: Vec<u64> = found.iter().map(|(_, sizes)| size(sizes)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.len() > 1 {
            let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
            apart.push(format!("{letter} is {}", sizes.join(" or ")));
        }
    }
    for (place, (cache, _)) in found.iter().enumerate() {
        for (other, _) in found.iter().skip(place.saturating_add(1)).filter(|(other, _)| other.axes() == cache.axes()) {
            let (first, second) = (cache.to_index_map()?, other.to_index_map()?);
            // The sizes do not tell these two orders apart. An index that they store at different offsets
            // does, by its data.
            if let Ok(Some(index)) = first.first_difference(&second) {
                let axes: Vec<String> =
                    cache.axes().chars().zip(&index).map(|(axis, at)| format!("{axis}={at}")).collect();
                let (a, b) = (first.offset(&index)?, second.offset(&index)?);
                let orders = format!("{a} in {} and {b} in {}", cache.order(), other.order());
                let sentence = format!("{} is at element {orders}", axes.join(","));
                if !apart.contains(&sentence) {
                    apart.push(sentence);
                }
            }
        }
    }
    Ok(Recognised { caches: found.into_iter().map(|found| found.0).collect(), apart })
}

type Sizes = Vec<(char, u64)>;

/// The letters of an order for the search, and the order that they stand for. The letter `l` is one layer of
/// several, `c` is half of the content, and `n`, `d` and `h` are blocks, each with its size.
#[derive(Debug, Clone, Default, PartialEq)]
struct Word {
    letters: String,
    order: String,
    blocks: Vec<(char, u64)>,
}

/// Returns the orders of the table. Each order is also returned for the tensor of a single layer, and for a
/// tensor of keys or values alone (half of the content). If the layers are inside the heads, `l` marks the
/// gap that the other layers leave in the tensor of one layer.
fn words() -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    for row in orders().iter().filter(|row| !row.letters.starts_with('-')) {
        let items = items(row.letters);
        let blocks: Vec<(char, u64)> = items.iter().filter_map(|item| Some((item.0, item.1?))).collect();
        let letters: String = items.iter().map(|item| item.0).collect();
        let gap = if row.letters.contains("HL") { "l" } else { "" };
        for (all, order) in [
            (letters.clone(), row.letters.to_owned()),
            (letters.replace('L', gap), row.letters.replace('L', &gap.to_ascii_uppercase())),
        ] {
            for letters in [all.replace('C', "c"), all] {
                let word = Word { letters, order: order.clone(), blocks: blocks.clone() };
                if !words.contains(&word) {
                    words.push(word);
                }
            }
        }
    }
    // Orders with the whole content come first.
    sort_by_key(&mut words, |word| word.letters.contains('c'));
    words
}

/// Joins the steps that continue each other, the largest stride first.
fn joined(mut steps: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    steps.retain(|step| step.0 != 1);
    sort_by_key(&mut steps, |step| Reverse(step.1));
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (count, stride) in steps {
        match joined.last_mut() {
            Some(outer) if stride.checked_mul(count) == Some(outer.1) => {
                *outer = (outer.0.saturating_mul(count), stride)
            }
            _ => joined.push((count, stride)),
        }
    }
    joined
}

struct Search<'a> {
    map: &'a IndexMap,
    known: &'a [(&'a str, u64)],
    /// The axes of the tensor with more than one value, the largest stride first.
    axes: &'a [(u64, u64)],
    /// The axes, with those joined that are one loop over memory. Two layouts have equal offsets if these are
    /// equal.
    places: Vec<(u64, u64)>,
    /// The order whose letters are being assigned.
    word: Word,
    found: Vec<(KvCache, Sizes)>,
}

impl Search<'_> {
    fn known(&self, letter: char) -> Option<u64> {
        self.known.iter().find(|known| known.0.chars().eq([letter])).map(|known| known.1)
    }

    /// The size of the block that this lower-case letter stands for.
    fn block(&self, letter: char) -> Option<u64> {
        self.word.blocks.iter().find(|block| block.0 == letter).map(|block| block.1)
    }

    /// The number of values of a letter's digit, if it is known. It is 0, which matches no axis, if a known
    /// size is no multiple of its block.
    fn size(&self, letter: char) -> Option<u64> {
        let whole = || {
            let (size, block) = (self.known(letter)?, self.block(letter.to_ascii_lowercase()).unwrap_or(1));
            Some(size.checked_div(block).filter(|_| size.checked_rem(block) == Some(0)).unwrap_or(0))
        };
        match letter {
            'l' => Some(1),
            'c' => None,
            '2' => self.known(letter).or(Some(2)),
            _ => self.block(letter).or_else(whole),
        }
    }

    /// Assigns the letters of `rest`, in order, to the axes from axis `groups.len()` on, in every way that
    /// fits their sizes.
    fn assign(&mut self, rest: &str, chosen: &[(char, u64)], groups: &[Sizes]) {
        let Some(&(size, _)) = self.axes.get(groups.len()) else {
            if rest.is_empty() {
                self.accept(groups);
            }
            return;
        };
        for length in 1..=rest.len() {
            let (group, rest) = rest.split_at(length);
            let known = |letter: char| chosen.iter().find(|one| one.0 == letter).map(|one| one.1).or(self.size(letter));
            let product = group.chars().filter_map(known).fold(1, u64::saturating_mul);
            let left = size.checked_div(product).filter(|left| left.saturating_mul(product) == size);
            let Some(left) =
                left.filter(|&left| match group.chars().filter(|&letter| known(letter).is_none()).count() {
                    0 => left == 1,
                    1 => left > 1,
                    _ => false,
                })
            else {
                continue;
            };
            let sizes = group.chars().map(|letter| (letter, known(letter).unwrap_or(left))).collect();
            self.assign(rest, chosen, &[groups, &[sizes]].concat());
        }
    }

    /// Keeps the cache of these letters and sizes if its offsets are those of the tensor, and if its buffer
    /// has the size that the caller knows.
    fn accept(&mut self, groups: &[Sizes]) {
        let (mut fields, mut page): (Vec<String>, _) = (Vec::new(), None);
        let mut outer = true;
        for (place, group) in groups.iter().enumerate() {
            let distance = self.axes.get(place).map_or(0, |axis| axis.1);
            let inner = self.axes.get(place.saturating_add(1)).map_or(1, |axis| axis.0.saturating_mul(axis.1));
            let last = group.iter().rfind(|size| size.1 > 1).filter(|_| distance != inner);
            for &(letter, size) in group {
                let bytes = distance.saturating_mul(self.map.element_bits().into()).div_euclid(8);
                // Only whole pages are padded, so only axes of layers and blocks may be outside the padding.
                outer = outer && (size == 1 || "LB".contains(letter));
                let is_apart = outer && last.is_some_and(|last| last.0 == letter);
                page = page.or(is_apart.then(|| (format!("@{bytes}"), format!("page={bytes}"))));
                let whole = size.saturating_mul(self.block(letter.to_ascii_lowercase()).unwrap_or(1));
                fields.push(match (letter, size) {
                    ('c', _) => {
                        let outer = place.checked_sub(1).and_then(|outer| self.axes.get(outer));
                        let content = outer.map_or(0, |outer| outer.1.checked_div(distance).unwrap_or(0));
                        let is_half = content == size.saturating_mul(2) && group.len() == 1;
                        let is_other = self.known('C').is_some_and(|known| known != size && known != content);
                        if !is_half || is_other || self.known('D').is_some_and(|known| known != size) {
                            return;
                        }
                        format!("C=0:{size}/{content}")
                    }
                    _ if letter != 'l' && letter.is_ascii_lowercase() => continue,
                    ('l', _) if distance <= inner => return,
                    ('l', _) => format!("L=0:1/{}", distance.checked_div(inner).unwrap_or(0)),
                    ('2', 2) => continue,
                    _ if is_apart => format!("{letter}={whole}@{bytes}"),
                    _ => format!("{letter}={whole}"),
                });
            }
        }
        let order = self.word.order.clone();
        let whole = |&(letter, size): &(char, u64)| match letter {
            'c' => Some(('C', size)),
            'l' => Some((letter, size)),
            _ if letter.is_ascii_lowercase() => None,
            _ => Some((letter, size.saturating_mul(self.block(letter.to_ascii_lowercase()).unwrap_or(1)))),
        };
        let sizes: Sizes = groups.concat().iter().filter_map(whole).collect();
        let written = |fields: &str| format!("kv:{order}:{}[{fields}]", self.map.data_type());
        let mut texts = vec![written(&fields.join(","))];
        // A gap between blocks can be a page with padding or a distance between blocks. The buffer ends after
        // the padding of the last page, but without the gap after the last block, so both are tried.
        texts.extend(page.map(|(at, page)| written(&format!("{},{page}", fields.join(",").replace(&at, "")))));
        let [bytes, layers] =
            ["bytes", "L"].map(|name| self.known.iter().find(|known| known.0 == name).map(|known| known.1));
        for text in texts {
            let Ok(cache) = text.parse::<KvCache>() else { continue };
            let Ok(map) = cache.to_index_map() else { continue };
            let is_sliced = text.contains("L=0:1/");
            let fits = bytes.is_none_or(|bytes| bytes == map.physical_size_in_bytes())
                && layers.is_none_or(|layers| !is_sliced || text.contains(&format!("L=0:1/{layers},")));
            let is_new = self
                .found
                .iter()
                .all(|(found, _)| found.to_index_map().ok() != Some(map.clone()) || found.order() != cache.order());
            let places = digits_by_dimension(&map).map(|digits| joined(digits.concat()));
            if fits && places.as_ref() == Some(&self.places) {
                // Another assignment of letters may have found the same cache before.
                if is_new {
                    self.found.push((cache, sizes));
                }
                return;
            }
        }
    }
}
