use super::*;

#[test]
fn the_text_reads_back() {
    for text in [
        "default",
        "stores=ordinary",
        "stores=non-temporal,prefetch=off,staged=1024",
        "prefetch=77,staged=off,joined=128",
        "joined=off",
        "prefetch=77,panels=l1,staged=512",
        "panels=l2",
        "staged=off,order=permuted",
        "order=ascending",
    ] {
        assert_eq!(text.parse::<Tuning>().unwrap().to_string(), text);
    }
    let spaced: Tuning = " staged=512 , prefetch=2048 ".parse().unwrap();
    assert_eq!(spaced, Tuning::default().with_prefetch(2048).with_staged_runs(512).unwrap());
    for (text, says) in [
        ("", "expected `default`, or `stores=`"),
        ("default,prefetch=1", "the end of the text"),
        ("prefetch=1,prefetch=2", "each once"),
        ("prefetch=", "`off` or a number of bytes"),
        ("stores=past", "`ordinary` or `non-temporal`"),
        ("staged=2048", "1024"),
        ("panels=l3", "`l1` or `l2`"),
        ("panels=l1,panels=l2", "each once"),
        ("order=random", "`permuted` or `ascending`"),
        ("order=permuted,order=permuted", "each once"),
    ] {
        let error = text.parse::<Tuning>().unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}
