//! Files through the public interface.

mod families;
mod npy;
mod recipe;
mod recipe_random;
mod written;
