use super::super::plan::machine::Knobs;
use super::super::plan::machine::Machine;
use super::*;
use crate::notation::Notated;
use strided_copy::{TraitSource, Traits};

/// Machines whose L2 cache holds what the L1 cache holds stage no panels by themselves, and try to; the
/// others do, and try to do without.
#[test]
fn plans_that_stage_panels_by_themselves_are_tried_without() {
    let traits = |l2_inclusive| Traits {
        l1: 48 << 10,
        l1_ways: 12,
        l2: 2 << 20,
        l2_inclusive,
        line: 64,
        source: TraitSource::Cpuid,
    };
    let machine = |traits| &*Box::leak(Box::new(Machine { traits, knobs: Knobs::new(&traits) }));
    let (inclusive, apart) = (machine(traits(true)), machine(traits(false)));
    let off = Tuning::default().with_staged_runs(0).unwrap();
    let short = Tuning::default().with_staged_runs(256).unwrap();
    for (from, to, stages) in [
        ("f32[2048,1024]{1,0}", "f32[2048,1024]{0,1}", true),
        // A table of offsets on either side.
        ("f32[8,16,32,8,16,32]{5,4,3,2,1,0}", "f32[8,16,32,8,16,32]{0,1,2,3,4,5}", true),
        // No panels.
        ("f32[2048,1024]{1,0}", "f32[2048,1024]{1,0:T(8,128)}", false),
    ] {
        let side = |text: &str| text.parse::<Notated>().unwrap();
        let plan = Relayout::new(&side(from), &side(to)).unwrap();
        let on = |machine, tuning| Relayout { machine, ..plan.clone() }.with_tuning(tuning).unwrap().candidates();
        assert_eq!(on(apart, Tuning::default()).contains(&off), stages, "{from} to {to}");
        assert!(!on(inclusive, Tuning::default()).contains(&off));
        assert_eq!(on(inclusive, Tuning::default()).contains(&short), stages, "{from} to {to}");
        assert!(!on(apart, Tuning::default()).contains(&short));
        // Nor where someone requested a stage.
        assert!(!on(apart, Tuning::default().with_staged_runs(512).unwrap()).contains(&off));
    }
}
