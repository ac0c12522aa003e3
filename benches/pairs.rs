//! One number over the bytes of 100,000 random copies, each by five settings. Two versions of this crate copy
//! alike if both print the same number.
//!
//! ```text
//! cargo bench --bench pairs -- [SEED [PAIRS]]
//! ```
//!
//! To compare with an older tree, lay this file into its `benches/`, with the `[[bench]]` of Cargo.toml. A
//! copy that is refused counts with its error code.

use tensor_layout::relayout::{Padding, Relayout, Settings, Stores};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};

/// Random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
    }

    fn order(&mut self, rank: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..rank).collect();
        for last in (1..rank).rev() {
            order.swap(last, usize::try_from(self.below(last as u64 + 1)).unwrap());
        }
        order
    }
}

const TYPES: [(&str, DataType); 5] = [
    ("u8", DataType::U8),
    ("f16", DataType::F16),
    ("f32", DataType::F32),
    ("f64", DataType::F64),
    ("s4", DataType::S4),
];

fn main() {
    let arguments: Vec<u64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    // `cargo test --benches` runs this file as well, and there is nothing to test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (seed, pairs) = (arguments.first().copied().unwrap_or(1), arguments.get(1).copied().unwrap_or(100_000));
    let (mut random, mut hash, mut refused) = (Random(seed | 1 << 40), Hash(0xcbf2_9ce4_8422_2325), 0);
    let every = settings();
    for _ in 0..pairs {
        let sizes = sizes(&mut random);
        let data_type = random.below(5);
        let [from, to] = [(); 2].map(|()| layout(&mut random, data_type, &sizes));
        let backwards = usize::try_from(random.below(sizes.len() as u64)).unwrap();
        for settings in &every {
            let reversed = if settings.reversed.is_empty() { Vec::new() } else { vec![backwards] };
            let settings = Settings { reversed, ..settings.clone() };
            match copied(&from, &to, &settings) {
                Ok(bytes) => hash.add(&bytes),
                Err(error) => {
                    refused += 1;
                    hash.add(error.code().as_bytes());
                }
            }
        }
    }
    println!("{pairs} pairs from seed {seed}, {refused} copies refused: {:016x}", hash.0);
}

/// Five settings: the default, safe Rust, streaming stores with zeros in the padding, registers of 32 bytes
/// with a pattern in the padding, and an axis that runs backwards. A level that this CPU lacks becomes a
/// lower one.
fn settings() -> [Settings; 5] {
    let plain = Settings::default();
    [
        plain.clone(),
        Settings { kernels: "portable".parse().ok(), ..plain.clone() },
        Settings { stores: Stores::Streaming, padding: Padding::Zero, ..plain.clone() },
        Settings { kernels: "avx2".parse().ok(), padding: Padding::Fill(5), ..plain.clone() },
        Settings { reversed: vec![0], ..plain },
    ]
}

fn sizes(random: &mut Random) -> Vec<u64> {
    let rank = 1 + random.below(4);
    let mut left = 6000;
    let mut size = |random: &mut Random| {
        let most: u64 = [4, 9, 40, 300][usize::try_from(random.below(4)).unwrap()];
        let size = 1 + random.below(most.min(left));
        left = (left / size).max(1);
        size
    };
    (0..rank).map(|_| size(random)).collect()
}

/// A random layout: axes in any order, with gaps between them or with tiles.
fn layout(random: &mut Random, data_type: u64, sizes: &[u64]) -> IndexMap {
    let (name, value) = TYPES[usize::try_from(data_type).unwrap()];
    let (order, tiled) = (random.order(sizes.len()), random.below(2) == 0 || name == "s4");
    if !tiled {
        let mut strides = vec![0; sizes.len()];
        let mut stride = 1;
        for &axis in &order {
            strides[axis] = stride;
            stride *= sizes[axis];
            stride += [0, 0, 1, 16][usize::try_from(random.below(4)).unwrap()];
        }
        return BufferTensorDesc::new(value, sizes, Some(&strides)).unwrap().to_index_map().unwrap();
    }
    let tile = ["", ":T(8,128)", ":T(8,4)(2,1)", ":T(16)"][usize::try_from(random.below(4)).unwrap()];
    let tile = match (name, tile) {
        ("s4", "") => ":E(4)".to_owned(),
        ("s4", tile) => format!("{tile}E(4)"),
        (_, tile) => tile.to_owned(),
    };
    let (sizes, order): (Vec<_>, Vec<_>) =
        (sizes.iter().map(u64::to_string).collect(), order.iter().map(usize::to_string).collect());
    let text = format!("{name}[{}]{{{}{tile}}}", sizes.join(","), order.join(","));
    text.parse::<ArrayShape>().unwrap().to_index_map().unwrap()
}

fn copied(from: &IndexMap, to: &IndexMap, settings: &Settings) -> Result<Vec<u8>, Error> {
    let copy = Relayout::with_settings(from, to, settings)?;
    let length = |bytes: u64| usize::try_from(bytes).unwrap();
    let source: Vec<u8> = (0..length(copy.source_size_in_bytes())).map(|i| (i * 31 + (i >> 8)) as u8).collect();
    let mut destination = vec![0xa5; length(copy.destination_size_in_bytes())];
    copy.run(&source, &mut destination)?;
    // The bytes by which an allocation is rounded up, and the rest of a last byte, are no elements' places.
    destination.truncate(length(to.physical_elements() * u64::from(to.element_bits()) / 8));
    Ok(destination)
}

/// FNV-1a, eight bytes at a time.
struct Hash(u64);

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 = (self.0 ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
        self.0 ^= bytes.len() as u64;
    }
}
