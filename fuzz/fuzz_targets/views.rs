//! Views of a descriptor and of its index map, one after the other, each against the same view of a list of
//! offsets.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout::strided::{NewAxes, Overlap, Slice};
use tensor_layout::{BufferTensorDesc, Error, IndexMap, LayoutClass, ToIndexMap};
use tensor_layout_fuzz::layouts::{AnySide, Tensor, permutation};
use tensor_layout_fuzz::offsets::Offsets;
use tensor_layout_fuzz::places::{for_each_index, strided_offsets};

#[derive(Debug, Arbitrary)]
struct Input {
    tensor: Tensor,
    side: AnySide,
    steps: [Step; 4],
}

#[derive(Debug, Clone, Copy, Arbitrary)]
struct Step {
    kind: u8,
    a: u8,
    b: u8,
    c: [u8; 5],
}

/// A layout in both models, with its offsets. The descriptor is lost where tiles are.
struct State {
    desc: Option<BufferTensorDesc>,
    map: IndexMap,
    offsets: Offsets,
}

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let sizes = input.tensor.sizes(120);
    let data_type = input.tensor.data_type();
    let mut state = if input.side.model % 3 > 0 {
        let desc = input.side.strided.desc(data_type, &sizes);
        let list = strided_offsets(&sizes, desc.strides(), desc.base_offset());
        State { map: desc.to_index_map().unwrap(), desc: Some(desc), offsets: Offsets { sizes, list } }
    } else {
        let side = input.side.tiled.side(data_type, &sizes, 1000);
        State { desc: None, map: side.map, offsets: Offsets { sizes, list: side.offsets } }
    };
    check(&state);
    for step in input.steps {
        let Some(next) = take(&state, &step) else { return };
        if next.offsets.list.len() > 600 || next.offsets.sizes.len() > 9 {
            return;
        }
        state = next;
        check(&state);
    }
});

/// Everything that is said of places.
fn check(state: &State) {
    let Offsets { sizes, list } = &state.offsets;
    let map = &state.map;
    assert_eq!(map.sizes(), sizes);
    let mut places = list.iter();
    for_each_index(sizes, |index| assert_eq!(map.offset(index).ok().as_ref(), places.next(), "{map:?} at {index:?}"));
    let last = list.iter().max().map_or(0, |last| last + 1);
    if !list.is_empty() {
        // An upper bound where digits do not line up.
        assert!(map.span_elements() == last || map.class() == LayoutClass::Irreducible && map.span_elements() > last);
    }
    let Some(desc) = &state.desc else { return };
    assert_eq!(desc.sizes(), sizes, "{desc}");
    assert_eq!(desc.element_count(), list.len() as u64);
    if list.is_empty() {
        return;
    }
    assert!(desc.offsets().eq(list.iter().copied()), "{desc}");
    assert_eq!(desc.span_elements(), last);
    let mut sorted = list.clone();
    sorted.sort_unstable();
    let repeats = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    match desc.overlap() {
        Overlap::Yes { first, second, offset } => {
            assert!(repeats && first != second, "{desc}");
            assert_eq!((state.offsets.at(&first), state.offsets.at(&second)), (offset, offset));
        }
        Overlap::No => assert!(!repeats, "{desc}"),
        Overlap::Undecided => {}
    }
    let coalesced = desc.coalesce();
    assert!(coalesced.offsets().eq(list.iter().copied()), "{desc} -> {coalesced}");
}

/// The view of both; they are refused together, with the same code.
fn both(
    state: &State,
    offsets: Offsets,
    desc: impl FnOnce(&BufferTensorDesc) -> Result<BufferTensorDesc, Error>,
    map: impl FnOnce(&IndexMap) -> Result<IndexMap, Error>,
) -> Option<State> {
    let desc = state.desc.as_ref().map(|old| desc(old).unwrap_or_else(|error| panic!("{old}: {error}")));
    match map(&state.map) {
        Ok(map) => Some(State { desc, map, offsets }),
        Err(error) => {
            // Tiles that no view can be made of.
            assert!(state.desc.is_none() && error.code() == "not_a_view", "{:?}: {error}", state.map);
            None
        }
    }
}

/// The view of the descriptor alone; its map is made anew.
fn strided(
    state: &State,
    offsets: Offsets,
    desc: impl FnOnce(&BufferTensorDesc) -> Result<BufferTensorDesc, Error>,
) -> Option<State> {
    let old = state.desc.as_ref()?;
    let desc = desc(old).unwrap_or_else(|error| panic!("{old}: {error}"));
    Some(State { map: desc.to_index_map().unwrap(), desc: Some(desc), offsets })
}

