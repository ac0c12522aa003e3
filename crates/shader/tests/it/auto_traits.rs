//! Every public type can be sent to another thread and shared between threads.

use std::path::Path;

use tensor_layout_shader::{
    Access, AccessCount, BoundBuffer, BoundWindow, Form, IndexFunctions, Module, Pass, PipelineKey, Profile, Program,
    ProgramOptions, ShaderFault, SideCount, Sizes, Target,
};

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
        Access, AccessCount, BoundBuffer, BoundWindow, Form, IndexFunctions, Module, Pass, PipelineKey,
        Profile, Program, ProgramOptions, ShaderFault, SideCount, Sizes, Target
    }
}

#[test]
fn no_public_type_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let names = public_types::missing_in(include_str!("auto_traits.rs"), &folder);
    assert!(names.is_empty(), "not asserted to be shared: {names:?}");
}
