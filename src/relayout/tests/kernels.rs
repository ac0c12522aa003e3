//! Tests of the choice of kernels, and of explanations: the kernels that run are the kernels that are named.

#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a test may panic")]

use crate::notation::Notated;

use super::super::cpu_family::CpuFamily;
use super::super::level::KernelLevel;
use super::super::relayout::Relayout;

/// The kernels that an explanation names, in order and without repetitions.
fn explained(plan: &Relayout) -> Vec<String> {
    let words = plan.explain();
    let names = words.lines().filter_map(|line| line.trim_start().strip_prefix("kernel: "));
    let mut names: Vec<String> = names.map(|name| name.split([';', ',']).next().unwrap().to_owned()).collect();
    names.dedup();
    names
}

/// The conversions are made by engines. The level and the family are given, so the kernels are those on any
/// machine. Only names are compared, because the sizes of panels are tuned by measurement.
#[cfg(feature = "software")]
#[test]
fn each_conversion_has_its_kernel() {
    let chosen = |from: &str, to: &str, reversed: &[usize]| {
        let (from, to): (Notated, Notated) = (from.parse().unwrap(), to.parse().unwrap());
        let plan = Relayout::reversing(&from, &to, reversed).unwrap();
        let plan = plan.with_cpu_family(CpuFamily::Zen4).with_kernel_level(KernelLevel::Software32);
        explained(&plan).join(" + ")
    };
    let mut expected = Vec::new();
    for (from, to, kernel) in [
        ("f32[4096,4096]{1,0}", "f32[4096,4096]{0,1}", "register blocks in panels"),
        ("f32[200,300]{1,0}", "f32[200,300]{0,1}", "register blocks in one panel"),
        ("u8[16,3,1080,1920]:NCHW", "u8[16,3,1080,1920]:NHWC", "interleave in registers"),
        ("f16[16,3,1080,1920]:NHWC", "f16[16,3,1080,1920]:NCHW", "deinterleave in registers"),
        ("u8[16,5,1080,1920]:NCHW", "u8[16,5,1080,1920]:NHWC", "unit by unit"),
        ("bf16[64,512]{1,0}", "bf16[64,512]{1,0:T(8,128)(2,1)}", "interleave in registers"),
        ("f32[4,8,16]:[128,16,1]", "f32[4,8,16]:[128,1,8]", "register blocks in one panel"),
        ("f32[60,7]{1,0}", "f32[60,7]{0,1}", "register blocks in one panel"),
        ("f32[5,7]{1,0}", "f32[5,7]{0,1}", "unit by unit"),
        ("f64[20,4,30]:[120,30,1]", "f64[20,4,30]:[30,600,1]", "runs in two halves"),
        ("u8[4096]", "u8[4096]", "runs by memcpy"),
        ("f32[100]:[5]", "f32[100]:[7]", "runs of a word each"),
        ("f32[100]:[0]", "f32[100]", "one run repeated"),
        ("f32[32,512,512]{2,1,0}", "f32[32,512,512]{2,1,0:T(8,128)}", "runs line by line"),
        ("u8[80,2,6]:[12,6,1]", "u8[80,2,6]:[6,480,1]", "byte shuffle"),
        ("f32[3000,2,7]", "f32[3000,2,7]{1,2,0}", "blocks permuted in registers"),
        ("u8[3000,4,4]", "u8[3000,4,4]{1,2,0}", "blocks permuted in registers"),
        ("s4[64,512]{1,0:E(4)}", "s4[64,512]{1,0:T(64,128)(8,1)E(4)}", "interleave bits in registers"),
        ("s4[512]{0:E(4)}", "s4[512]{0}", "change of width in registers"),
        ("s4[64,512]{1,0}", "s4[64,512]{1,0:T(64,128)(8,1)E(4)}", "change of words in registers"),
        (
            "u4[64,65]{1,0:E(4)}",
            "u4[64,65]{0,1:E(4)}",
            "interleave bits in registers + register blocks in one panel + runs by memcpy",
        ),
    ] {
        expected.push((format!("{from} to {to}"), chosen(from, to, &[]), kernel));
    }
    for (layout, kernel) in [("u8[40,3]", "reverse inside registers"), ("f32[4,100]", "reverse inside registers")] {
        expected.push((format!("{layout} reversed"), chosen(layout, layout, &[1]), kernel));
    }
    let wrong: Vec<_> = expected.iter().filter(|(_, found, kernel)| found != kernel).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Large copies use non-temporal stores and small copies do not. Long rows use them from a larger size on
/// than scattered elements.
#[test]
fn what_is_streamed_depends_on_what_is_moved() {
    let streams = |from: &str, to: &str| {
        let (from, to): (Notated, Notated) = (from.parse().unwrap(), to.parse().unwrap());
        Relayout::new(&from, &to).unwrap().explain().contains("stores: non-temporal")
    };
    let turned = |rows: u64| streams(&format!("f32[{rows},1024]{{1,0}}"), &format!("f32[{rows},1024]{{0,1}}"));
    let padded = |rows: u64| streams(&format!("f32[{rows},1024]"), &format!("f32[{rows},1024]:[1040,1]"));
    assert!(turned(1024) && !turned(1023));
    assert!(padded(2048) && !padded(2047));
}

#[cfg(feature = "software")]
mod observed {
    use std::collections::BTreeSet;

    use strided_copy::observed;

    use super::*;

    /// The random number generator SplitMix64.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = self.0;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            usize::try_from((bits ^ (bits >> 31)) % u64::try_from(most).unwrap()).unwrap()
        }

        fn pick<T: Copy>(&mut self, items: &[T]) -> T {
            items[self.below(items.len())]
        }
    }

    /// Returns a random layout of these sizes: strides that leave gaps, or tiles.
    fn layout(random: &mut Random, data_type: &str, sizes: &[usize], packed: &str) -> String {
        let text = |numbers: &[usize]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        for last in (1..sizes.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
        if random.below(2) == 0 && packed.is_empty() {
            let (mut strides, mut next) = (vec![0; sizes.len()], 1);
            for &axis in &order {
                strides[axis] = next;
                next = next * sizes[axis] + random.pick(&[0, 0, 0, 1, 16, 64]);
                if random.below(8) == 0 {
                    next = next.next_multiple_of(1024);
                }
            }
            return format!("{data_type}[{}]:[{}]", text(sizes), text(&strides));
        }
        let tiles = random.pick(&["", "", "", "T(8,128)", "T(2,2)", "T(4)", "T(8,128)(2,1)", "T(3,16)", "T(4)(3)"]);
        let suffix = if tiles.is_empty() && packed.is_empty() { "" } else { ":" };
        format!("{data_type}[{}]{{{}{suffix}{tiles}{packed}}}", text(sizes), text(&order))
    }

    /// Returns memory, and the offset in it at which a cache line begins.
    fn aligned(length: usize) -> (Vec<u8>, usize) {
        let memory = vec![0; length + 64];
        let start = memory.as_ptr().align_offset(64);
        (memory, start)
    }

    /// Random pairs of every class are copied at every level and for every family. The kernels that ran are
    /// the kernels that the explanation names.
    #[test]
    fn what_is_explained_is_what_runs() {
        let (mut pairs, mut seen) = (0, BTreeSet::new());
        let levels: Vec<_> = KernelLevel::ALL.iter().chain(KernelLevel::SOFTWARE).copied().collect();
        let levels = &levels[1..];
        for case in 0_u64.. {
            if pairs == 2000 {
                break;
            }
            let random = &mut Random(case << 20);
            let data_type = random.pick(&["u8", "f16", "f32", "f32", "f64", "c128", "s4", "u4", "u2"]);
            let rank = 1 + random.below(4);
            let mut sizes: Vec<usize> = (0..rank)
                .map(|_| match random.below(4) {
                    0 => random.pick(&[1, 2, 3, 4, 8, 16]),
                    1 => random.pick(&[31, 33, 64, 65, 128]),
                    2 => 1 + random.below(300),
                    _ => 1 + random.below(24),
                })
                .collect();
            while sizes.iter().product::<usize>() > 60_000 {
                let largest = (0..rank).max_by_key(|&axis| sizes[axis]).unwrap();
                sizes[largest] = sizes[largest] / 3 + 1;
            }
            let packed = |random: &mut Random| match data_type {
                "s4" | "u4" if random.below(3) > 0 => "E(4)",
                "u2" if random.below(3) > 0 => "E(2)",
                _ => "",
            };
            let sides: Vec<Notated> = (0..2)
                .filter_map(|_| {
                    let packed = packed(random);
                    layout(random, data_type, &sizes, packed).parse().ok()
                })
                .collect();
            let [from, to] = &sides[..] else { continue };
            let reversed: Vec<usize> = (0..rank).filter(|_| random.below(6) == 0).collect();
            let Ok(plan) = Relayout::reversing(from, to, &reversed) else { continue };
            pairs += 1;
            let level = random.pick(levels);
            let family = random.pick(&CpuFamily::ALL);
            let own = plan.clone().with_cpu_family(family);
            let own = match random.below(4) {
                0 => own.with_streaming(true),
                1 => own.with_streaming(false),
                _ => own,
            };
            let own = if random.below(5) == 0 { plan } else { own.with_kernel_level(level) };
            let size = |bytes: u64| usize::try_from(bytes).unwrap();
            let source = vec![7; size(own.source_size_in_bytes())];
            let (mut memory, start) = aligned(size(own.destination_size_in_bytes()));
            let _ = observed::take_ran();
            own.run(&source, &mut memory[start..]).unwrap();
            let ran: BTreeSet<String> = observed::take_ran().into_iter().map(str::to_owned).collect();
            let said: BTreeSet<String> = explained(&own).into_iter().collect();
            let words = own.explain();
            // Rows of bits that begin at whole bytes are copied as bytes. If there are many boxes, the
            // explanation names the kernels of the first boxes only.
            let some = words.contains("begin") || words.contains("... and ");
            let safe = said.contains("loops in safe Rust");
            let is_so = if some {
                ran.is_superset(&said) || said.is_superset(&ran) || words.contains("... and ")
            } else {
                ran == said
            };
            assert!(safe || is_so, "{} to {}, reversed {reversed:?}: ran {ran:?}\n{words}", &from, &to);
            seen.extend(ran);
        }
        // Every kernel ran, except kernels for more elements than these copies have, or for the rules of one
        // machine.
        assert!(seen.len() >= 19, "{seen:?}");
    }
}
