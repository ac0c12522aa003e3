use super::super::{Code, ComputeShader};
use super::*;

#[test]
fn conditions_are_written_with_the_parentheses_that_wgsl_asks_for() {
    let mut code = Code::new();
    let (x, y) = (code.parameter("x", 99), code.parameter("y", 99));
    let either = || x.not_less(3).or(y.equal(4));
    let both = || x.less(3).and(y.not_equal(4));
    for (condition, text) in [
        (Condition::True, "true"),
        (Condition::False, "false"),
        (either(), "x >= 3u || y == 4u"),
        (both().and(x.less(&y)), "x < 3u && y != 4u && x < y"),
        (both().or(x.equal(&y)), "(x < 3u && y != 4u) || x == y"),
        (either().and(x.equal(&y)), "(x >= 3u || y == 4u) && x == y"),
        ((&x + 1).less(&y / 2), "x + 1u < (y >> 1u)"),
    ] {
        assert_eq!(condition.to_string(), text);
    }
}

#[test]
fn a_variable_is_assigned_anew_or_changed() {
    let mut code = Code::new();
    let y = code.parameter("y", 99);
    let x = code.variable("x", 0, 200);
    code.assign(&x, &y);
    code.assign(&x, Expr::from(&x) + 1);
    code.assign(&x, Expr::from(&x).min(&y));
    code.assign(&x, &y + 1);
    let mut text = String::new();
    statements(&mut text, Style::WGSL, &code.into_parts().0, 1);
    assert_eq!(text, "    var x = 0u;\n    x = y;\n    x += 1u;\n    x = min(x, y);\n    x = y + 1u;\n");
}

#[test]
fn a_workgroup_has_as_many_sizes_as_it_needs() {
    for (size, text) in [([64, 1, 1], "(64)"), ([8, 4, 1], "(8, 4)"), ([8, 1, 2], "(8, 1, 2)")] {
        let shader = ComputeShader::new("main", size);
        let code = shader.code();
        assert!(shader.with_body(code).wgsl().contains(&format!("@compute @workgroup_size{text}\n")));
    }
}
