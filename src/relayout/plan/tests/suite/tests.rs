//! How the conversions of the bench suite are done on Z5: DESIGN.md ("Relayout"), and the rules of `cost.rs`.

use super::super::super::passes::Passes;
use super::super::super::program::{PlannedBox, Program};
use super::super::*;
use crate::map::{IndexMap, ToIndexMap};
use crate::notation::Notated;

fn map(text: &str) -> IndexMap {
    text.parse::<Notated>().unwrap().to_index_map().unwrap()
}

fn program(from: &str, to: &str, reversed: &[usize], knobs: &Knobs) -> Program {
    let passes = Passes::new(&map(from), &map(to), reversed, knobs).unwrap();
    assert!(passes.before.is_empty(), "{from} to {to} takes several passes");
    passes.last
}

/// Every box in words.
fn boxes(program: &Program) -> Vec<String> {
    let planned = program.prepared.iter().map(|planned| match planned {
        PlannedBox::Nest(planned) => words(&planned.nest),
        PlannedBox::SubByte(_) => "bits".to_owned(),
        PlannedBox::Width(_) => "by way of a stage".to_owned(),
        PlannedBox::Together(boxes) => {
            let parts = boxes.parts.iter().map(|part| part.extent().to_string()).collect::<Vec<_>>().join(" x ");
            let nests: Vec<_> = boxes.nests.iter().chain(&boxes.rest).map(|planned| words(&planned.nest)).collect();
            format!("{parts} parts of {}", nests.join(" and "))
        }
    });
    planned.collect()
}

/// The conversions: size, name, the two sides, the axes that are walked backwards.
fn suite() -> impl Iterator<Item = (&'static str, [&'static str; 2], Vec<usize>)> {
    let lines = [
        include_str!("../../../../../benches/relayout_suite.tsv"),
        include_str!("../../../../../benches/relayout_reversed.tsv"),
    ];
    lines.into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#')).map(|line| {
        let (size, rest) = line.split_once('\t').unwrap();
        let parts: Vec<&str> = rest.split('\t').collect();
        let [name, from, to, reversed @ ..] = parts.as_slice() else { panic!("{line}") };
        // `large` is the rule.
        let name = if size == "large" { name } else { &line[..size.len() + 1 + name.len()] };
        (name, [*from, *to], reversed.iter().map(|axis| axis.parse().unwrap()).collect())
    })
}

