//! The literal meaning of a list and of a copy.

use std::collections::BTreeMap;

use tensor_layout::checked::next_index;
use tensor_layout::{IndexMap, ToIndexMap};
use tensor_layout_text::Layout;
use tensor_layout_transfers::{Loop, Transfers};

/// Every byte of the destination that a list writes, with the byte of the source. Fails if a byte is written
/// twice.
pub(crate) fn moved(list: &Transfers) -> BTreeMap<u64, u64> {
    let mut moved = BTreeMap::new();
    each_byte(list, |source, destination| {
        let before = moved.insert(destination, source);
        assert!(before.is_none(), "byte {destination} of the destination is written twice");
    });
    moved
}

/// Calls `each` with every byte that a list reads and writes.
pub(crate) fn each_byte(list: &Transfers, mut each: impl FnMut(u64, u64)) {
    for transfer in list.iter() {
        each_run(transfer.loops, transfer.source, transfer.destination, &mut |source, destination| {
            (0..transfer.bytes).for_each(|byte| each(source + byte, destination + byte));
        });
    }
}

fn each_run(loops: &[Loop], source: u64, destination: u64, each: &mut dyn FnMut(u64, u64)) {
    let Some((step, inner)) = loops.split_first() else { return each(source, destination) };
    for number in 0..step.count as i64 {
        let source = source.checked_add_signed(number * step.source_stride).unwrap();
        each_run(inner, source, destination.checked_add_signed(number * step.destination_stride).unwrap(), each);
    }
}

/// Every byte of the destination that a copy writes, with the byte of the source, index by index.
pub(crate) fn copied(from: &IndexMap, to: &IndexMap) -> BTreeMap<u64, u64> {
    let (bytes, mut copied) = (u64::from(from.element_bits() / 8), BTreeMap::new());
    let mut index = vec![0; from.sizes().len()];
    if from.element_count() == 0 {
        return copied;
    }
    loop {
        let (source, destination) = (from.offset(&index).unwrap() * bytes, to.offset(&index).unwrap() * bytes);
        copied.extend((0..bytes).map(|byte| (destination + byte, source + byte)));
        if !next_index(&mut index, from.sizes()) {
            return copied;
        }
    }
}

pub(crate) fn map(text: &str) -> IndexMap {
    text.parse::<Layout>().unwrap().to_index_map().unwrap()
}
