//! XLA's tiled layouts and DirectML's strides: which tiled layouts strides describe, and which they do not.
//!
//! `cargo run --example tiled_bridge`

use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType, ToIndexMap};
use tensor_layout_text::to_xla;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("tiles to strides\n");
    for text in [
        "f32[3,100]{1,0:T(8,128)}",
        "f32[16,256]{1,0:T(8,128)}",
        "bf16[300,500]{1,0:T(8,128)(2,1)}",
        "f32[12,4]{1,0:T(6,2)(4,1)}",
        "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    ] {
        let shape: ArrayShape = text.parse()?;
        let map = shape.to_index_map()?;
        println!("{text}: {}, {} bytes", map.class(), map.physical_size_in_bytes());
        match lower(&shape)? {
            Lowering::Strided(desc) => println!("    {desc}"),
            Lowering::Split(split) => {
                println!("    {} with axes of dimensions {:?}", split.desc, split.dims);
            }
            Lowering::IndexMap { reason, .. } => println!("    no strides: {reason}"),
            other => println!("    {}", other.name()),
        }
    }

    println!("\nstrides to tiles\n");
    for (sizes, strides) in [
        (&[2, 3][..], &[5, 1][..]),
        (&[4, 6], &[12, 2]),
        (&[1, 3, 4, 5], &[60, 1, 15, 3]),
        (&[4, 6], &[0, 1]),
        (&[4, 6], &[7, 2]),
    ] {
        let desc = BufferTensorDesc::new(DataType::F32, sizes, Some(strides))?;
        match to_xla(&desc) {
            Ok(raised) => {
                // Every element is stored where the strides say.
                assert!(raised.shape.to_index_map()?.same_places(&desc.to_index_map()?)?);
                println!("{desc}: {}, {} bytes past DirectML's minimum", raised.shape, raised.bytes_past_minimum);
            }
            Err(error) => println!("{desc}: {error}"),
        }
    }
    Ok(())
}
