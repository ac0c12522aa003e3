//! The cost of one small copy: `relayout::copy`, `copy_strided` and a kept plan, beside a plain loop nest
//! over the axes.
//!
//! ```text
//! cargo bench --bench copy_once -- [--csv]
//! ```
//!
//! There are forty shapes from 8 bytes to 64 KiB. All figures are nanoseconds of the fastest batch. `loop`
//! walks the axes in the order of their indices and copies elements, or rows if rows are packed on both
//! sides. `hit` finds a plan in a `Plans` with sixty.
#![allow(unsafe_code, reason = "counting allocations takes a global allocator")]

use std::hint::black_box;

use tensor_layout::relayout::{Plans, Relayout, Settings, Strided, copy, copy_strided};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};

#[expect(dead_code, reason = "its lines for programs are the other bench's")]
mod measure;

/// Source and destination of each copy: packed data, rows, transposes, heads, slices, tokens, broadcasts.
const SHAPES: &str = "
u8[8]	u8[8]
f32[8]	f32[8]
f32[64]	f32[64]
f32[256]	f32[256]
f32[1024]	f32[1024]
f32[16384]	f32[16384]
f32[2,3]:[1,2]	f32[2,3]
f32[3,2]:[1,3]	f32[3,2]
f32[4,4]:[1,4]	f32[4,4]
f32[8,8]:[1,8]	f32[8,8]
f32[16,16]:[1,16]	f32[16,16]
f32[20,20]:[1,20]	f32[20,20]
f32[24,24]:[1,24]	f32[24,24]
f32[32,32]:[1,32]	f32[32,32]
f32[64,64]:[1,64]	f32[64,64]
f32[128,128]:[1,128]	f32[128,128]
u8[16,16]:[1,16]	u8[16,16]
u8[64,64]:[1,64]	u8[64,64]
u8[256,256]:[1,256]	u8[256,256]
bf16[16,16]:[1,16]	bf16[16,16]
bf16[64,64]:[1,64]	bf16[64,64]
f64[8,8]:[1,8]	f64[8,8]
f64[64,64]:[1,64]	f64[64,64]
f32[3,14,14]:[1,42,3]	f32[3,14,14]
f32[3,56,56]:[1,168,3]	f32[3,56,56]
u8[3,64,64]:[1,192,3]	u8[3,64,64]
f32[7,12,64]:[64,448,1]	f32[7,12,64]
f32[4,2,64]:[64,256,1]	f32[4,2,64]
bf16[16,8,8]:[8,128,1]	bf16[16,8,8]
f32[10,10]:[12,1]	f32[10,10]
f32[30,30]:[32,1]	f32[30,30]
f32[54,54]:[56,1]	f32[54,54]
f32[100,3]:[4,1]	f32[100,3]
f32[1000,3]:[4,1]	f32[1000,3]
u8[300,5]:[7,1]	u8[300,5]
bf16[12,1,64]	bf16[12,1,64]:[2560,64,1]
bf16[1,64]	bf16[1,64]:[64,1]+640
f32[64]:[0]	f32[64]
f32[32,64]:[0,1]	f32[32,64]
f32[2,3,2,3,2,3]:[1,2,6,12,36,72]	f32[2,3,2,3,2,3]
";

fn main() {
    // `cargo test --benches` runs this file as well, and there is nothing to test.
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let csv = arguments.iter().any(|argument| argument == "--csv");
    let separator = if csv { "," } else { "\t" };
    println!("{}", ["source", "destination", "bytes", "loop", "copy", "copy_strided", "run", "hit"].join(separator));
    for line in SHAPES.lines().filter(|line| !line.is_empty()) {
        let (from, to) = line.split_once('\t').expect("two layouts");
        let (from, to) = (desc(from), desc(to));
        let times = times(&from, &to);
        let bytes = from.element_count() * u64::from(from.data_type().bits()) / 8;
        let quoted = |desc: &BufferTensorDesc| if csv { format!("\"{desc}\"") } else { desc.to_string() };
        let times = times.map(|time| format!("{time:.1}"));
        println!("{}", [vec![quoted(&from), quoted(&to), bytes.to_string()], times.to_vec()].concat().join(separator));
    }
}

