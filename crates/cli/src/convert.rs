//! `convert`: a file in one layout to a file in another.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use serde_json::json;
use tensor_layout::map::Fingerprint;
use tensor_layout::relayout::{Effort, Padding, Relayout, Settings};
use tensor_layout::{AnyLayout, ArrayShape, BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};
use tensor_layout_files::npy::Header;
use tensor_layout_files::{Input, NewFile, PieceError, Pieces, replaces};
use tensor_layout_text::layout::{Copies, copies};
use tensor_layout_text::rule::layout_or_rule;
use tensor_layout_text::{Layout, Notation, ViewStep};

use crate::answer::Answer;
use crate::input::{check_length, is_standard, no_memory, open, zeroed};
use crate::output::{Output, Stop, Verdict, each_line, refused, two_columns};
use crate::table::{long_bytes, write_list};
use crate::terminal::progress_bar;
use crate::terminal::wrapped;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout of the input. With --explain and without files, `-` reads it from standard input, one a
    /// line. A .npy file needs none: it is taken from its header.
    #[arg(long, value_name = "LAYOUT")]
    from: Option<String>,
    /// The layout of the output, or `-` as for --from; if both are `-`, a line holds both with a tab between
    /// them. A rule, such as NHWC, tpu:v5e or tensorrt.kCHW32, takes the type and the sizes of the input.
    #[arg(long, value_name = "LAYOUT")]
    to: String,
    /// The fingerprint of the input's layout, as `describe` prints it: another layout is refused.
    #[arg(long, value_name = "TAG")]
    from_fingerprint: Option<Fingerprint>,
    /// The fingerprint of the output's layout.
    #[arg(long, value_name = "TAG")]
    to_fingerprint: Option<Fingerprint>,
    /// The value of padding: zero, or the bits of one element as 0x...
    #[arg(long, default_value = "zero", value_name = "PATTERN")]
    fill: Fill,
    /// What a signed integer below a byte has in the upper bits when each gets a byte of its own: its sign,
    /// as in two's complement (-1 of s4 is ff), or zeros, as JAX, ONNX and ml_dtypes write it (0f).
    #[arg(long, default_value = "sign", value_name = "BITS")]
    upper_bits: UpperBits,
    /// Print the plan; without files nothing else is done.
    #[arg(long)]
    explain: bool,
    /// Time several plans in memory of up to 4 GiB, keep the fastest, and print its choice, which makes the
    /// same plan again in a program (`Settings::choice`). It takes up to a second.
    #[arg(long)]
    measure: bool,
    /// With --explain, write both layouts in this notation: xla, strides, order, onednn, cute, numpy,
    /// directml, named, torch, jax, mlir, ndarray, candle, ggml or tvm.
    #[arg(long = "as", value_name = "NOTATION", requires = "explain")]
    notation: Option<Notation>,
    /// List the copy as transfers, in bytes, for RDMA, strided descriptors or copy commands of a device.
    /// There are no files.
    #[arg(long, conflicts_with_all = ["explain", "measure", "input"])]
    pub(crate) transfers: bool,
    /// With --transfers, the most loops of a transfer: 0 for plain ranges, 1 for strided descriptors. Without
    /// it, any number.
    #[arg(long, value_name = "N", requires = "transfers")]
    #[cfg_attr(not(feature = "transfers"), allow(dead_code, reason = "refused before it is read"))]
    loops: Option<usize>,
    /// With --transfers, who executes them, by name: rdma, webgpu. An unknown name, such as list, is answered
    /// with all names. Fields follow a colon:
    /// rdma:offset_alignment=64,run_multiple=64,max_run=1MiB,max_transfers=1000.
    #[arg(long, value_name = "LIMITS", requires = "transfers")]
    #[cfg_attr(not(feature = "transfers"), allow(dead_code, reason = "refused before it is read"))]
    limits: Option<String>,
    /// The input: raw bytes, or a .npy file by its name; `-` for standard input.
    #[arg(value_name = "IN", required_unless_present_any = ["explain", "measure", "transfers"])]
    input: Option<PathBuf>,
    /// The output: raw bytes, or a .npy file by its name; `-` for standard output.
    #[arg(value_name = "OUT", requires = "input", required_unless_present_any = ["explain", "measure", "transfers"])]
    pub(crate) output: Option<PathBuf>,
    /// OUT may be the input file itself, which is replaced.
    #[arg(long, requires = "output")]
    overwrite: bool,
}

