//! The texts of layouts, read and written.

mod bounds;
mod nothing_dropped;
mod page;
mod printed;
mod reading;
mod reading_back;
mod shortest;
mod spell;
mod steps_of_views;
mod swizzles;
mod texts;
mod triton;
