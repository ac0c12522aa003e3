//! What libraries answered themselves, recorded by the scripts in tests/data/named: the size of each buffer
//! in bytes, and the offsets of sampled elements.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tensor_layout::upload::{DeviceLimits, validate_description};
use tensor_layout::{BufferTensorDesc, ToIndexMap};
use tensor_layout_text::named::NamedLayout;
use tensor_layout_text::{Layout, onednn_size_in_bytes};

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

type Offsets = Box<dyn Fn(&[u64]) -> u64>;

/// Reads the size in bytes of a layout, and a function that returns offsets.
fn read(text: &str) -> (u64, Offsets) {
    if let Ok(named) = text.parse::<NamedLayout>() {
        return (named.size_in_bytes(), Box::new(move |index| named.offset(index).unwrap()));
    }
    let map = text.parse::<Layout>().unwrap_or_else(|error| panic!("{text}: {error}")).to_index_map().unwrap();
    (map.physical_size_in_bytes(), Box::new(move |index| map.offset(index).unwrap()))
}

/// The recorded lines of every file, without their heads.
fn answers() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/named");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect();
    paths.sort();
    let mut answers = Vec::new();
    for path in paths {
        assert!(path.with_extension("py").exists(), "{}: no script", path.display());
        let text = std::fs::read_to_string(&path).unwrap();
        answers.extend(text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }
    answers
}

/// The names that have recorded answers, without their numbers.
pub(super) fn names() -> BTreeSet<String> {
    let texts = answers().into_iter().map(|answer| answer["layout"].as_str().unwrap().to_owned());
    let name = |text: String| Some(text.split(['<', ':']).next()?.to_owned());
    texts.filter_map(name).filter(|name| name.contains('.')).collect()
}

#[test]
fn libraries_answered_the_same() {
    let (mut layouts, mut offsets) = (0, 0);
    for answer in answers() {
        let layout = answer["layout"].as_str().unwrap();
        let (bytes, offset) = read(layout);
        if let Some(recorded) = answer.get("bytes") {
            assert_eq!(bytes, number(recorded), "{layout}: the size in bytes");
        }
        if let Some(recorded) = answer.get("onednn_bytes") {
            let desc: BufferTensorDesc = layout.parse().unwrap();
            assert_eq!(onednn_size_in_bytes(&desc).ok(), recorded.as_u64(), "{layout}: oneDNN's size in bytes");
            // oneDNN gives an element that is repeated along all axes no bytes.
            let checked = validate_description(&desc, &"onednn".parse::<DeviceLimits>().unwrap());
            let bytes = recorded.as_u64().map(|bytes| bytes.max(desc.exact_size_in_bytes()));
            assert_eq!(checked.map(|report| report.total_bytes).ok(), bytes, "{layout}: checked for oneDNN");
        }
        for sample in answer["offsets"].as_array().unwrap() {
            let mut index: Vec<u64> = sample.as_array().unwrap().iter().map(number).collect();
            let recorded = index.pop().unwrap();
            assert_eq!(offset(&index), recorded, "{layout} at {index:?}");
            offsets += 1;
        }
        layouts += 1;
    }
    println!("{layouts} layouts of {} names, {offsets} offsets", names().len());
    assert!(layouts > 300 && names().len() > 50, "{layouts} layouts of {} names", names().len());
}
