//! The code of these pages is tested: `cargo test --doc` runs it. The pages are not in the package of the
//! library, and one that is in the package of its crate uses others, so they are tested here.

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

/// crates/transfers/README.md.
#[cfg(doctest)]
#[doc = include_str!("../crates/transfers/README.md")]
struct TransfersPage;

/// crates/shader/README.md.
#[cfg(doctest)]
#[doc = include_str!("../crates/shader/README.md")]
struct ShaderPage;
