// Pixels of 8 bits, 0 to 16, as numbers from 0 to 1. An invocation makes one of them: x is the pixel, y the channel, z the image.
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let y = id.x / WIDTH;
    let x = id.x % WIDTH;
    if (y < HEIGHT) {
        output_store_at(id.z, id.y, y, x, f32(input_load_at(id.z, id.y, y, x)) / 16.0);
    }
}
