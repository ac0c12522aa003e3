//! The cost of describing a tensor: nanoseconds and allocations of one operation on a rank-4 tensor, beside
//! the same operation in ndarray, rten-tensor and candle-core.
//!
//! `cargo bench --bench descriptors`
//!
//! The other crates are in `benches/peers`, a package of its own that this bench builds and runs (minutes the
//! first time). As dev-dependencies they would slow down every build of the tests. Without a network, or from
//! the published package, which lacks that folder, their columns stay empty.
#![allow(unsafe_code, reason = "counting allocations takes a global allocator")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};

use tensor_layout::upload::{DeviceLimits, Role, UploadBuffer, validate};
use tensor_layout::{BufferTensorDesc, DataType};

mod measure;

const SIZES: [u64; 4] = [8, 64, 56, 56];
const PACKED: [u64; 4] = [200_704, 3136, 56, 1];
const PADDED: [u64; 4] = [229_376, 3584, 64, 1];
const PEERS: [&str; 3] = ["ndarray", "rten-tensor", "candle-core"];

fn own() -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |operation: &str, cost: measure::Cost| lines.push(measure::line(operation, "tensor-layout", &cost));
    let packed = || BufferTensorDesc::packed(DataType::F32, black_box(&SIZES)).unwrap();
    let strided = |strides: &[u64]| BufferTensorDesc::new(DataType::F32, black_box(&SIZES), Some(strides)).unwrap();
    let (desc, padded) = (packed(), strided(&PADDED));
    let limits = DeviceLimits::directml();
    let buffer = UploadBuffer::new(1 << 30, 4096, Role::Output);

    add("construct packed", measure::measure(packed));
    add("construct with strides", measure::measure(|| strided(black_box(&PACKED))));
    add(
        "construct, size and facts",
        measure::measure(|| {
            let desc = strided(black_box(&PADDED));
            (desc.min_size_in_bytes(), desc.facts())
        }),
    );
    add("copy", measure::measure(|| black_box(&desc).clone()));
    add("smallest buffer", measure::measure(|| black_box(&desc).min_size_in_bytes()));
    add("is it packed", measure::measure(|| black_box(&desc).is_packed()));
    add("all six facts", measure::measure(|| black_box(&padded).facts()));
    add("does it overlap", measure::measure(|| black_box(&padded).overlap()));
    add("offset of an index", measure::measure(|| black_box(&desc).offset(black_box(&[3, 20, 11, 40]))));
    add("permute", measure::measure(|| black_box(&desc).permute(black_box(&[0, 2, 3, 1])).unwrap()));
    add("slice one axis", measure::measure(|| black_box(&desc).slice_axis(1, black_box(16..48)).unwrap()));
    let row = BufferTensorDesc::packed(DataType::F32, &[64, 1, 1]).unwrap();
    add("broadcast", measure::measure(|| black_box(&row).broadcast_to(black_box(&SIZES)).unwrap()));
    add("reshape packed", measure::measure(|| black_box(&desc).reshape(black_box(&[8, 64, 3136])).unwrap()));
    add("reshape padded", measure::measure(|| black_box(&padded).reshape(black_box(&[8, 4, 16, 56, 56])).unwrap()));
    add("coalesce", measure::measure(|| black_box(&padded).coalesce()));
    add("validate an upload", measure::measure(|| validate(black_box(&desc), &buffer, &limits).unwrap()));
    lines
}

fn peers() -> Option<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = root.join("benches/peers/Cargo.toml");
    if !manifest.is_file() {
        return None;
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    eprintln!("building and measuring {} ...", PEERS.join(", "));
    let run = Command::new(cargo)
        .args(["run", "--quiet", "--release", "--manifest-path"])
        .arg(manifest)
        .env("CARGO_TARGET_DIR", root.join("target/peers"))
        .stderr(Stdio::inherit())
        .output()
        .ok()?;
    let text = String::from_utf8(run.stdout).ok()?;
    run.status.success().then(|| text.lines().map(str::to_owned).collect())
}

fn main() {
    // `cargo test --benches` runs this file as well, and there is nothing to test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let own = own();
    let others = peers().unwrap_or_else(|| {
        eprintln!("the other crates could not be built: their columns stay empty");
        Vec::new()
    });
    let mut cells: BTreeMap<(&str, &str), String> = BTreeMap::new();
    let mut operations: Vec<&str> = Vec::new();
    for line in own.iter().chain(&others) {
        let fields: Vec<&str> = line.split('\t').collect();
        if let [operation, name, nanoseconds, allocations] = fields[..] {
            if !operations.contains(&operation) {
                operations.push(operation);
            }
            cells.insert((operation, name), format!("{nanoseconds} ns, {allocations}"));
        }
    }
    println!("nanoseconds and allocations of one operation on a rank-4 tensor {SIZES:?}\n");
    let names = [&["tensor-layout"], &PEERS[..]].concat();
    print!("{:<26}", "");
    names.iter().for_each(|name| print!("{name:>18}"));
    println!();
    for operation in operations {
        print!("{operation:<26}");
        for name in &names {
            print!("{:>18}", cells.get(&(operation, *name)).map_or("-", String::as_str));
        }
        println!();
    }
}
