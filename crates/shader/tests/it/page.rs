//! docs/GPU.md shows the example that is compiled and run, and nothing else under its name.

#[test]
fn the_page_shows_the_example_as_it_is() {
    let page = include_str!("../../../../docs/GPU.md");
    let example = include_str!("../../../wgpu/examples/bind_weights.rs");
    let code: Vec<&str> = example.lines().skip_while(|line| line.starts_with("//!") || line.is_empty()).collect();
    assert!(page.contains(&code.join("\n")), "docs/GPU.md does not show crates/wgpu/examples/bind_weights.rs as it is");
    let body = code.iter().skip_while(|line| !line.starts_with("fn main")).filter(|line| !line.is_empty()).count();
    assert!(body <= 50, "{body} lines");
}
