//! The functions that copy: one order of arguments, buffers of any kind, and the owner of padding.

use tensor_layout::relayout::{Padding, Plans, Relayout, Settings, Strided, copy, copy_strided, copy_typed};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};
use tensor_layout_text::Notated;

fn desc(text: &str) -> BufferTensorDesc {
    text.parse().unwrap()
}

/// Layouts come first, and then bytes: `from`, `to`, `source`, `destination`.
#[test]
fn every_verb_takes_a_vector_a_slice_and_an_array() {
    let (from, to) = (desc("u8[2,3]:[3,1]"), desc("u8[2,3]:[1,2]"));
    let (mut vector, mut array) = (vec![0; 6], [0; 6]);
    copy(&from, &to, b"abcdef", &mut vector).unwrap();
    copy(&from, &to, b"abcdef", &mut array).unwrap();
    assert_eq!((vector.as_slice(), array), (&b"adbecf"[..], *b"adbecf"));
    let (a, b) = (Strided { strides: &[3, 1], offset: 0 }, Strided { strides: &[1, 2], offset: 0 });
    vector.fill(0);
    copy_strided(DataType::U8, &[2, 3], a, b, b"abcdef", &mut vector).unwrap();
    assert_eq!(vector, b"adbecf");
    vector.fill(0);
    Relayout::new(&from, &to).unwrap().run_write_only(b"abcdef", &mut vector).unwrap();
    assert_eq!(vector, b"adbecf");
}

#[test]
fn typed_buffers_are_as_wide_as_an_element() {
    let (from, to) = (desc("s16[2,2]:[2,1]"), desc("s16[2,2]:[1,2]"));
    let mut turned = [0_i16; 4];
    copy_typed(&from, &to, &[1, -2, 3, -4], &mut turned).unwrap();
    assert_eq!(turned, [1, 3, -2, -4]);
    let error = copy_typed(&from, &to, &[0_u32; 2], &mut [0; 2]).unwrap_err();
    assert_eq!(error.code(), "element_bits_mismatch");
}

#[test]
fn plans_are_kept_for_any_layout() {
    let tiled: ArrayShape = "u8[20,16]{1,0:T(8,8)}".parse().unwrap();
    let named: Notated = "u8[20,16]:AB".parse().unwrap();
    let (rows, settings) = (desc("u8[20,16]:[16,1]"), Settings::default());
    let mut plans = Plans::new(8);
    for _ in 0..3 {
        plans.get(&rows, &tiled, &settings).unwrap();
        plans.get(&tiled, &rows, &settings).unwrap();
        plans.get(&named, &tiled, &settings).unwrap();
    }
    // An axis order is a descriptor, equal to `rows`.
    assert_eq!((plans.misses(), plans.len()), (2, 2));
    let other: ArrayShape = "u8[20,16]{1,0:T(4,8)}".parse().unwrap();
    let plan = plans.get(&rows, &other, &settings).unwrap();
    assert_eq!(plan.destination().to_owned(), tensor_layout::ToIndexMap::to_index_map(&other).unwrap());
}

#[test]
fn pieces_come_with_their_parts_of_the_destination() {
    // There are 7 elements of 3 bytes and a tail of 3 bytes, which the last piece sets.
    let (from, to) = (desc("u8[7,3]:[3,1]"), desc("u8[7,3]:[1,7]"));
    let plan = Relayout::new(&from, &to).unwrap().with_padding(Padding::Zero).unwrap();
    let source: Vec<u8> = (1..=21).collect();
    let (mut expected, mut found) = (vec![9; 24], vec![9; 24]);
    plan.run(&source, &mut expected).unwrap();
    let pieces = plan.partition_of(3, &mut found).unwrap();
    assert!(pieces.len() > 1);
    for (piece, part) in pieces {
        piece.run(&source, part).unwrap();
    }
    assert_eq!((&found[21..], &found), (&[0; 3][..], &expected));
    assert_eq!(plan.partition_of(3, &mut [0; 20]).unwrap_err().code(), "buffer_too_short");
}

/// `with_padding_everywhere` would destroy the bytes between the elements, so no sentence recommends it.
#[test]
fn fresh_memory_of_a_part_is_written_by_run_write_only() {
    let cache = desc("u8[2,8,4]:[32,4,1]").slice_axis(1, 0..3).unwrap();
    let plan = Relayout::new(&desc("u8[2,3,4]:[12,4,1]"), &cache).unwrap();
    let mut memory: Vec<u8> = Vec::with_capacity(64);
    let error = plan.run_uninit(&[1; 24], memory.spare_capacity_mut()).unwrap_err();
    let words = error.to_string();
    assert_eq!(error.code(), "padding_kept");
    assert!(words.contains("`run_write_only` writes the elements alone") && !words.contains("with_padding"), "{words}");
    plan.run_write_only(&[1; 24], memory.spare_capacity_mut()).unwrap();
    assert!(
        plan.explain().contains("padding: 20 bytes of a part, whose gaps may belong to other tensors, Keep"),
        "{}",
        plan.explain()
    );
    let own = Relayout::new(&desc("u8[2,3]:[3,1]"), &desc("u8[2,3]:[4,1]")).unwrap();
    assert!(own.run_uninit(&[1; 6], memory.spare_capacity_mut()).unwrap_err().to_string().contains("`with_padding`"));
}
