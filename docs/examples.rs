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

/// Comments have at most 110 columns. Code in them and tables may have more.
#[test]
fn comments_are_narrow() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut open: Vec<_> =
        "kernel/src hlo/src hlo/tests shader/src shader/tests wgpu/src wgpu/tests wgpu/examples cli/src cli/tests examples explorer/src fuzz/src"
            .split(' ')
            .map(|folder| root.join(folder))
            .collect();
    let mut wide = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let mut in_code = false;
            for (number, line) in (1..).zip(text.lines()) {
                let Some(comment) = line.trim_start().strip_prefix("//") else {
                    in_code = false;
                    continue;
                };
                let comment = comment.trim_start_matches(['/', '!']).trim_start();
                in_code ^= comment.starts_with("```");
                if line.chars().count() > 110 && !in_code && !comment.starts_with('|') {
                    wide.push(format!("{}:{number}", path.display()));
                }
            }
        }
    }
    assert!(wide.is_empty(), "comments of more than 110 columns: {wide:#?}");
}
