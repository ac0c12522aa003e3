use super::*;

#[test]
fn the_last_exception_that_matches_holds() {
    let exception = |text: &str| text.parse::<Exception>().unwrap();
    let exceptions = vec![exception("conv*=T(8,128)"), exception("*.weight=nhwc"), exception("a=b=packed")];
    let rules = Rules::new(Rule::Packed, exceptions);
    let of = |name: &str| rules.of(name).to_string();
    assert_eq!((of("conv1.weight"), of("conv1.bias")), ("nhwc".into(), "T(8,128)".into()));
    assert_eq!((of("fc.bias"), of("a=b")), ("packed".into(), "packed".into()));
    assert_eq!(rules.to_string(), "packed, conv*=T(8,128), *.weight=nhwc, a=b=packed");
    assert_eq!(rules.unused(["conv1.weight", "a=b"].into_iter()), None);
    assert_eq!(rules.unused(["conv1.weight"].into_iter()), Some("a=b".into()));
    assert!("conv".parse::<Exception>().is_err() && "conv=sideways".parse::<Exception>().is_err());
}

/// Patterns are matched by a library. These are the matches that the help of `--to-for` promises.
#[test]
fn patterns_match_as_a_shell_matches() {
    let matching = [
        ("*", "a.b/c"),
        ("conv*.weight", "conv.weight.weight"),
        ("layers.?.w", "layers.7.w"),
        ("layers.[0-4].w", "layers.4.w"),
        ("[!0-4]", "5"),
        ("*a*b*c", "xxaxxbbxc"),
        ("\u{e9}?", "\u{e9}\u{1f600}"),
    ];
    let others = [
        ("conv*.weight", "conv2.weight2"),
        ("layers.?.w", "layers.17.w"),
        ("layers.?.w", "layers..w"),
        ("[!0-4]", "4"),
        ("*a*b*c", "xxaxxcbb"),
        ("[0-4]", "-"),
        ("conv", "conv2"),
    ];
    let matches =
        |(pattern, name): (&str, &str)| format!("{pattern}=packed").parse::<Exception>().unwrap().pattern.matches(name);
    for case in matching {
        assert!(matches(case), "{case:?}");
    }
    for case in others {
        assert!(!matches(case), "{case:?}");
    }
    for pattern in ["", "[", "a[bc", "[]", "[!]", "[a-"] {
        assert!(format!("{pattern}=packed").parse::<Exception>().is_err(), "{pattern}");
    }
    assert!(!matches((&format!("{}b", "*a".repeat(200)), &"a".repeat(20_000))));
}
