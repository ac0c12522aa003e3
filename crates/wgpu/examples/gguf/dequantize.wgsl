// One row of a matrix in ggml's blocks as f32. An invocation makes one value. The lines before these have the row, the
// values of a block and the function weights_load_at(row, block, byte).
@group(0) @binding(0) var<storage, read> weights_words: array<u32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;

fn byte_at(block: u32, at: u32) -> u32 {
    return weights_load_at(ROW, block, at);
}

fn f16_at(block: u32, at: u32) -> f32 {
    return unpack2x16float(byte_at(block, at) | (byte_at(block, at + 1u) << 8u)).x;
}

fn dequantize_f32(block: u32, k: u32) -> f32 {
    return bitcast<f32>(byte_at(block, 0u) | (byte_at(block, 1u) << 8u) | (byte_at(block, 2u) << 16u) | (byte_at(block, 3u) << 24u));
}

fn dequantize_q8_0(block: u32, k: u32) -> f32 {
    let value = i32(byte_at(block, 2u + k) << 24u) >> 24u;
    return f16_at(block, 0u) * f32(value);
}

// Values k and k + 16 share a byte.
fn dequantize_q4_0(block: u32, k: u32) -> f32 {
    let nibble = (byte_at(block, 2u + k % 16u) >> (k / 16u * 4u)) & 15u;
    return f16_at(block, 0u) * (f32(nibble) - 8.0);
}

// Values k and k + 32 of each 64 share a byte. Scales and minima of 32 values are 6 bits each, in 12 bytes.
fn dequantize_q4_k(block: u32, k: u32) -> f32 {
    let group = k / 32u;
    var scale = byte_at(block, 4u + group) & 63u;
    var minimum = byte_at(block, 8u + group) & 63u;
    if (group >= 4u) {
        let low = byte_at(block, 8u + group);
        scale = (low & 15u) | ((byte_at(block, group) >> 6u) << 4u);
        minimum = (low >> 4u) | ((byte_at(block, 4u + group) >> 6u) << 4u);
    }
    let nibble = (byte_at(block, 16u + k / 64u * 32u + k % 32u) >> (k % 64u / 32u * 4u)) & 15u;
    return f16_at(block, 0u) * f32(scale) * f32(nibble) - f16_at(block, 2u) * f32(minimum);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    output[id.x] = dequantize(id.x / VALUES, id.x % VALUES);
}
