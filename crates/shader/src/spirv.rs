//! Removes from a SPIR-V module what naga writes and the Vulkan environment forbids: offsets and strides on
//! types of memory that is not shared with the host.
//!
//! naga decorates every array with `ArrayStride`, and every structure with `Offset`. In workgroup, private
//! and function memory such layouts are illegal (VUID-StandaloneSpirv-None-10684): validators refuse them,
//! and some drivers fail. A type that is also in a binding keeps its layout, because there the layout is
//! required.

use std::collections::HashSet;
use std::ops::Range;

/// The number of words in front of the first instruction.
const HEADER: usize = 5;

/// Operation codes, as in the SPIR-V specification.
const TYPE_ARRAY: u32 = 28;
const TYPE_RUNTIME_ARRAY: u32 = 29;
const TYPE_STRUCT: u32 = 30;
const TYPE_POINTER: u32 = 32;
const DECORATE: u32 = 71;
const MEMBER_DECORATE: u32 = 72;

/// Storage classes whose types have no layout: `Workgroup`, `Private` and `Function`.
const WITHOUT_LAYOUT: [u32; 3] = [4, 6, 7];

/// Decorations that are layouts: `RowMajor`, `ColMajor`, `ArrayStride`, `MatrixStride` and `Offset`.
const LAYOUTS: [u32; 5] = [4, 5, 6, 7, 35];

/// Returns the words of the module without layouts on types of memory that the host does not see.
pub(super) fn without_inner_layouts(words: &[u32]) -> Vec<u32> {
    let instructions = instructions(words);
    let (mut inner, mut outer) = (HashSet::new(), HashSet::new());
    // Types follow the types that they consist of, so backwards every type is reached after its users.
    for own in instructions.iter().rev() {
        match *words.get(own.clone()).unwrap_or_default() {
            [first, _, class, pointee] if code(first) == TYPE_POINTER => {
                if WITHOUT_LAYOUT.contains(&class) { &mut inner } else { &mut outer }.insert(pointee);
            }
            [first, id, ref parts @ ..] => {
                // The length of an array is the name of a constant, which is no type.
                let parts = match code(first) {
                    TYPE_STRUCT => parts,
                    TYPE_ARRAY | TYPE_RUNTIME_ARRAY => parts.get(..1).unwrap_or_default(),
                    _ => &[],
                };
                for set in [&mut inner, &mut outer] {
                    if set.contains(&id) {
                        set.extend(parts);
                    }
                }
            }
            _ => {}
        }
    }
    let is_forbidden = |own: &Range<usize>| {
        let (id, decoration) = match *words.get(own.clone()).unwrap_or_default() {
            [first, id, decoration, ..] if code(first) == DECORATE => (id, decoration),
            [first, id, _, decoration, ..] if code(first) == MEMBER_DECORATE => (id, decoration),
            _ => return false,
        };
        LAYOUTS.contains(&decoration) && inner.contains(&id) && !outer.contains(&id)
    };
    let kept = instructions.iter().filter(|own| !is_forbidden(own));
    let kept = kept.flat_map(|own| words.get(own.clone()).unwrap_or_default());
    words.iter().take(HEADER).chain(kept).copied().collect()
}

/// The ranges of words of all instructions. The upper half of an instruction's first word is its length.
fn instructions(words: &[u32]) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), HEADER);
    while let Some(first) = words.get(at) {
        let length = usize::try_from(first >> 16).unwrap_or(usize::MAX).max(1);
        let end = at.saturating_add(length);
        found.push(at..end);
        at = end;
    }
    found
}

fn code(first: u32) -> u32 {
    first & 0xffff
}
