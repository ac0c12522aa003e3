//! The relayout suite: how long each case takes beside a plain copy of as many bytes.
//!
//! ```text
//! cargo bench --bench relayout -- [--csv] [--only GLOB] [--rounds N] [--threads N]
//! ```
//!
//! The figure of a case is `time / best copy`: the faster of `copy_from_slice` and of this crate's own copy (which
//! stores round the cache when the buffers are large), over half the bytes read and written, in the same run. Case and copies take
//! turns; the minima of the same rounds are compared, and the median of the per-round ratios stands beside
//! them. Cases are those of relayout_suite.tsv; `level` is the kernel level in use (see TENSOR_LAYOUT_LEVEL).

use std::time::{Duration, Instant};

use tensor_layout::notation::Notated;
use tensor_layout::relayout::{KernelLevel, Relayout};
use tensor_layout::{BufferTensorDesc, DataType};

struct Options {
    csv: bool,
    only: String,
    rounds: usize,
    threads: usize,
}

fn main() {
    let mut options = Options { csv: false, only: "*".into(), rounds: 0, threads: 1 };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_else(|| panic!("{argument} needs a value"));
        match argument.as_str() {
            "--csv" => options.csv = true,
            "--only" => options.only = value(),
            "--rounds" => options.rounds = value().parse().expect("a number of rounds"),
            "--threads" => options.threads = value().parse().expect("a number of threads"),
            "--bench" => {}
            other => panic!("unknown argument {other}"),
        }
    }
    let suite = include_str!("relayout_suite.tsv");
    let header = "size,case,threads,level,seconds_min,seconds_median,copy_seconds_min,ratio,ratio_median";
    println!("{header}");
    let mut means: Vec<(String, Vec<f64>)> = Vec::new();
    for line in suite.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [size, case, from, to] = fields[..] else { panic!("a line of four fields: {line}") };
        if !matches_glob(&options.only, &format!("{size}/{case}")) && !matches_glob(&options.only, case) {
            continue;
        }
        let ratio = run_case(size, case, from, to, &options);
        match means.iter_mut().find(|(name, _)| name == size) {
            Some((_, ratios)) => ratios.push(ratio),
            None => means.push((size.to_owned(), vec![ratio])),
        }
    }
    if !options.csv {
        for (size, ratios) in means {
            let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            println!("{size}: geometric mean {mean:.3} of {} cases", ratios.len());
        }
    }
}

fn run_case(size: &str, case: &str, from: &str, to: &str, options: &Options) -> f64 {
    let (from, to): (Notated, Notated) = (from.parse().unwrap(), to.parse().unwrap());
    let relayout = Relayout::new(&from, &to).unwrap();
    let lengths = (relayout.source_size_in_bytes() as usize, relayout.destination_size_in_bytes() as usize);
    let source = Lines::new(lengths.0);
    let mut destination = Lines::new(lengths.1);
    let half = lengths.0.midpoint(lengths.1);
    let copied = Lines::new(half);
    let mut copy = Lines::new(half);
    let bytes = BufferTensorDesc::packed(DataType::U8, &[half as u64]).unwrap();
    let plain = Relayout::new(&bytes, &bytes).unwrap();
    // Enough repetitions that a measurement takes some microseconds, and enough rounds for a minimum.
    let repeats = (2_000_000 / half.max(1)).clamp(1, 200);
    let rounds = if options.rounds > 0 { options.rounds } else { (3_000_000_000 / (half * repeats)).clamp(9, 60) };
    let mut samples: Vec<(f64, f64)> = Vec::new();
    for _ in 0..=rounds {
        let library = time(repeats, || copy.bytes_mut().copy_from_slice(std::hint::black_box(copied.bytes())));
        let own = time(repeats, || plain.run(copied.bytes(), copy.bytes_mut()).unwrap());
        let taken = time(repeats, || relayout.run(source.bytes(), destination.bytes_mut()).unwrap());
        samples.push((taken, library.min(own)));
    }
    // The first round faults the pages in.
    samples.remove(0);
    let minimum = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let seconds = minimum(&mut samples.iter().map(|sample| sample.0));
    let copy_seconds = minimum(&mut samples.iter().map(|sample| sample.1));
    let seconds_median = median(samples.iter().map(|sample| sample.0).collect());
    let ratio_median = median(samples.iter().map(|sample| sample.0 / sample.1).collect());
    let ratio = seconds / copy_seconds;
    let (threads, level) = (options.threads, KernelLevel::in_use());
    println!(
        "{size},{case},{threads},{level},{seconds:.3e},{seconds_median:.3e},{copy_seconds:.3e},{ratio:.3},{ratio_median:.3}"
    );
    ratio
}

/// Seconds of one call, over `repeats` of them.
fn time(repeats: usize, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..repeats {
        call();
    }
    let taken: Duration = start.elapsed();
    taken.as_secs_f64() / repeats as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// `*` stands for anything.
fn matches_glob(glob: &str, name: &str) -> bool {
    match glob.split_once('*') {
        None => glob == name,
        Some((start, rest)) => {
            let Some(name) = name.strip_prefix(start) else { return false };
            rest.is_empty() || (0..=name.len()).any(|skip| matches_glob(rest, &name[skip..]))
        }
    }
}

/// Bytes that begin at a cache line, as the buffers of an engine do.
struct Lines {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Lines {
    fn new(length: usize) -> Lines {
        let memory: Vec<u8> = (0..length + 4096).map(|i| (i ^ (i >> 8)) as u8).collect();
        let start = memory.as_ptr().align_offset(4096);
        Lines { memory, start, length }
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}
