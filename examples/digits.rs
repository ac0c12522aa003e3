//! A small convolutional network reads handwritten digits three times: with its buffers in NCHW, in NHWC, and
//! in blocks of eight channels. Each run computes on its own layout from the first image to the last sum, so
//! all three are right only if every element of every weight and image was moved to the right place.
//!
//! `cargo run --release --example digits`

use std::error::Error;

use ndarray::{Array, Array2, Array4, Array5, Dimension, Slice, Zip, s};
use safetensors::SafeTensors;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout_text::Layout;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/digits.safetensors");

/// The images and weights as the file holds them: packed, N, C, H, W and O, I, H, W.
struct Model {
    images: Vec<f32>,
    labels: Vec<u8>,
    conv1: (Vec<f32>, Vec<f32>),
    conv2: (Vec<f32>, Vec<f32>),
    dense: (Vec<f32>, Vec<f32>),
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::fs::read(MODEL)?;
    let model = Model::new(&SafeTensors::deserialize(&file)?)?;
    println!("{} handwritten digits of 8 x 8 pixels\n", model.labels.len());
    let runs = [
        ("NCHW", "f32[360,16,8,8]:NCHW", nchw(&model)?),
        ("NHWC", "f32[360,16,8,8]:NHWC", nhwc(&model)?),
        ("nChw8c", "f32[360,16,8,8]{3,2,1,0:T(8,1,1)}", blocked(&model)?),
    ];
    let mut hits = Vec::new();
    for (name, layout, logits) in &runs {
        let correct = logits.rows().into_iter().zip(&model.labels);
        let correct = correct.filter(|(row, label)| largest(row.iter()) == usize::from(**label)).count();
        let percent = 100.0 * correct as f64 / model.labels.len() as f64;
        println!("{name:<7} {correct} of {} right, {percent:.2}%   first features: {layout}", model.labels.len());
        hits.push(correct);
    }
    assert!(hits.iter().all(|correct| *correct == hits[0]), "the layouts disagree");
    let furthest = runs[1..].iter().flat_map(|(_, _, logits)| (logits - &runs[0].2).into_iter()).map(f32::abs);
    println!(
        "\nlargest difference between any two outputs: {:.1e} (sums in another order)",
        furthest.fold(0.0, f32::max)
    );
    Ok(())
}

impl Model {
    fn new(file: &SafeTensors<'_>) -> Result<Model, Box<dyn Error>> {
        let floats = |name: &str| -> Result<Vec<f32>, Box<dyn Error>> {
            let (words, _) = file.tensor(name)?.data().as_chunks::<4>();
            Ok(words.iter().map(|word| f32::from_le_bytes(*word)).collect())
        };
        let layer = |name: &str| -> Result<_, Box<dyn Error>> {
            Ok((floats(&format!("{name}.weight"))?, floats(&format!("{name}.bias"))?))
        };
        let images = file.tensor("test.images")?.data().iter().map(|&pixel| f32::from(pixel) / 16.0).collect();
        let labels = file.tensor("test.labels")?.data().to_vec();
        Ok(Model { images, labels, conv1: layer("conv1")?, conv2: layer("conv2")?, dense: layer("dense")? })
    }
}

/// The elements in another layout; padding is zero.
fn moved(data: &[f32], from: &str, to: &str) -> Result<Vec<f32>, Box<dyn Error>> {
    let (from, to): (Layout, Layout) = (from.parse()?, to.parse()?);
    let plan = Relayout::new(&from, &to)?.with_padding(Padding::Zero)?;
    let mut moved = vec![0.0; usize::try_from(plan.destination_size_in_bytes())? / size_of::<f32>()];
    plan.run(bytemuck::cast_slice(data), bytemuck::cast_slice_mut(&mut moved))?;
    Ok(moved)
}

