//! Copies are planned for every family of CPUs, and copy the same bytes.

use tensor_layout::relayout::{CpuFamily, KernelLevel, Relayout};
use tensor_layout_text::Notated;

use crate::literal::replanned::Replanned;

/// The family of the CPU decides which kernels use a staging buffer. This test runs the kernels of every
/// family.
#[test]
fn every_family_copies_the_same_bytes() {
    for (from, to) in [
        // Rows share a set of the L1 cache on one of the two sides. Units have every size, and planes have
        // edges.
        ("u8[67,4096]{1,0}", "u8[67,4096]{0,1}"),
        ("u8[4096,67]:[67,1]", "u8[4096,67]:[1,4096]"),
        ("u16[70,2048]{1,0}", "u16[70,2048]{0,1}"),
        ("u16[2048,70]{1,0}", "u16[2048,70]{0,1}"),
        ("f32[50,1024]{1,0}", "f32[50,1024]{0,1}"),
        ("f32[1024,50]{1,0}", "f32[1024,50]{0,1}"),
        ("f64[40,512]{1,0}", "f64[40,512]{0,1}"),
        ("f64[512,40]{1,0}", "f64[512,40]{0,1}"),
        // Destination rows follow each other. They have 128, 256, 512 and 1024 bytes, and other lengths.
        ("u8[128,700]{1,0}", "u8[128,700]{0,1}"),
        ("u16[64,300]{1,0}", "u16[64,300]{0,1}"),
        ("f32[2,32,300]{2,1,0}", "f32[2,32,300]{1,2,0}"),
        ("f32[64,300]{1,0}", "f32[64,300]{0,1}"),
        ("f32[128,300]{1,0}", "f32[128,300]{0,1}"),
        ("f32[256,90]{1,0}", "f32[256,90]{0,1}"),
        ("f32[96,90]{1,0}", "f32[96,90]{0,1}"),
        // Copies by tables of offsets, with and without tiles, and copies of runs of a line and of half a
        // line.
        ("f32[8,9,10,8,9]{4,3,2,1,0}", "f32[8,9,10,8,9]{0,1,2,3,4}"),
        ("bf16[264,300]{0,1}", "bf16[264,300]{1,0:T(8,128)(2,1)}"),
        ("f32[256,256]{1,0}", "f32[256,256]:Ba16b"),
        ("f32[128,512]{1,0}", "f32[128,512]:Ba32b"),
        ("f32[512,200]{1,0}", "f32[512,200]:Ba8b"),
        ("s4[64,300]{1,0:T(64,128)(8,1)E(4)}", "s4[64,300]{1,0}"),
        ("s4[64,300]{1,0}", "s4[64,300]{1,0:T(64,128)(8,1)E(4)}"),
        // Many small blocks are permuted, of bytes and of halves of bytes.
        ("f32[600,2,7]{2,1,0}", "f32[600,2,7]{1,2,0}"),
        ("f64[307,3,3]{2,1,0}", "f64[307,3,3]{1,2,0}"),
        ("u8[1501,4,4]{2,1,0}", "u8[1501,4,4]{1,2,0}"),
        ("u4[64,1024]{1,0:T(8,1)E(4)}", "u4[64,1024]{1,0:T(16,64)(8)(8,8,1)(2,2,1)(2,1,1,1,1,1,1,1,1)E(4)}"),
    ] {
        let side = |text: &str| text.parse::<Notated>().unwrap();
        let plan = Relayout::new(&side(from), &side(to)).unwrap();
        let size = |bytes: u64| usize::try_from(bytes).unwrap();
        let source: Vec<u8> = (0..size(plan.source_size_in_bytes())).map(|i| (i % 251).to_le_bytes()[0]).collect();
        let bytes = |plan: &Relayout| {
            let mut bytes = vec![0; size(plan.destination_size_in_bytes())];
            plan.run(&source, &mut bytes).unwrap();
            bytes
        };
        let expected = bytes(&plan.clone().with_kernel_level(KernelLevel::Portable));
        for (family, stores) in
            CpuFamily::ALL.iter().flat_map(|&family| [None, Some(true), Some(false)].map(|past| (family, past)))
        {
            let plan = plan.clone().with_cpu_family(family);
            let plan = match stores {
                Some(past) => plan.with_streaming(past),
                None => plan,
            };
            assert!(bytes(&plan) == expected, "{}", plan.explain());
            for &level in KernelLevel::SOFTWARE {
                let plan = plan.clone().with_kernel_level(level);
                assert!(bytes(&plan) == expected, "{level}: {}", plan.explain());
            }
        }
    }
}
