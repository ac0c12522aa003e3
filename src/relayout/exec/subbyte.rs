//! Copying elements that begin inside bytes.

use crate::element::{read_bits, write_bits};

use super::super::plan::subbyte::{Inner, SubByteBox};
use super::bit_plane::{self, Buffers};
use super::bit_rows;
use super::call::Call;
use super::elements::each_element;

/// Copies the box, and says how many bytes that were.
// As in `width.rs`.
#[inline(never)]
pub(super) fn run(copy: &SubByteBox, bits: u32, call: &mut Call<'_>) -> u64 {
    let SubByteBox { outer, elements, inner } = copy;
    let width = u64::from(bits);
    let each = |copy_at: &mut dyn FnMut(u64, u64)| {
        each_element(&outer.loops, outer.source, outer.destination, &mut |from, to| {
            copy_at(from.saturating_mul(width), to.saturating_mul(width));
        });
    };
    match inner {
        Inner::Rows(rows) => each(&mut |from, to| bit_rows::run(rows, call, (from, to))),
        Inner::Plane(plane) => {
            let mut buffers = Buffers::new();
            each(&mut |from, to| bit_plane::run(plane, call, &mut buffers, (from, to)));
        }
        Inner::Element => {
            let source = call.source;
            let destination = call.destination.bytes_to_change();
            if 8_u32.is_multiple_of(bits) {
                each(&mut |from, to| strided_copy::bit_rows::copy_element(source, from, destination, to, width));
            } else {
                each(&mut |from, to| {
                    // `None` only past the end of a buffer, and the buffers were measured.
                    if let Some(value) = read_bits(source, from, bits) {
                        let _ = write_bits(destination, to, bits, value);
                    }
                });
            }
        }
    }
    elements.saturating_mul(width).div_ceil(8)
}
