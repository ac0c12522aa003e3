// A convolution of 3 x 3 taps with a margin of 1, and 0 for what is below. An invocation makes one element of the output: x is the pixel,
// y the output channel, z the image.
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let y = id.x / WIDTH;
    let x = id.x % WIDTH;
    if (y >= HEIGHT) {
        return;
    }
    var sum = bias_load_at(id.y);
    for (var tap = 0u; tap < 9u; tap++) {
        // The row in front of row 0 has the number 2^32 - 1, which is not below the height either.
        let row = y + tap / 3u - 1u;
        let column = x + tap % 3u - 1u;
        if (row < HEIGHT && column < WIDTH) {
            var input = input_walk_1(id.z, 0u, row, column);
            var weight = weights_walk_1(id.y, 0u, tap / 3u, tap % 3u);
            for (var channel = 0u; channel < CHANNELS; channel++) {
                sum += input_load(input.offset) * weights_load(weight.offset);
                input = input_step_1(input);
                weight = weights_step_1(weight);
            }
        }
    }
    output_store_at(id.z, id.y, y, x, max(sum, 0.0));
}
