//! What texts that people posted came down to, in programs of the same form.

use tensor_layout_hlo::{BufferUse, Module};

use crate::memory::figures;

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

/// Before it is scheduled, a module has no copies of parameters that its fusions update in place.
#[test]
fn a_parameter_that_is_not_donated_is_not_written_over() {
    let text = |header: &str| {
        format!(
            "HloModule m{header}

%step (whole: s32[4,8,8], row: s32[1,1,8], at: s32[]) -> s32[4,8,8] {{
  %whole = s32[4,8,8]{{2,1,0}} parameter(0)
  %row = s32[1,1,8]{{2,1,0}} parameter(1)
  %at = s32[] parameter(2)
  ROOT %new = s32[4,8,8]{{2,1,0}} dynamic-update-slice(%whole, %row, %at, %at, %at)
}}

ENTRY %e (t: s32[4,8,8], l: s32[1,1,8], i: s32[]) -> s32[4,8,8] {{
  %t = s32[4,8,8]{{2,1,0}} parameter(0)
  %l = s32[1,1,8]{{2,1,0}} parameter(1)
  %i = s32[] parameter(2)
  ROOT %r = s32[4,8,8]{{2,1,0}} fusion(%t, %l, %i), kind=kLoop, calls=%step
}}
"
        )
    };
    assert_eq!(figures(&text("")), [1060, 1024, 0, 0]);
    let donated = ", input_output_alias={ {}: (0, {}, may-alias) }";
    assert_eq!(figures(&text(donated)), [1060, 1024, 1024, 0]);
    assert_eq!(figures(&text(", is_scheduled=true")), [1060, 1024, 1024, 0]);
}

/// JAX's CPU backend ignores tiles, which only its callers' layouts have (jaxlib 0.10.2).
#[test]
fn a_tile_of_a_parameter_makes_no_program_for_a_tpu() {
    let text = "HloModule m, is_scheduled=true

ENTRY %e (x: f32[20,30]) -> f32[20,30] {
  %x = f32[20,30]{1,0:T(8,128)} parameter(0)
  ROOT %r = f32[20,30]{1,0} negate(%x)
}
";
    assert_eq!(figures(text)[..2], [2400, 2400]);
    let tiled = text.replace("= f32[20,30]{1,0} negate", "= f32[20,30]{1,0:T(8,128)} negate");
    assert_eq!(figures(&tiled)[..2], [12_288, 12_288]);
}

/// Of temporaries of one size the first in post-order is placed first, into the last result of its size.
#[test]
fn equal_temporaries_and_results_are_taken_in_the_order_of_xla() {
    let text = "HloModule m, is_scheduled=true

ENTRY %e (p: f32[64]) -> (f32[64], f32[64]) {
  %p = f32[64]{0} parameter(0)
  %a = f32[64]{0} reverse(%p), dimensions={0}
  %b = f32[64]{0} reverse(%a), dimensions={0}
  %c = f32[64]{0} reverse(%b), dimensions={0}
  %first = f32[64]{0} reverse(%c), dimensions={0}
  %last = f32[64]{0} dot(%first, %p)
  ROOT %t = (f32[64]{0}, f32[64]{0}) tuple(%first, %last)
}
";
    // %a and %c go into %last, %b goes into %first.
    assert_eq!(figures(text)[3], 0);
}
