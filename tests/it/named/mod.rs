//! Named layouts.

mod layouts;
mod page;
mod recorded;
