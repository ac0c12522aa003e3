//! `names`: the layouts that have a name.

use clap::Args;
use serde_json::{Value, json};
use tensor_layout::{IndexMap, ToIndexMap};
use tensor_layout_text::Layout;
use tensor_layout_text::kv::{KvCache, Order, Recognised, orders, recognise};
use tensor_layout_text::named::{Row, rows};

use crate::output::{Output, Stop, Verdict, joined, refused};
use crate::table::{Table, each_once};

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
        if names.is_empty() { layers.collect() } else { names }
    };
    // Caches that differ only in axes of size 1 have the same map, and share a line.
    let mut lines: Vec<(Key, String, Vec<String>)> = Vec::new();
    for cache in &caches {
        let map = cache.to_index_map().map_err(refused(layout))?;
        let kept = cache.axes().chars().zip(map.sizes()).filter(|axis| *axis.1 != 1);
        let (axes, sizes): (String, Vec<u64>) = kept.unzip();
        let key = map.reshape(&sizes).ok().map(|map| (axes, map));
        match lines.iter_mut().find(|line| key.is_some() && line.0 == key) {
            Some((.., all)) => all.extend(names(cache)),
            None => lines.push((key, cache.to_string(), names(cache))),
        }
    }
    lines.iter_mut().for_each(|(.., names)| *names = each_once(names.iter()).into_iter().cloned().collect());
    let found = !caches.is_empty();
    if output.is_json() {
        let caches = lines.iter().map(|(_, cache, names)| json!({ "layout": cache, "names": names }));
        let caches: Vec<Value> = caches.collect();
        output.line(json!({ "type": "caches", "input": layout, "caches": caches, "apart": apart }))?;
        return Ok(Verdict::well_if(found));
    }
    if !found {
        return Err(Stop::Failed(format!("no order of caches has the places of {layout} with these sizes")));
    }
    let mut table = Table::new("cache|order of");
    lines.iter().for_each(|(_, cache, names)| table.row([cache.clone(), names.join(", ")]));
    output.lines(table.lines())?;
    if !apart.is_empty() {
        output.line("\nwhat tells them apart")?;
    }
    for sentence in apart {
        output.sentence(format_args!("  {sentence}"))?;
    }
    Ok(Verdict::Well)
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    if let Some(layout) = &arguments.kv {
        return caches(layout, arguments.known.as_deref().unwrap_or(""), output);
    }
    let word = arguments.word.as_deref().unwrap_or("").to_ascii_lowercase();
    let holds = |texts: &[&str]| texts.iter().any(|text| text.to_ascii_lowercase().contains(&word));
    let mut found: Vec<&Row> = rows().iter().filter(|row| holds(&[&row.name, row.other])).collect();
    let caches: Vec<&Order> =
        orders().iter().filter(|order| holds(&[&format!("kv:{}", order.name), order.other])).collect();
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
    if output.is_json() {
        for order in caches.iter().filter(|_| !word.is_empty()) {
            output.line(json!({
                "type": "order", "name": order.name, "order": order.letters, "bits": order.bits, "other": order.other,
                "about": order.about, "known": order.known,
            }))?;
        }
        for forms in names {
            let mut all = object(forms[0]);
            all["other_forms"] = forms[1..].iter().map(|form| object(form)).collect();
            output.line(all)?;
        }
        return Ok(Verdict::Well);
    }
    if let ([forms], []) = (names.as_slice(), caches.as_slice()) {
        for form in forms {
            output.line(everything(form))?;
        }
        return Ok(Verdict::Well);
    }
    let mut table = Table::new("name|axes|?types|memory");
    for order in caches.iter().filter(|_| !word.is_empty()) {
        let refused = order.letters.strip_prefix("- ");
        let name = format!("kv:{}", order.name);
        table.row([name, "cache".into(), order.bits.into(), refused.unwrap_or(order.letters).into()]);
    }
    for forms in &names {
        let all = |cell: fn(&Row) -> String| {
            let cells = each_once(forms.iter().map(|form| cell(form)));
            match cells.len() {
                0..=2 => cells.join(" or "),
                many => format!("{} or {} others", cells[0], many - 1),
            }
        };
        table.row([
            all(|row| row.to_string()),
            all(|row| row.axes.into()),
            all(|row| row.types.into()),
            all(|row| row.memory.into()),
        ]);
    }
    output.lines(table.lines())?;
    Ok(Verdict::Well)
}

fn cells(row: &Row) -> [(&'static str, String); 12] {
    [
        ("about", row.about.into()),
        ("axes", row.axes.into()),
        ("types", row.types.into()),
        ("memory", row.memory.into()),
        ("needs", row.needs.into()),
        ("padding", row.padding.into()),
        ("align", if row.align == 0 { "an element".into() } else { row.align.to_string() }),
        ("flip", if row.flip == 0 { String::new() } else { format!("{:#04x}", row.flip) }),
        ("other", row.other.into()),
        ("source", row.source.into()),
        ("known", row.known.into()),
        ("open", row.open.into()),
    ]
}

fn object(row: &Row) -> Value {
    let object = json!({ "type": "name", "name": row.to_string() });
    joined(object, cells(row).into_iter().map(|(key, cell)| (key.to_owned(), cell)).collect())
}

fn everything(row: &Row) -> String {
    let line = |(key, cell): (&str, String)| format!("\n  {key:<9}{cell}");
    let lines = cells(row).into_iter().filter(|(_, cell)| !cell.is_empty());
    row.to_string() + &lines.map(line).collect::<String>()
}
