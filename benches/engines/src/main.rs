//! Times copies and models of two engines, unchanged and with their strided copies replaced.
//!
//! Prints `case<TAB>theirs<TAB>ours`: the time of the fastest round, in seconds. Rounds of both alternate,
//! and allocation is a part of each round.

use std::hint::black_box;
use std::time::Instant;

/// Defines the work of one engine, under the engine's name in this program.
macro_rules! candle_work {
    ($module:ident, $candle:ident) => {
        mod $module {
            use $candle::{D, DType, Device, Result, Tensor};

            use crate::Work;

            fn tensor(sizes: &[usize], data_type: DType) -> Result<Tensor> {
                let count: usize = sizes.iter().product();
                let numbers: Vec<f32> = (0..count).map(|i| (i % 251) as f32 * 0.01 - 1.0).collect();
                Tensor::from_vec(numbers, sizes, &Device::Cpu)?.to_dtype(data_type)
            }

            /// Normalises groups of channels to mean 0 and variance 1, followed by a gate.
            fn normalised(x: &Tensor) -> Result<Tensor> {
                let (n, c, h, w) = x.dims4()?;
                let groups = x.reshape((n, 8, c / 8 * h * w))?;
                let centred = groups.broadcast_sub(&groups.mean_keepdim(2)?)?;
                let scale = (centred.sqr()?.mean_keepdim(2)? + 1e-5)?.sqrt()?;
                centred.broadcast_div(&scale)?.reshape((n, c, h, w))?.silu()
            }

            fn u_net_block(x: &Tensor, skip: &Tensor, kernels: &[Tensor; 2]) -> Result<Tensor> {
                let up = x.upsample_nearest2d(56, 56)?;
                let both = Tensor::cat(&[&up, skip], 1)?;
                let first = normalised(&both.conv2d(&kernels[0], 1, 1, 1, 1)?)?;
                normalised(&first.conv2d(&kernels[1], 1, 1, 1, 1)?)
            }

            fn vit_block(x: &Tensor, weights: &[Tensor; 4]) -> Result<Tensor> {
                let (n, tokens, width) = x.dims3()?;
                let heads = |x: &Tensor| x.reshape((n, tokens, 12, width / 12))?.transpose(1, 2)?.contiguous();
                let qkv = x.broadcast_matmul(&weights[0])?;
                let part = |i: usize| heads(&qkv.narrow(D::Minus1, i * width, width)?.contiguous()?);
                let scores = (part(0)?.matmul(&part(1)?.t()?.contiguous()?)? * 0.125)?;
                let scores = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?)?.exp()?;
                let scores = scores.broadcast_div(&scores.sum_keepdim(D::Minus1)?)?;
                let mixed = scores.matmul(&part(2)?)?.transpose(1, 2)?.contiguous()?.reshape((n, tokens, width))?;
                let x = (x + mixed.broadcast_matmul(&weights[1])?)?;
                let hidden = x.broadcast_matmul(&weights[2])?.gelu()?;
                &x + hidden.broadcast_matmul(&weights[3])?
            }

            pub(crate) fn work() -> Result<Vec<(String, Work)>> {
                let mut work: Vec<(String, Work)> = Vec::new();
                let mut timed = |name: &str, run: Box<dyn Fn() -> Result<Tensor>>| {
                    let run = std::rc::Rc::new(run);
                    let again = run.clone();
                    let result = move || {
                        let numbers = again().unwrap().to_dtype(DType::F32).unwrap().flatten_all().unwrap();
                        numbers.to_vec1::<f32>().unwrap().into_iter().flat_map(f32::to_ne_bytes).collect()
                    };
                    work.push((
                        name.into(),
                        Work { run: Box::new(move || drop(run().unwrap())), result: Box::new(result) },
                    ));
                };
                for data_type in [DType::F32, DType::BF16, DType::U8] {
                    let name = data_type.as_str();
                    let image = tensor(&[8, 64, 56, 56], data_type)?;
                    timed(
                        &format!("NCHW to NHWC [8,64,56,56] {name}"),
                        Box::new(move || image.permute((0, 2, 3, 1))?.contiguous()),
                    );
                    for size in [16, 256, 4096] {
                        let matrix = tensor(&[size, size], data_type)?;
                        timed(&format!("t() of {size} x {size} {name}"), Box::new(move || matrix.t()?.contiguous()));
                    }
                }
                let small = tensor(&[2, 3], DType::F32)?;
                timed("t() of 2 x 3 f32", Box::new(move || small.t()?.contiguous()));
                let heads = tensor(&[8, 197, 12, 64], DType::F32)?;
                timed("heads [8,197,12,64] f32", Box::new(move || heads.transpose(1, 2)?.contiguous()));
                let image = tensor(&[8, 64, 56, 56], DType::F32)?;
                timed(
                    "[8,64,56,56] narrowed to 54 x 54",
                    Box::new(move || image.narrow(2, 1, 54)?.narrow(3, 1, 54)?.contiguous()),
                );
                let (kept, token) = (tensor(&[1, 1024, 1024], DType::F32)?, tensor(&[1, 1, 1024], DType::F32)?);
                timed("cat of 4 MiB and one token", Box::new(move || Tensor::cat(&[&kept, &token], 1)));
                let (cache, token) = (tensor(&[12, 256, 64], DType::F32)?, tensor(&[12, 1, 64], DType::F32)?);
                timed(
                    "one token set into a cache",
                    Box::new(move || {
                        cache.slice_set(&token, 1, 17)?;
                        Ok(token.clone())
                    }),
                );
                let (x, skip) = (tensor(&[1, 64, 28, 28], DType::F32)?, tensor(&[1, 64, 56, 56], DType::F32)?);
                let kernels = [tensor(&[64, 128, 3, 3], DType::F32)?, tensor(&[64, 64, 3, 3], DType::F32)?];
                timed("U-Net block [1,64,56,56]", Box::new(move || u_net_block(&x, &skip, &kernels)));
                let x = tensor(&[1, 197, 768], DType::F32)?;
                let weight = |a, b| tensor(&[a, b], DType::F32)? * 0.01;
                let weights = [weight(768, 2304)?, weight(768, 768)?, weight(768, 3072)?, weight(3072, 768)?];
                timed("ViT block [1,197,768]", Box::new(move || vit_block(&x, &weights)));
                Ok(work)
            }
        }
    };
}

