//! A batch of images from NCHW to NHWC, and the check before its upload to a GPU.
//!
//! `cargo run --example nchw_to_nhwc`

use tensor_layout::relayout::Relayout;
use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};
use tensor_layout::{BufferTensorDesc, DataType, Error};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Sizes are always N, C, H, W: only the strides tell the two layouts apart.
    let sizes = [2, 3, 4, 5];
    let nchw = BufferTensorDesc::nchw(DataType::F32, sizes)?;
    let nhwc = BufferTensorDesc::nhwc(DataType::F32, sizes)?;
    println!("from {nchw}\nto   {nhwc}");

    let images: Vec<f32> = (0_u16..120).map(f32::from).collect();
    let mut turned = vec![0.0; images.len()];
    let plan = Relayout::new(&nchw, &nhwc)?;
    plan.run(bytemuck::cast_slice(&images), bytemuck::cast_slice_mut(&mut turned))?;
    println!("\n{}", plan.explain().trim_end());

    // The three channels of one pixel are now neighbours in memory.
    let index = [1, 0, 2, 3];
    let (from, to) = (place(&nchw, &index)?, place(&nhwc, &index)?);
    println!("\nimage 1, row 2, column 3: channel 0 was element {from}, and is element {to}");
    println!("its channels: {:?}", &turned[to..to + 3]);
    assert_eq!(turned[to], images[from]);
    assert_eq!(turned[to + 1], images[place(&nchw, &[1, 1, 2, 3])?]);

    // Would DirectML accept this buffer, 256 bytes into a heap of 1 KiB?
    let report = validate(&nhwc, &UploadBuffer::new(1024, 256, Role::Input), &DeviceLimits::directml())?;
    println!("\n{report}");
    Ok(())
}

fn place(desc: &BufferTensorDesc, index: &[u64]) -> Result<usize, Error> {
    Ok(usize::try_from(desc.offset(index)?).expect("a small tensor"))
}
