//! What a shader does, run by the interpreter: index functions against the literal offsets, and whole copies
//! against the literal copy. The interpreter stops at what a device would not say: an access outside a
//! binding, a number that wraps round, two invocations that write one word.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use tensor_layout::relayout::{Padding, Relayout};
use tensor_layout_fuzz::copies::{literal_copy, noise};
use tensor_layout_fuzz::layouts::{AnySide, Side, Tensor};
use tensor_layout_fuzz::places::for_each_index;
use tensor_layout_shader::{IndexFunctions, Profile, Program, ProgramOptions, Sizes};

#[derive(Debug, Arbitrary)]
struct Input {
    tensor: Tensor,
    from: AnySide,
    to: AnySide,
    question: u8,
    shift: [u8; 2],
    padding: u8,
    small: u8,
}

fuzz_target!(|data: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(data)) else { return };
    let (data_type, sizes) = (input.tensor.data_type(), input.tensor.sizes(100));
    let from = input.from.side(data_type, &sizes, 500);
    if input.question.is_multiple_of(2) {
        functions(&from, usize::from(input.question / 2));
    } else {
        let to = input.to.side(data_type, &sizes, 500);
        if !to.has_repeats() {
            program(&from, &to, &input);
        }
    }
});

/// Every offset, the index at every offset, and a walk along an axis from each index.
fn functions(side: &Side, axis: usize) {
    let Ok(functions) = IndexFunctions::new(&side.map) else { return };
    let axis = axis % side.map.sizes().len().max(1);
    let mut expected = vec![None; side.places as usize];
    let mut places = side.offsets.iter();
    for_each_index(side.map.sizes(), |index| {
        let &place = places.next().unwrap();
        assert_eq!(functions.offset(index), Ok(place), "{} at {index:?}", side.text);
        expected[place as usize] = Some(index.to_vec());
        let Ok(walk) = functions.walk(axis, index) else { return };
        let mut at = index.to_vec();
        for offset in walk {
            assert_eq!(side.map.offset(&at), Ok(offset), "{} from {index:?} on along {axis}", side.text);
            at[axis] += 1;
        }
        assert_eq!(at[axis], side.map.sizes()[axis], "{}", side.text);
    });
    if side.has_repeats() {
        return;
    }
    for (place, expected) in (0..).zip(&expected) {
        match functions.index(place) {
            Ok(found) => assert_eq!(&found, expected, "{} at {place}", side.text),
            Err(error) => {
                assert!(matches!(error.code(), "undecided" | "offset_out_of_range"), "{}: {error}", side.text)
            }
        }
    }
}

/// A copy by the program of a small or an ordinary device, with bytes before and after that have to stay.
fn program(from: &Side, to: &Side, input: &Input) {
    let padding = match input.padding % 4 {
        0 => Padding::Keep,
        1 | 2 => Padding::Zero,
        _ => Padding::Fill(u128::from(input.padding / 4) & 1),
    };
    let Ok(relayout) = Relayout::new(&from.map, &to.map) else { return };
    let Ok(relayout) = relayout.with_padding_of_whole_buffer(padding) else { return };
    let mut profile = if input.small & 1 == 0 { Profile::webgpu() } else { Profile::cuda() };
    if input.small & 2 != 0 {
        (profile.max_invocations, profile.max_workgroup_size, profile.max_workgroups) = (32, 32, 3);
        (profile.max_binding, profile.offset_alignment) = (512, 32);
    }
    if input.small & 4 != 0 {
        profile.sizes = Sizes::Uniforms;
    }
    let shift = input.shift.map(|words| u64::from(words % 80) * 4);
    let options = ProgramOptions { form: None, source_offset: shift[0], destination_offset: shift[1] };
    let Ok(program) = Program::with_options(&relayout, &profile, &options) else { return };
    let (before, first) = (shift[0] as usize, shift[1] as usize);
    let source = noise((before + from.bytes()).next_multiple_of(4), 1);
    let mut expected = noise((first + to.bytes()).next_multiple_of(4) + 8, 2);
    let mut found = expected.clone();
    literal_copy((from, to), |element| element, &source[before..], &mut expected[first..], padding);
    let words = (from.text.as_str(), to.text.as_str(), program.explain());
    program.interpret(&source, &mut found).unwrap_or_else(|fault| panic!("{fault}: {words:?}"));
    assert!(found == expected, "{words:?}");
}
