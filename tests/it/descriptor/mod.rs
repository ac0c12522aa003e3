//! `BufferTensorDesc`: values, views, facts.

mod access;
mod facts;
mod offsets;
mod overlap;
mod ranks;
mod values;
mod views;
mod whose;
