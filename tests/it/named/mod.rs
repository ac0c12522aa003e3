//! Named layouts.

mod layouts;
mod page;
