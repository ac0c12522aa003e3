//! Small models of six families, for eight ranks: recipes make what torch's cat, stack and chunk make.
//! `tests/data/families.py` wrote the table with torch and safetensors.

use std::collections::BTreeMap;

use tensor_layout_files::recipe::Settings;

use crate::recipe::{cooked, model};

const TABLE: &str = include_str!("../data/families.tsv");

/// The name, the type and the sizes of a tensor.
type Source<'t> = (&'t str, &'t str, Vec<u64>);

/// The bytes of tensor `number` of a family, as the script makes them.
fn made(number: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|k| ((31 * k + 97 * number + k / 251) % 256) as u8).collect()
}

fn fnv(bytes: &[u8]) -> String {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

fn sizes(text: &str) -> Vec<u64> {
    text.split(',').filter(|size| !size.is_empty()).map(|size| size.parse().unwrap()).collect()
}

#[test]
fn six_families_on_eight_ranks_are_as_torch_cuts_them() {
    let mut sources: BTreeMap<&str, Vec<Source<'_>>> = BTreeMap::new();
    let (mut recipes, mut outputs) = (Vec::new(), BTreeMap::new());
    for line in TABLE.lines() {
        match line.split('\t').collect::<Vec<_>>().as_slice() {
            ["source", family, name, dtype, shape] => {
                sources.entry(family).or_default().push((*name, *dtype, sizes(shape)));
            }
            ["recipe", family, kind, text] => recipes.push((*family, *kind, text.replace("\\n", "\n"))),
            ["output", family, kind, rank, name, shape, hash] => {
                outputs.insert((*family, *kind, rank.parse::<u64>().unwrap(), *name), (sizes(shape), *hash));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((sources.len(), recipes.len()), (6, 10));
    let mut compared = 0;
    for (family, kind, text) in recipes {
        let tensors: Vec<_> = sources[family]
            .iter()
            .enumerate()
            .map(|(number, (name, dtype, sizes))| {
                let width = match *dtype {
                    "F32" => 4,
                    "BF16" => 2,
                    _ => 1,
                };
                (*name, *dtype, sizes.as_slice(), made(number, sizes.iter().product::<u64>() as usize * width))
            })
            .collect();
        let file = model(&tensors);
        for rank in 0..8 {
            for (name, layout, bytes) in cooked(&file, &text, &Settings::of_rank(rank, 8)) {
                let of = |rank| outputs.get(&(family, kind, rank, name.as_str()));
                let (sizes, hash) = of(rank).or_else(|| of(0)).unwrap_or_else(|| panic!("{family} {kind} {name}"));
                let layout: tensor_layout_text::Layout = layout.parse().unwrap();
                assert_eq!(layout.sizes(), sizes, "{family} {kind} {rank} {name}");
                assert_eq!(&fnv(&bytes), hash, "{family} {kind} {rank} {name}");
                compared += usize::from(of(rank).is_some());
            }
        }
    }
    assert_eq!(compared, outputs.len(), "every row of torch is an output");
}
