//! Live memory of TPU programs: what differs by generation, and what libtpu 0.0.52 writes.

use tensor_layout_hlo::{BufferUse, Module};

use crate::memory::read;

/// The tables of result tuples by generation: 1,024 bytes on v2 and v3, 512 on v4 and v5e, 32 on v5p, v6e and
/// v7x.
#[test]
fn tables_of_tuples_depend_on_the_generation() {
    use tensor_layout::tiled::TpuGeneration::{V2, V3, V4, V5e, V5p, V6e, V7x};
    let program = |scalar: &str, results: usize| {
        let shapes = vec!["f32[8,128]{1,0:T(8,128)}"; results].join(", ");
        let names = vec!["%c"; results].join(", ");
        format!(
            "HloModule m, is_scheduled=true\nENTRY %e (p: f32[8,128]) -> f32[] {{\n  %p = f32[8,128]{{1,0:T(8,128)}} \
             parameter(0)\n  %s = f32[]{{:{scalar}}} constant(1)\n  %c = f32[8,128]{{1,0:T(8,128)}} copy(%p)\n  \
             ROOT %t = ({shapes}) tuple({names})\n}}\n"
        )
    };
    let table = |text: &str, generation| {
        let module = Module::read(text.as_bytes()).unwrap();
        module.live_memory_on(generation).unwrap().total().output_bytes - 4096
    };
    for (results, early, middle, late) in
        [(1, 1024, 512, 32), (8, 1024, 512, 32), (9, 1024, 512, 64), (129, 1024, 1024, 544)]
    {
        let text = program("T(128)", results);
        for (generation, bytes) in
            [(V2, early), (V3, early), (V4, middle), (V5e, middle), (V5p, late), (V6e, late), (V7x, late)]
        {
            assert_eq!(table(&text, Some(generation)), bytes, "{results} results on {generation}");
        }
        assert_eq!(table(&text, None), middle, "{results}");
        // Scalars in tiles of 256 are those of v2 and v3.
        assert_eq!(table(&program("T(256)", results), None), early, "{results}");
    }
}

/// Quotes in the names of operations, as a person wrote them.
#[test]
fn names_of_operations_have_no_backslashes() {
    let text = r#"ENTRY %e (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0), metadata={op_name="cache[\'k\'][\"0\"] a\\b \n"}
  ROOT %r = f32[2]{0} negate(%p)
}
"#;
    let module = Module::read(text.as_bytes()).unwrap();
    let place = module.live_memory().unwrap().instruction(0).unwrap();
    assert_eq!(place.op_name.as_deref(), Some(r#"cache['k']["0"] a\b \n"#));
}

/// `peak_memory_in_bytes` has the temporaries of one memory, that with the most.
#[test]
fn the_reported_peak_has_the_temporaries_of_one_memory() {
    let text = "HloModule m, is_scheduled=true

ENTRY %e (p: f32[1024]) -> f32[1024] {
  %p = f32[1024]{0:T(1024)} parameter(0)
  %a = f32[1024]{0:T(1024)S(1)} reverse(%p), dimensions={0}
  %b = f32[1024]{0:T(1024)} reverse(%a), dimensions={0}
  %c = f32[1024]{0:T(1024)} reverse(%b), dimensions={0}
  ROOT %r = f32[1024]{0:T(1024)} reverse(%c), dimensions={0}
}
";
    let module = Module::read(text.as_bytes()).unwrap();
    let memory = module.live_memory().unwrap();
    let peaks: u128 = memory.spaces().iter().map(|space| space.total.peak_bytes).sum();
    // The parameter, the result, and two temporaries in HBM, where VMEM has one.
    assert_eq!((memory.total().peak_bytes, memory.reported_peak(), peaks), (16_384, 16_384, 20_480));
    // On a CPU there are no temporaries in it.
    let module = Module::read(text.replace(":T(1024)", "").replace("S(1)", "").as_bytes()).unwrap();
    let memory = module.live_memory().unwrap();
    assert_eq!((memory.total().peak_bytes, memory.reported_peak()), (16_384, 8192));
}

/// An `async-start` without operands, whose `async-update` brings them, as libtpu writes the work of a
/// SparseCore: the operand, the parameter of the called computation and element 0 of the update are one
/// buffer, and so are the root, element 1 and the result.
#[test]
fn operands_that_an_update_brings_are_counted_once() {
    let text = "HloModule m, is_scheduled=true

%lookup (a: f32[64,128], b: s32[8]) -> f32[8,128] {
  %a = f32[64,128]{1,0:T(8,128)} parameter(0)
  %b = s32[8]{0:T(128)} parameter(1)
  ROOT %g = f32[8,128]{1,0:T(8,128)} gather(%a, %b), offset_dims={1}, collapsed_slice_dims={0}, slice_sizes={1,128}
}, execution_thread=\"sparsecore\"

ENTRY %e (t: f32[64,128], i: s32[8]) -> f32[8,128] {
  %t = f32[64,128]{1,0:T(8,128)} parameter(0)
  %i = s32[8]{0:T(128)} parameter(1)
  %x = f32[64,128]{1,0:T(8,128)} reverse(%t), dimensions={0}
  %start = ((), (), (s32[4]{0:S(8)})) async-start(), async_execution_thread=\"sparsecore\", calls=%lookup
  %update = ((f32[64,128]{1,0:T(8,128)}, s32[8]{0:T(128)}), f32[8,128]{1,0:T(8,128)}, (s32[4]{0:S(8)})) \
async-update(%start, %x, %i), output_to_operand_aliasing={{2,0}: (0, {2,0})}
  %done = f32[8,128]{1,0:T(8,128)} async-done(%update)
  ROOT %r = f32[8,128]{1,0:T(8,128)} reverse(%done), dimensions={0}
}
";
    let module = read(text);
    let memory = module.live_memory().unwrap();
    let peak = memory.spaces()[0].peak_time.unwrap();
    let arrays = |role| {
        let live = memory.live_at(0, peak).into_iter();
        let mut found: Vec<u64> = live
            .filter(|buffer| buffer.used_as == role && buffer.shape.contains('['))
            .map(|buffer| buffer.bytes)
            .collect();
        found.sort_unstable();
        found
    };
    assert_eq!(arrays(BufferUse::Temporary), [4096, 32_768]);
    assert_eq!(arrays(BufferUse::Argument), [512, 32_768]);
    // The context of the start, in a memory of its own, is one buffer as well.
    assert_eq!(memory.spaces().iter().find(|space| space.space == 8).unwrap().total.peak_bytes, 16);
}
