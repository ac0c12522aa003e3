//! What proofs/lemmas.py proves of models, asked of the functions at the edges of the range.

use tensor_layout::checked::{BYTES, bytes_for, round_up};
use tensor_layout::upload::{Arena, DeviceLimits, Role};
use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap, calc_buffer_tensor_size};

use crate::literal::edges::{edges, lemma};

const MOST: u128 = u64::MAX as u128;

#[test]
fn rounding() {
    for multiple in edges() {
        let mut before = 0;
        for value in edges() {
            let (wide, by) = (u128::from(value), u128::from(multiple));
            let Ok(up) = round_up(value, multiple, BYTES) else {
                let passes = multiple == 0 || (wide / by + 1) * by > MOST && !wide.is_multiple_of(by);
                lemma("round_up.error", passes, (value, multiple));
                continue;
            };
            let at = (value, multiple, up);
            lemma("round_up.least", up >= value && up - value < multiple, at);
            let below = value - value % multiple;
            lemma("round_up.multiple", up == below || up - multiple == below, at);
            lemma("round_up.fixed", !value.is_multiple_of(multiple) || up == value, at);
            lemma("round_up.monotonic", up >= before, at);
            before = up;
        }
    }
}

#[test]
fn bytes() {
    for elements in edges() {
        for bits in [1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, u32::MAX] {
            let exact = u128::from(elements) * u128::from(bits);
            let Ok(size) = bytes_for(elements, bits) else {
                lemma("bytes_for.error", exact > 8 * MOST, (elements, bits));
                continue;
            };
            let all = u128::from(size) * 8;
            lemma("bytes_for.least", all >= exact && (size == 0 || all - 8 < exact), (elements, bits, size));
            lemma("bytes_for.zero", (size == 0) == (elements == 0), (elements, bits));
        }
    }
}

/// DirectML's formula, where no step passes 128 bits, and otherwise a number that passes 64 bits.
fn exact_size(sizes: &[u64], strides: &[u64], bits: u32) -> (u128, u128) {
    let products = sizes.iter().zip(strides).map(|(&size, &stride)| u128::from(size - 1) * u128::from(stride));
    let elements = products.fold(1_u128, u128::saturating_add);
    (elements, elements.saturating_mul(bits.into()).div_ceil(8).div_ceil(4).saturating_mul(4))
}

#[test]
fn sizes_of_buffers() {
    let check = |sizes: &[u64], strides: &[u64]| {
        for data_type in [DataType::U4, DataType::F32] {
            let (elements, bytes) = exact_size(sizes, strides, data_type.bits());
            let count = sizes.iter().try_fold(1_u64, |count, &size| count.checked_mul(size));
            match calc_buffer_tensor_size(data_type, sizes, Some(strides)) {
                Ok(size) => {
                    lemma("calc_buffer_tensor_size.exact", u128::from(size) == bytes, (data_type, sizes, strides));
                    let bound = BufferTensorDesc::new(data_type, sizes, Some(strides)).unwrap().bound_size_in_bytes();
                    lemma("bound_size_in_bytes.fits", bound == size, (data_type, sizes, strides));
                }
                Err(_) => {
                    let passes = elements > MOST || bytes > MOST || count.is_none();
                    lemma("calc_buffer_tensor_size.error", passes, (data_type, sizes, strides));
                }
            }
        }
    };
    let (sizes, strides): (Vec<u64>, Vec<u64>) = (edges().into_iter().filter(|&size| size > 0).collect(), edges());
    for &size in &sizes {
        for &stride in &strides {
            check(&[size], &[stride]);
            for rank in 2..=8 {
                check(&vec![2; rank], &vec![stride; rank]);
                check(&[&vec![1; rank - 1][..], &[size]].concat(), &vec![stride; rank]);
            }
            for &other in &sizes {
                check(&[size, other], &[stride, 1]);
                check(&[2, size], &[other, stride]);
            }
        }
    }
}

#[test]
fn tiles() {
    for size in edges() {
        for tile in edges().into_iter().filter(|&tile| tile > 0) {
            let Ok(shape) = format!("u8[{size}]{{0:T({tile})}}").parse::<tensor_layout::ArrayShape>() else { continue };
            let Ok(map) = shape.to_index_map() else {
                let passes = u128::from(size).div_ceil(tile.into()) * u128::from(tile) > MOST;
                lemma("tile_levels.padded", passes, (size, tile));
                continue;
            };
            let padded = map.physical_elements();
            lemma("tile_levels.padded", padded >= size && padded - size < tile, (size, tile, padded));
            lemma(
                "tile_levels.count",
                padded.is_multiple_of(tile) && (padded == 0) == (size == 0),
                (size, tile, padded),
            );
            let rounded = round_up(size, tile, BYTES).ok();
            lemma("tile_levels.round_up", rounded == Some(padded), (size, tile, padded));
        }
    }
}

#[test]
fn arenas() {
    let limits = DeviceLimits::none();
    for size in edges().into_iter().filter(|&size| size > 0) {
        let layouts: Vec<BufferTensorDesc> =
            [(DataType::U8, 3), (DataType::F32, size), (DataType::F16, 1), (DataType::F64, 2)]
                .into_iter()
                .filter_map(|(data_type, size)| BufferTensorDesc::new(data_type, &[size], None).ok())
                .collect();
        let tensors: Vec<(&dyn ToIndexMap, Role)> =
            layouts.iter().map(|layout| (layout as &dyn ToIndexMap, Role::Input)).collect();
        let Ok(placed) = Arena::new(&tensors, &limits) else { continue };
        let mut ends = vec![0; placed.buffers.len()];
        for (binding, layout) in placed.tensors.iter().flatten().zip(&layouts) {
            let (bound, end) = (&binding.bound, &mut ends[binding.buffer]);
            let length = layout.exact_size_in_bytes();
            lemma("arena.apart", binding.offset >= *end, (size, bound));
            let holds = bound.end - bound.start >= length && bound.end <= placed.buffers[binding.buffer];
            lemma("arena.holds", holds, (size, bound));
            let bytes = u64::from(layout.data_type().bits() / 8);
            lemma("arena.aligned", bound.start.is_multiple_of(bytes), (size, bound));
            *end = bound.end;
        }
    }
}
