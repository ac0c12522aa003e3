//! Files through the public interface.

mod npy;
mod recipe;
mod recipe_random;