macro_rules! rten_work {
    ($module:ident, $rten:ident) => {
        mod $module {
            use $rten::Tensor;
            use $rten::prelude::*;

            use crate::Work;

            pub(crate) fn work() -> Vec<(String, Work)> {
                let permuted = |sizes: &'static [usize], order: &'static [usize]| {
                    let count: usize = sizes.iter().product();
                    let tensor =
                        std::rc::Rc::new(Tensor::from_data(sizes, (0..count).map(|i| i as f32).collect::<Vec<_>>()));
                    let again = tensor.clone();
                    let result = move || {
                        again.permuted(order).to_tensor().to_vec().into_iter().flat_map(f32::to_ne_bytes).collect()
                    };
                    let run = move || drop(tensor.permuted(order).to_tensor());
                    let name = format!("rten: {sizes:?} permuted {order:?}");
                    (name, Work { run: Box::new(run), result: Box::new(result) })
                };
                vec![
                    permuted(&[8, 64, 56, 56], &[0, 2, 3, 1]),
                    permuted(&[8, 56, 56, 64], &[0, 3, 1, 2]),
                    permuted(&[8, 197, 12, 64], &[0, 2, 1, 3]),
                    permuted(&[4096, 4096], &[1, 0]),
                    permuted(&[256, 256], &[1, 0]),
                    permuted(&[16, 16], &[1, 0]),
                    permuted(&[2, 3], &[1, 0]),
                ]
            }
        }
    };
}

/// An operation to be timed, and its result as bytes.
struct Work {
    run: Box<dyn Fn()>,
    result: Box<dyn Fn() -> Vec<u8>>,
}

candle_work!(theirs, candle);
candle_work!(ours, candle_ours);
rten_work!(their_rten, rten);
rten_work!(our_rten, rten_ours);

fn main() {
    let theirs = theirs::work().unwrap().into_iter().chain(their_rten::work());
    let ours = ours::work().unwrap().into_iter().chain(our_rten::work());
    for ((name, their), (_, our)) in theirs.zip(ours) {
        assert!((their.result)() == (our.result)(), "{name}: other bytes");
        let batch = |work: &Work, count: u32| {
            let start = Instant::now();
            (0..count).for_each(|_| black_box(&work.run)());
            start.elapsed().as_secs_f64() / f64::from(count)
        };
        // Batches take about two milliseconds. The batches of both alternate.
        let once = batch(&their, 3);
        let count = (2e-3 / once).clamp(1.0, 1e5) as u32;
        let rounds = (0.3 / (once * f64::from(count))).clamp(5.0, 40.0) as u32;
        let (mut first, mut second) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..rounds {
            first = first.min(batch(&their, count));
            second = second.min(batch(&our, count));
        }
        println!("{name}\t{first:e}\t{second:e}");
    }
}
