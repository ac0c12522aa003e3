//! XLA's shapes and layouts.

mod differential;
mod facts;
mod layouts;
mod padded;
mod rows;
