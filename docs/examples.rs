//! The code of these pages is tested: `cargo test --doc` runs it. The pages are not in the package of the
//! library, so they are tested here.

/// docs/GPU.md.
#[cfg(doctest)]
#[doc = include_str!("GPU.md")]
struct GpuPage;

/// docs/RECIPES.md.
#[cfg(doctest)]
#[doc = include_str!("RECIPES.md")]
struct RecipesPage;

/// docs/XLA.md.
#[cfg(doctest)]
#[doc = include_str!("XLA.md")]
struct XlaPage;

/// docs/DEVICE_LAYOUTS.md.
#[cfg(doctest)]
#[doc = include_str!("DEVICE_LAYOUTS.md")]
struct DeviceLayoutsPage;

/// The adapters of docs/RECIPES.md depend on crates that nothing else here does, so they are compiled in
/// `benches/adapters`. The page shows that file.
#[test]
fn the_page_shows_the_adapters() {
    let (page, file) = (include_str!("RECIPES.md"), include_str!("../benches/adapters/src/lib.rs"));
    let shown: Vec<&str> =
        page.split("```rust,ignore\n").skip(1).filter_map(|block| block.split("```").next()).collect();
    assert_eq!(shown.len(), 2);
    let lines: Vec<&str> = file.lines().map(str::trim).collect();
    for line in shown.iter().flat_map(|block| block.lines()).map(str::trim) {
        assert!(lines.contains(&line), "{line}");
    }
}