/// The plan of each: one box, as most are.
const PLANS: &[(&str, &str)] = &[
    // Planes: rows of the source become columns.
    ("transpose_f32_4096", "transpose 4096x4096 of 4: 16384>16384"),
    ("transpose_u8_8192", "transpose 8192x8192 of 1: 8192>8192"),
    ("transpose_f64_4096", "transpose 4096x4096 of 8: 32768>32768"),
    ("transpose_f32_4000x6000", "transpose 4000x6000 of 4: 24000>16000"),
    ("nchw_to_nhwc_f32", "32 of 3211264>3211264 / transpose 64x12544 of 4: 50176>256"),
    ("nhwc_to_nchw_f32", "32 of 3211264>3211264 / transpose 12544x64 of 4: 256>50176"),
    ("ncdhw_to_ndhwc_f32", "4 of 12845056>12845056 / transpose 32x100352 of 4: 401408>128"),
    ("permute_3102_f32", "32 of 32768>32768 / 64 of 1048576>512 / transpose 128x64 of 4: 256>1048576"),
    ("small\ttranspose_u8", "transpose 512x512 of 1: 512>512"),
    ("tiny\tpermute_0213_f32", "4 of 1024>1024 / transpose 8x8 of 16: 128>128"),
    // A few rows into one, and out of one.
    ("nchw_to_nhwc_u8_c3", "16 of 6220800>6220800 / transpose 3x2073600 of 1: 2073600>3"),
    ("nhwc_to_nchw_f16_c3", "16 of 12441600>12441600 / transpose 2073600x3 of 2: 6>4147200"),
    ("nchw_to_nChw8c", "256 of 401408>401408 / transpose 8x12544 of 4: 50176>32"),
    ("nChw16c_to_nchw", "128 of 802816>802816 / transpose 12544x16 of 4: 64>50176"),
    ("nChw8c_to_nChw16c", "128 of 802816>802816 / transpose 2x12544 of 32: 401408>64"),
    ("tile_1d_bf16", "131072 of 512>512 / transpose 2x128 of 2: 256>4"),
    // From memory, runs of two lines come in the order of the source: rows before tiles. Out of tiles as
    // well.
    ("tile_bf16", "1024 of 65536>65536 / 4 of 16384>512 / 32 of 256>2048 / transpose 2x128 of 2: 8192>4"),
    ("untile_bf16", "1024 of 65536>65536 / 32 of 2048>256 / 4 of 512>16384 / transpose 128x2 of 2: 4>8192"),
    // In the cache, in that of the destination.
    ("small\ttile_bf16", "64 of 4096>4096 / 2 of 256>2048 / 4 of 1024>512 / transpose 2x128 of 2: 512>4"),
    // An axis shorter than a line is fused with the loop that continues it (rule 1), and so is one that is
    // not long.
    ("OIhw16i16o_to_oihw", "32 of 294912>294912 / 32 of 9216>576 / transpose 144x16 of 4: 9*1024+16*64>18432"),
    (
        "reverse_6d_f32",
        "8 of 2048>16384 / 32 of 16384>512 / transpose 128x512 of 4: 8*8388608+16*524288>32*2097152+16*131072",
    ),
    ("column_major_to_tile_bf16", "32 of 2097152>2048 / transpose 128x4096 of 4: 16384>4*512+1024*65536"),
    // Micro-tiles.
    (
        "tile_to_tile_bf16",
        "32 of 2048>2097152 / 64 of 1048576>2048 / transpose 64x64 of 8 (2x2 of 2): 4*512+16*65536>4*512+16*131072",
    ),
    // Bits.
    (
        "tile_s4",
        "128 of 524288>524288 / 8 of 65536>512 / 128 of 64>4096 / interleave 8 rows of 64 bytes by 4 bits, 8192 apart",
    ),
    (
        "untile_s4",
        "128 of 524288>524288 / 8 of 512>65536 / 128 of 4096>64 / deinterleave 8 rows of 64 bytes by 4 bits, 8192 apart",
    ),
    // Storage width.
    ("unpack_s4", "unpack signed 67108864 bytes of 4 bits"),
    ("pack_s4", "pack 67108864 bytes of 4 bits"),
    (
        "untile_unpack_s4",
        "128 of 524288>1048576 / 8 of 512>131072 / 128 of 4096>128 / unpack signed 128 words of 4 bits, 16384 apart",
    ),
    (
        "tile_pack_s4",
        "128 of 1048576>524288 / 8 of 131072>512 / 128 of 128>4096 / pack 128 words of 4 bits, 16384 apart",
    ),
    // Runs of two lines and more in the order of the source (rule 3).
    ("tile_f32", "512 of 131072>131072 / 8 of 16384>512 / copy 512, 32 of 512>4096"),
    ("untile_f32", "512 of 131072>131072 / 32 of 4096>512 / copy 512, 8 of 512>16384"),
    ("heads_0213_f32", "8 of 33554432>33554432 / 2048 of 16384>512 / copy 512, 32 of 512>1048576"),
    ("kv_append_f16", "from 0>262144 / 8 of 4194304>16777216 / 512 of 8192>256 / copy 256, 32 of 256>524288"),
    ("pad_rows_f32", "copy 16372, 4096 of 16372>16384"),
    // Shorter ones that are packed on either side are units of a plane.
    ("nhwc_to_nChw8c", "32 of 3211264>3211264 / transpose 12544x8 of 32: 256>401408"),
    ("gemm_weights_f32", "transpose 4096x256 of 64: 16384>262144"),
    // More of them than an L1 cache has ways, to one set of it (rule 5).
    ("small\tgemm_weights_f32", "transpose 256x16 of 64: 1024>16384"),
    // A source that is repeated, in the order of the destination.
    ("broadcast_channels_f32", "64 of 0>3211264 / 256 of 4>12544 / copy 4, 3136 of 0>4"),
    ("broadcast_rows_f32", "64 of 4>4194304 / copy 4, 1048576 of 0>4"),
    // Blocks at no stride.
    ("blocks_48_to_32", "48 of 3145728>3145728 / copy 64 at 6 places, 8192 of 192>128"),
    // Outer loops count down at no cost; a plane has its rows in the opposite order; what is packed on both
    // sides is reversed in registers.
    ("bottom_up_u8_c3", "from 0>6215040 / 16 of 6220800>6220800 / 1080 of 5760>-5760 / copy 5760"),
    ("nhwc_to_nchw_bgr_u8", "16 of 6220800>6220800 / transpose 2073600x3 of 1: 3>-2073600"),
    ("nchw_to_nhwc_bgr_u8", "16 of 6220800>6220800 / transpose 3x2073600 of 1: -2073600>3"),
    ("transpose_backwards_f32", "transpose 4096x4096 of 4: -16384>16384"),
    ("mirror_u8_c3", "reverse 1920 of 3, 17280 of 5760>5760"),
    ("mirror_f32", "reverse 4096 of 4, 4096 of 16384>16384"),
    ("rgb_to_bgr_u8", "reverse 3 of 1, 33177600 of 3>3"),
    ("reverse_u8", "reverse 67108864 of 1"),
];

