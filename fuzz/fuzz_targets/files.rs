//! Damaged files, .safetensors, GGUF and .npy, through the crate that reads them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_layout::relayout::Relayout;
use tensor_layout::{BufferTensorDesc, ToIndexMap};
use tensor_layout_files::npy::Header as NpyHeader;
use tensor_layout_files::{Writer, open, read};

// The first byte: whole files, files whose lengths fit their headers, headers alone.
fuzz_target!(|data: &[u8]| {
    let Some((&kind, rest)) = data.split_first() else { return };
    match kind % 5 {
        0 => safetensors(rest),
        1 => {
            let Some((&[low, high], header)) = rest.split_first_chunk() else { return };
            let mut file = (header.len() as u64).to_le_bytes().to_vec();
            file.extend_from_slice(header);
            file.resize(file.len() + usize::from(u16::from_le_bytes([low, high])), 7);
            safetensors(&file);
        }
        2 => numpy(rest),
        3 => safetensors(&[b"GGUF", rest].concat()),
        _ => {
            let mut file = b"\x93NUMPY\x01\x00".to_vec();
            file.extend((rest.len() as u16).to_le_bytes());
            file.extend_from_slice(rest);
            numpy(&file);
        }
    }
});

fn safetensors(file: &[u8]) {
    let model = match read("it", file.to_vec()) {
        Ok(model) => model,
        Err(error) => {
            assert!(error.to_string().starts_with("it "));
            return;
        }
    };
    let path = std::env::temp_dir().join(format!("tensor-layout-fuzz-{}.safetensors", std::process::id()));
    let mut writer = Writer::create(&path).unwrap();
    let mut tensors = Vec::new();
    for tensor in model.tensors() {
        let Ok(layout) = tensor.layout() else { continue };
        assert_eq!(layout.sizes(), tensor.sizes());
        // A layout of several parts or planes has no map, and is written by recipes alone.
        let Ok(map) = layout.to_index_map() else { continue };
        assert_eq!(map.physical_size_in_bytes(), tensor.bytes().len() as u64, "{layout}");
        // What a model is for: its tensors are brought into another layout.
        let packed = BufferTensorDesc::packed(map.data_type(), map.sizes()).unwrap();
        let bytes = packed.min_size_in_bytes();
        if bytes < 1 << 20
            && let Ok(relayout) = Relayout::new(&layout, &packed)
        {
            relayout.run(tensor.bytes(), &mut vec![0; bytes as usize]).unwrap();
        }
        writer = writer.tensor(tensor.name(), &layout, tensor.bytes()).unwrap();
        tensors.push((tensor, map));
    }
    // A word of the metadata may name the layout of a tensor that it does not have.
    writer.finish().unwrap();
    let back = open(&path).unwrap();
    assert_eq!(back.tensors().count(), tensors.len());
    for (tensor, map) in tensors {
        let other = back.tensor(tensor.name()).unwrap();
        assert_eq!((other.bytes(), other.sizes()), (tensor.bytes(), tensor.sizes()));
        assert_eq!(other.layout().unwrap().to_index_map().unwrap(), map);
    }
}

fn numpy(file: &[u8]) {
    let (header, start) = match NpyHeader::read(file) {
        Ok(found) => found,
        Err(sentence) => {
            assert!(!sentence.is_empty());
            return;
        }
    };
    assert!(start <= file.len());
    if let Ok(map) = header.layout().and_then(|layout| layout.to_index_map()) {
        let own = NpyHeader::of(&map, "it").unwrap();
        // Where both orders are the same, the first is taken.
        assert_eq!((own.data_type, &own.sizes), (header.data_type, &header.sizes));
        assert!(header.check(&map, "it").is_ok());
    }
    let mut header = header;
    header.opaque = None;
    let written = header.write().unwrap();
    assert_eq!(NpyHeader::read(&written), Ok((header, written.len())));
}
