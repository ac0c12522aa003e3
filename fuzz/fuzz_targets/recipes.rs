//! Texts of recipes, on a small model: what is planned runs, and every byte of each output is written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use tensor_layout_files::recipe::{Recipe, Settings};
use tensor_layout_files::{File, read};

/// Sources of the names that the dictionary of texts has.
static MODEL: LazyLock<File> = LazyLock::new(|| {
    let tensors = [
        ("a", "U8", "4,6", 24),
        ("b", "U8", "4,6", 24),
        ("s", "U8", "4,2", 8),
        ("h", "BF16", "8", 16),
        ("l.0.q", "F32", "2,3", 24),
        ("l.0.k", "F32", "2,3", 24),
        ("l.1.q", "F32", "2,3", 24),
        ("e", "U8", "0,3", 0),
    ];
    let (mut header, mut end) = (Vec::new(), 0);
    for (name, dtype, shape, bytes) in tensors {
        let next = end + bytes;
        header.push(format!(r#""{name}":{{"dtype":"{dtype}","shape":[{shape}],"data_offsets":[{end},{next}]}}"#));
        end = next;
    }
    let header = format!("{{{}}}", header.join(","));
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.extend((0..end).map(|byte| byte as u8));
    read("it", file).unwrap()
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let recipe = match Recipe::parse(text) {
        Ok(recipe) => recipe,
        Err(error) => {
            assert!(error.line() > 0 && error.column() > 0);
            assert!(error.line() <= text.matches('\n').count() + 1);
            return;
        }
    };
    let Ok(plan) = recipe.plan(&MODEL, &Settings::of_rank(1, 3)) else { return };
    for output in plan.outputs() {
        let bytes = output.size_in_bytes() as usize;
        if bytes > 1 << 20 {
            continue;
        }
        // The bytes do not depend on those that were there, nor on the threads.
        let (mut one, mut other) = (vec![0; bytes], vec![0xff; bytes]);
        plan.run(output, &mut one, 1).unwrap();
        plan.run(output, &mut other, 2).unwrap();
        assert!(one == other, "{} of {text}", output.name());
    }
});
