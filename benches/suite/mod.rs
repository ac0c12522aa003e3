// The relayout suite: its cases, and how they are timed beside a plain copy. The bench and the program that
// measures the other crates share this file, so that both are measured in the same way.

use std::borrow::Cow;
use std::hint::black_box;
use std::time::Instant;

use tensor_layout::relayout::{Relayout, Settings, Stores};
use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
use tensor_layout_text::Layout;

mod figures;

use figures::{matches_glob, median};

pub(crate) const HEADER: &str =
    "size,case,threads,level,seconds_min,seconds_median,copy_seconds_min,ratio,ratio_median";

pub(crate) struct Options {
    pub(crate) csv: bool,
    /// Whether the other crates are measured as well.
    pub(crate) peers: bool,
    /// Whether HPTT and oneDNN are among them.
    #[allow(dead_code, reason = "a bench reads it, and its program of other crates does not")]
    pub(crate) cpp: bool,
    only: String,
    rounds: usize,
    pub(crate) threads: usize,
    /// Whether the fastest of several measured plans is timed beside the estimate.
    measure: bool,
    /// Whether every plan that answers one question otherwise is timed beside the estimate.
    choices: bool,
    /// Whether stores into fresh memory are compared with stores into memory that was just written.
    memory: bool,
}

impl Options {
    pub(crate) fn from_arguments() -> Options {
        let mut options = Options {
            csv: false,
            peers: false,
            cpp: false,
            only: "*".into(),
            rounds: 0,
            threads: 1,
            measure: false,
            choices: false,
            memory: false,
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_else(|| panic!("{argument} needs a value"));
            match argument.as_str() {
                "--csv" => options.csv = true,
                "--peers" => options.peers = true,
                "--cpp" => options.cpp = true,
                "--only" => options.only = value(),
                "--rounds" => options.rounds = value().parse().expect("a number of rounds"),
                "--threads" => options.threads = value().parse().expect("a number of threads"),
                "--effort" => {
                    options.measure = match value().as_str() {
                        "estimate" => false,
                        "measure" => true,
                        other => panic!("the effort is estimate or measure, and not {other}"),
                    }
                }
                "--choices" => options.choices = true,
                "--memory" => options.memory = true,
                "--bench" => {}
                other => panic!("unknown argument {other}"),
            }
        }
        options
    }
}

/// A line of relayout_suite.tsv, relayout_frames.tsv or relayout_reversed.tsv.
pub(crate) struct Case {
    pub(crate) size: &'static str,
    pub(crate) name: &'static str,
    pub(crate) from: Layout,
    pub(crate) to: Layout,
    /// The axes that are walked backwards.
    pub(crate) axes: Vec<usize>,
}

impl Case {
    /// The number of bytes of all elements that are read and of all elements that are written. A copy may
    /// change their width.
    fn elements(&self) -> (usize, usize) {
        let bytes = |side: &Layout| {
            let map = side.to_index_map().unwrap();
            (map.element_count() * u64::from(map.element_bits())).div_ceil(8) as usize
        };
        (bytes(&self.from), bytes(&self.to))
    }
}

/// A function that copies from one buffer to another.
pub(crate) type Copy<'a> = Box<dyn FnMut(&[u8], &mut [u8]) + 'a>;

/// Another implementation of a copy, with its name.
pub(crate) struct Contestant<'a> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) copy: Copy<'a>,
}

