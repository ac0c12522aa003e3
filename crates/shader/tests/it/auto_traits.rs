//! Types with shared parts can be sent to another thread and shared between threads.

use tensor_layout_shader::*;

fn is_shared<T: Send + Sync>() {}

#[test]
fn types_with_shared_parts_are_send_and_sync() {
    let types = [
        is_shared::<IndexFunctions>,
        is_shared::<Module>,
        is_shared::<Pass>,
        is_shared::<PipelineKey>,
        is_shared::<Program>,
        is_shared::<ShaderFault>,
    ];
    types.iter().for_each(|is_shared| is_shared());
}
