//! A network that reads handwritten digits, run on tensors in every layout and compared with the plain
//! network.
//!
//! The plain network reads the packed tensors of the file and adds in 64 bits. The other one reads every
//! tensor where the index map of its layout says, and adds in 32 bits, so the outputs differ by rounding
//! alone.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout::{IndexMap, ToIndexMap};
use tensor_layout_text::Layout;

const IMAGES: usize = 12;

/// A tensor of f32 in some layout: its memory, and the offset of each element in row-major order.
struct Tensor {
    sizes: Vec<usize>,
    offsets: Vec<usize>,
    memory: Vec<f32>,
}

impl Tensor {
    /// Moves packed elements into a layout whose padding is not 0, so that a read of padding is seen.
    fn new(packed: &[f32], sizes: &[usize], layout: &str) -> Tensor {
        let text = |suffix: &str| {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            format!("f32[{}]{suffix}", sizes.join(","))
        };
        let (from, to): (Layout, Layout) = (text("").parse().unwrap(), text(layout).parse().unwrap());
        let plan = Relayout::new(&from, &to).unwrap().with_padding(Padding::Fill(f32::NAN.to_bits().into())).unwrap();
        let mut memory = vec![f32::NAN; usize::try_from(plan.destination_size_in_bytes()).unwrap() / 4];
        plan.run(bytemuck::cast_slice(packed), bytemuck::cast_slice_mut::<f32, u8>(&mut memory)).unwrap();
        let map = to.to_index_map().unwrap();
        Tensor { sizes: sizes.to_vec(), offsets: offsets(&map, sizes), memory }
    }

    fn at(&self, index: &[usize]) -> f32 {
        let place = index.iter().zip(&self.sizes).fold(0, |place, (index, size)| place * size + index);
        self.memory[self.offsets[place]]
    }
}

fn offsets(map: &IndexMap, sizes: &[usize]) -> Vec<usize> {
    let count: usize = sizes.iter().product();
    let index = |mut place: usize| -> Vec<u64> {
        let mut index = vec![0; sizes.len()];
        for (entry, size) in index.iter_mut().zip(sizes).rev() {
            *entry = (place % size) as u64;
            place /= size;
        }
        index
    };
    (0..count).map(|place| usize::try_from(map.offset(&index(place)).unwrap()).unwrap()).collect()
}

/// The tensors of the file, packed.
struct File(Vec<u8>, serde_json::Value);

impl File {
    fn read() -> File {
        let bytes = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/digits.safetensors")).unwrap();
        let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
        let header = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        File(bytes[8 + length..].to_vec(), header)
    }

    fn bytes(&self, name: &str) -> &[u8] {
        let end = |at: usize| usize::try_from(self.1[name]["data_offsets"][at].as_u64().unwrap()).unwrap();
        &self.0[end(0)..end(1)]
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        self.bytes(name).chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    fn images(&self) -> Vec<f32> {
        self.bytes("test.images")[..IMAGES * 64].iter().map(|&pixel| f32::from(pixel) / 16.0).collect()
    }
}

/// A convolution of 3 x 3 with its bias, the larger of the result and 0, and the largest of each 2 x 2.
macro_rules! convolution {
    ($name:ident, $float:ty) => {
        fn $name(
            input: &dyn Fn(&[usize]) -> $float,
            weight: &dyn Fn(&[usize]) -> $float,
            bias: &dyn Fn(&[usize]) -> $float,
            (from, to, side): (usize, usize, usize),
        ) -> Vec<$float> {
            let sum = |image: usize, o: usize, y: usize, x: usize| -> $float {
                let mut sum = bias(&[o]);
                for (c, ky, kx) in (0..from * 9).map(|tap| (tap / 9, tap / 3 % 3, tap % 3)) {
                    let (y, x) = (y + ky, x + kx);
                    if (1..=side).contains(&y) && (1..=side).contains(&x) {
                        sum += input(&[image, c, y - 1, x - 1]) * weight(&[o, c, ky, kx]);
                    }
                }
                sum.max(0.0)
            };
            let half = side / 2;
            let mut output = Vec::new();
            for place in 0..IMAGES * to * half * half {
                let (image, o) = (place / half / half / to, place / half / half % to);
                let (y, x) = (place / half % half * 2, place % half * 2);
                let four = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(dy, dx)| sum(image, o, y + dy, x + dx));
                output.push(four.into_iter().fold(0.0, <$float>::max));
            }
            output
        }
    };
}

convolution!(plain_convolution, f64);
convolution!(convolution, f32);

