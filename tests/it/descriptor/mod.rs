//! `BufferTensorDesc`: values, views, facts.

mod access;
mod constructors;
mod facts;
mod offsets;
mod overlap;
mod owned;
mod ranks;
mod values;
mod views;
mod whose;
