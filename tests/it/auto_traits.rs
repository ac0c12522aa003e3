//! Public types can be sent to another thread and shared between threads, except C structures that point to
//! lists of others. Errors travel in a `Box<dyn Error>`.

use std::error::Error as StdError;

use tensor_layout::*;

macro_rules! shared {
    ($($kind:ty),*) => {{
        fn is_shared<T: Send + Sync>() {}
        $(is_shared::<$kind>();)*
    }};
}

fn error<T: StdError + Send + Sync + 'static>() {}

/// A type that owns its parts has the traits of its parts. These have parts that are lent, shared or `dyn`.
#[test]
fn types_with_lent_shared_or_dyn_parts_are_send_and_sync() {
    shared! {
        tensor_layout::cursor::Cursor<'_>, plan::CopyPass<'_>, relayout::Relayout, relayout::Piece, relayout::Plans,
        relayout::Destination<'_>, relayout::DestinationMemory, relayout::Strided<'_, usize>,
        upload::ScaledTensor<'_>, upload::DeviceLimits, strided::BufferTensorDesc, map::IndexMap, tiled::Shape,
        tensor_layout_text::Layout, tensor_layout_text::layout::Copies, tensor_layout_text::named::NamedLayout
    }
    error::<upload::ArenaErrors>();
    error::<Error>();
    error::<upload::Errors>();
}

/// The structures with raw pointers (`Dml..`, `DlTensor`, `Pjrt..Layout`, their union) and the type that
/// lends them (`Lent`) are neither `Send` nor `Sync`. Anyone can fill such a structure, and nothing tells
/// which thread may read the memory behind its pointers. The types that own the lists can be sent, and lend
/// the structures anew.
#[cfg(any(feature = "directml", feature = "dlpack", feature = "pjrt"))]
macro_rules! pinned {
    ($($kind:ty),* $(,)?) => {$({
        // If the type were `Send` or `Sync`, several of these impls would fit, and the `_` below would not
        // compile.
        trait Fits<Which: ?Sized> {
            fn once() {}
        }
        impl<T> Fits<()> for T {}
        impl<T: Send> Fits<dyn Send> for T {}
        impl<T: Sync> Fits<dyn Sync> for T {}
        <$kind as Fits<_>>::once();
    })*};
}

#[cfg(feature = "directml")]
#[test]
fn directml_types() {
    use interop::Lent;
    use interop::directml::*;

    shared! {
        DirectmlFields<'_>, DirectmlTensor
    }
    pinned!(RawBufferTensorDesc, RawTensorDesc, RawBufferBinding);
    pinned!(Lent<'_, RawBufferTensorDesc>, Lent<'_, RawTensorDesc>, DirectmlTensorDesc);
}

#[cfg(feature = "dlpack")]
#[test]
fn dlpack_types() {
    use interop::Lent;
    use interop::dlpack::*;

    shared! {
        DlDataType, DlDevice, DlFields<'_>, DlLayout, DlVersion
    }
    pinned!(DlTensor, Lent<'_, DlTensor>, DlManagedTensor, DlOwned);
}

#[cfg(feature = "pjrt")]
#[test]
fn pjrt_types() {
    use interop::Lent;
    use interop::pjrt::*;

    shared! {
        PjrtFields<'_>, PjrtLayout
    }
    pinned!(PjrtTiledLayout, PjrtStridesLayout, PjrtLayoutUnion, PjrtMemoryLayout, Lent<'_, PjrtMemoryLayout>);
}