/// Runs all selected cases. `others` returns the contestants of each case.
pub(crate) fn run(options: &Options, others: impl Fn(&Case) -> Vec<Contestant<'static>>) {
    if let Err(error) = tensor_layout::relayout::requested_level() {
        eprintln!("warning: TENSOR_LAYOUT_LEVEL is ignored: {error}");
    }
    if options.memory {
        return destinations();
    }
    println!("{}", if options.choices { "size,case,choice,seconds_min,over_estimate" } else { HEADER });
    let mut means: Vec<(String, Vec<f64>)> = Vec::new();
    let files = [
        include_str!("../relayout_suite.tsv"),
        include_str!("../relayout_frames.tsv"),
        include_str!("../relayout_reversed.tsv"),
    ];
    let lines = files.into_iter().flat_map(str::lines);
    for line in lines.filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let fields: Vec<&'static str> = line.split('\t').collect();
        let [size, name, from, to, ref axes @ ..] = fields[..] else { panic!("a line of four fields or more: {line}") };
        if !matches_glob(&options.only, &format!("{size}/{name}")) && !matches_glob(&options.only, name) {
            continue;
        }
        let axes: Vec<usize> = axes.iter().map(|axis| axis.parse().unwrap()).collect();
        let case = Case { size, name, from: from.parse().unwrap(), to: to.parse().unwrap(), axes };
        if options.choices {
            choices(&case, options);
            continue;
        }
        if !case.axes.is_empty() {
            // Other crates do not run reversed cases, so that the means are over the suite only.
            run_case(&case, options, Vec::new());
            continue;
        }
        let (estimate, measured) = run_case(&case, options, others(&case));
        for (size, ratio) in std::iter::once((size.to_owned(), estimate))
            .chain(measured.map(|ratio| (format!("{size}, measured"), ratio)))
        {
            match means.iter_mut().find(|(name, _)| *name == size) {
                Some((_, ratios)) => ratios.push(ratio),
                None => means.push((size, vec![ratio])),
            }
        }
    }
    if !options.csv {
        for (size, ratios) in means {
            let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
            println!("{size}: geometric mean {mean:.3} of {} cases", ratios.len());
        }
    }
}

/// Times a case, prints a line for this crate and for each contestant, and returns this crate's ratio and
/// that of its measured plan, which is the last contestant.
fn run_case(case: &Case, options: &Options, others: Vec<Contestant<'static>>) -> (f64, Option<f64>) {
    let threads = Threads::new(options.threads);
    let mut others: Vec<Contestant<'_>> = others;
    let settings = Settings { reversed: case.axes.clone(), ..Settings::default() };
    let relayout = Relayout::with_settings(&case.from, &case.to, &settings).unwrap();
    let lengths = (relayout.source_size_in_bytes() as usize, relayout.destination_size_in_bytes() as usize);
    let mut ours = Buffers::new(lengths);
    if options.measure {
        let plan = relayout.clone().measured(ours.source.bytes(), ours.destination.bytes_mut()).unwrap();
        let (name, threads) = (plan.choice().into(), &threads);
        let copy = Box::new(move |source: &[u8], destination: &mut [u8]| threads.run(&plan, source, destination));
        others.push(Contestant { name, copy });
    }
    // A slice of a larger buffer counts by the bytes that are moved.
    let elements = case.elements();
    let half = lengths.0.min(elements.0).midpoint(lengths.1.min(elements.1));
    let bytes = BufferTensorDesc::packed(DataType::U8, &[half as u64]).unwrap();
    let plain = Relayout::new(&bytes, &bytes).unwrap();
    // Each contestant has buffers of its own. Buffers that another contestant has just used would still be in
    // the last cache, in part.
    let [mut library, mut between, mut copy] = std::array::from_fn(|_| Buffers::new((half, half)));
    let mut theirs = Vec::new();
    others.retain_mut(|other| {
        let mut buffers = Buffers::new(lengths);
        // Padding may hold any bytes, which are equal for all contestants.
        ours.destination.bytes_mut().fill(0);
        buffers.destination.bytes_mut().fill(0);
        ours.run(|source, destination| relayout.run(source, destination).unwrap());
        buffers.run(&mut other.copy);
        let right = ours.destination.bytes() == buffers.destination.bytes();
        if right {
            theirs.push(buffers);
        } else {
            eprintln!("{}/{}: {} gives other bytes and is left out", case.size, case.name, other.name);
        }
        right
    });
    // There are enough repetitions that a measurement takes some microseconds, and enough rounds for a
    // minimum.
    let repeats = (2_000_000 / half.max(1)).clamp(1, 200);
    let rounds = if options.rounds > 0 { options.rounds } else { (3_000_000_000 / (half * repeats)).clamp(9, 60) };
    // Each round has the times of the copy, of this crate and of the others.
    let mut samples: Vec<Vec<f64>> = Vec::new();
    for _ in 0..=rounds {
        let library = time(repeats, || library.run(|source, destination| threads.copy(black_box(source), destination)));
        // The cache still holds lines of the library's copy. They are written back before the next copy is
        // timed.
        between.run(|source, destination| threads.run(&plain, source, destination));
        let own = time(repeats, || copy.run(|source, destination| threads.run(&plain, source, destination)));
        let mut sample = vec![library.min(own)];
        sample.push(time(repeats, || ours.run(|source, destination| threads.run(&relayout, source, destination))));
        for (other, buffers) in others.iter_mut().zip(&mut theirs) {
            sample.push(time(repeats, || buffers.run(&mut other.copy)));
        }
        samples.push(sample);
    }
    // Page faults are in the first round, which is left out.
    samples.remove(0);
    let column = |place: usize| samples.iter().map(move |sample| sample[place]);
    let minimum = |place: usize| column(place).fold(f64::INFINITY, f64::min);
    let copy_seconds = minimum(0);
    let level = tensor_layout::relayout::level_in_use().to_string();
    let names = std::iter::once(level.as_str()).chain(others.iter().map(|other| &*other.name));
    for (place, name) in names.enumerate() {
        let place = place + 1;
        println!(
            "{},{},{},{name},{:.3e},{:.3e},{copy_seconds:.3e},{:.3},{:.3}",
            case.size,
            case.name,
            options.threads,
            minimum(place),
            median(column(place).collect()),
            minimum(place) / copy_seconds,
            median(samples.iter().map(|sample| sample[place] / sample[0]).collect()),
        );
    }
    (minimum(1) / copy_seconds, options.measure.then(|| minimum(others.len() + 1) / copy_seconds))
}