/// Planes of one channel each: a tap of the kernel is one number times a shifted plane.
fn nchw(model: &Model) -> Result<Array2<f32>, Box<dyn Error>> {
    let conv = |input: Array4<f32>, (weights, bias): &(Vec<f32>, Vec<f32>)| -> Result<_, Box<dyn Error>> {
        let (images, channels, height, width) = input.dim();
        let weights = Array4::from_shape_vec((bias.len(), channels, 3, 3), weights.clone())?;
        let mut output = Array4::zeros((images, bias.len(), height, width));
        for ((o, c, ky, kx), &weight) in weights.indexed_iter() {
            let ((to_y, from_y), (to_x, from_x)) = (overlap(ky, height), overlap(kx, width));
            output.slice_mut(s![.., o, to_y, to_x]).scaled_add(weight, &input.slice(s![.., c, from_y, from_x]));
        }
        for (o, &bias) in bias.iter().enumerate() {
            output.slice_mut(s![.., o, .., ..]).mapv_inplace(|sum: f32| (sum + bias).max(0.0));
        }
        Ok(max_pool(&output, 2))
    };
    let images = Array4::from_shape_vec((360, 1, 8, 8), model.images.clone())?;
    let features = conv(conv(images, &model.conv1)?, &model.conv2)?;
    dense(features, model.dense.0.clone(), &model.dense.1)
}

/// Pixels with their channels side by side: a tap is a vector times a matrix.
fn nhwc(model: &Model) -> Result<Array2<f32>, Box<dyn Error>> {
    let conv = |input: Array4<f32>, weights: Vec<f32>, bias: &Vec<f32>| -> Result<_, Box<dyn Error>> {
        let (images, height, width, channels) = input.dim();
        let weights = Array4::from_shape_vec((3, 3, channels, bias.len()), weights)?;
        let mut output = Array4::zeros((images, height, width, bias.len()));
        for (ky, kx) in (0..9).map(|tap| (tap / 3, tap % 3)) {
            let ((to_y, from_y), (to_x, from_x)) = (overlap(ky, height), overlap(kx, width));
            let matrix = weights.slice(s![ky, kx, .., ..]);
            let mut pixels = output.slice_mut(s![.., to_y, to_x, ..]);
            for (mut sums, pixel) in pixels
                .lanes_mut(ndarray::Axis(3))
                .into_iter()
                .zip(input.slice(s![.., from_y, from_x, ..]).lanes(ndarray::Axis(3)))
            {
                sums += &pixel.dot(&matrix);
            }
        }
        output += &ndarray::ArrayView1::from(bias);
        output.mapv_inplace(|sum: f32| sum.max(0.0));
        Ok(max_pool(&output, 1))
    };
    let images = moved(&model.images, "f32[360,1,8,8]:NCHW", "f32[360,1,8,8]:NHWC")?;
    let weights1 = moved(&model.conv1.0, "f32[16,1,3,3]:OIHW", "f32[16,1,3,3]:HWIO")?;
    let weights2 = moved(&model.conv2.0, "f32[32,16,3,3]:OIHW", "f32[32,16,3,3]:HWIO")?;
    let images = Array4::from_shape_vec((360, 8, 8, 1), images)?;
    let features = conv(conv(images, weights1, &model.conv1.1)?, weights2, &model.conv2.1)?;
    // The features are stored in another order, so the dense layer's weights are converted too.
    let weights = moved(&model.dense.0, "f32[10,32,2,2]:NCHW", "f32[10,32,2,2]:NHWC")?;
    dense(features, weights, &model.dense.1)
}