const MOST_MEASURED: u64 = 4 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum UpperBits {
    Sign,
    Zero,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Fill(pub(crate) Padding);

impl Arguments {
    fn files(&self) -> Result<Option<(&Path, &Path)>, Stop> {
        let Some((input, target)) = self.input.as_deref().zip(self.output.as_deref()) else { return Ok(None) };
        if self.overwrite || is_standard(target) || !replaces(target, input) {
            return Ok(Some((input, target)));
        }
        let target = target.display();
        let sentence = "is the input itself: choose another output, or replace it with --overwrite";
        Err(Stop::Unusable(format!("{target} {sentence}")))
    }
}

impl FromStr for Fill {
    type Err = String;

    fn from_str(text: &str) -> Result<Fill, String> {
        let lower = text.to_ascii_lowercase();
        match (lower.as_str(), lower.strip_prefix("0x")) {
            ("zero", _) => Ok(Fill(Padding::Zero)),
            (_, Some(digits)) => match u128::from_str_radix(digits, 16) {
                Ok(pattern) if !digits.starts_with('+') => Ok(Fill(Padding::Fill(pattern))),
                _ => Err("expected up to 32 hexadecimal digits after 0x".into()),
            },
            _ => Err("expected `zero` or a pattern such as 0x7fc00000".into()),
        }
    }
}

/// One side of a copy: its layout, and the text that is printed.
struct Side {
    layout: Layout,
    text: String,
}

impl Side {
    /// Reads the layout of one side. `other` is the layout of the other side, and a rule such as NHWC takes
    /// its type and sizes.
    fn of(text: &str, other: &str, notation: Option<Notation>) -> Result<Side, Error> {
        let layout = layout_or_rule(text, other)?;
        let text = notation.map_or_else(|| Ok(layout.to_string()), |notation| layout.to_notation(notation))?;
        Ok(Side { layout, text })
    }

    /// The map of a layout of one part, from its lowest address on.
    fn map(&self) -> Result<IndexMap, Error> {
        match self.layout.values().parts() {
            [part] => Ok(part.map.clone()),
            _ => self.layout.whole().cloned(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    if !arguments.transfers && (arguments.loops.is_some() || arguments.limits.is_some()) {
        return Err(Stop::Unusable("--loops and --limits are for --transfers".into()));
    }
    let from = match (&arguments.from, &arguments.input) {
        (Some(from), _) => from.clone(),
        (None, Some(input)) if is_npy(input) => npy_layout(input)?,
        (None, _) => {
            let sentence = "--from is missing: only a .npy file says itself which layout it has";
            return Err(Stop::Unusable(sentence.into()));
        }
    };
    let (from, to) = (from.as_str(), arguments.to.as_str());
    if from != "-" && to != "-" {
        return one(from, to, arguments, output);
    }
    if !(arguments.explain || arguments.transfers) || arguments.input.is_some() {
        return Err(Stop::Unusable("`-` reads layouts only with --explain or --transfers, and without files".into()));
    }
    let mut first = true;
    each_line(output, |line, output| {
        let (from, to) = match (from, to) {
            ("-", "-") => two_columns(line, "the layout of the output")?,
            ("-", to) => (line, to),
            (from, _) => (from, line),
        };
        if !std::mem::take(&mut first) && !output.is_json() {
            output.line("")?;
        }
        one(from, to, arguments, output)
    })
}

/// Whether two caches cannot be copied block by block: at least one counts blocks, and they differ in the
/// tokens of a block or in whether tokens are counted.
fn is_by_blocks(from: &str, to: &str) -> bool {
    let has = |name: &str| {
        [from, to].map(|cache| cache.split(['[', ',', ']']).find_map(|field| field.trim().strip_prefix(name)))
    };
    let ([own, other], tokens) = (has("N="), has("T=").map(|tokens| tokens.is_some()));
    [from, to].iter().all(|text| text.starts_with("kv:"))
        && tokens.contains(&false)
        && (own != other || tokens[0] != tokens[1])
}

/// Returns the text of a layout of the first channels of a frame, if the other side differs only by having
/// fewer channels.
fn fewer_channels(from: &str, to: &str) -> Option<String> {
    let (from, to): (Layout, Layout) = (from.parse().ok()?, to.parse().ok()?);
    let (whole, sizes) = (from.frame().and(from.planes().first())?, to.sizes());
    let [.., all] = whole.sizes() else { return None };
    let [outer @ .., count] = sizes else { return None };
    if !whole.sizes().starts_with(outer) || from.planes().len() > 1 || count >= all || *count == 0 {
        return None;
    }
    let at = |index: &[u64]| whole.place(index).ok().and_then(|place| i64::try_from(place.offset).ok());
    let mut index = vec![0; sizes.len()];
    let (offset, mut strides) = (at(&index)?, Vec::new());
    for axis in 0..sizes.len() {
        *index.get_mut(axis)? = 1;
        strides.push(at(&index).unwrap_or(offset).checked_sub(offset)?.to_string());
        *index.get_mut(axis)? = 0;
    }
    let (sizes, strides) = (write_list(sizes), strides.join(","));
    let text = format!("ndarray(shape={sizes}, dtype=uint8, strides=[{strides}], offset={offset})");
    let text = text.replace('[', "(").replace(']', ")");
    // The strides come from the first two channels. The text is right only if all channels have the same
    // distance.
    let first: Layout = text.parse().ok()?;
    let places = |channel: u64| {
        let mut index = vec![0; outer.len()];
        index.push(channel);
        [first.values(), whole].map(|plane| plane.place(&index).map(|place| place.offset).ok())
    };
    (0..*count).map(places).all(|[first, whole]| first == whole).then_some(text)
}

fn one(from: &str, to: &str, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    match copy(from, to, arguments, output) {
        Err(Stop::Refused(pair, error)) => refuse_pair(&pair, &error, [from, to], output),
        done => done,
    }
}

/// Refuses to copy between two layouts. If their sizes differ, says what to do for a known reason, or else
/// which side has which sizes.
pub(crate) fn refuse_pair(
    pair: &str,
    error: &Error,
    [from, to]: [&str; 2],
    output: &mut Output,
) -> Result<Verdict, Stop> {
    output.refuse(pair, error)?;
    if output.is_json() || !["size_mismatch", "rank_mismatch", "not_expressible"].contains(&error.code()) {
        return Ok(Verdict::Failed);
    }
    if is_by_blocks(from, to) {
        output.error_line("  caches whose blocks differ are copied by tokens: write T= on both sides");
    } else if let Some(text) = fewer_channels(from, to) {
        output.error_line(&format!("  the first channels alone are --from '{text}'"));
    } else if let [Ok(from), Ok(to)] = [from.parse::<Layout>(), to.parse()]
        && from.pages().is_none()
        && from.sizes() != to.sizes()
    {
        let [from, to] = [from.sizes(), to.sizes()].map(write_list);
        output.error_line(&format!("  the input has the sizes {from}, and the output {to}"));
    }
    Ok(Verdict::Failed)
}

fn copy(from: &str, to: &str, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let side = |text: &str, other: &str| Side::of(text, other, arguments.notation).map_err(refused(text));
    let (from, to) = (side(from, to)?, side(to, from)?);
    let pair = format!("{} -> {}", from.text, to.text);
    for (side, expected) in [(&from, arguments.from_fingerprint), (&to, arguments.to_fingerprint)] {
        expected.map_or(Ok(()), |tag| tag.check(&side.layout)).map_err(refused(&pair))?;
    }
    let effort = if arguments.measure { Effort::Measure { most_bytes: MOST_MEASURED } } else { Effort::Estimate };
    let settings = Settings { effort, ..Settings::default() };
    let copies = match arguments.upper_bits {
        UpperBits::Sign => copies(&from.layout, &to.layout, &settings),
        UpperBits::Zero => unsigned(&from.layout).and_then(|from| copies(&from, &unsigned(&to.layout)?, &settings)),
    };
    let copies = copies.map_err(refused(&pair))?;
    #[cfg(feature = "transfers")]
    if arguments.transfers {
        let texts = [&from, &to].map(|side| side.text.as_str());
        let limits = arguments.limits.as_deref();
        let is_one_list = from.layout.pages().is_some();
        return crate::transfers::list(texts, &copies, (arguments.loops, limits), is_one_list, output);
    }
    let plan = copies.only().cloned().map(|plan| plan.with_padding_of_whole_buffer(arguments.fill.0));
    let plan = plan.transpose().map_err(refused(&pair))?;
    if plan.is_none() && arguments.measure {
        let sentence = "--measure is for layouts in one place, and this one lies in several";
        return Err(Stop::Unusable(sentence.into()));
    }
    let answer = answer([&from, &to], &copies, plan.as_ref(), arguments, output.is_json());
    if !answer.words().is_empty() {
        output.line(&answer)?;
    }
    if let Some((input, target)) = arguments.files()? {
        write_file((input, &from), (target, &to), (&copies, plan.as_ref(), arguments.fill.0), output)?;
    }
    if output.is_json() {
        output.line(answer)?;
    }
    Ok(Verdict::Well)
}

fn answer(
    [from, to]: [&Side; 2],
    copies: &Copies,
    plan: Option<&Relayout>,
    arguments: &Arguments,
    is_json: bool,
) -> Answer {
    let mut answer = Answer::new(is_json, "copy");
    let [needed, bytes] = match plan {
        Some(plan) => [plan.source_size_in_bytes(), plan.destination_size_in_bytes()],
        None => [copies.source_size_in_bytes(), copies.destination_size_in_bytes()],
    };
    answer.keys(|| json!({ "from": from.text, "to": to.text, "source_bytes": needed, "destination_bytes": bytes }));
    let explain = arguments.explain;
    if explain {
        answer.line(format_args!("from {}\nto   {}", from.text, to.text));
    }
    let Some(plan) = plan else {
        let (count, flip) = (copies.list().len(), copies.list().iter().fold(0, |flip, copy| flip | copy.flip));
        let [starts, ends] = copies.planes();
        answer.keys(|| json!({ "parts": count, "flipped_bits": flip }));
        if starts.len() > 1 {
            answer.key("planes", starts.len());
        }
        // The planes of a frame count from the start of the buffer.
        if explain && starts.iter().chain(ends).any(|&start| start > 0) {
            let (from, to) = (write_list(starts), write_list(ends));
            answer.line(format_args!("planes at bytes {from} of {needed}, and {to} of {bytes}"));
        }
        if explain && count == starts.len() && count > 1 {
            answer.line(format_args!("{count} copies, one for each plane"));
        }
        if explain && count > starts.len() {
            answer.line(format_args!("{count} copies, one for each pair of parts with common indices"));
        }
        if explain && flip != 0 {
            answer.line(format_args!("{flip:#04x} is flipped in every byte of the values"));
        }
        return answer;
    };
    if explain {
        answer.keys(|| json!({ "plan": plan.explain() }));
        answer.line(format_args!("{}", wrapped(plan.explain().trim_end(), 100)));
    }
    if arguments.measure {
        let reason = plan.estimate_reason();
        answer.keys(|| json!({ "choice": plan.choice(), "estimate_reason": reason }));
        if !explain {
            let reason = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            answer.line(format_args!("choice: {}{reason}", plan.choice()));
        }
    }
    answer
}

/// Runs the copies of layouts in several places, in memory. Padding has the pattern of the plane that it is
/// in.
fn converted(source: &[u8], to: &Side, copies: &Copies, padding: Padding) -> Result<Vec<u8>, Stop> {
    let mut buffer = zeroed(copies.destination_size_in_bytes())?;
    let fill = |buffer: &mut [u8]| {
        let ([plane], Some(part)) = (to.layout.planes(), to.layout.values().parts().first()) else {
            return Err(Error::not_expressible("fill", "the padding between planes has no type: it is zero"));
        };
        let (bits, data_type) = (part.map.element_bits(), part.map.data_type());
        let elements = plane.size_in_bytes()?.saturating_mul(8).div_euclid(bits.into());
        let nothing = BufferTensorDesc::packed(data_type, &[0])?.to_index_map()?.with_physical_elements(elements)?;
        Relayout::new(&nothing, &nothing)?.with_padding_of_whole_buffer(padding)?.run(&[], buffer)
    };
    if !matches!(padding, Padding::Zero) {
        fill(&mut buffer).map_err(refused(&to.text))?;
    }
    copies.run(source, &mut buffer).map_err(refused(&to.text))?;
    Ok(buffer)
}

/// Returns a layout with unsigned integers instead of signed ones, so that a copy fills the upper bits with
/// zeros.
fn unsigned(layout: &Layout) -> Result<Layout, Error> {
    let unsigned = |data_type| match data_type {
        DataType::S1 => DataType::U1,
        DataType::S2 => DataType::U2,
        DataType::S4 => DataType::U4,
        other => other,
    };
    let plane = layout.values();
    let read: Layout = match plane.any() {
        Some(AnyLayout::Strided(desc)) => desc.reinterpret(unsigned(desc.data_type()))?.into(),
        Some(AnyLayout::Tiled(shape)) => {
            ArrayShape::new(unsigned(shape.data_type()), shape.sizes(), shape.layout().clone())?.into()
        }
        _ => return Ok(layout.clone()),
    };
    if plane.reversed().is_empty() { Ok(read) } else { read.view(&ViewStep::Reverse(plane.reversed().to_vec())) }
}

fn write_file(
    (input, from): (&Path, &Side),
    (target, to): (&Path, &Side),
    (copies, plan, padding): (&Copies, Option<&Relayout>, Padding),
    output: &mut Output,
) -> Result<(), Stop> {
    let [needed, bytes] = match plan {
        Some(plan) => [plan.source_size_in_bytes(), plan.destination_size_in_bytes()],
        None => [copies.source_size_in_bytes(), copies.destination_size_in_bytes()],
    };
    let header = || Header::of(&to.map()?, &to.text)?.write();
    let header = is_npy(target).then(header).transpose().map_err(refused(""))?.unwrap_or_default();
    if is_standard(target) && output.is_json() {
        let sentence = "with --json the output must be a file, because standard output has the object";
        return Err(Stop::Unusable(sentence.into()));
    }
    let file = open(input)?;
    let source = file.get(elements_start(&file, from, needed)?..).unwrap_or(&[]);
    let mut new = if is_standard(target) { None } else { Some(NewFile::create(target)?) };
    let mut take = |bytes: &[u8]| match &mut new {
        Some(new) => Ok(new.append(bytes)?),
        None => output.bytes(bytes),
    };
    take(&header)?;
    match plan {
        Some(plan) => {
            let pieces = Pieces::of(plan).map_err(refused(&input.to_string_lossy()))?;
            let bar = progress_bar(bytes);
            let done = pieces.run(source, &|bytes| bar.inc(bytes), |_, _| (), |_, bytes| take(bytes));
            bar.finish_and_clear();
            done.map_err(|error| match error {
                PieceError::Taken(stop) => stop,
                PieceError::Copy(error) => refused(&input.to_string_lossy())(error),
                PieceError::Memory(bytes) => no_memory(bytes),
            })?;
        }
        None => take(&converted(source, to, copies, padding)?)?,
    }
    file.check_unchanged()?;
    // The input is closed first, because the target may replace it and some systems refuse to replace a
    // mapped file.
    drop(file);
    let Some(new) = new else { return Ok(()) };
    new.close()?.finish()?;
    if !output.is_json() {
        output.line(format_args!("{}: {} of {}", target.display(), long_bytes(bytes), to.text))?;
    }
    Ok(())
}

fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

fn npy_layout(path: &Path) -> Result<String, Stop> {
    let bytes = open(path)?;
    let layout = Header::read(&bytes).and_then(|(header, _)| match header.opaque {
        None => header.layout().map(|layout| layout.to_string()).map_err(|error| error.to_string()),
        Some(descr) => Err(format!(
            "holds elements that NumPy writes as {descr}: say with --from what they are, such as {}{}",
            match header.data_type {
                DataType::U8 => "f8e4m3fn",
                DataType::U16 => "bf16",
                other => other.name_in(tensor_layout::element::Naming::Xla).unwrap_or_default(),
            },
            write_list(&header.sizes)
        )),
    });
    layout.map_err(|sentence| Stop::Unusable(format!("{} {sentence}", path.display())))
}

/// Returns the position at which the elements of an input file begin. The file must have the layout `from`.
fn elements_start(file: &Input, from: &Side, needed: u64) -> Result<usize, Stop> {
    if is_npy(file.path()) {
        return npy_start(file, from).map_err(|sentence| Stop::Failed(format!("{} {sentence}", file.path().display())));
    }
    // A file of the rounded length is accepted too, because DirectML rounds the length of a buffer up to a
    // multiple of 4 bytes.
    check_length(file, &[needed, needed.checked_next_multiple_of(4).unwrap_or(needed)], &from.text).map(|()| 0)
}

/// Returns the position at which the elements of a .npy file begin. The data must be as long as the header
/// says.
fn npy_start(file: &[u8], from: &Side) -> Result<usize, String> {
    let (header, start) = Header::read(file)?;
    let expected = header.check(&from.map().map_err(|error| error.to_string())?, &from.text)?;
    let data = u64::try_from(file.len().saturating_sub(start)).unwrap_or(u64::MAX);
    if data != expected {
        let (data, expected) = (long_bytes(data), long_bytes(expected));
        return Err(format!("has {data} after its header, but its shape takes {expected}"));
    }
    Ok(start)
}