/// Times the plans of all choices of a case in turns, in the same buffers, and prints a line for each: its
/// time and that time over the estimate's.
fn choices(case: &Case, options: &Options) {
    let settings = Settings { reversed: case.axes.clone(), ..Settings::default() };
    let plan =
        |choice| Relayout::with_settings(&case.from, &case.to, &Settings { choice, ..settings.clone() }).unwrap();
    let estimate = plan(None);
    let choices = estimate.choices();
    let plans: Vec<Relayout> = choices.iter().map(|choice| plan(Some(choice.clone()))).collect();
    let lengths = (estimate.source_size_in_bytes() as usize, estimate.destination_size_in_bytes() as usize);
    let mut buffers = Buffers::new(lengths);
    let repeats = (2_000_000 / (lengths.0 + lengths.1)).clamp(1, 200);
    let mut minima = vec![f64::INFINITY; plans.len()];
    // The first round takes the faults of fresh pages.
    for round in 0..=options.rounds.max(5) {
        for (plan, minimum) in plans.iter().zip(&mut minima) {
            let seconds = time(repeats, || buffers.run(|source, destination| plan.run(source, destination).unwrap()));
            *minimum = if round > 0 { seconds.min(*minimum) } else { *minimum };
        }
    }
    for (choice, seconds) in choices.iter().zip(&minima) {
        println!("{},{},{choice},{seconds:.3e},{:.3}", case.size, case.name, seconds / minima[0]);
    }
}

