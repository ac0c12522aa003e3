//! Every public type can be sent to another thread and shared between threads.

use std::path::Path;

use tensor_layout_hlo::*;

use crate::public_types;

macro_rules! shared {
    ($($kind:ty),*) => {{
        fn is_shared<T: Send + Sync>() {}
        $(is_shared::<$kind>();)*
    }};
}

#[test]
fn public_types_are_send_and_sync() {
    shared! {
        AssignedValue, BufferAssignment, BufferRow, BufferTable, BufferUse, Dump, InputOutputAlias, Instruction,
        InstructionPlace, Lever, LeverKind, LiveBuffer, LiveMemory<'_>, MemoryTotal, Module, ModuleHeader,
        Operand<'_>, OperandAlias, Operation<'_>, OutOfMemoryReport, PaddedDimension, Report, ReportLine,
        ReportSettings, ReportTable, ReportedSize, Reader<std::io::BufReader<std::fs::File>>, Record,
        ReportedArray, SourceLine, SpaceTotal, SpaceUse, UnreadableLine
    }
}

#[test]
fn no_public_type_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let names = public_types::missing_in(include_str!("auto_traits.rs"), &folder);
    assert!(names.is_empty(), "not asserted to be shared: {names:?}");
}
