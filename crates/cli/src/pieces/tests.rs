use tensor_layout::relayout::{Padding, Settings};
use tensor_layout_text::Notated;

use super::*;

#[test]
fn many_pieces_make_the_output_of_one() {
    let source: Vec<u8> = (0..30_000_u32).flat_map(u32::to_le_bytes).collect();
    for (from, to) in [
        ("f32[100,300]", "f32[100,300]{0,1}"),
        ("f32[100,300]", "f32[100,300]{1,0:T(8,128)}"),
        ("f32[100,300]", "f32[100,300]:[400,1]"),
        ("s4[101,301]{1,0:E(4)}", "s4[101,301]{0,1:T(8,128)E(4)}"),
        // This copy cannot be divided into pieces.
        ("f32[60,25,20]", "f32[60,25,20]{2,1,0:T(2,3,2)(*,2,1)}"),
    ] {
        let layout = |text: &str| text.parse::<Notated>().unwrap();
        let settings = Settings { padding: Padding::Zero, least_piece: Some(1), ..Settings::default() };
        let plan = Relayout::with(&layout(from), &layout(to), &settings).unwrap();
        let mut whole = vec![0xff; plan.destination_size_in_bytes().try_into().unwrap()];
        plan.run(&source, &mut whole).unwrap();

        let pieces = Pieces::of(&plan, 1000).unwrap();
        let (mut joined, mut longest) = (Vec::new(), 0);
        let take = |bytes: &[u8]| {
            longest = longest.max(bytes.len() as u64);
            joined.extend_from_slice(bytes);
            Ok(())
        };
        assert_eq!(pieces.run(&source, &ProgressBar::hidden(), take).unwrap(), Outcome::Done);
        assert!(joined == whole, "{from} -> {to}");
        assert_eq!(longest, pieces.longest());
        let cut = pieces.pieces.len() > 8;
        assert_eq!(cut, !to.contains('*'), "{from} -> {to}: {} pieces", pieces.pieces.len());
    }
}
