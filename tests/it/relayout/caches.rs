//! Copies are planned for several caches, and copy the same bytes.

use tensor_layout::relayout::{Level, Relayout};
use tensor_layout_text::Layout;

use super::choices::PAIRS;
use crate::literal::replanned::{CACHES, Replanned};

/// The caches decide the order of loops, the size of panels and which runs are joined.
#[test]
fn plans_for_any_caches_copy_the_same_bytes() {
    for (from, to) in PAIRS {
        let side = |text: &str| text.parse::<Layout>().unwrap();
        let plan = Relayout::new(&side(from), &side(to)).unwrap();
        let size = |bytes: u64| usize::try_from(bytes).unwrap();
        let source: Vec<u8> = (0..size(plan.source_size_in_bytes())).map(|i| (i % 251).to_le_bytes()[0]).collect();
        let bytes = |plan: &Relayout| {
            let mut bytes = vec![0; size(plan.destination_size_in_bytes())];
            plan.run(&source, &mut bytes).unwrap();
            bytes
        };
        let expected = bytes(&plan.clone().with_kernel_level(Level::Portable));
        for (caches, stores) in
            CACHES.iter().flat_map(|&caches| [None, Some(true), Some(false)].map(|past| (caches, past)))
        {
            let plan = plan.clone().with_caches(caches);
            let plan = match stores {
                Some(past) => plan.with_streaming(past),
                None => plan,
            };
            assert!(bytes(&plan) == expected, "{}", plan.explain());
            for &level in Level::SOFTWARE {
                let plan = plan.clone().with_kernel_level(level);
                assert!(bytes(&plan) == expected, "{level}: {}", plan.explain());
            }
        }
    }
}
