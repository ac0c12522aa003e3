use super::*;

#[test]
fn every_fault_is_a_sentence_with_its_numbers() {
    let name = || "tile".to_owned();
    for (fault, sentence) in [
        (
            Fault::OutOfRange { memory: name(), index: 31, words: 16 },
            "word 31 of `tile` is touched, which has 16 words",
        ),
        (Fault::Arithmetic { expression: "x - 1u".into(), a: 0, b: 1 }, "`x - 1u` with 0 and 1 does not fit 32 bits"),
        (Fault::AboveBound { name: name(), value: 31, most: 16 }, "`tile` is 31, and at most 16 was promised"),
        (
            Fault::Race { memory: name(), index: 31, invocation: 16 },
            "word 31 of `tile` is touched by invocation 16 and by another one, and written",
        ),
        (Fault::NotWritten { array: name(), index: 31 }, "word 31 of `tile` is read before it is written"),
        (Fault::ReadOnly { buffer: name() }, "`tile` is written, which is bound for reading"),
        (Fault::BarrierInBranch { reached: 3, invocations: 4 }, "3 of 4 invocations reach a barrier"),
        (Fault::Dispatch("70000 workgroups along one axis".into()), "70000 workgroups along one axis"),
    ] {
        assert_eq!(fault.to_string(), sentence);
    }
}
