//! Copies are planned for every family of CPUs, and copy the same bytes.

use tensor_layout::relayout::{CpuFamily, KernelLevel, Relayout};
use tensor_layout_text::Notated;

use super::choices::PAIRS;
use crate::literal::replanned::Replanned;

/// The family of the CPU decides which kernels use a staging buffer. This test runs the kernels of every
/// family.
#[test]
fn every_family_copies_the_same_bytes() {
    for (from, to) in PAIRS {
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
