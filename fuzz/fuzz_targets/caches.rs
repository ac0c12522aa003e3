//! KV caches and block tables: texts of any bytes, and caches built in code, with every element in its own
//! place; copies between two of them against the places of each element.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout::DataType;
use tensor_layout::relayout::Settings;
use tensor_layout_fuzz::copies::noise;
use tensor_layout_fuzz::places::for_each_index;
use tensor_layout_fuzz::texts::{of_bytes, refusal};
use tensor_layout_text::Layout;
use tensor_layout_text::kv::{KvCache, orders};
use tensor_layout_text::layout::copies;

#[derive(Debug, Arbitrary)]
struct Input {
    layers: u8,
    heads: u8,
    content: u8,
    sides: [Side; 2],
    tokens: u8,
}

#[derive(Debug, Arbitrary)]
struct Side {
    order: u8,
    /// The tokens of a block.
    block: u8,
    table: Vec<u8>,
    total: u8,
    heads: Option<(u8, u8)>,
}

/// Orders of letters, with and without the axes that an order may lack.
const ORDERS: [&str; 10] =
    ["LBNHC", "LBHNC", "BLHNC", "BLNHC", "BNHC", "LBHND", "L2BNHD", "BHL2ND", "LB2HND16n2d", "NBHLC"];

fuzz_target!(|data: &[u8]| {
    let Some((&kind, rest)) = data.split_first() else { return };
    if kind % 2 == 0 {
        return text(&format!("kv:{}", of_bytes(rest)));
    }
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(rest)) else { return };
    let [from, to] = input.sides.each_ref().map(|side| cache(&input, side));
    let (Some(from), Some(to)) = (from, to) else { return };
    check(&from);
    copy(&from, &to);
});

fn text(text: &str) {
    match text.parse::<KvCache>() {
        Ok(cache) => {
            let written = cache.to_string();
            assert_eq!(written.parse::<KvCache>().as_ref(), Ok(&cache), "{written}");
            let elements = cache.sizes().iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
            if elements.is_some_and(|elements| elements < 3000) {
                check(&cache);
            }
        }
        Err(error) => refusal(&error, text),
    }
}

fn cache(input: &Input, side: &Side) -> Option<KvCache> {
    let named = orders().len();
    let order = match usize::from(side.order) % (named + ORDERS.len()) {
        number if number < ORDERS.len() => ORDERS[number].to_owned(),
        number => orders()[number - ORDERS.len()].name.clone(),
    };
    let one_to = |byte: u8, most: u8| u64::from(byte % most) + 1;
    let content = one_to(input.content, 4) * 2;
    let all = [
        ("L", one_to(input.layers, 3)),
        ("B", one_to(side.total, 6)),
        ("H", one_to(input.heads, 4)),
        ("N", one_to(side.block, 4)),
        ("C", 2 * content),
        ("D", content),
    ];
    // The axes of the order, whatever they are: those that it does not have are left out one by one.
    let mut given = all.to_vec();
    let mut cache = KvCache::new(&order, DataType::U8, &given);
    while let (Err(_), true) = (&cache, given.len() > 2) {
        let choices = (0..given.len()).map(|out| [&given[..out], &given[out + 1..]].concat());
        let fits = choices.map(|fewer| (KvCache::new(&order, DataType::U8, &fewer), fewer));
        (cache, given) = fits.reduce(|best, other| if best.0.is_ok() { best } else { other })?;
    }
    let mut cache = cache.ok()?;
    if !side.table.is_empty() {
        let table: Vec<u64> = side.table.iter().take(6).map(|&block| u64::from(block % 6)).collect();
        cache = cache.with_blocks(&table, one_to(side.total, 6)).ok()?;
        if let Ok(fewer) = cache.clone().tokens(u64::from(input.tokens) % 24) {
            cache = fewer;
        }
    }
    match side.heads {
        Some((start, end)) => cache.heads(u64::from(start % 5)..u64::from(end % 5)).ok(),
        None => Some(cache),
    }
}

/// The first bit of each element, in row-major order.
fn places(cache: &Layout) -> Vec<u64> {
    let (mut places, plane) = (Vec::new(), cache.values());
    let bits = plane.parts().first().map_or(0, |part| part.map.element_bits());
    for_each_index(plane.sizes(), |index| places.push(plane.place(index).unwrap().offset * u64::from(bits)));
    places
}

/// Every index is in one part, inside of the buffer, and in a place of its own unless a block is there twice.
fn check(cache: &KvCache) {
    let layout = Layout::from(cache.clone());
    let mut places = places(&layout);
    let end = layout.values().size_in_bytes().unwrap();
    assert!(places.iter().all(|&place| place < end.max(1) * 8), "{cache}");
    let held: u64 = cache.parts().iter().map(|part| part.map.element_count()).sum();
    assert_eq!(held, places.len() as u64, "{cache}");
    places.sort_unstable();
    let is_twice = places.windows(2).any(|pair| pair[0] == pair[1]);
    if is_twice {
        let error = copies(&layout, &layout, &Settings::default()).unwrap_err();
        assert_eq!(error.code(), "overlapping_destination", "{cache}: {error}");
    }
}

fn copy(from: &KvCache, to: &KvCache) {
    let (source, destination) = (Layout::from(from.clone()), Layout::from(to.clone()));
    let Ok(copy) = copies(&source, &destination, &Settings::default()) else { return };
    let bytes = noise(copy.source_size_in_bytes() as usize, 1);
    let mut expected = noise(copy.destination_size_in_bytes() as usize, 2);
    let mut found = expected.clone();
    for (source, destination) in places(&source).into_iter().zip(places(&destination)) {
        expected[destination as usize / 8] = bytes[source as usize / 8];
    }
    copy.run(&bytes, &mut found).unwrap();
    assert!(found == expected, "{from} to {to}");
}
