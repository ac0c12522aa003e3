use super::*;

#[test]
fn braces_that_the_shell_expanded_are_put_together_again() {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let found = |line: &str| expanded_braces(&words(line));
    assert_eq!(found("describe f32[2,3]1 f32[2,3]0"), Some("f32[2,3]{1,0}".into()));
    assert_eq!(found("offset f32[2,3,4]2 f32[2,3,4]1 f32[2,3,4]0 1,1,1"), Some("f32[2,3,4]{2,1,0}".into()));
    assert_eq!(found("same f32[2,3] f32[2,3]:[3,1]"), None);
    assert_eq!(found("same f32[2]1 f32[3]1"), None);
}
