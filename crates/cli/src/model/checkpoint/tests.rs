use super::*;

#[test]
fn shares_are_disjoint_and_miss_no_part() {
    let share = |text: &str| text.parse::<Share>().unwrap();
    for of in 1..5 {
        for place in 0..9 {
            let holding = (1..=of).filter(|number| share(&format!("{number}/{of}")).holds(place)).count();
            assert_eq!(holding, 1, "part {place} of {of} shares");
        }
    }
    for text in ["0/3", "4/3", "1/0", "1", "a/b", "-1/3", "1/3/5", ""] {
        assert!(text.parse::<Share>().is_err(), "{text}");
    }
}