#[test]
fn each_conversion_has_its_kernel_and_its_order() {
    let suite: Vec<_> = suite().collect();
    for &(name, plan) in PLANS {
        let (_, [from, to], reversed) = suite.iter().find(|(found, ..)| *found == name).unwrap();
        assert_eq!(boxes(&program(from, to, reversed, &z5())), [plan], "{name}");
    }
}

/// Large copies are out of the cache.
#[test]
fn large_copies_stream_and_small_ones_do_not() {
    // Named layouts come in all sizes.
    for (name, [from, to], reversed) in suite().filter(|(name, ..)| !name.starts_with("named")) {
        let large = !name.contains('\t') || name.starts_with("check") || name.starts_with("unaligned");
        let program = program(from, to, &reversed, &z5());
        assert_eq!((program.streaming, program.prefetch || !large), (large, true), "{name}");
        assert!(!program.prefetch || !name.starts_with("tiny"), "{name}");
    }
}

#[test]
fn a_ragged_edge_is_a_box_of_its_own() {
    let planned = |from, to| boxes(&program(from, to, &[], &z5()));
    assert_eq!(
        planned("f32[4095,4001]{1,0}", "f32[4095,4001]{1,0:T(8,128)}"),
        [
            // Two rows of tiles at a time, and the last one.
            "255 parts of 2 of 128032>131072 / 8 of 16004>512 / copy 512, 31 of 512>4096 \
             and from 15872>126976 / 2 of 128032>131072 / copy 132, 8 of 16004>512 \
             and from 65296320>66846720 / 8 of 16004>512 / copy 512, 31 of 512>4096 \
             and from 65312192>66973696 / copy 132, 8 of 16004>512",
            "from 65424352>66977792 / 7 of 16004>512 / copy 512, 31 of 512>4096",
            "from 65440224>67104768 / copy 132, 7 of 16004>512",
        ]
    );
    // Eight channels of 32, and the last three.
    assert_eq!(
        planned("f32[32,67,112,112]:NCHW", "f32[32,67,112,112]:nChw8c"),
        [
            "32 of 3361792>3612672 / 8 of 401408>401408 / transpose 8x12544 of 4: 50176>32",
            "from 3211264>3211264 / 32 of 3361792>3612672 / transpose 3x12544 of 4: 50176>32",
        ]
    );
}

/// "One call, file by file" of DESIGN.md.
#[test]
fn the_call_that_is_explained_is_planned_so() {
    let program = program("bf16[32,64,56,56]:NCHW", "bf16[32,64,56,56]{3,2,1,0:T(8,128)(2,1)}", &[], &z5());
    assert_eq!(boxes(&program), ["57344 of 224>512 / transpose 2x56 of 2: 112>4"]);
    assert!(program.streaming && program.prefetch);
}

/// On a machine of few ways, streamed tiles are joined.
#[test]
fn neighbouring_tiles_are_joined_where_the_cache_has_few_ways() {
    let untile = |size: &str, knobs: &Knobs| {
        let (tiles, rows) = (format!("s8[{size}]{{1,0:T(8,128)(4,1)}}"), format!("s8[{size}]{{1,0}}"));
        boxes(&program(&tiles, &rows, &[], knobs))
    };
    let (five, three) = (untile("8192,8192", &z5()), untile("8192,8192", &z3()));
    assert_eq!(five, ["1024 of 65536>65536 / 64 of 1024>128 / 2 of 512>32768 / transpose 128x4 of 1: 4>8192"]);
    assert_eq!(
        three,
        ["1024 of 65536>65536 / 8 of 8192>1024 / 2 of 512>32768 / 8 of 1024>128 / transpose 128x4 of 1: 4>8192"]
    );
    // Not in the cache.
    assert_eq!(untile("64,8192", &z3()), untile("64,8192", &z5()));
}
