use tensor_layout::ToIndexMap;
use tensor_layout_text::Notated;

use super::*;

#[test]
fn one_wrong_byte_of_an_element_is_found_and_padding_is_zero() {
    let layout = |text: &str| text.parse::<Notated>().unwrap().to_index_map().unwrap();
    let (packed, tiled) = (layout("u16[70,90]"), layout("u16[70,90]{1,0:T(8,128)(2,1)}"));
    let trip = Trip::new(&packed, &tiled, 1000).unwrap();
    assert!(trip.memory() < 4 * 1000 + 1000, "{}", trip.memory());

    let source = vec![0xa5; 70 * 90 * 2];
    let bar = ProgressBar::hidden();
    let mut laid_out = Vec::new();
    let append = |bytes: &[u8]| {
        laid_out.extend_from_slice(bytes);
        Ok(())
    };
    assert_eq!(trip.lay_out(&source, &bar, append).unwrap(), Outcome::Done);
    assert_eq!(laid_out.len(), 72 * 128 * 2);
    assert_eq!(laid_out.iter().filter(|&&byte| byte == 0xa5).count(), source.len());
    assert_eq!(laid_out.iter().filter(|&&byte| byte == 0).count(), laid_out.len() - source.len());

    let word = |laid_out: &[u8], source: &[u8]| trip.compare(laid_out, source, &bar).unwrap().word();
    assert_eq!(word(&laid_out, &source), "identical");
    assert_eq!(word(&laid_out, &source[1..]), "DIFFERS");
    assert_eq!(word(&laid_out, &[&source[..], &[0]].concat()), "DIFFERS");
    for place in (0..laid_out.len()).step_by(101) {
        let held = std::mem::replace(&mut laid_out[place], 0xff);
        let expected = if held == 0 { "identical" } else { "DIFFERS" };
        assert_eq!(word(&laid_out, &source), expected, "byte {place}");
        laid_out[place] = held;
    }
    assert_eq!(word(&laid_out[..laid_out.len() / 2], &source), "refused");
}

#[test]
fn a_stored_layout_is_compared_without_its_padding() {
    let layout = |text: &str| text.parse::<Notated>().unwrap().to_index_map().unwrap();
    for (stored, new) in [
        ("u16[70,90]{1,0:T(8,128)(2,1)}", "u16[70,90]:[90,1]"),
        ("u16[70,90]:[100,1]+3", "u16[70,90]{0,1:T(8,128)}"),
        ("s4[70,91]{1,0:T(8,128)E(4)}", "s4[70,91]:[91,1]"),
        ("f4e2m1fn[7,3]:[3,1]", "f4e2m1fn[7,3]{0,1:T(4)E(4)}"),
        ("u16[12,5,4]{2,1,0:T(2,3,2)(*,2,1)}", "u16[12,5,4]:[20,4,1]"),
    ] {
        let (stored, new) = (layout(stored), layout(new));
        let trip = Trip::new(&stored, &new, 500).unwrap();
        // All bytes are set, padding included, so that the padding is not zero.
        let mut source: Vec<u8> = (0..stored.physical_size_in_bytes()).map(|place| (place * 37 % 251) as u8).collect();
        let (bar, mut laid_out) = (ProgressBar::hidden(), Vec::new());
        let append = |bytes: &[u8]| {
            laid_out.extend_from_slice(bytes);
            Ok(())
        };
        assert_eq!(trip.lay_out(&source, &bar, append).unwrap(), Outcome::Done);
        let word = |source: &[u8]| trip.compare(&laid_out, source, &bar).unwrap().word();
        assert_eq!(word(&source), "identical", "{stored:?}");
        // A change to any byte with a bit of an element must be noticed.
        let mut found = 0;
        for place in 0..source.len() {
            source[place] ^= 0xff;
            found += usize::from(word(&source) == "DIFFERS");
            source[place] ^= 0xff;
        }
        let elements = stored.element_count() as usize * stored.element_bits() as usize / 8;
        assert!((elements..elements + 40).contains(&found), "{stored:?}: {found} of {elements}");
        assert_eq!(word(&source[1..]), "DIFFERS");
    }
}
