//! Recipes: the outputs that an engine reads, made of the tensors of a model by one list of copies.
//!
//! A recipe is a text of one output a line. crates/files/README.md describes the language.
//!
//! ```text
//! text -> lines (text.rs, expression.rs, pattern.rs)  names with `{i}`, `{q,k,v}` and `over {e}`
//!      -> sources of each output (planner.rs)        the names of the model that match
//!      -> views of the sources (value.rs)          every step changes views, and moves no byte
//!      -> copies into ranges of the output (form.rs), once for all outputs of equal form
//!      -> bytes (run.rs)                           on threads, to memory or to a new file
//! ```

mod error;
mod expression;
mod form;
mod pattern;
mod plan;
mod planner;
mod run;
mod text;
mod value;
mod write;

use crate::File;

pub use error::RecipeError;
pub use form::Copy;
pub use plan::{Output, Plan, Settings};
pub use write::Target;

/// A recipe that was read.
///
/// ```
/// use tensor_layout_files::recipe::{Recipe, Settings};
/// use tensor_layout_files::{Writer, open};
///
/// let path = std::env::temp_dir().join("tensor-layout-recipe.safetensors");
/// let (rows, bytes) = ("u8[2,3]:[3,1]".parse()?, *b"abcdef");
/// Writer::create(&path)?.tensor("q", &rows, &bytes)?.tensor("k", &rows, b"ghijkl")?.finish()?;
/// let file = open(&path)?;
/// let plan = Recipe::parse("qk = cat 0 ({q,k} | shard 1) | permute 1,0")?.plan(&file, &Settings::of_rank(0, 2))?;
/// let [qk] = plan.outputs() else { panic!("one line, one output") };
/// assert_eq!((qk.layout().to_string(), qk.size_in_bytes()), ("u8[2,4]:[4,1]".into(), 8));
/// let mut memory = [0; 8];
/// plan.run(qk, &mut memory, 2)?;
/// assert_eq!(&memory, b"adgjbehk");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    text: String,
    lines: Vec<expression::Line>,
}

impl Recipe {
    /// Reads a recipe.
    ///
    /// # Errors
    ///
    /// The line and the column of what does not follow the grammar; a text of more than 1 MiB.
    pub fn parse(text: &str) -> Result<Recipe, RecipeError> {
        Ok(Recipe { lines: text::parse(text)?, text: text.to_owned() })
    }

    /// Plans the outputs for a model.
    ///
    /// # Errors
    ///
    /// The line, the column and the name: no source of a line exists, or only some; two outputs have one
    /// name; the sizes do not fit; a cut goes through a block or a group of values with one scale; `shard`
    /// without a rank; more than 1,000,000 outputs.
    pub fn plan<'f>(&self, file: &'f File, settings: &Settings) -> Result<Plan<'f>, RecipeError> {
        planner::plan(&self.text, &self.lines, file, settings)
    }
}