fn take(state: &State, step: &Step) -> Option<State> {
    let Offsets { sizes, list } = &state.offsets;
    let rank = sizes.len();
    let (a, b) = (usize::from(step.a), usize::from(step.b));
    let axis = a % rank.max(1);
    match step.kind % 20 {
        0 => {
            let order = permutation(step.a, rank);
            let new = order.iter().map(|&axis| sizes[axis]).collect();
            let offsets =
                state.offsets.view(new, |new, old| order.iter().zip(new).for_each(|(&axis, &i)| old[axis] = i));
            both(state, offsets, |desc| desc.permute(&order), |map| map.permute(&order))
        }
        1 => {
            let slices: Vec<Slice> = (0..rank)
                .map(|axis| {
                    let byte = u64::from(step.c[axis % 5]);
                    let (x, y) = (byte % 16 % (sizes[axis] + 1), byte / 16 % (sizes[axis] + 1));
                    Slice::from(x.min(y)..x.max(y)).step_by(1 + u64::from(step.b) % 3)
                })
                .collect();
            let length = |slice: &Slice| (slice.end.unwrap() - slice.start).div_ceil(slice.step);
            let new = slices.iter().map(length).collect();
            let offsets = state.offsets.view(new, |new, old| {
                slices.iter().enumerate().for_each(|(axis, slice)| old[axis] = slice.start + new[axis] * slice.step);
            });
            both(state, offsets, |desc| desc.slice(&slices), |map| map.slice(&slices))
        }
        2 if rank > 0 && sizes[axis] > 0 => {
            let place = u64::from(step.b) % sizes[axis];
            let mut new = sizes.clone();
            new.remove(axis);
            let offsets = state.offsets.view(new, |new, old| {
                old[..axis].copy_from_slice(&new[..axis]);
                old[axis] = place;
                old[axis + 1..].copy_from_slice(&new[axis..]);
            });
            strided(state, offsets, |desc| desc.select(axis, place))
        }
        3 => {
            let axis = a % (rank + 1);
            let mut new = sizes.clone();
            new.insert(axis, 1);
            let wide = new.clone();
            let offsets = Offsets { sizes: new, list: list.clone() };
            strided(state, offsets, |desc| desc.reshape(&wide))
        }
        5..=7 => reshape(state, &reshaped(list.len() as u64, step)),
        8 => {
            let front: Vec<u64> = step.c[..b % 2].iter().map(|&byte| 1 + u64::from(byte) % 3).collect();
            let times = 1 + u64::from(step.a) % 4;
            let new: Vec<u64> =
                front.iter().copied().chain(sizes.iter().map(|&size| if size == 1 { times } else { size })).collect();
            let offsets = state.offsets.view(new.clone(), |new, old| {
                for (axis, &size) in sizes.iter().enumerate() {
                    old[axis] = if size == 1 { 0 } else { new[front.len() + axis] };
                }
            });
            both(state, offsets, |desc| desc.broadcast_to(&new), |map| map.broadcast_to(&new))
        }
        12 if rank > 0 => {
            let first = u64::from(step.b) % (sizes[axis] + 1);
            let mut new = sizes.clone();
            new[axis] -= first;
            let offsets = state.offsets.view(new, |new, old| {
                old.copy_from_slice(new);
                old[axis] += first;
            });
            strided(state, offsets, |desc| desc.slice_axis(axis, first..))
        }
        13 => {
            let wanted = rank + a % 3;
            let side = if b % 2 == 0 { NewAxes::Front } else { NewAxes::Back };
            let mut new = sizes.clone();
            (rank..wanted).for_each(|_| new.insert(if side == NewAxes::Front { 0 } else { new.len() }, 1));
            strided(state, Offsets { sizes: new, list: list.clone() }, |desc| Ok(desc.rank_at_least(wanted, side)))
        }
        17 if rank > 1 => {
            let second = b % rank;
            let mut new = sizes.clone();
            new.swap(axis, second);
            let offsets = state.offsets.view(new, |new, old| {
                old.copy_from_slice(new);
                old.swap(axis, second);
            });
            strided(state, offsets, |desc| desc.transpose(axis, second))
        }
        _ => {
            let base = u64::from(step.a);
            let first = state.map.base();
            let list = list.iter().map(|offset| offset - first + base).collect();
            let map = state.map.clone().with_base(base).unwrap();
            let desc = state.desc.as_ref().map(|desc| desc.clone().with_base_offset(base).unwrap());
            Some(State { desc, map, offsets: Offsets { sizes: sizes.clone(), list } })
        }
    }
}

/// Sizes with this product.
fn reshaped(elements: u64, step: &Step) -> Vec<u64> {
    let mut rest = elements;
    let mut sizes = Vec::new();
    for &byte in &step.c[..usize::from(step.a) % 5] {
        let divisors: Vec<u64> = (1..=rest).filter(|&divisor| rest.is_multiple_of(divisor)).collect();
        let chosen = divisors.get(usize::from(byte) % divisors.len().max(1)).copied().unwrap_or(1);
        sizes.push(chosen);
        rest /= chosen;
    }
    sizes.insert(usize::from(step.b) % (sizes.len() + 1), rest);
    sizes
}

fn reshape(state: &State, new: &[u64]) -> Option<State> {
    let list = state.offsets.list.clone();
    if list.is_empty() {
        return None;
    }
    let map = state.map.reshape(new);
    let desc = state.desc.as_ref().map(|desc| desc.reshape(new));
    if let Some(Err(error)) = &desc {
        assert_eq!(error.code(), "not_a_view");
        assert!(!state.offsets.has_strides(new), "{:?} as {new:?}: {error}", state.desc);
    }
    let map = match map {
        Ok(map) => map,
        Err(error) => {
            assert_eq!(error.code(), "not_a_view");
            assert!(!matches!(desc, Some(Ok(_))), "{:?} as {new:?}: {error}", state.desc);
            return None;
        }
    };
    Some(State { desc: desc.and_then(Result::ok), map, offsets: Offsets { sizes: new.to_vec(), list } })
}
