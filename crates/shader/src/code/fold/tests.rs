use super::super::Code;
use super::*;

fn parameter(most: u32) -> Expr {
    Code::new().parameter("x", most)
}

#[test]
fn what_changes_nothing_is_not_written() {
    let x = parameter(99);
    let (zero, one) = (Expr::from(0), Expr::from(1));
    let sum = (&x * &zero) + &x;
    for same in [&x + &zero, &x * &one, &x / &one, &x % 100, &x & 127, &x >> &zero, &x << &zero, sum] {
        assert_eq!(same, x);
    }
    assert_eq!(x.clone().min(99), x);
    for none in [&x / 100, &x * &zero, &x % &one, &x >> 7, &x & &zero] {
        assert_eq!(none, zero);
    }
    assert_eq!(x.less(100), Condition::True);
    assert_eq!(x.not_less(100), Condition::False);
    assert_eq!(x.equal(100), Condition::False);
    assert!(matches!(x.less(99), Condition::Compare(..)));
}

#[test]
fn powers_of_two_are_shifts_and_masks_and_constants_are_joined() {
    let x = parameter(u32::MAX);
    for (built, text) in [
        (&x / 8, "x >> 3u"),
        (&x % 8, "x & 7u"),
        (&x * 8, "x << 3u"),
        (&x / 10, "x / 10u"),
        (&x % 10, "x % 10u"),
        (Expr::from(3) + &x + 4, "x + 7u"),
        (&x / 4 / 8, "x >> 5u"),
        (&x / 3 / 5, "x / 15u"),
        ((&x & 15) & 6, "x & 6u"),
        (x.clone() / 65536 / 65536, "0u"),
    ] {
        assert_eq!(built.to_string(), text);
    }
}

#[test]
fn no_result_is_above_its_bound() {
    let values = [0, 1, 2, 3, 7, 8, 9, 100, 4095, 65_535, 65_536, u32::MAX - 1, u32::MAX];
    use Op::*;
    for op in [Add, Sub, Mul, Div, Rem, And, Or, Xor, Shl, Shr, Min, WrappingAdd, WrappingSub] {
        for a in values {
            for b in values {
                let Some(result) = op.apply(a, b) else { continue };
                assert!(result <= op.most(a, b, Some(b)), "{op:?} {a} {b}");
                assert!(result <= op.most(a, b, None), "{op:?} {a} {b}");
                for more in values.into_iter().filter(|&more| more >= a) {
                    assert!(result <= op.most(more, b, Some(b)), "{op:?} {a} of {more} {b}");
                }
            }
        }
    }
}

#[test]
fn a_condition_that_is_known_is_not_evaluated() {
    let (x, y) = (parameter(99), Expr::from(7));
    let open = || x.less(50);
    assert_eq!(open().and(Condition::True), open());
    assert_eq!(Condition::False.and(open()), Condition::False);
    assert_eq!(open().and(Condition::False), Condition::False);
    assert_eq!(open().or(Condition::False), open());
    assert_eq!(Condition::True.or(open()), Condition::True);
    assert_eq!(open().or(Condition::True), Condition::True);
    assert_eq!(Expr::select(Condition::True, &x, &y), x);
    assert_eq!(Expr::select(Condition::False, &x, &y), y);
    assert_eq!(Expr::select(open(), &x, &x), x);
    assert_eq!(Expr::select(open(), &x, &y).to_string(), "select(7u, x, x < 50u)");
}
