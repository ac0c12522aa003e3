use std::collections::BTreeMap;

use super::with_mutants;
use crate::list::Genre;
use crate::places::{ByPlace, Places};

/// The text with its mutants, without the marks around them.
fn written(text: &str, mutants: &[(&str, Genre, &[&str])]) -> String {
    let mut by_place: ByPlace = BTreeMap::new();
    let mut number = 0;
    for (place, genre, replacements) in mutants {
        let at = text.find(place).unwrap();
        for replacement in *replacements {
            by_place.entry((at, *genre)).or_default().push((number, (*replacement).to_owned()));
            number += 1;
        }
    }
    let places = Places::of(text, &by_place).unwrap();
    assert_eq!(places.found.len(), number, "{text}");
    let out = with_mutants(text, &places.nodes);
    syn::parse_file(&out).unwrap_or_else(|error| panic!("{error}: {out}"));
    let mut bare = String::new();
    let mut rest = out.as_str();
    while let Some((before, behind)) = rest.split_once("/*") {
        bare.push_str(before);
        rest = behind.split_once("*/").unwrap().1;
    }
    bare + rest
}

#[test]
fn every_operand_is_written_once() {
    let text = "fn f(a: u8) -> u8 { a + 1 * 2 }";
    assert_eq!(
        written(text, &[("+", Genre::BinaryOperator, &["-"]), ("*", Genre::BinaryOperator, &["/"])]),
        "fn f(a: u8) -> u8 { (match ((a), ((match ((1), (2)) { (__l, __r) => if crate::mutant(1) { __l / __r } else { __l * __r } }))) \
         { (__l, __r) => if crate::mutant(0) { __l - __r } else { __l + __r } }) }"
    );
}

#[test]
fn the_right_side_of_a_condition_is_still_asked_for_only_where_the_left_leaves_it_open() {
    // On: `a || b`, which asks for `b` where `a` is false.
    assert_eq!(
        written("fn f() -> bool { a && b }", &[("&&", Genre::BinaryOperator, &["||"])]),
        "fn f() -> bool { (match (a) { __l => if __l != crate::mutant(0) { b } else { __l } }) }"
    );
}

#[test]
fn what_is_put_in_stands_in_front_and_arms_are_left_out_by_their_guards() {
    let text = "fn f(x: u8) -> u8 { match x { 0 => 1, n if n > 3 => 2, _ => 3 } }";
    let mutants: &[(&str, Genre, &[&str])] = &[
        ("match", Genre::FnValue, &["0"]),
        ("0 =>", Genre::MatchArm, &[""]),
        ("n > 3", Genre::MatchArmGuard, &["true", "false"]),
    ];
    assert_eq!(
        written(text, mutants),
        "fn f(x: u8) -> u8 { if crate::mutant(0) { return 0; } match x { 0 if !crate::mutant(1) => 1, \
         n if (crate::mutant(2) || !crate::mutant(3) && (n > 3)) => 2, _ => 3 } }"
    );
}

#[test]
fn a_field_is_left_to_the_base() {
    assert_eq!(
        written("fn f(s: S) -> S { S { a, ..s } }", &[("a,", Genre::StructField, &[""])]),
        "fn f(s: S) -> S { S { a: if crate::mutant(0) { (s).a } else { a }, ..s } }"
    );
}

#[test]
fn constants_and_conditions_with_let_have_no_place() {
    for (text, operator) in [("const A: u8 = 1 + 2;", "+"), ("fn f() { if let Some(a) = b && a {} }", "&&")] {
        let at = text.find(operator).unwrap();
        let by_place = BTreeMap::from([((at, Genre::BinaryOperator), vec![(0, "-".to_owned())])]);
        assert!(Places::of(text, &by_place).unwrap().found.is_empty(), "{text}");
    }
}