/// Compares non-temporal stores with ordinary stores, by the state of the destination: never touched (pages
/// are handed out while it is written), and written a moment ago.
fn destinations() {
    println!(
        "case,bytes_moved,fresh_ordinary,fresh_non_temporal,fresh_ratio,reused_ordinary,reused_non_temporal,reused_ratio"
    );
    let pairs = [
        ("copy", "f32[N,197,12,64]", "f32[N,197,12,64]"),
        ("heads", "f32[N,12,197,64]:[151296,64,768,1]", "f32[N,12,197,64]"),
        ("nhwc", "f32[N,64,56,56]", "f32[N,64,56,56]:NHWC"),
    ];
    for (name, from, to) in pairs {
        for number in [2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96] {
            let layout = |text: &str| text.replacen('N', &number.to_string(), 1).parse::<Layout>().unwrap();
            let (from, to) = (layout(from), layout(to));
            let stored =
                |stores| Relayout::with_settings(&from, &to, &Settings { stores, ..Settings::default() }).unwrap();
            let plans = [stored(Stores::Cached), stored(Stores::Streaming)];
            let length = plans[0].source_size_in_bytes() as usize;
            let mut buffers = Buffers::new((length, length));
            let mut times = [f64::INFINITY; 4];
            for _ in 0..15 {
                for (place, plan) in plans.iter().enumerate() {
                    // Large blocks of zeros are pages that were never touched.
                    let mut fresh = vec![0_u8; length.max(64 << 20)];
                    let fresh = &mut fresh[..length];
                    let seconds = time(1, || plan.run(buffers.source.bytes(), &mut *fresh).unwrap());
                    times[place] = times[place].min(seconds);
                    buffers.source.bytes_mut().fill(1);
                    buffers.destination.bytes_mut().fill(place as u8);
                    let seconds = time(1, || buffers.run(|source, destination| plan.run(source, destination).unwrap()));
                    times[2 + place] = times[2 + place].min(seconds);
                }
            }
            let [a, b, c, d] = times;
            println!("{name},{},{a:.3e},{b:.3e},{:.2},{c:.3e},{d:.3e},{:.2}", 2 * length, b / a, d / c);
        }
    }
}

/// How copies are run: on this thread, or on the threads of a pool.
struct Threads {
    #[cfg(feature = "rayon")]
    pool: Option<rayon::ThreadPool>,
}

#[cfg(feature = "rayon")]
impl Threads {
    fn new(threads: usize) -> Threads {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        Threads { pool: (threads > 1).then(pool) }
    }

    fn copy(&self, source: &[u8], destination: &mut [u8]) {
        use rayon::prelude::*;
        let Some(pool) = &self.pool else { return destination.copy_from_slice(source) };
        let share = source.len().div_ceil(pool.current_num_threads()).max(1 << 12);
        let parts = destination.par_chunks_mut(share).zip(source.par_chunks(share));
        pool.install(|| parts.for_each(|(to, from)| to.copy_from_slice(from)));
    }

    fn run(&self, relayout: &Relayout, source: &[u8], destination: &mut [u8]) {
        match &self.pool {
            None => relayout.run(source, destination),
            Some(pool) => pool.install(|| relayout.run_parallel(source, destination)),
        }
        .unwrap();
    }
}

#[cfg(not(feature = "rayon"))]
impl Threads {
    fn new(threads: usize) -> Threads {
        assert!(threads == 1, "more than one thread needs `--features rayon`");
        Threads {}
    }

    fn copy(&self, source: &[u8], destination: &mut [u8]) {
        destination.copy_from_slice(source);
    }

    fn run(&self, relayout: &Relayout, source: &[u8], destination: &mut [u8]) {
        relayout.run(source, destination).unwrap();
    }
}

/// The seconds of one call, as a mean over `repeats` calls.
fn time(repeats: usize, mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..repeats {
        call();
    }
    start.elapsed().as_secs_f64() / repeats as f64
}

/// The buffers that one contestant reads and writes.
struct Buffers {
    source: Lines,
    destination: Lines,
}

impl Buffers {
    fn new((source, destination): (usize, usize)) -> Buffers {
        Buffers { source: Lines::new(source), destination: Lines::new(destination) }
    }

    fn run(&mut self, copy: impl FnOnce(&[u8], &mut [u8])) {
        copy(self.source.bytes(), self.destination.bytes_mut());
    }
}

/// Bytes that begin at a page, like the buffers of an engine.
struct Lines {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Lines {
    fn new(length: usize) -> Lines {
        let mut memory = vec![0; length + 4096];
        let start = memory.as_ptr().align_offset(4096);
        // All contestants get the same bytes, wherever their memory begins.
        for (i, byte) in memory[start..][..length].iter_mut().enumerate() {
            *byte = (i ^ (i >> 8)) as u8;
        }
        Lines { memory, start, length }
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.length]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}
