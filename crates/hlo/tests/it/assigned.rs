//! Programs with their buffer assignments, and the rules that fresh programs show. The texts are shortened
//! from what libtpu 0.0.52 and XLA's CPU backend wrote for programs of a few lines of JAX 0.10.2.

use tensor_layout_hlo::{BufferAssignment, BufferTable};

use crate::memory::{figures, read};

/// `jnp.tanh(a @ b) + a, (a * b).sum()` on a v5e, with `a` donated.
const DONATED: &str = "HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }

%inside (x: f32[1024,1024], y: f32[1024,1024]) -> f32[1024,1024] {
  %x = f32[1024,1024]{1,0:T(8,128)S(1)} parameter(0)
  %y = f32[1024,1024]{1,0:T(8,128)S(1)} parameter(1)
  ROOT %c = f32[1024,1024]{1,0:T(8,128)} convolution(%x, %y), dim_labels=bf_io->bf
}

ENTRY %main (a: f32[1024,1024], b: f32[1024,1024]) -> (f32[1024,1024], f32[]) {
  %b.1 = f32[1024,1024]{1,0:T(8,128)} parameter(1)
  %copy-start = (f32[1024,1024]{1,0:T(8,128)S(1)}, f32[1024,1024]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(%b.1)
  %a.1 = f32[1024,1024]{1,0:T(8,128)} parameter(0)
  %copy.3 = f32[1024,1024]{1,0:T(8,128)S(1)} copy(%a.1)
  %copy-done = f32[1024,1024]{1,0:T(8,128)S(1)} copy-done(%copy-start)
  %sum = f32[]{:T(128)} custom-call(%copy.3, %copy-done), custom_call_target=\"sum\"
  %fusion = f32[1024,1024]{1,0:T(8,128)} fusion(%copy.3, %copy-done), kind=kOutput, calls=%inside
  ROOT %tuple = (f32[1024,1024]{1,0:T(8,128)}, f32[]{:T(128)}) tuple(%fusion, %sum)
}
";

const DONATED_ASSIGNMENT: &str = "BufferAssignment:
allocation 1: size 4194304, page 0, parameter 0, shape |f32[1024,1024]| at ShapeIndex {}, maybe-live-out:
 value: <17 a.1 @0> (size=4194304,offset=0): f32[1024,1024]{1,0:T(8,128)}
 value: <23 fusion @0> (size=4194304,offset=0): f32[1024,1024]{1,0:T(8,128)}
allocation 2: size 4194304, page 0, parameter 1, shape |f32[1024,1024]| at ShapeIndex {}:
 value: <19 b.1 @0> (size=4194304,offset=0): f32[1024,1024]{1,0:T(8,128)}
allocation 3: size 512, page 0, thread-local:
 value: <1 reduce_sum.4 @0> (size=512,offset=0): f32[]{:T(128)}
allocation 4: size 512, page 0, maybe-live-out:
 value: <24 sum @0> (size=512,offset=0): f32[]{:T(128)}
allocation 5: size 512, page 0, output shape is |(f32[1024,1024], f32[])|, maybe-live-out:
 value: <25 tuple{} @0> (size=512,offset=0): (f32[1024,1024]{1,0:T(8,128)}, f32[]{:T(128)})
allocation 7: size 4, color 2, page 0, preallocated-temp:
 value: <22 copy-start{2} @2> (size=4,offset=0): u32[]{:S(2)}
allocation 8: size 512, page 0, preallocated-temp:
 value: <20 copy-start{} @0> (size=512,offset=0): (f32[1024,1024]{1,0:T(8,128)S(1)}, f32[1024,1024]{1,0:T(8,128)}, u32[]{:S(2)})
allocation 9: size 8392704, color 1, page 0, preallocated-temp:
 value: <18 copy.3 @1> (size=4194304,offset=4198400): f32[1024,1024]{1,0:T(8,128)S(1)}
 value: <21 copy-start{0} @1> (size=4194304,offset=0): f32[1024,1024]{1,0:T(8,128)S(1)}
";

/// Every total is that of the assignment, and what is alive is told from what fragmentation takes.
#[test]
fn live_memory_is_that_of_the_assignment() {
    let module = read(DONATED);
    let assignment = BufferAssignment::read(DONATED_ASSIGNMENT.as_bytes()).unwrap();
    let live = module.live_memory_assigned(None, &assignment).unwrap();
    for space in live.spaces() {
        assert_eq!(space.total, assignment.total(space.space));
        let alive: u64 =
            live.live_at(space.space, space.peak_time.unwrap_or(0)).iter().map(|buffer| buffer.bytes).sum();
        assert_eq!(u128::from(alive), space.live_bytes, "S({})", space.space);
    }
    let [hbm, vmem, ..] = live.spaces() else { panic!() };
    // HBM has no temporary buffers but the pointers of tuples, which do not count. Of the 8392704 bytes of
    // VMEM, 4096 are a gap.
    assert_eq!((hbm.total.temp_bytes, hbm.total.peak_bytes), (0, 8_389_632));
    assert_eq!((vmem.total.peak_bytes, vmem.live_bytes), (8_392_704, 8_388_608));
    // memory_analysis().peak_memory_in_bytes is 16778240.
    assert_eq!(live.reported_peak(), 16_778_240);
    assert_eq!(module.live_memory().unwrap().reported_peak(), 16_778_240);
}

/// `temp_size_in_bytes` of programs on a v5e: 0 with tables and loop counters (`scan_small`), blocks of 16
/// KiB with a floating-point scalar (`while_norm`).
#[test]
fn tables_and_counters_alone_are_no_temporaries() {
    let temporaries = |value: &str| {
        let text = format!(
            "BufferAssignment:\nallocation 13: size 49664, page 0, preallocated-temp:\n \
             value: <24 t{{}} @0> (size=512,offset=81920): (f32[2]{{0:T(128)}}, s32[]{{:T(128)}})\n \
             value: <25 c @0> (size=512,offset=0): {value}\n"
        );
        BufferAssignment::read(text.as_bytes()).unwrap().total(0).temp_bytes
    };
    for (value, bytes) in [
        ("s32[]{:T(128)}", 0),
        ("pred[]{:T(512)}", 0),
        ("(f32[2]{0:T(128)})", 0),
        ("f32[]{:T(128)}", 65_536),
        ("s32[1]{0:T(128)}", 65_536),
        ("bf16[]{:T(256)}", 65_536),
    ] {
        assert_eq!(temporaries(value), bytes, "{value}");
    }
}

/// What a SparseCore works on is alive from the `async-update` on that brings it, not from the start.
#[test]
fn work_of_a_sparse_core_begins_with_its_update() {
    let text = "HloModule m, is_scheduled=true

%work (p: f32[1024], i: s32[1024]) -> f32[1024] {
  %p = f32[1024]{0:T(1024)} parameter(0)
  %i = s32[1024]{0:T(1024)} parameter(1)
  ROOT %w = f32[1024]{0:T(1024)} custom-call(%p, %i), custom_call_target=\"w\"
}

ENTRY %main (x: f32[1024]) -> f32[1024] {
  %x = f32[1024]{0:T(1024)} parameter(0)
  %start = ((), (), s32[]{:S(2)}) async-start(), calls=%work
  %a = f32[8192]{0:T(1024)} custom-call(%x), custom_call_target=\"a\"
  %b = s32[1024]{0:T(1024)} custom-call(%a), custom_call_target=\"b\"
  %update = ((f32[1024]{0:T(1024)}, s32[1024]{0:T(1024)}), f32[1024]{0:T(1024)}, s32[]{:S(2)}) async-update(%start, %x, %b)
  %done = f32[1024]{0:T(1024)} async-done(%update)
  ROOT %r = f32[1024]{0:T(1024)} negate(%done)
}
";
    let module = read(text);
    let live = module.live_memory().unwrap();
    // At %a there is the table of %start beside it; result and operand of the work would be 8192 bytes more.
    assert_eq!(live.total().temp_bytes, 32_768 + 4096 + 512);
    let peak = live.spaces()[0].peak_time.unwrap();
    assert_eq!(live.instruction(peak).unwrap().instruction, "b");
}

/// XLA's reader takes the last computation for the entry where none says `ENTRY`; a dump that was cut off is
/// none of that kind.
#[test]
fn without_an_entry_the_last_computation_is_it() {
    let text = "HloModule m, is_scheduled=true

f {
  ROOT x = f32[4]{0} parameter(0)
}

main {
  p = f32[256]{0} parameter(0)
  ROOT n = f32[256]{0} negate(p)
}
";
    assert_eq!(figures(text), [1024, 1024, 0, 0]);
    assert_eq!(BufferTable::of(&read(text), 9).total(0).unwrap().buffers, 2);
    assert!(read(text.strip_suffix("}\n").unwrap()).live_memory().is_none());
    let dump = text.replace("=true", "=true, entry_computation_layout={(f32[256]{0})->f32[256]{0}}");
    assert!(read(&dump).live_memory().is_none());
}

/// The CPU and GPU backends put four bytes a dimension beside an array with a bound: 108 and 168 bytes are
/// theirs for 26 and for 5 x 8 numbers. `f64[?]` has no size at all.
#[test]
fn arrays_with_bounds_and_without() {
    let program = |shape: &str| format!("ENTRY e {{\n  p = {shape} parameter(0)\n  ROOT r = f32[] constant(0)\n}}\n");
    for (shape, bytes) in
        [("f32[<=26]{0}", 108), ("f32[<=5,8]{1,0}", 168), ("f32[5,8]{1,0}", 160), ("f32[<=8]{0:T(128)}", 512)]
    {
        assert_eq!(figures(&program(shape))[0], bytes, "{shape}");
        assert_eq!(BufferTable::of(&read(&program(shape)), 9).rows()[0].padded_bytes, u64::try_from(bytes).unwrap());
    }
    let module = read(&program("(f64[?]{0}, f32[2]{0})"));
    let table = BufferTable::of(&module, 9);
    assert_eq!((module.unreadable(), table.refused_buffers()), (0, 1));
    let (name, error) = &table.refused()[0];
    assert_eq!(name, "p = f64[?]{0}");
    assert!(error.to_string().contains('?'), "{error}");
}
