//! The texts of layouts, read and written.

mod bounds;
mod page;
mod reading;
mod shortest;
mod spell;
mod steps_of_views;
mod texts;
