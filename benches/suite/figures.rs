// The code that benches of the suite share, on a CPU and on a device.

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Whether a glob matches a name. `*` matches any text.
pub(crate) fn matches_glob(glob: &str, name: &str) -> bool {
    match glob.split_once('*') {
        None => glob == name,
        Some((start, rest)) => {
            let Some(name) = name.strip_prefix(start) else { return false };
            rest.is_empty() || (0..=name.len()).any(|skip| matches_glob(rest, &name[skip..]))
        }
    }
}