/// Reads a descriptor. Sizes without strides are packed.
fn desc(text: &str) -> BufferTensorDesc {
    let packed = |shape: ArrayShape| BufferTensorDesc::packed(shape.data_type(), shape.sizes()).unwrap();
    text.parse().unwrap_or_else(|_| packed(text.parse().unwrap()))
}

fn times(from: &BufferTensorDesc, to: &BufferTensorDesc) -> [f64; 5] {
    let length = |desc: &BufferTensorDesc| usize::try_from(desc.min_size_in_bytes()).unwrap();
    let source: Vec<u8> = (0..length(from)).map(|i| (i * 7) as u8).collect();
    let (mut looped, mut copied) = (vec![0; length(to)], vec![0; length(to)]);
    let list = |numbers: &[u64]| -> Vec<usize> { numbers.iter().map(|&number| number as usize).collect() };
    let (sizes, strides, others) = (list(from.sizes()), list(from.strides()), list(to.strides()));
    let (first, second) = (from.base_offset() as usize, to.base_offset() as usize);
    let axes = Loops { sizes: &sizes, strides: &strides, others: &others, first, second };
    let width = from.data_type().bits() / 8;
    let by_loops = |to: &mut [u8]| match width {
        1 => axes.run::<u8>(black_box(&source), to),
        2 => axes.run::<u16>(black_box(&source), to),
        4 => axes.run::<u32>(black_box(&source), to),
        _ => axes.run::<u64>(black_box(&source), to),
    };
    let plan = Relayout::new(from, to).unwrap();
    let (plans, settings) = (Plans::new(64), Settings::default());
    for other in 1..60 {
        let desc = BufferTensorDesc::packed(DataType::F32, &[other, 5, 7]).unwrap();
        plans.get(&desc, &desc, &settings).unwrap();
    }
    let sides = || {
        let side = |strides, offset| Strided { strides, offset };
        (side(black_box(&strides[..]), first), side(black_box(&others[..]), second))
    };
    let (data_type, wanted) = (from.data_type(), &sizes);
    let times = [
        measure::measure(|| by_loops(black_box(&mut looped))),
        measure::measure(|| copy(black_box(from), to, &source, black_box(&mut copied[..])).unwrap()),
        measure::measure(|| {
            let (a, b) = sides();
            copy_strided(data_type, wanted, a, b, &source, black_box(&mut copied[..])).unwrap();
        }),
        measure::measure(|| black_box(&plan).run(&source, black_box(&mut copied)).unwrap()),
        measure::measure(|| plans.get(black_box(from), to, &settings).unwrap().changes_width()),
    ];
    assert!(looped == copied, "{from} to {to}");
    times.map(|cost| cost.nanoseconds)
}

/// The axes of a copy.
struct Loops<'a> {
    sizes: &'a [usize],
    strides: &'a [usize],
    others: &'a [usize],
    first: usize,
    second: usize,
}

impl Loops<'_> {
    fn run<T: bytemuck::Pod>(&self, source: &[u8], destination: &mut [u8]) {
        let (source, destination) = (bytemuck::cast_slice(source), bytemuck::cast_slice_mut(destination));
        self.walk::<T>(0, source, self.first, destination, self.second);
    }

    fn walk<T: Copy>(&self, axis: usize, source: &[T], from: usize, destination: &mut [T], to: usize) {
        let (size, stride, other) = (self.sizes[axis], self.strides[axis], self.others[axis]);
        if axis + 1 < self.sizes.len() {
            for i in 0..size {
                self.walk(axis + 1, source, from + i * stride, destination, to + i * other);
            }
        } else if (stride, other) == (1, 1) {
            destination[to..to + size].copy_from_slice(&source[from..from + size]);
        } else {
            for i in 0..size {
                destination[to + i * other] = source[from + i * stride];
            }
        }
    }
}
