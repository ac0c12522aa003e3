// Every feature times its weight. An invocation makes one sum: x is the image, y the digit.
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x >= IMAGES) {
        return;
    }
    var sum = bias_load_at(id.y);
    for (var pixel = 0u; pixel < HEIGHT * WIDTH; pixel++) {
        var input = input_walk_1(id.x, 0u, pixel / WIDTH, pixel % WIDTH);
        var weight = weights_walk_1(id.y, 0u, pixel / WIDTH, pixel % WIDTH);
        for (var channel = 0u; channel < CHANNELS; channel++) {
            sum += input_load(input.offset) * weights_load(weight.offset);
            input = input_step_1(input);
            weight = weights_step_1(weight);
        }
    }
    output_store_at(id.x, id.y, sum);
}