/// Blocks of eight channels: a tap is eight numbers times an 8 x 8 matrix. The one channel of the images is
/// padded with seven of zeros.
fn blocked(model: &Model) -> Result<Array2<f32>, Box<dyn Error>> {
    let conv = |input: Array5<f32>, weights: Vec<f32>, bias: &Vec<f32>| -> Result<_, Box<dyn Error>> {
        let (images, blocks, height, width, _) = input.dim();
        let weights = Array::from_shape_vec((bias.len() / 8, blocks, 3, 3, 8, 8), weights)?;
        let bias = Array2::from_shape_vec((bias.len() / 8, 8), bias.clone())?;
        let mut output = Array5::zeros((images, bias.nrows(), height, width, 8));
        for (place, mut sums) in output.lanes_mut(ndarray::Axis(4)).into_iter().enumerate() {
            let (place, x) = (place / width, place % width);
            let (place, y) = (place / height, place % height);
            let (image, o) = (place / bias.nrows(), place % bias.nrows());
            sums.assign(&bias.row(o));
            for (block, ky, kx) in (0..blocks * 9).map(|tap| (tap / 9, tap / 3 % 3, tap % 3)) {
                let (y, x) = ((y + ky).wrapping_sub(1), (x + kx).wrapping_sub(1));
                if y < height && x < width {
                    let matrix = weights.slice(s![o, block, ky, kx, .., ..]);
                    for (&value, row) in input.slice(s![image, block, y, x, ..]).iter().zip(matrix.rows()) {
                        sums.scaled_add(value, &row);
                    }
                }
            }
            sums.mapv_inplace(|sum: f32| sum.max(0.0));
        }
        Ok(max_pool(&output, 2))
    };
    let images = moved(&model.images, "f32[360,1,8,8]", "f32[360,1,8,8]{3,2,1,0:T(8,1,1)}")?;
    let weights1 = moved(&model.conv1.0, "f32[16,1,3,3]", "f32[16,1,3,3]:OIhw8i8o")?;
    let weights2 = moved(&model.conv2.0, "f32[32,16,3,3]", "f32[32,16,3,3]:OIhw8i8o")?;
    let images = Array5::from_shape_vec((360, 1, 8, 8, 8), images)?;
    let features = conv(conv(images, weights1, &model.conv1.1)?, weights2, &model.conv2.1)?;
    let weights = moved(&model.dense.0, "f32[10,32,2,2]", "f32[10,32,2,2]{3,2,1,0:T(8,1,1)}")?;
    dense(features, weights, &model.dense.1)
}

/// Where a tap of a 3-wide kernel with a margin of 1 writes to and reads from.
fn overlap(tap: usize, size: usize) -> (Slice, Slice) {
    match tap {
        0 => (Slice::from(1..), Slice::from(..size - 1)),
        1 => (Slice::from(..), Slice::from(..)),
        _ => (Slice::from(..size - 1), Slice::from(1..)),
    }
}

/// The largest of every 2 x 2 pixels; the rows are axis `rows`, the columns the next one.
fn max_pool<D: Dimension>(input: &Array<f32, D>, rows: usize) -> Array<f32, D> {
    let part = |y: isize, x: isize| {
        input.slice_each_axis(|axis| match axis.axis.index() {
            axis if axis == rows => Slice::new(y, None, 2),
            axis if axis == rows + 1 => Slice::new(x, None, 2),
            _ => Slice::from(..),
        })
    };
    let largest = |a: &f32, b: &f32, c: &f32, d: &f32| a.max(*b).max(c.max(*d));
    Zip::from(part(0, 0)).and(part(0, 1)).and(part(1, 0)).and(part(1, 1)).map_collect(largest)
}

/// Features times weights, both flattened in the order of memory.
fn dense<D: Dimension>(
    features: Array<f32, D>,
    weights: Vec<f32>,
    bias: &[f32],
) -> Result<Array2<f32>, Box<dyn Error>> {
    let flat = features.len() / 360;
    // `max_pool` may have chosen an order of its own.
    let features = features.as_standard_layout().into_owned().into_shape_with_order((360, flat))?;
    let weights = Array2::from_shape_vec((bias.len(), flat), weights)?;
    Ok(features.dot(&weights.t()) + ndarray::ArrayView1::from(bias))
}

fn largest<'a>(values: impl Iterator<Item = &'a f32>) -> usize {
    values.enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(place, _)| place)
}
