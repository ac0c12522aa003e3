//! Random recipes against ndarray, which copies at every step.

use ndarray::{ArrayD, Axis, Dimension, IxDyn, concatenate};
use tensor_layout::ToIndexMap;
use tensor_layout_files::recipe::{Recipe, Settings};

use crate::recipe::model;

const CASES: u64 = 500;
const RANK: (u64, u64) = (1, 3);

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// The sources that expressions are made of: every element has another number.
struct Maker {
    random: Random,
    sources: Vec<ArrayD<u16>>,
    next: u16,
}

fn numbers(list: &[usize]) -> String {
    list.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

impl Maker {
    /// An expression of these sizes, and its value.
    fn value(&mut self, sizes: &[usize], depth: usize) -> (String, ArrayD<u16>) {
        let rank = sizes.len();
        let axis = self.random.below(rank);
        let depth = if sizes.iter().product::<usize>() > 1000 { 0 } else { depth };
        match self.random.below(if depth == 0 { 1 } else { 9 }) {
            1 | 2 if rank > 0 => {
                let first = self.random.below(sizes[axis] + 1);
                let [mut one, mut other] = [sizes.to_vec(), sizes.to_vec()];
                (one[axis], other[axis]) = (first, sizes[axis] - first);
                let ((a, x), (b, y)) = (self.value(&one, depth - 1), self.value(&other, depth - 1));
                (format!("cat {axis} ({a}, {b})"), concatenate(Axis(axis), &[x.view(), y.view()]).unwrap())
            }
            3 if rank > 0 && sizes[axis] > 0 => {
                let mut inner = sizes.to_vec();
                inner.remove(axis);
                let parts: Vec<_> = (0..sizes[axis]).map(|_| self.value(&inner, depth - 1)).collect();
                let texts: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
                let views: Vec<_> = parts.iter().map(|(_, value)| value.view()).collect();
                (format!("stack {axis} ({})", texts.join(", ")), ndarray::stack(Axis(axis), &views).unwrap())
            }
            4 if rank > 0 => {
                let mut axes: Vec<usize> = (0..rank).collect();
                (0..rank).for_each(|place| axes.swap(place, self.random.below(rank)));
                let mut inner = vec![0; rank];
                axes.iter().zip(sizes).for_each(|(&axis, &size)| inner[axis] = size);
                let (text, value) = self.value(&inner, depth - 1);
                let turned = value.permuted_axes(IxDyn(&axes)).as_standard_layout().to_owned();
                (format!("{text} | permute {}", numbers(&axes)), turned)
            }
            5 if rank > 0 => {
                let mut rest: usize = sizes.iter().product();
                let mut inner = Vec::new();
                while rest > 1 && inner.len() < 3 {
                    let divisors: Vec<usize> = (1..=rest).filter(|divisor| rest.is_multiple_of(*divisor)).collect();
                    inner.push(divisors[self.random.below(divisors.len())]);
                    rest /= inner[inner.len() - 1];
                }
                inner.push(rest);
                let (text, value) = self.value(&inner, depth - 1);
                (
                    format!("{text} | reshape {}", numbers(sizes)),
                    value.as_standard_layout().into_owned().into_shape_with_order(IxDyn(sizes)).unwrap(),
                )
            }
            6 if rank > 0 => {
                let (mut inner, mut slices, mut parts) = (Vec::new(), Vec::new(), Vec::new());
                for &size in sizes {
                    let (start, step) = (self.random.below(3), 1 + self.random.below(2));
                    let end = start + size * step;
                    inner.push(end + self.random.below(2));
                    let is_turned = size > 1 && self.random.below(4) == 0;
                    slices.push(match is_turned {
                        false => format!("{start}:{end}:{step}"),
                        true if start == 0 => format!("{}::-{step}", (size - 1) * step),
                        true => format!("{}:{}:-{step}", start + (size - 1) * step, start - 1),
                    });
                    parts.push((start, end, if is_turned { -(step as isize) } else { step as isize }));
                }
                let (text, mut value) = self.value(&inner, depth - 1);
                for (axis, (start, end, step)) in parts.into_iter().enumerate() {
                    let last =
                        if step < 0 { (start..end).step_by(step.unsigned_abs()).next_back().unwrap() + 1 } else { end };
                    let slice = ndarray::Slice::new(start as isize, Some(last as isize), step);
                    value = value.slice_axis(Axis(axis), slice).to_owned();
                }
                (format!("{text} | slice {}", slices.join(",")), value)
            }
            7 if rank > 0 => {
                let inner: Vec<usize> =
                    sizes.iter().map(|&size| if self.random.below(2) == 0 { 1 } else { size }).collect();
                let inner = inner[self.random.below(rank)..].to_vec();
                let (text, value) = self.value(&inner, depth - 1);
                (format!("{text} | broadcast {}", numbers(sizes)), value.broadcast(IxDyn(sizes)).unwrap().to_owned())
            }
            8 if rank > 0 => {
                // The sizes of which a third is this size, by torch.chunk's rule and by tensor_split's.
                let (is_even, (rank, ranks)) = (self.random.below(2) == 0, (RANK.0 as usize, RANK.1 as usize));
                let range = |size: usize| match is_even {
                    false => {
                        let share = size.div_ceil(ranks);
                        (share * rank).min(size)..(share * (rank + 1)).min(size)
                    }
                    true => {
                        let start = |rank: usize| rank * (size / ranks) + rank.min(size % ranks);
                        start(rank)..start(rank + 1)
                    }
                };
                let fitting: Vec<usize> =
                    (0..=3 * sizes[axis]).filter(|&size| range(size).len() == sizes[axis]).collect();
                let mut inner = sizes.to_vec();
                inner[axis] = fitting[self.random.below(fitting.len())];
                let (text, value) = self.value(&inner, depth - 1);
                let share = value.slice_axis(Axis(axis), range(inner[axis]).into()).to_owned();
                (format!("{text} | shard {axis}{}", if is_even { " even" } else { "" }), share)
            }
            _ => {
                let count = sizes.iter().product::<usize>() as u32;
                let next = self.next;
                self.next = next.wrapping_add(count as u16);
                let value = (0..count).map(|number| next.wrapping_add(number as u16)).collect();
                self.sources.push(ArrayD::from_shape_vec(IxDyn(sizes), value).unwrap());
                (format!("t{}", self.sources.len() - 1), self.sources[self.sources.len() - 1].clone())
            }
        }
    }
}

#[test]
fn random_recipes_are_what_ndarray_makes() {
    let (mut refused, mut copies) = (0, 0);
    for case in 0.. {
        if case - refused == CASES {
            break;
        }
        let mut maker = Maker { random: Random(case.wrapping_mul(77_777) + 5), sources: Vec::new(), next: 1 };
        let rank = 1 + maker.random.below(3);
        let sizes: Vec<usize> = (0..rank).map(|_| 1 + maker.random.below(5)).collect();
        let (text, expected) = maker.value(&sizes, 4);
        let rule = ["", " | packed", " | T(2,2)", " | T(3)(2,1)", " | tpu:v5e"][maker.random.below(5)];
        let text = format!("out = {text}{rule}");
        let names: Vec<String> = (0..maker.sources.len()).map(|place| format!("t{place}")).collect();
        let tensors: Vec<_> = maker
            .sources
            .iter()
            .zip(&names)
            .map(|(source, name)| {
                let sizes: Vec<u64> = source.shape().iter().map(|&size| size as u64).collect();
                (name.as_str(), sizes, source.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
            })
            .collect();
        let tensors: Vec<_> =
            tensors.iter().map(|(name, sizes, bytes)| (*name, "U16", sizes.as_slice(), bytes.clone())).collect();
        let file = model(&tensors);
        let recipe = Recipe::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let plan = match recipe.plan(&file, &Settings::of_rank(RANK.0, RANK.1)) {
            Ok(plan) => plan,
            // Only what no view expresses is refused, and no size.
            Err(error) if ["not_a_view", "not_expressible"].contains(&error.code()) => {
                refused += 1;
                continue;
            }
            Err(error) => panic!("{text}\n{error}"),
        };
        let [output] = plan.outputs() else { panic!("{text}") };
        copies += output.copies().count();
        let mut memory = vec![0xaa; output.size_in_bytes() as usize + 2];
        plan.run(output, &mut memory[..], 1 + case as usize % 3).unwrap();
        assert_eq!(memory.split_off(memory.len() - 2), [0xaa; 2], "{text}");
        let map = output.layout().to_index_map().unwrap();
        for (index, number) in expected.indexed_iter() {
            let index: Vec<u64> = (0..index.ndim()).map(|axis| index[axis] as u64).collect();
            let at = map.offset(&index).unwrap() as usize * 2;
            assert_eq!(u16::from_le_bytes([memory[at], memory[at + 1]]), *number, "{text} at {index:?}");
            memory[at..at + 2].fill(0);
        }
        assert!(memory.iter().all(|&byte| byte == 0), "the padding of {text}");
        // As many elements are copied as there are, and each was found: each is written once.
        assert_eq!(output.bytes_read(), map.element_count() * 2, "{text}");
    }
    assert!(refused < CASES / 10, "{refused} recipes were refused");
    assert!(copies > 900, "{copies} copies");
}
