//! Fingerprints: golden values, which no version changes, and equality as that of normal forms.

use crate::literal::{any_shape, cases};
use crate::read::map;
use proptest::prelude::*;
use tensor_layout::map::Fingerprint;
use tensor_layout::strided::GapOwner;
use tensor_layout::{ArrayShape, BufferTensorDesc, Error, IndexMap, ToIndexMap};

#[test]
fn golden_values() {
    // The first column was computed by FNV-1a in Python, of the second.
    for (tag, form, text) in [
        ("09d31ad04dad649a8140d99a2c2e0846", "f32/32[3,100]+0 0=(1,128) 1=(1,1)", "f32[3,100]{1,0:T(8,128)}"),
        ("09d31ad04dad649a8140d99a2c2e0846", "f32/32[3,100]+0 0=(1,128) 1=(1,1)", "f32[3,100]:[128,1]"),
        ("7fe54d13459de7dc9172908e86977281", "f32/32[2,3]+0 0=(1,3) 1=(1,1)", "f32(2,3):(3,1)"),
        ("09a0d13683fae7f089c467ffc5bd6048", "f32/32[3,5]+0 0=(2,12)(1,2) 1=(2,4)(1,1)", "f32[3,5]{1,0:T(2,2)}"),
        (
            "5252eadabfa1cea2aa1cb839962d0c8f",
            "bf16/16[16,256]+0 0=(8,2048)(2,256)(1,1) 1=(128,1024)(1,2)",
            "bf16[16,256]{1,0:T(8,128)(2,1)}",
        ),
        ("cc09a7c8ccdfbf8fc533d5670826fc4c", "s4/8[4]+0 0=(1,1)", "s4[4]{0}"),
        ("7f2b85e1d37f2860da39559b2df9a070", "s4/4[4]+0 0=(1,1)", "s4[4]:[1]"),
        ("4d6c62c7a74f4bf6dc3e281bb5599584", "f32/32[2,1,3]+10 0=(1,5) 2=(1,1)", "f32[2,1,3]:[5,7,1]+10"),
        ("55ba82170b00e8003cf78e5a0ab7632a", "f32/32[0,3]+0", "f32[0,3]:[3,1]"),
        (
            "3c92520031f8d53904e264a7c499cc85",
            "bf16/16[2,7,3,4,10]+0 0=(1,840) 1=(1,120) 2=(1,20) 3=(2,60)(1,10) 4=(1,1)",
            "kv:LBHNC:bf16[L=2,B=7,H=3,N=4,C=10,kernel=2]",
        ),
    ] {
        let map = map(text);
        assert_eq!(map.normal_form().unwrap(), form, "{text}");
        assert_eq!(Fingerprint::of(&map).unwrap().to_string(), tag, "{text}");
        assert_eq!(tag.parse::<Fingerprint>().unwrap(), Fingerprint::of(&map).unwrap());
    }
}

#[test]
fn what_has_no_normal_form_and_what_is_no_fingerprint_is_refused() {
    let irreducible: ArrayShape = "u8[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}".parse().unwrap();
    let map = irreducible.to_index_map().unwrap();
    assert_eq!(map.class().to_string(), "irreducible");
    assert_eq!(Fingerprint::of(&map).unwrap_err().code(), "not_expressible");
    for text in
        ["", "09d31ad04dad649a8140d99a2c2e084", "+9d31ad04dad649a8140d99a2c2e0846", "g9d31ad04dad649a8140d99a2c2e0846"]
    {
        assert_eq!(text.parse::<Fingerprint>().unwrap_err().code(), "parse", "{text}");
    }
    let expected: Fingerprint = "09d31ad04dad649a8140d99a2c2e0846".parse().unwrap();
    let error: Error = expected.check(&"f32[3,100]:[100,1]".parse::<BufferTensorDesc>().unwrap()).unwrap_err();
    assert!(
        error.to_string().starts_with("the layout f32/32[3,100]+0 0=(1,100) 1=(1,1) has the fingerprint "),
        "{error}"
    );
    assert!(error.to_string().ends_with(", and 09d31ad04dad649a8140d99a2c2e0846 was expected"), "{error}");
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Type, sizes, base and chains decide, and nothing else: not the end of the buffer, not the strides of
    /// axes of size 1.
    #[test]
    fn equal_exactly_for_equal_normal_forms(a in any_shape(12), b in any_shape(12)) {
        let (a, b) = (a.to_index_map().unwrap(), b.to_index_map().unwrap());
        let form = |map: &IndexMap| map.clone().with_physical_elements(1 << 40).unwrap().with_gap_owner(GapOwner::Others);
        let tags = [&a, &b].map(Fingerprint::of);
        if let [Ok(first), Ok(second)] = tags {
            prop_assert_eq!(first == second, form(&a) == form(&b));
            prop_assert_eq!(Fingerprint::of(&form(&a)).unwrap(), first);
        }
    }
}
