//! Times of a recipe that fuses, transposes and shards, over those of a plain copy of the same bytes, and of
//! planning. Five runs in turns, minima, two threads, files in the page cache. The model has so many MiB,
//! 1024 by default, and stays in the folder of temporary files if `KEEP` is set:
//!
//! ```text
//! cargo bench -p tensor-layout-files --bench recipe -- [MEGABYTES]
//! ```
#![allow(clippy::as_conversions, clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "a measurement")]

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tensor_layout_files::recipe::{Recipe, Settings, Target};
use tensor_layout_files::{Writer, open, read};

const RECIPE: &str = "\
l.{i}.qkv  = cat 0 (model.layers.{i}.self_attn.{q,k,v}_proj.weight | shard 0) | permute 1,0
l.{i}.o    = model.layers.{i}.self_attn.o_proj.weight | shard 1 | permute 1,0
l.{i}.w13  = cat 0 (model.layers.{i}.mlp.{gate,up}_proj.weight | shard 0) | permute 1,0
l.{i}.down = model.layers.{i}.mlp.down_proj.weight | shard 1 | permute 1,0
* = *";

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn copied(from: &[u8], to: &mut [u8]) {
    let half = from.len() / 2;
    let (one, other) = to.split_at_mut(half);
    std::thread::scope(|scope| {
        scope.spawn(|| one.copy_from_slice(&from[..half]));
        other.copy_from_slice(&from[half..]);
    });
}

/// The anonymous memory of this process, in KiB.
fn anonymous() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap_or("0");
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

fn main() {
    let megabytes: usize = std::env::args().filter_map(|word| word.parse().ok()).next().unwrap_or(1024);
    let folder = std::env::temp_dir().join(format!("recipe-figures-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let [model, out, copy] = ["model", "out", "copy"].map(|name| folder.join(format!("{name}.safetensors")));

    // Layers of a model with 2048 columns: 4 + 1 + 1 + 4 MiB of attention, 3 x 22 MiB of the MLP.
    let (hidden, key, inner) = (2048_u64, 512_u64, 5632_u64);
    let shapes = [
        ("self_attn.q_proj", [hidden, hidden]),
        ("self_attn.k_proj", [key, hidden]),
        ("self_attn.v_proj", [key, hidden]),
        ("self_attn.o_proj", [hidden, hidden]),
        ("mlp.gate_proj", [inner, hidden]),
        ("mlp.up_proj", [inner, hidden]),
        ("mlp.down_proj", [hidden, inner]),
    ];
    let layer: u64 = shapes.iter().map(|(_, sizes)| sizes[0] * sizes[1] * 2).sum();
    let layers = ((megabytes as u64) << 20).div_ceil(layer);
    let noise: Vec<u8> = (0..inner * hidden * 2).map(|k| (k * 31 + k / 251) as u8).collect();
    let mut writer = Writer::create(&model).unwrap();
    for number in 0..layers {
        for (name, sizes) in shapes {
            let layout = format!("bf16[{},{}]:[{},1]", sizes[0], sizes[1], sizes[1]).parse().unwrap();
            let name = format!("model.layers.{number}.{name}.weight");
            writer = writer.tensor(&name, &layout, &noise[..(sizes[0] * sizes[1] * 2) as usize]).unwrap();
        }
    }
    writer.finish().unwrap();
    drop(noise);

    let file = open(&model).unwrap();
    let recipe = Recipe::parse(RECIPE).unwrap();
    let plan = recipe.plan(&file, &Settings::of_rank(0, 1)).unwrap();
    let [_, bytes] = plan.bytes();
    println!("{} MiB, {} outputs of {} forms", bytes >> 20, plan.outputs().len(), plan.forms());

    let (peak, ends) = (AtomicU64::new(0), AtomicBool::new(false));
    let before = anonymous();
    let (mut to_file, mut cp) = (Duration::MAX, Duration::MAX);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !ends.load(Relaxed) {
                peak.fetch_max(anonymous(), Relaxed);
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        for _ in 0..5 {
            for path in [&out, &copy] {
                let _ = fs::remove_file(path);
            }
            to_file = to_file.min(timed(|| drop(plan.write(&Target::new(&out), &|_| ()).unwrap())));
            let cp_and_sync = "cp \"$0\" \"$1\" && sync \"$1\"";
            cp = cp.min(timed(|| {
                let words = ["-c", cp_and_sync, model.to_str().unwrap(), copy.to_str().unwrap()];
                assert!(std::process::Command::new("sh").args(words).status().unwrap().success());
            }));
        }
        ends.store(true, Relaxed);
    });
    println!(
        "into a file, on the disk: {to_file:?}, cp and sync {cp:?}: {:.2}",
        to_file.as_secs_f64() / cp.as_secs_f64()
    );
    println!("anonymous memory beside the mapped files: {:.1} MiB", (peak.load(Relaxed) - before) as f64 / 1024.0);

    let source: Vec<u8> = vec![7; bytes as usize];
    let mut memory = vec![1; bytes as usize];
    let (mut run, mut plain) = (Duration::MAX, Duration::MAX);
    for _ in 0..5 {
        run = run.min(timed(|| {
            let mut rest = memory.as_mut_slice();
            for output in plan.outputs() {
                let (own, after) = rest.split_at_mut(output.size_in_bytes() as usize);
                plan.run(output, own, 2).unwrap();
                rest = after;
            }
        }));
        plain = plain.min(timed(|| copied(&source, &mut memory)));
    }
    println!("into memory: {run:?}, memcpy {plain:?}: {:.2}", run.as_secs_f64() / plain.as_secs_f64());
    drop((source, memory));

    // 10,000 tensors of 20 forms.
    let mut header = serde_json::Map::new();
    for number in 0..10_000 {
        let name = format!("l.{}.t{}", number / 20, number % 20);
        header
            .insert(name, serde_json::json!({ "dtype": "U8", "shape": [number % 20 + 1, 3], "data_offsets": [0, 0] }));
    }
    let mut end = 0;
    for info in header.values_mut() {
        let bytes = info["shape"][0].as_u64().unwrap() * 3;
        info["data_offsets"] = serde_json::json!([end, end + bytes]);
        end += bytes;
    }
    let header = serde_json::Value::from(header).to_string();
    let mut whole = (header.len() as u64).to_le_bytes().to_vec();
    whole.extend(header.bytes());
    whole.resize(whole.len() + end as usize, 0);
    let many = read("many", whole).unwrap();
    let text: String = (0..20).map(|form| format!("o.{{i}}.{form} = l.{{i}}.t{form} | permute 1,0\n")).collect();
    let recipe = Recipe::parse(&text).unwrap();
    let each = (0..5).map(|_| timed(|| assert_eq!(recipe.plan(&many, &Settings::default()).unwrap().forms(), 20)));
    println!("planning 10,000 tensors of 20 forms: {:?} a tensor", each.min().unwrap() / 10_000);
    if std::env::var_os("KEEP").is_none() {
        fs::remove_dir_all(&folder).unwrap();
    } else {
        println!("{}", model.display());
    }
}
