//! Every public type can be sent to another thread and shared between threads.

use std::path::Path;

use tensor_layout_hlo::*;

use crate::public_types;

fn shared<T: Send + Sync>() {}

#[test]
fn public_types_are_send_and_sync() {
    shared::<AssignedValue>();
    shared::<BufferAssignment>();
    shared::<BufferRow>();
    shared::<BufferTable>();
    shared::<BufferUse>();
    shared::<InputOutputAlias>();
    shared::<Instruction>();
    shared::<InstructionPlace>();
    shared::<Lever>();
    shared::<LeverKind>();
    shared::<LiveBuffer>();
    shared::<LiveMemory<'_>>();
    shared::<MemoryTotal>();
    shared::<Module>();
    shared::<ModuleHeader>();
    shared::<Operand<'_>>();
    shared::<OperandAlias>();
    shared::<Operation<'_>>();
    shared::<OutOfMemoryReport>();
    shared::<PaddedDimension>();
    shared::<Report>();
    shared::<ReportLine>();
    shared::<ReportSettings>();
    shared::<ReportTable>();
    shared::<ReportedSize>();
    shared::<Reader<std::io::BufReader<std::fs::File>>>();
    shared::<Record>();
    shared::<ReportedArray>();
    shared::<SourceLine>();
    shared::<SpaceTotal>();
    shared::<SpaceUse>();
    shared::<UnreadableLine>();
}

#[test]
fn no_public_type_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let names = public_types::missing_in(include_str!("auto_traits.rs"), &folder);
    assert!(names.is_empty(), "not asserted to be shared: {names:?}");
}
