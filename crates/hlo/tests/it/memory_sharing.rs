//! Which results are in the memory of an operand or of a result, in programs small enough to count.

use crate::for_a_tpu;
use crate::memory::figures;

const SHARING: &str = include_str!("../data/sharing.txt");

/// The programs of tests/data/sharing.txt, whose first lines describe its form.
#[test]
fn memory_is_shared_where_the_cases_say() {
    let (mut checked, mut name, mut form) = (0, "", String::new());
    let text: String = SHARING.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    for group in text.split("\n== ").skip(1) {
        for (number, part) in group.split("\n-- ").enumerate() {
            let (head, body) = part.split_once('\n').unwrap();
            if number == 0 {
                (name, form) = (head, format!("{}\n", body.trim_end()));
                continue;
            }
            let (bytes, shape) = head.split_once(" of ").unwrap_or((head, ""));
            let program = form.replace("{shape}", shape).replace("{body}", body.trim());
            let program = if name.ends_with(" on a TPU") { for_a_tpu(&program) } else { program };
            let expected: Vec<u128> = bytes.split(' ').map(|bytes| bytes.parse().unwrap()).collect();
            assert!(
                figures(&program).ends_with(&expected),
                "{name}: {:?}, not {expected:?}\n{program}",
                figures(&program)
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 89);
}
