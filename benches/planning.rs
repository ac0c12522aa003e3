//! The cost of planning: nanoseconds and allocations of `Relayout::new` for every pair of the relayout suite,
//! and for some pairs of rank 8.
//!
//! ```text
//! cargo bench --bench planning -- [--csv] [--only PART_OF_A_NAME]
//! ```
//!
//! The first line is the first plan of the process. `notated` plans from layouts that were parsed (a
//! descriptor, a shape or a name). `maps` plans from index maps that are made beforehand.
#![allow(unsafe_code, reason = "counting allocations takes a global allocator")]

use std::hint::black_box;
use std::time::Instant;

use tensor_layout::ToIndexMap;
use tensor_layout::relayout::{Relayout, level_in_use};
use tensor_layout_text::Layout;

#[expect(dead_code, reason = "its lines for programs are the other bench's")]
mod measure;

/// Pairs of rank 8, in the format of the suite's lines.
const RANK_8: &str = "\
rank8	reverse_f32	f32[4,4,4,4,4,4,4,4]{7,6,5,4,3,2,1,0}	f32[4,4,4,4,4,4,4,4]{0,1,2,3,4,5,6,7}
rank8	reverse_u8	u8[2,3,2,3,2,3,5,7]{7,6,5,4,3,2,1,0}	u8[2,3,2,3,2,3,5,7]{0,1,2,3,4,5,6,7}
rank8	swap_pairs_f16	f16[4,5,6,7,4,5,6,7]{7,6,5,4,3,2,1,0}	f16[4,5,6,7,4,5,6,7]{6,7,4,5,2,3,0,1}
rank8	interleave_f32	f32[3,4,5,4,3,4,5,4]{7,6,5,4,3,2,1,0}	f32[3,4,5,4,3,4,5,4]{7,3,6,2,5,1,4,0}
rank8	tile_bf16	bf16[2,3,4,3,2,3,16,256]{7,6,5,4,3,2,1,0}	bf16[2,3,4,3,2,3,16,256]{7,6,5,4,3,2,1,0:T(8,128)(2,1)}
rank8	tile_f32_ragged	f32[2,3,2,3,2,3,15,200]{7,6,5,4,3,2,1,0}	f32[2,3,2,3,2,3,15,200]{7,6,5,4,3,2,1,0:T(8,128)}
rank8	tile_to_tile_ragged	f32[2,3,2,3,2,3,15,200]{7,6,5,4,3,2,1,0:T(8,128)}	f32[2,3,2,3,2,3,15,200]{6,7,5,4,3,2,1,0:T(8,128)}
rank8	pad_axes_f32	f32[2,3,2,3,2,3,5,7]{7,6,5,4,3,2,1,0}	f32[2,3,2,3,2,3,5,7]:[5760,1920,960,320,160,48,8,1]
";

/// One kind of pair in every rank: axes in reverse order on the source, and ragged tiles on the destination.
const RANKS: &str = "\
ranks	tile_1	f32[1000]{0}	f32[1000]{0:T(48)(5,1)}
ranks	tile_2	f32[30,35]{0,1}	f32[30,35]{1,0:T(8,32)}
ranks	tile_3	f32[3,30,35]{0,1,2}	f32[3,30,35]{2,1,0:T(8,32)}
ranks	tile_4	f32[2,3,30,35]{0,1,2,3}	f32[2,3,30,35]{3,2,1,0:T(8,32)}
ranks	tile_5	f32[3,2,3,30,35]{0,1,2,3,4}	f32[3,2,3,30,35]{4,3,2,1,0:T(8,32)}
ranks	tile_6	f32[2,3,2,3,30,35]{0,1,2,3,4,5}	f32[2,3,2,3,30,35]{5,4,3,2,1,0:T(8,32)}
ranks	tile_7	f32[3,2,3,2,3,30,35]{0,1,2,3,4,5,6}	f32[3,2,3,2,3,30,35]{6,5,4,3,2,1,0:T(8,32)}
ranks	tile_8	f32[2,3,2,3,2,3,30,35]{0,1,2,3,4,5,6,7}	f32[2,3,2,3,2,3,30,35]{7,6,5,4,3,2,1,0:T(8,32)}
";

