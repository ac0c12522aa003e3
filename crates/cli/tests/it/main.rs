//! What the program does, as a shell sees it: a module a topic.
#![allow(clippy::disallowed_methods, reason = "tests know what they do to their own files")]

mod answers;
mod blocks;
mod command_line;
mod damaged_models;
mod files;
mod first_steps;
mod gguf_files;
mod hlo;
mod hostile_files;
mod interrupted;
mod kv_caches;
mod laid_out_models;
mod layouts;
mod mistakes;
mod models;
mod named;
mod pages;
mod recipes;
mod safetensors_file;
mod shader;
mod sharded_models;
