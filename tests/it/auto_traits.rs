//! Every public type can be sent to another thread and shared between threads, except C structures that point
//! to lists of others. Errors travel in a `Box<dyn Error>`.

use std::error::Error as StdError;
use std::path::Path;

use tensor_layout::*;

macro_rules! shared {
    ($($kind:ty),*) => {{
        fn is_shared<T: Send + Sync>() {}
        $(is_shared::<$kind>();)*
    }};
}

fn error<T: StdError + Send + Sync + 'static>() {}

#[test]
fn public_types_are_send_and_sync() {
    shared! {
        AxisOrder, ArrayShape, BufferTensorDesc, DataType, ErrorKind, tensor_layout::plan::Code, Facts,
        IndexMap, LayoutClass, Shape, TensorFlags, element::ElementKind, element::Naming,
        tensor_layout::cursor::Cursor<'_>, strided::IndexWidth, strided::Offsets, strided::Overlap,
        strided::GapOwner, strided::NewAxes, strided::SignedDesc, strided::Slice, strided::Slices,
        tiled::Extent, tiled::Layout, tiled::SplitConfig, tiled::Tile, tiled::TileSize,
        tiled::TpuGeneration, tiled::TpuTiles, tiled::UnboundedArray, map::Fingerprint,
        plan::BufferBoxes, plan::Chain, plan::Component, plan::Stride, plan::CopyBox, plan::Digit,
        plan::DigitPlace, plan::Loop, plan::OffsetBox, plan::TileGroup, plan::TileLevel, plan::TileLevels,
        bridge::Lowering, bridge::Split, plan::CopyPass<'_>, relayout::Level, relayout::Padding,
        relayout::Piece, relayout::Plans, relayout::Relayout, relayout::Caches, relayout::Destination<'_>,
        relayout::DestinationMemory, relayout::Effort, relayout::Settings, relayout::Stores,
        relayout::Strided<'_, usize>, element::BlockType, strided::BlockPlace, strided::BlockTensorDesc,
        upload::ScaledTensor<'_>, upload::Arena, upload::ArenaBinding, upload::ScaledPiece,
        upload::BindingPiece, upload::Binding<'_>, upload::UploadBuffer, upload::FeatureLevel,
        upload::DeviceLimits, upload::PackedBuffer, upload::Role, upload::Suggestion, element::BlockField,
        element::FieldRole, map::Flip, map::Swizzle, upload::BoxReport, upload::Im2col, upload::Interleave,
        upload::TensorMapBox, upload::PlaneLimits, upload::PlaneRole, upload::TypeLimits,
        upload::UploadReport, upload::WideIndex, bridge::AnyLayout, tensor_layout_text::Line,
        tensor_layout_text::Layout, tensor_layout_text::Notation, tensor_layout_text::ViewStep,
        tensor_layout_text::Raised, tensor_layout_text::draw::Picture, tensor_layout_text::named::NameMatch,
        tensor_layout_text::named::NamedLayout, tensor_layout_text::layout::Part,
        tensor_layout_text::named::Row
    }
    error::<upload::ArenaErrors>();
    // A reader has the traits of its stream.
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

#[test]
fn no_public_type_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let names = crate::public_types::missing_in(include_str!("auto_traits.rs"), &folder);
    assert!(names.is_empty(), "neither asserted to be shared nor to be pinned: {names:?}");
}
