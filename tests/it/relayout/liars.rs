//! Safe code that answers differently each time: a copy keeps to its buffers.

use std::cell::Cell;

use tensor_layout::relayout::{Destination, Padding, Relayout};
use tensor_layout::{BufferTensorDesc, DataType, Error, IndexMap, ToIndexMap};

/// A layout of one element for the first question, and of more elements for every later one.
struct Growing(Cell<u64>);

impl ToIndexMap for Growing {
    fn to_index_map(&self) -> Result<IndexMap, Error> {
        self.0.set(self.0.get() * 64);
        BufferTensorDesc::packed(DataType::U32, &[1_u64.max(self.0.get() / 64)])?.to_index_map()
    }
}

/// A destination that is shorter than the buffer whose length the caller looked at.
struct Shortened<'a>(&'a mut [u8]);

impl<'a> From<Shortened<'a>> for Destination<'a> {
    fn from(Shortened(bytes): Shortened<'a>) -> Destination<'a> {
        bytes[..8].as_mut().into()
    }
}

#[test]
fn a_layout_and_a_destination_that_change_their_answers_are_refused_or_harmless() {
    let new = || Growing(Cell::new(1));
    for plan in
        [Relayout::new(&new(), &new()), Relayout::new(&new(), &new()).and_then(|plan| plan.with_padding(Padding::Zero))]
    {
        let plan = plan.unwrap();
        let (source, destination) = (plan.source_size_in_bytes(), plan.destination_size_in_bytes());
        let mut short = vec![0; usize::try_from(destination - 1).unwrap()];
        assert_eq!(
            plan.run(&vec![1; usize::try_from(source).unwrap()], &mut short).unwrap_err().code(),
            "buffer_too_short"
        );
    }
    let same = new();
    // The two sides of one layout differ in size, and that is an error like any other.
    assert_eq!(Relayout::new(&same, &same).unwrap_err().code(), "size_mismatch");
    let row: BufferTensorDesc = "u8[64]:[1]".parse().unwrap();
    let plan = Relayout::new(&row, &row).unwrap();
    let mut bytes = [0; 64];
    assert_eq!(plan.run(&[1; 64], Shortened(&mut bytes)).unwrap_err().code(), "buffer_too_short");
    assert_eq!(bytes, [0; 64]);
}