/// The outputs of the network: ten for each image.
fn plain(file: &File) -> Vec<f64> {
    let reader = |packed: Vec<f32>, sizes: Vec<usize>| {
        move |index: &[usize]| f64::from(packed[index.iter().zip(&sizes).fold(0, |at, (i, size)| at * size + i)])
    };
    let weight = |name: &str, sizes: &[usize]| reader(file.floats(name), sizes.to_vec());
    let images = reader(file.images(), vec![IMAGES, 1, 8, 8]);
    let first =
        plain_convolution(&images, &weight("conv1.weight", &[16, 1, 3, 3]), &weight("conv1.bias", &[16]), (1, 16, 8));
    let between = move |index: &[usize]| first[((index[0] * 16 + index[1]) * 4 + index[2]) * 4 + index[3]];
    let second = plain_convolution(
        &between,
        &weight("conv2.weight", &[32, 16, 3, 3]),
        &weight("conv2.bias", &[32]),
        (16, 32, 4),
    );
    let (dense, bias) = (weight("dense.weight", &[10, 128]), file.floats("dense.bias"));
    let sum = |image: usize, digit: usize| -> f64 {
        f64::from(bias[digit]) + (0..128).map(|k| second[image * 128 + k] * dense(&[digit, k])).sum::<f64>()
    };
    (0..IMAGES * 10).map(|place| sum(place / 10, place % 10)).collect()
}

fn in_layouts(file: &File, images: &str, features: &str, weights: &str, rows: &str) -> Vec<f32> {
    let weight = |name: &str, sizes: &[usize], layout: &str| Tensor::new(&file.floats(name), sizes, layout);
    let image = Tensor::new(&file.images(), &[IMAGES, 1, 8, 8], images);
    let (conv1, bias1) = (weight("conv1.weight", &[16, 1, 3, 3], weights), weight("conv1.bias", &[16], ""));
    let first = convolution(&|index| image.at(index), &|index| conv1.at(index), &|index| bias1.at(index), (1, 16, 8));
    let first = Tensor::new(&first, &[IMAGES, 16, 4, 4], features);
    let (conv2, bias2) = (weight("conv2.weight", &[32, 16, 3, 3], weights), weight("conv2.bias", &[32], ""));
    let second = convolution(&|index| first.at(index), &|index| conv2.at(index), &|index| bias2.at(index), (16, 32, 4));
    let second = Tensor::new(&second, &[IMAGES, 32, 2, 2], features);
    let dense = weight("dense.weight", &[10, 128], rows);
    let bias = weight("dense.bias", &[10], "");
    let sum = |image: usize, digit: usize| {
        let product = |k: usize| second.at(&[image, k / 4, k / 2 % 2, k % 2]) * dense.at(&[digit, k]);
        (0..128).fold(bias.at(&[digit]), |sum, k| sum + product(k))
    };
    (0..IMAGES * 10).map(|place| sum(place / 10, place % 10)).collect()
}

#[test]
fn a_network_has_the_same_outputs_in_every_layout() {
    let file = File::read();
    let plain = plain(&file);
    let labels = &file.bytes("test.labels")[..IMAGES];
    for [images, features, weights, rows] in [
        ["", "", "", ""],
        [":NHWC", ":NHWC", ":HWIO", ":[1,10]"],
        [":CHWN", ":NWHC", ":OHWI", ":[131,1]"],
        ["{3,2,1,0:T(8,128)}", "{3,2,1,0:T(8,128)}", "{0,1,3,2:T(8,128)}", "{1,0:T(8,128)}"],
        ["{3,2,1,0:T(2,4)(2,1)}", "{1,3,2,0:T(8,128)(2,1)}", "{1,0,3,2:T(4,128)}", "{0,1:T(5,3)}"],
        [":nChw8c", ":nChw8c", ":OIhw8i8o", ":BA16a64b4a"],
        [":nChw16c", ":nChw16c", ":OIhw4i16o4i", ":AB16b16a"],
        ["{3,2,1,0:T(*,5)}", "{2,3,1,0:T(*,3)}", "{3,2,1,0:T(*,*,2)}", "{1,0:T(7)}"],
    ] {
        let outputs = in_layouts(&file, images, features, weights, rows);
        let widened: Vec<f64> = outputs.iter().map(|&output| output.into()).collect();
        assert_abs_diff_eq!(widened[..], plain[..], epsilon = 2e-4);
        for (output, plain) in widened.chunks(10).zip(plain.chunks(10)) {
            let largest = |row: &[f64]| row.iter().copied().fold(f64::MIN, f64::max);
            assert_relative_eq!(largest(output), largest(plain), max_relative = 1e-5);
        }
        let right = outputs.chunks(10).zip(labels).filter(|(row, label)| {
            let best = (0..10).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
            best == usize::from(**label)
        });
        assert!(right.count() >= IMAGES - 1, "{features}");
    }
}
