//! What texts that people posted came down to, in programs of the same form.

use tensor_layout_hlo::{BufferUse, Module};

/// A row has the bytes of the array that it names: the largest that is ever in the buffer.
#[test]
fn a_row_names_the_array_whose_bytes_it_shows() {
    let text = "HloModule m, is_scheduled=true

ENTRY %e (p: f32[4096], q: f32[16]) -> f32[4096] {
  %p = f32[4096]{0} parameter(0)
  %q = f32[16]{0} parameter(1)
  %small = f32[16]{0} negate(%q)
  %big = f32[4096]{0} pad(%small, %q), padding=0_0
  %turned = f32[4096]{0} reverse(%big), dimensions={0}
  ROOT %out = f32[4096]{0} dot(%turned, %p)
}
";
    let module = Module::read(text.as_bytes()).unwrap();
    let live = module.live_memory().unwrap();
    for time in 0..live.instructions() {
        for buffer in live.live_at(0, time) {
            let shape: tensor_layout::ArrayShape = buffer.shape.parse().unwrap();
            assert_eq!(shape.buffer_size_in_bytes(), Ok(buffer.bytes), "{time}: {buffer:?}");
        }
        let result = live.live_at(0, time).into_iter().find(|buffer| buffer.used_as == BufferUse::Result).unwrap();
        assert!(["out", "big"].contains(&result.place.instruction.as_str()), "{result:?}");
    }
}