/// Pairs of which one side is a name.
const NAMES: &str = "\
names	sf_128x4	f8e4m3fn[4096,512]{1,0}	nvidia.sf_128x4:f8e4m3fn[4096,512]
names	shuffle_weight	bf16[4096,4096]{1,0}	aiter.shuffle_weight_16x16:bf16[4096,4096]
names	nchw_to_nChw16c	f32[8,64,56,56]:NCHW	f32[8,64,56,56]:nChw16c
";

fn main() {
    // `cargo test --benches` runs this file as well, and there is nothing to test.
    let arguments: Vec<String> = std::env::args().collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    first_plan();
    let csv = arguments.iter().any(|argument| argument == "--csv");
    let only = arguments.iter().position(|argument| argument == "--only").map(|place| arguments[place + 1].as_str());
    if csv {
        println!("size,case,notated_nanoseconds,notated_allocations,maps_nanoseconds,maps_allocations");
    } else {
        println!("{:<36}{:>24}{:>24}", "", "notated", "maps");
    }
    let mut slowest: Vec<(&str, f64)> = Vec::new();
    let lines =
        include_str!("relayout_suite.tsv").lines().chain(RANK_8.lines()).chain(RANKS.lines()).chain(NAMES.lines());
    for line in lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let fields: Vec<&'static str> = line.split('\t').collect();
        let [size, case, from, to] = fields[..] else { panic!("a line of four fields: {line}") };
        if only.is_some_and(|part| !format!("{size}/{case}").contains(part)) {
            continue;
        }
        let layouts: [Layout; 2] = [from, to].map(|text| text.parse().unwrap());
        let [notated, maps] =
            [cost(&layouts), cost(&[layouts[0].to_index_map().unwrap(), layouts[1].to_index_map().unwrap()])];
        if csv {
            let cell = |cost: &measure::Cost| format!("{:.0},{:.0}", cost.nanoseconds, cost.allocations);
            println!("{size},{case},{},{}", cell(&notated), cell(&maps));
        } else {
            let cell =
                |cost: &measure::Cost| format!("{:.0} ns, {:.0} allocations", cost.nanoseconds, cost.allocations);
            let name = format!("{size}/{case}");
            println!("{name:<36}{:>24}{:>24}", cell(&notated), cell(&maps));
        }
        match slowest.iter_mut().find(|(of, _)| *of == size) {
            Some((_, most)) => *most = most.max(notated.nanoseconds),
            None => slowest.push((size, notated.nanoseconds)),
        }
    }
    if !csv {
        for (size, most) in &slowest {
            println!("{size}: {most:.0} ns at most");
        }
    }
}

/// Prints what the first plan of a process costs: finding the level, then the caches and the plan itself.
fn first_plan() {
    let layouts: [Layout; 2] = ["f32[8,64,56,56]:NCHW", "f32[8,64,56,56]:NHWC"].map(|text| text.parse().unwrap());
    let start = Instant::now();
    black_box(level_in_use());
    let level = start.elapsed();
    black_box(Relayout::new(&layouts[0], &layouts[1]).unwrap());
    let (first, start) = (start.elapsed(), Instant::now());
    black_box(Relayout::new(&layouts[0], &layouts[1]).unwrap());
    eprintln!(
        "first plan of the process: {first:?}, of them {level:?} for the level; the second: {:?}",
        start.elapsed()
    );
}

fn cost<T: ToIndexMap>([from, to]: &[T; 2]) -> measure::Cost {
    measure::measure(|| Relayout::new(black_box(from), black_box(to)).unwrap())
}
