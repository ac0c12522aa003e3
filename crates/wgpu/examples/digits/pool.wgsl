// The largest of every 2 x 2 pixels. An invocation makes one element of the output: x is the pixel, y the channel, z the image.
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let y = id.x / WIDTH;
    let x = id.x % WIDTH;
    if (y < HEIGHT) {
        let upper = max(input_load_at(id.z, id.y, 2u * y, 2u * x), input_load_at(id.z, id.y, 2u * y, 2u * x + 1u));
        let lower = max(input_load_at(id.z, id.y, 2u * y + 1u, 2u * x), input_load_at(id.z, id.y, 2u * y + 1u, 2u * x + 1u));
        output_store_at(id.z, id.y, y, x, max(upper, lower));
    }
}
