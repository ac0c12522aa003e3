//! Damaged files, .safetensors and .npy, through the code that the command line reads them
//! with.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_layout::relayout::Relayout;
use tensor_layout::{BufferTensorDesc, ToIndexMap};
use tensor_layout_files::npy::Header as NpyHeader;

#[path = "../../crates/cli/src/model/file.rs"]
#[allow(dead_code, reason = "the command line uses more of it")]
mod file;
use file::{Header, Model};

// The first byte: whole files, files whose lengths fit their headers, headers alone.
fuzz_target!(|data: &[u8]| {
    let Some((&kind, rest)) = data.split_first() else { return };
    match kind % 4 {
        0 => safetensors(rest),
        1 => {
            let Some((&[low, high], header)) = rest.split_first_chunk() else { return };
            let mut file = (header.len() as u64).to_le_bytes().to_vec();
            file.extend_from_slice(header);
            file.resize(file.len() + usize::from(u16::from_le_bytes([low, high])), 7);
            safetensors(&file);
        }
        2 => numpy(rest),
        _ => {
            let mut file = b"\x93NUMPY\x01\x00".to_vec();
            file.extend((rest.len() as u16).to_le_bytes());
            file.extend_from_slice(rest);
            numpy(&file);
        }
    }
});

fn safetensors(file: &[u8]) {
    let model = match Model::read(file) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.is_empty());
            return;
        }
    };
    let mut tensors = Vec::new();
    for tensor in &model.tensors {
        let Ok(layout) = &tensor.layout else { continue };
        let map = layout.to_index_map().unwrap();
        assert_eq!((map.sizes(), Ok(map.data_type())), (&*tensor.sizes, tensor.data_type.clone()));
        assert_eq!(map.physical_size_in_bytes(), tensor.bytes.len() as u64, "{layout}");
        // What a model is for: its tensors are brought into another layout.
        let packed = BufferTensorDesc::packed(map.data_type(), map.sizes()).unwrap();
        let bytes = packed.min_size_in_bytes();
        if bytes < 1 << 20
            && let Ok(relayout) = Relayout::new(layout, &packed)
        {
            relayout.run(tensor.bytes, &mut vec![0; bytes as usize]).unwrap();
        }
        tensors.push((tensor, layout, map));
    }
    let header =
        Header::new(tensors.iter().map(|(tensor, layout, map)| (&*tensor.name, *layout, map)), &model.metadata);
    let header = header.unwrap();
    let mut written = header.bytes;
    header.order.iter().for_each(|&place| written.extend(tensors[place].0.bytes));
    let back = Model::read(&written).unwrap();
    assert_eq!((&back.metadata, back.tensors.len()), (&model.metadata, tensors.len()));
    for (tensor, _, map) in tensors {
        let other = back.tensor(&tensor.name).unwrap();
        assert_eq!((other.bytes, &other.sizes), (tensor.bytes, &tensor.sizes));
        assert_eq!(other.layout.as_ref().unwrap().to_index_map().unwrap(), map);
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
