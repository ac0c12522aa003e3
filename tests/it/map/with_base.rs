//! Maps that are given a base.

use crate::literal::indices;
use crate::read::map;
use tensor_layout::relayout::Relayout;
use tensor_layout::{ArrayShape, DataType, ToIndexMap};

#[test]
fn a_map_can_be_given_a_base() {
    for text in
        ["f32[16,256]{1,0:T(8,128)}", "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}", "f32[3,5]{1,0:T(*,4)(2,1)}", "f32[7]"]
    {
        let plain = map(text);
        let moved = plain.clone().with_base(100).unwrap();
        assert_eq!((moved.base(), moved.physical_elements()), (100, 100 + plain.physical_elements()));
        for index in indices(plain.sizes()) {
            let offset = plain.offset(&index).unwrap();
            assert_eq!(moved.offset(&index), Ok(100 + offset), "{text}");
            assert_eq!(moved.inverse(100 + offset).unwrap().as_deref(), Some(index.as_slice()), "{text}");
        }
        assert_eq!(moved.inverse(99), Ok(None));
        assert_eq!(moved.same_places(&plain), Ok(false));
        assert_eq!(moved.clone().with_base(0).unwrap(), plain);

        // Data can be copied there and back.
        let packed = ArrayShape::row_major(DataType::F32, plain.sizes()).unwrap().to_index_map().unwrap();
        let source: Vec<u32> = (1..).take(usize::try_from(packed.physical_elements()).unwrap()).collect();
        let mut there = vec![0_u32; usize::try_from(moved.physical_elements()).unwrap()];
        let mut back = vec![0_u32; source.len()];
        let to = Relayout::new(&packed, &moved).unwrap();
        to.run(bytemuck::cast_slice(&source), bytemuck::cast_slice_mut(&mut there)).unwrap();
        for (index, value) in indices(plain.sizes()).zip(&source) {
            assert_eq!(there[usize::try_from(moved.offset(&index).unwrap()).unwrap()], *value, "{text}");
        }
        let from = Relayout::new(&moved, &packed).unwrap();
        from.run(bytemuck::cast_slice(&there), bytemuck::cast_slice_mut(&mut back)).unwrap();
        assert_eq!(back, source, "{text}");
    }
    assert_eq!(map("f32[7]").with_base(u64::MAX).unwrap_err().code(), "overflow");
}
