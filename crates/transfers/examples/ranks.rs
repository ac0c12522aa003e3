//! A KV cache of 4 ranks becomes one of 6 ranks in another layout, each rank a process of its own. The memory
//! of a rank is a file, in shared memory where the system has it. `cargo run --example ranks`
//!
//! Every destination rank plans its own part, executes it from the files of the sources, and gives its file
//! the final name when all of it is written. One rank is killed in the middle and begun again: its file has
//! no final name until then, so nothing half-written is taken for whole. Another rank is Python, where the
//! module `relayout` is installed (`TENSOR_LAYOUT_PYTHON` names the interpreter).

use std::error::Error;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::{env, thread, time};

use tensor_layout::{BufferTensorDesc, DataType, IndexMap};
use tensor_layout_transfers::{Loop, Sharded, Shards, TransferLimits, reshard};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Layers, blocks, heads, tokens of a block, content.
const SIZES: [u64; 5] = [2, 8, 24, 4, 16];
const DATA_TYPE: DataType = DataType::BF16;
/// The rank that is killed, and the rank that Python executes.
const KILLED: usize = 2;
const PYTHON: usize = 4;

/// The source: heads over 4 ranks, packed in the order of the axes.
fn source() -> Outcome<Sharded> {
    Ok(Shards::of(&SIZES)?.split(2, 4)?.with_layouts(|_, sizes| BufferTensorDesc::packed(DATA_TYPE, sizes))?)
}

/// The destination: heads over 6 ranks, tokens before heads, and 32 elements of padding after each block.
fn destination() -> Outcome<Sharded> {
    Ok(Shards::of(&SIZES)?.split(2, 6)?.with_layouts(|_, sizes| {
        let &[_, blocks, heads, tokens, content] = sizes else { return BufferTensorDesc::packed(DATA_TYPE, sizes) };
        let block = heads * tokens * content + 32;
        BufferTensorDesc::new(DATA_TYPE, sizes, Some(&[blocks * block, block, content, heads * content, 1]))
    })?)
}

fn file(folder: &Path, name: &str, rank: usize) -> PathBuf {
    folder.join(format!("{name}.{rank}"))
}

/// Copies one contiguous run from file to file.
fn move_run(from: &mut File, to: &mut File, (source, destination, bytes): (u64, u64, u64)) -> Outcome<()> {
    let mut run = vec![0; usize::try_from(bytes)?];
    from.seek(SeekFrom::Start(source))?;
    from.read_exact(&mut run)?;
    to.seek(SeekFrom::Start(destination))?;
    Ok(to.write_all(&run)?)
}

/// Executes everything that one rank receives. If `halts`, it stops halfway and waits to be killed.
fn receive(folder: &Path, rank: usize, halts: bool) -> Outcome<()> {
    let (from, to) = (source()?, destination()?);
    let pairs: Vec<_> =
        reshard(&from, &to, &TransferLimits::with_loops(1))?.into_iter().filter(|pair| pair.to == rank).collect();
    let all: u64 = pairs.iter().map(|pair| pair.transfers.count()).sum();
    let (part, mut done) = (file(folder, "part", rank), 0);
    let mut own = File::create(&part)?;
    own.set_len(to.layouts().get(rank).ok_or("no such rank")?.physical_size_in_bytes())?;
    for pair in &pairs {
        let mut other = File::open(file(folder, "source", pair.from))?;
        for one in pair.transfers.iter() {
            if halts && done == all / 2 {
                File::create(file(folder, "halfway", rank))?;
                thread::sleep(time::Duration::from_secs(600));
            }
            let step = one.loops.first().copied().unwrap_or(Loop { count: 1, source_stride: 0, destination_stride: 0 });
            for number in 0..i64::try_from(step.count)? {
                let at = |start: u64, stride: i64| start.wrapping_add_signed(number * stride);
                let run = (at(one.source, step.source_stride), at(one.destination, step.destination_stride), one.bytes);
                move_run(&mut other, &mut own, run)?;
            }
            done += 1;
        }
    }
    own.sync_all()?;
    Ok(fs::rename(part, file(folder, "whole", rank))?)
}

/// What Python executes for one rank: it cuts the layouts of both sides to the heads that they share.
const RECEIVE: &str = r#"
import os, sys
from relayout import Layout, transfers
folder, rank, source, destination, theirs, ours = sys.argv[1], *(int(n) if n.isdigit() else n for n in sys.argv[2:])
with open(f"{folder}/part.{rank}", "wb") as own:
    own.truncate(Layout(destination).bytes)
    for sender in range(4):
        first, last = max(sender * theirs, rank * ours), min((sender + 1) * theirs, (rank + 1) * ours)
        if first >= last:
            continue
        cut = lambda layout, start: Layout(layout).view(slice=f":,:,{first - start}:{last - start},:,:")
        with open(f"{folder}/source.{sender}", "rb") as other:
            for at, to, count, _ in transfers(cut(source, sender * theirs), cut(destination, rank * ours), loops=0):
                other.seek(at)
                own.seek(to)
                own.write(other.read(count))
    own.flush()
    os.fsync(own.fileno())
