//! Moving elements from one layout to another.
