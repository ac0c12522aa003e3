//! Permuted blocks, copied atom by atom.

use super::Iteration;
use crate::block_permutation::{Atom, BlockPermutation};
use crate::destination::Destination;

pub(super) fn permute_blocks(
    iteration: &Iteration<'_>,
    destination: &mut Destination<'_>,
    permutation: &BlockPermutation,
) {
    let (atoms, block) = (permutation.sources(), permutation.block());
    for number in 0..permutation.blocks() {
        let from = &iteration.source[permutation.source_of(number..number + 1)..];
        let to = iteration.to + number * block;
        match permutation.atom() {
            Atom::Byte => {
                for (i, &atom) in atoms.iter().enumerate() {
                    destination.write(to + i, &[from[index(atom)]]);
                }
            }
            Atom::Nibble => {
                let nibble = |atom: u32| (from[index(atom / 2)] >> (4 * (atom % 2))) & 0x0f;
                for (i, pair) in atoms.as_chunks::<2>().0.iter().enumerate() {
                    destination.write(to + i, &[nibble(pair[0]) | nibble(pair[1]) << 4]);
                }
            }
        }
    }
}

fn index(offset: u32) -> usize {
    usize::try_from(offset).unwrap_or_else(|_| unreachable!("an offset inside a block"))
}