os.rename(f"{folder}/part.{rank}", f"{folder}/whole.{rank}")
"#;

/// The interpreter, if its module `relayout` lists transfers.
fn python() -> Option<String> {
    let python = env::var("TENSOR_LAYOUT_PYTHON").unwrap_or_else(|_| "python3".into());
    let status = Command::new(&python)
        .args(["-c", "from relayout import transfers"])
        .stderr(std::process::Stdio::null())
        .status();
    status.is_ok_and(|status| status.success()).then_some(python)
}

fn start(folder: &Path, rank: usize, halts: bool) -> Outcome<Child> {
    let halts = if halts { "halts" } else { "" };
    Ok(Command::new(env::current_exe()?)
        .env("RANK_OF_EXAMPLE", format!("{rank}"))
        .env("HALTS", halts)
        .arg(folder)
        .spawn()?)
}

fn start_python(python: &str, folder: &Path, rank: usize) -> Outcome<Child> {
    let text = |side: &Sharded| {
        side.layouts().first().and_then(|map| Some(format!("bf16{:?}:{:?}", map.sizes(), map.strides()?)))
    };
    let (from, to) = (source()?, destination()?);
    let (Some(read), Some(written)) = (text(&from), text(&to)) else { return Err("a layout without strides".into()) };
    let heads = |side: &Sharded| side.shards().sizes(0).get(2).copied().unwrap_or(0).to_string();
    let words = [read.replace(' ', ""), written.replace(' ', ""), heads(&from), heads(&to)];
    Ok(Command::new(python).args(["-c", RECEIVE]).arg(folder).arg(rank.to_string()).args(words).spawn()?)
}

/// The elements of a rank, each the number of its index in the whole tensor, where its layout has them.
fn filled(layout: &IndexMap, first_head: u64) -> Outcome<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(layout.physical_size_in_bytes())?];
    let mut index = vec![0_u64; SIZES.len()];
    loop {
        let number = index
            .iter()
            .zip(SIZES)
            .zip([0, 0, first_head, 0, 0])
            .fold(0, |sum, ((i, size), first)| sum * size + i + first);
        let place = usize::try_from(layout.offset(&index)?)? * 2;
        bytes.get_mut(place..place + 2).ok_or("outside")?.copy_from_slice(&u16::try_from(number)?.to_le_bytes());
        if !tensor_layout::checked::next_index(&mut index, layout.sizes()) {
            return Ok(bytes);
        }
    }
}

/// One round: all ranks start, one is killed halfway and begun again, and every file is compared.
fn round(folder: &Path, python: Option<&str>) -> Outcome<()> {
    for (rank, (layout, first)) in source()?.layouts().iter().zip((0..).step_by(6)).enumerate() {
        fs::write(file(folder, "source", rank), filled(layout, first)?)?;
    }
    let start_one = |rank: usize| match python {
        Some(python) if rank == PYTHON => start_python(python, folder, rank),
        _ => start(folder, rank, rank == KILLED),
    };
    let mut children = (0..6).map(start_one).collect::<Outcome<Vec<Child>>>()?;
    while !file(folder, "halfway", KILLED).exists() {
        thread::sleep(time::Duration::from_millis(1));
    }
    let killed = children.get_mut(KILLED).ok_or("no such rank")?;
    killed.kill()?;
    killed.wait()?;
    let is_half = file(folder, "part", KILLED).exists() && !file(folder, "whole", KILLED).exists();
    if !is_half {
        return Err("a rank that was killed left a whole file".into());
    }
    *killed = start(folder, KILLED, false)?;
    for (rank, mut child) in children.into_iter().enumerate() {
        if !child.wait()?.success() {
            return Err(format!("rank {rank} failed").into());
        }
    }
    for (rank, (layout, first)) in destination()?.layouts().iter().zip((0..).step_by(4)).enumerate() {
        if fs::read(file(folder, "whole", rank))? != filled(layout, first)? {
            return Err(format!("rank {rank} has other bytes").into());
        }
    }
    Ok(())
}

/// Runs some rounds, or one rank of a round.
pub(crate) fn run(rounds: usize) -> Outcome<()> {
    if let Ok(rank) = env::var("RANK_OF_EXAMPLE") {
        let folder = env::args_os().nth(1).ok_or("no folder")?;
        return receive(Path::new(&folder), rank.parse()?, env::var("HALTS").is_ok_and(|halts| !halts.is_empty()));
    }
    let shared = Path::new("/dev/shm");
    let memory = if shared.is_dir() { shared.to_path_buf() } else { env::temp_dir() };
    let python = python();
    if python.is_none() {
        println!("no Python with the module relayout: Rust executes its rank");
    }
    for _ in 0..rounds {
        let folder = tempfile::tempdir_in(&memory)?;
        round(folder.path(), python.as_deref())?;
    }
    let python = python.map_or(String::new(), |python| format!(", rank {PYTHON} in {python}"));
    println!("{rounds} rounds: 4 ranks to 6, rank {KILLED} killed and begun again{python}; every byte is right");
    Ok(())
}

#[allow(dead_code, reason = "the test of this file calls `run`")]
fn main() -> ExitCode {
    match run(1) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
