//! Dumps of XLA: every line becomes an instruction, or a line that could not be read, and the memory of any
//! module can be followed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tensor_layout::Shape;
use tensor_layout_hlo::{BufferAssignment, BufferTable, Module, Reader, Record};

fuzz_target!(|data: &[u8]| {
    for record in Reader::new(data) {
        let record = record.unwrap();
        if let Record::Instruction(instruction) = &record {
            let text = instruction.shape.to_string();
            assert_eq!(text.parse::<Shape>().as_ref(), Ok(&instruction.shape), "{text}");
        }
    }
    let module = Module::read(data).unwrap();
    let table = BufferTable::of(&module, 3);
    for (space, total) in table.totals() {
        assert_eq!(table.total(space), Some(total));
    }

    if let Some(memory) = module.live_memory() {
        for space in memory.spaces() {
            let profile = memory.profile(space.space);
            let highest = profile.iter().map(|&(_, bytes)| bytes).max().unwrap_or(0);
            if let Some(time) = space.peak_time {
                let alive: u128 = memory.live_at(space.space, time).iter().map(|buffer| u128::from(buffer.bytes)).sum();
                assert_eq!(alive, highest);
            }
            let _ = memory.to_svg(space.space);
        }
    }

    let assignment = BufferAssignment::read(data).unwrap();
    for space in assignment.spaces() {
        let _ = (assignment.total(space), assignment.largest_temporaries(space));
    }
});
