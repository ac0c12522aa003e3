use super::*;

#[test]
fn numbers_become_stars() {
    assert_eq!(pattern("cache[0][12]"), "cache[*][*]");
    assert_eq!(pattern("jit(f)/layer_3/dot"), "jit(f)/layer_*/dot");
    assert_eq!(
        (stem("fusion"), stem("fusion.12"), stem("Arg_1.2")),
        ("fusion".into(), "fusion".into(), "Arg_*".into())
    );
    assert_eq!((stem("copy.a"), stem("x.")), ("copy.a".into(), "x".into()));
}
