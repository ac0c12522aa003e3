//! Every kind of layout gets an answer: the texts and offsets of the command line's page of kinds.
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "what is wrong fails the test")]

use serde_json::Value;

const KINDS: &str = include_str!("../../crates/cli/tests/answers/kinds.md");

fn answered(answer: &str) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert!(answer["error"].is_null(), "{answer}");
    answer
}

#[test]
fn every_kind_is_described_looked_up_compared_viewed_and_copied() {
    let mut kinds = 0;
    for block in KINDS.split("$ tensor-layout ").filter_map(|block| block.strip_prefix("offset '")) {
        let (text, rest) = block.split_once("' ").unwrap();
        let (index, answer) = rest.split_once('\n').unwrap();
        let number = |word: &str| word.trim_end_matches(',').parse::<u64>().ok();
        let offset = answer.split_whitespace().find_map(number).unwrap().to_string();
        assert_eq!(answered(&crate::place(text, index))["offset"], offset, "{text}");
        let inverse: Value = serde_json::from_str(&crate::inverse(text, &offset)).unwrap();
        assert!(inverse["error"].is_null() && inverse["padding"] == false, "{text}: {inverse}");
        let described = answered(&crate::describe(text));
        assert_eq!(described["sizes"].as_array().unwrap().len(), index.split(',').count(), "{text}");
        assert_ne!(described["physical_size_in_bytes"], "0", "{text}");
        assert_eq!(answered(&crate::compare(text, text))["same"], true, "{text}");
        assert!(answered(&crate::picture(text))["svg"].as_str().unwrap().contains("<svg"), "{text}");
        if !text.starts_with('(') {
            assert!(!answered(&crate::relayout(text, text))["passes"].as_array().unwrap().is_empty(), "{text}");
            let whole = vec![":"; index.split(',').count()].join(",");
            assert_eq!(answered(&crate::view(text, &format!("slice {whole}")))["sizes"], described["sizes"], "{text}");
            answered(&crate::check(text, "none", "", "", false));
        }
        kinds += 1;
    }
    assert_eq!(kinds, 12);
}
