//! Files as other libraries write them.

/// tests/data/mlx_file.py wrote the file. Its bfloat16 values are those of `w.T`, row by row.
#[test]
fn mlx_writes_null_for_no_metadata() {
    let bytes = include_bytes!("../data/mlx.safetensors");
    let file = tensor_layout_files::read("mlx.safetensors", bytes.to_vec()).unwrap();
    assert!(file.parts()[0].metadata().is_empty());
    let w = file.tensor("w").unwrap();
    assert_eq!((w.type_name().as_str(), w.sizes()), ("bf16", &[4, 3, 2][..]));
    let value = |pair: &[u8]| f32::from_bits(u32::from(u16::from_le_bytes([pair[0], pair[1]])) << 16);
    let values: Vec<f32> = w.bytes().chunks(2).map(value).collect();
    let own = |place: usize| (place / 6 + place / 2 % 3 * 4 + place % 2 * 12) as f32;
    assert_eq!(values, (0..24).map(own).collect::<Vec<_>>());
    assert_eq!(file.tensor("q").unwrap().sizes(), [6]);
}
