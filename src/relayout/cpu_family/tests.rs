use super::*;

#[test]
fn families_by_model() {
    let amd = |family, number| CpuFamily::of(Some(Model { vendor: Vendor::Amd, family, number }));
    let intel = |number| CpuFamily::of(Some(Model { vendor: Vendor::Intel, family: 6, number }));
    // Milan, Vermeer and Cezanne are Zen 3. Genoa, Raphael and Bergamo are Zen 4. Turin is Zen 5. Rome is in
    // no family.
    assert_eq!([1, 0x21, 0x50].map(|number| amd(0x19, number)), [CpuFamily::Zen3; 3]);
    assert_eq!([0x11, 0x61, 0xa0].map(|number| amd(0x19, number)), [CpuFamily::Zen4; 3]);
    assert_eq!((amd(0x1a, 2), amd(0x17, 0x31)), (CpuFamily::Zen5, CpuFamily::Neutral));
    // Sapphire, Emerald and Granite Rapids; Ice Lake.
    assert_eq!([0x8f, 0xcf, 0xad].map(intel), [CpuFamily::SapphireRapids; 3]);
    assert_eq!((intel(0x6a), CpuFamily::of(None)), (CpuFamily::Neutral, CpuFamily::Neutral));
}
