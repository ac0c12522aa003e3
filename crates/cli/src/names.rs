//! `names`: the layouts that have a name.

use clap::Args;
use serde_json::json;
use tensor_layout::{IndexMap, ToIndexMap};
use tensor_layout_text::Layout;
use tensor_layout_text::kv::{KvCache, Order, Recognised, orders, recognise};
use tensor_layout_text::named::{Row, rows};

use crate::answer::Answer;
use crate::output::{Output, Stop, Verdict, refused};
use crate::table::{Table, add, each_once, lines, print};

#[derive(Args)]
pub(crate) struct Arguments {
    /// List only the names that contain this text, in upper or lower case, or else those whose description
    /// does. A single match is described fully.
    word: Option<String>,
    /// Instead, say which caches of keys and values a tensor may be (layout `kv:..`), by its sizes and
    /// strides, and what would tell them apart.
    #[arg(long, value_name = "LAYOUT", conflicts_with = "word")]
    kv: Option<String>,
    /// With --kv, sizes that are known, by the letters of the axes, and the bytes of the buffer: H=8,N=16.
    #[arg(long, value_name = "SIZES", requires = "kv")]
    known: Option<String>,
}

/// The axes of more than one value, and the map without the others.
type Key = Option<(String, IndexMap)>;

fn caches(layout: &str, known: &str, output: &mut Output) -> Result<Verdict, Stop> {
    let size = |text: &'_ str| {
        let (name, size) = text.split_once('=')?;
        Some((name.trim().to_owned(), size.trim().parse::<u64>().ok()?))
    };
    let known: Option<Vec<_>> = known.split(',').filter(|text| !text.is_empty()).map(size).collect();
    let known = known.ok_or_else(|| Stop::Unusable("--known takes sizes such as H=8,N=16 or bytes=4096".into()))?;
    if let Some((name, _)) =
        known.iter().find(|(name, _)| !["L", "B", "H", "N", "C", "D", "2", "bytes"].contains(&&**name))
    {
        let sentence = format!("--known takes L, B, H, N, C, D, 2 and bytes, and `{name}` is none of them");
        return Err(Stop::Unusable(sentence));
    }
    let known: Vec<(&str, u64)> = known.iter().map(|(name, size)| (name.as_str(), *size)).collect();
    let tensor = layout.parse::<Layout>().map_err(refused(layout))?;
    let Recognised { caches, apart, .. } = recognise(&tensor, &known).map_err(refused(layout))?;
    let names = |cache: &KvCache| -> Vec<String> {
        let same = orders().iter().filter(|row| row.letters == cache.order()).map(|row| row.name.clone());
        let of_layer = |row: &&Order| row.letters.contains('L') && row.letters.replace('L', "") == cache.order();
        let layers = orders().iter().filter(of_layer).map(|row| format!("a layer of {}", row.name));
        let names: Vec<String> = same.collect();
        // Where the layers are outermost, one of them is this cache.
        let is_layer = |row: &&Order| row.letters.strip_prefix('L') == Some(cache.order());
        let outermost = orders().iter().filter(is_layer).map(|row| format!("a layer of {}", row.name));
        if names.is_empty() { layers.collect() } else { names.into_iter().chain(outermost).collect() }
    };
    // Caches that differ only in axes of size 1 have the same map, and share a line.
    let mut found: Vec<(Key, String, Vec<String>)> = Vec::new();
    for cache in &caches {
        let map = cache.to_index_map().map_err(refused(layout))?;
        let kept = cache.axes().chars().zip(map.sizes()).filter(|axis| *axis.1 != 1);
        let (axes, sizes): (String, Vec<u64>) = kept.unzip();
        let key = map.reshape(&sizes).ok().map(|map| (axes, map));
        match found.iter_mut().find(|line| key.is_some() && line.0 == key) {
            Some((.., all)) => all.extend(names(cache)),
            None => found.push((key, cache.to_string(), names(cache))),
        }
    }
    for (.., names) in &mut found {
        let once = each_once(names.iter()).into_iter();
        let is_said =
            |name: &str| name.strip_prefix("a layer of ").is_some_and(|row| names.iter().any(|own| own == row));
        *names = once.filter(|name| !is_said(name)).cloned().collect();
    }
    let mut answer = output.new_answer("caches");
    let objects = found.iter().map(|(_, cache, names)| json!({ "layout": cache, "names": names }));
    answer.keys(|| json!({ "input": layout, "caches": objects.collect::<Vec<_>>(), "apart": apart }));
    if caches.is_empty() && !output.is_json() {
        return Err(Stop::Failed(format!("no order of caches has the places of {layout} with these sizes")));
    }
    let mut table = Table::new("cache|order of");
    found.iter().for_each(|(_, cache, names)| table.row([cache.clone(), names.join(", ")]));
    answer.lines(lines(&table));
    answer.lines((!apart.is_empty()).then_some("\nwhat tells them apart"));
    apart.iter().for_each(|sentence| answer.sentence(format_args!("  {sentence}")));
    Ok(Verdict::well_if(!caches.is_empty()).and(output.answer(&answer)?))
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    if let Some(layout) = &arguments.kv {
        return caches(layout, arguments.known.as_deref().unwrap_or(""), output);
    }
    let word = arguments.word.as_deref().unwrap_or("").to_ascii_lowercase();
    let holds = |texts: &[&str]| texts.iter().any(|text| text.to_ascii_lowercase().contains(&word));
    let mut found: Vec<&Row> = rows().iter().filter(|row| holds(&[&row.name, row.other])).collect();
    let is_meant = |order: &&Order| {
        let system = order.name.split('.').next().unwrap_or_default();
        let others = order.other.split(", ").filter(|other| !other.is_empty());
        let others: String = others.map(|other| format!(" kv:{system}.{other}")).collect();
        holds(&[&format!("kv:{}{others}", order.name)])
    };
    let caches: Vec<&Order> = orders().iter().filter(is_meant).collect();
    if found.is_empty() {
        // Words of a description find what has no name of its own: NVFP4, MXFP8, AMX.
        found = rows().iter().filter(|row| holds(&[row.about, row.source, row.known])).collect();
    }
    if found.is_empty() && caches.is_empty() {
        return Err(Stop::Failed(format!("no name and no description contains `{word}`")));
    }
    // The rows with one name are its forms: for other ranks, other numbers or other sizes.
    let forms = |name: &String| found.iter().copied().filter(|row| row.name == *name).collect::<Vec<&Row>>();
    let names: Vec<Vec<&Row>> = each_once(found.iter().map(|row| &row.name)).into_iter().map(forms).collect();
    if let ([forms], []) = (names.as_slice(), caches.as_slice())
        && !output.is_json()
    {
        return forms.iter().try_fold(Verdict::Well, |_, form| output.answer(&said(form, false)));
    }
    let mut table = Table::new("name|axes|?types|memory");
    for order in caches.iter().filter(|_| !word.is_empty()) {
        let Order { name, letters, bits, other, about, known, .. } = order;
        let object = || {
            json!({
                "type": "order", "name": name, "order": letters, "bits": bits, "other": other, "about": about,
                "known": known,
            })
        };
        let memory = letters.strip_prefix("- ").unwrap_or(letters);
        add(
            &mut table,
            object,
            || [format!("kv:{name}"), "cache".into(), bits.to_string(), memory.to_owned()],
            output,
        )?;
    }
    for forms in &names {
        let object = || {
            let mut objects = forms.iter().map(|form| said(form, true).into_object());
            let mut first = objects.next().unwrap_or_default();
            first["other_forms"] = objects.collect();
            first
        };
        let all = |cell: fn(&Row) -> String| {
            let cells = each_once(forms.iter().map(|form| cell(form)));
            match cells.len() {
                0..=2 => cells.join(" or "),
                many => format!("{} or {} others", cells[0], many - 1),
            }
        };
        let cells: [fn(&Row) -> String; 4] =
            [Row::to_string, |row| row.axes.into(), |row| row.types.into(), |row| row.memory.into()];
        add(&mut table, object, || cells.map(all), output)?;
    }
    print(&table, output)?;
    Ok(Verdict::Well)
}

/// Says everything about one form of a name.
fn said(row: &Row, is_json: bool) -> Answer {
    let mut answer = Answer::new(is_json, "name").with_column(8);
    answer.key("name", row.to_string());
    answer.line(row);
    let align = if row.align == 0 { "an element".into() } else { row.align.to_string() };
    let flip = if row.flip == 0 { String::new() } else { format!("{:#04x}", row.flip) };
    for (key, cell) in [
        ("about", row.about),
        ("axes", row.axes),
        ("types", row.types),
        ("memory", row.memory),
        ("needs", row.needs),
        ("padding", row.padding),
        ("align", &align),
        ("flip", &flip),
        ("other", row.other),
        ("source", row.source),
        ("known", row.known),
        ("open", row.open),
    ] {
        answer.key(key, cell);
        if !cell.is_empty() {
            answer.says(key, cell);
        }
    }
    answer
}
