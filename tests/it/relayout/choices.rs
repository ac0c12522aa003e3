//! Copies with every answer to every question of a plan, against the literal copy.

use proptest::prelude::*;
use tensor_layout::relayout::{Effort, Level, Relayout, Settings, Stores};
use tensor_layout::{ArrayShape, Error};
use tensor_layout_text::Layout;

use crate::literal::cases;
use crate::literal::pairs::{literal_copy, noise, padding, pair, within};
use crate::literal::replanned::{Replanned, levels};

/// Pairs of layouts whose plans differ in panels, staging buffers, order and prefetch.
pub(super) const PAIRS: &[(&str, &str)] = &[
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
];

/// The choices from which each answer is tried: some questions matter only with non-temporal stores, others
/// only to a copy that prefetches.
const BASES: [&str; 6] = [
    "v1",
    "v1 stores=streaming",
    "v1 stores=cached",
    "v1 prefetch=yes",
    "v1 stores=streaming prefetch=yes",
    "v1 stores=streaming registers=32 panels=wide",
];

/// The plans of one copy: every base, and with each base every answer that makes another plan.
fn plans(plan: &Relayout) -> impl Iterator<Item = Relayout> {
    let with = |plan: &Relayout, choice: String| plan.set(|settings| settings.choice = Some(choice));
    BASES.into_iter().flat_map(move |base| {
        let plan = with(plan, base.into());
        assert_eq!((plan.choice().as_str(), plan.estimate_reason()), (base, None));
        let choices = plan.choices();
        assert_eq!(choices[0], base);
        choices.into_iter().map(move |choice| {
            let plan = with(&plan, choice.clone());
            assert_eq!(plan.choice(), choice);
            plan
        })
    })
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn every_choice_copies_as_the_literal_one((from, to) in pair(), padding in padding(), shift in 0..3_usize) {
        let padding = within(padding, from.map.element_bits());
        let Ok(relayout) = Relayout::new(&from.map, &to.map) else { return Ok(()) };
        let relayout = relayout.with_padding_of_whole_buffer(padding).unwrap();
        let source = noise(shift + from.bytes(), 1);
        let before = noise(shift + to.bytes(), 2);
        let mut expected = before.clone();
        literal_copy(&from, &to, &source[shift..], &mut expected[shift..], padding);
        for level in levels() {
            for plan in plans(&relayout.clone().with_kernel_level(level)) {
                let mut destination = before.clone();
                plan.run(&source[shift..], &mut destination[shift..]).unwrap();
                prop_assert!(destination == expected, "{}", plan.explain());
            }
        }
        let mut destination = before;
        let measured = relayout.measured(&source[shift..], &mut destination[shift..]).unwrap();
        prop_assert!(destination == expected, "{}", measured.explain());
    }
}

/// The portable kernels, which the estimate chooses, are compared with the literal copy elsewhere.
#[test]
fn every_choice_copies_large_pairs_as_the_portable_kernels() {
    for (from, to) in PAIRS {
        let side = |text: &str| text.parse::<Layout>().unwrap();
        let relayout = Relayout::new(&side(from), &side(to)).unwrap();
        let size = |bytes: u64| usize::try_from(bytes).unwrap();
        let source = noise(size(relayout.source_size_in_bytes()), 1);
        let bytes = |plan: &Relayout| {
            let mut bytes = vec![0; size(plan.destination_size_in_bytes())];
            plan.run(&source, &mut bytes).unwrap();
            bytes
        };
        let expected = bytes(&relayout.clone().with_kernel_level(Level::Portable));
        for level in levels() {
            for plan in plans(&relayout.clone().with_kernel_level(level)) {
                assert!(bytes(&plan) == expected, "{}", plan.explain());
            }
        }
    }
}

fn planned(settings: &Settings) -> Result<Relayout, Error> {
    let (rows, columns): (ArrayShape, ArrayShape) = ("f32[70,90]{1,0}".parse()?, "f32[70,90]{0,1}".parse()?);
    Relayout::with_settings(&rows, &columns, settings)
}

#[test]
fn a_measured_choice_makes_the_same_plan_again() {
    let effort = Effort::Measure { most_bytes: 1 << 20 };
    let measured = planned(&Settings { effort, ..Settings::default() }).unwrap();
    assert_eq!((measured.settings().effort, measured.estimate_reason()), (effort, None));
    assert_eq!(measured.settings().choice, Some(measured.choice()));
    let again = planned(measured.settings()).unwrap();
    assert_eq!(again.explain(), measured.explain());
}

#[test]
fn a_choice_that_cannot_be_used_is_ignored_with_a_reason() {
    for (choice, stores, reason) in [
        ("v1 stores=cached", Stores::BySize, None),
        ("", Stores::BySize, Some("the choice is ignored: its version is ``, and only `v1` can be read")),
        (
            "v2 stores=cached",
            Stores::BySize,
            Some("the choice is ignored: its version is `v2`, and only `v1` can be read"),
        ),
        ("v1 gather=yes", Stores::BySize, Some("the choice is ignored: `gather=yes` is no answer of this version")),
        ("v1 stores", Stores::BySize, Some("the choice is ignored: `stores` is no answer of this version")),
        ("v1 stores=cached stores=streaming", Stores::BySize, Some("the choice is ignored: it answers `stores` twice")),
        ("v1 stores=cached", Stores::Streaming, Some("the choice is ignored: the settings say how the copy stores")),
    ] {
        let plan = planned(&Settings { choice: Some(choice.into()), stores, ..Settings::default() }).unwrap();
        assert_eq!(plan.estimate_reason().as_deref(), reason, "{choice}");
        assert_eq!(plan.choice(), if reason.is_some() { "v1" } else { choice });
        assert!(plan.explain().contains(reason.unwrap_or("choice: v1 stores=cached")));
    }
}

#[test]
fn nothing_is_measured_above_the_limit_of_memory() {
    let settings = Settings { effort: Effort::Measure { most_bytes: 58_591 }, ..Settings::default() };
    let plan = planned(&settings).unwrap();
    let reason = "nothing is measured: the buffers take 58592 bytes, and 58591 are allowed";
    assert_eq!((plan.choice().as_str(), plan.estimate_reason().as_deref()), ("v1", Some(reason)));
    assert_eq!(plan.settings(), &settings);
}
