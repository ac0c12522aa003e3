//! Types with shared parts can be sent to another thread and shared between threads.

use tensor_layout_hlo::*;

fn is_shared<T: Send + Sync>() {}

#[test]
fn types_with_shared_parts_are_send_and_sync() {
    let types = [
        is_shared::<BufferTable>,
        is_shared::<LiveMemory<'_>>,
        is_shared::<Module>,
        is_shared::<Report>,
        is_shared::<SourceLine>,
    ];
    types.iter().for_each(|is_shared| is_shared());
}
