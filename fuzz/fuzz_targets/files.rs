//! Damaged files: .safetensors, their indices, and .npy, through the code that the command line reads them
//! with.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_layout_cli::model_file::{Index, Model};
use tensor_layout::relayout::Relayout;
use tensor_layout::{BufferTensorDesc, ToIndexMap};

#[path = "../../crates/cli/src/index_text.rs"]
#[allow(dead_code, reason = "the command line uses more of it")]
mod index_text;
#[path = "../../crates/cli/src/npy.rs"]
#[allow(dead_code, reason = "the command line uses more of it")]
mod npy;

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
        3 => {
            let mut file = b"\x93NUMPY\x01\x00".to_vec();
            file.extend((rest.len() as u16).to_le_bytes());
            file.extend_from_slice(rest);
            numpy(&file);
        }
        _ => index(rest),
    }
});

fn safetensors(file: &[u8]) {
    let model = match Model::read(file) {
        Ok(model) => model,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    for tensor in model.tensors() {
        let Ok(layout) = tensor.layout() else { continue };
        let map = layout.to_index_map().unwrap();
        assert_eq!((map.sizes(), Some(map.data_type())), (tensor.sizes(), tensor.data_type()));
        assert_eq!(map.physical_size_in_bytes(), tensor.bytes().len() as u64, "{layout}");
        // What a model is for: its tensors are brought into another layout.
        let packed = BufferTensorDesc::packed(map.data_type(), map.sizes()).unwrap();
        let bytes = packed.min_size_in_bytes();
        if bytes < 1 << 20
            && let Ok(relayout) = Relayout::new(layout, &packed)
        {
            relayout.run(tensor.bytes(), &mut vec![0; bytes as usize]).unwrap();
        }
    }
    let mut written = Vec::new();
    if model.write(&mut written).is_err() {
        // A type that has no counterpart here.
        assert!(model.tensors().iter().any(|tensor| tensor.layout().is_err()));
        return;
    }
    let back = Model::read(&written).unwrap();
    assert_eq!(back.metadata(), model.metadata());
    assert_eq!(back.tensors().len(), model.tensors().len());
    for tensor in model.tensors() {
        let other = back.tensor(tensor.name()).unwrap();
        assert_eq!(
            (other.bytes(), other.sizes(), other.data_type()),
            (tensor.bytes(), tensor.sizes(), tensor.data_type())
        );
        let (one, two) = (tensor.layout().unwrap(), other.layout().unwrap());
        assert_eq!(one.to_index_map().unwrap(), two.to_index_map().unwrap());
    }
}

fn numpy(file: &[u8]) {
    let (header, start) = match npy::read_header(file) {
        Ok(found) => found,
        Err(sentence) => {
            assert!(!sentence.is_empty());
            return;
        }
    };
    assert!(start <= file.len());
    if let Ok(map) = header.map() {
        let own = npy::Header::of(&map, "it").unwrap();
        // Where both orders are the same, the first is taken.
        assert_eq!((own.data_type, &own.sizes), (header.data_type, &header.sizes));
        assert_eq!(header.check(&map, "it"), Ok(()));
    }
    let written = npy::write_header(&header).unwrap();
    assert_eq!(npy::read_header(&written), Ok((header, written.len())));
}

fn index(text: &[u8]) {
    let Ok(index) = Index::read(text) else { return };
    for part in index.parts() {
        assert!(!part.contains(['/', '\\']) && part != ".." && !part.is_empty(), "{part:?} is not a plain name");
    }
    assert!(index.tensors().all(|(_, part)| index.parts().any(|known| known == part)));
    let model = Model::default();
    for part in index.parts() {
        let _ = index.check_part(part, &model);
    }
}
