//! Every public type can be sent to another thread and shared between threads, except C structures that point
//! to lists of others. Errors travel in a `Box<dyn Error>`.

use std::error::Error as StdError;
use std::path::Path;

use tensor_layout::*;

fn shared<T: Send + Sync>() {}

fn error<T: StdError + Send + Sync + 'static>() {}

#[test]
fn public_types_are_send_and_sync() {
    shared::<AxisOrder>();
    shared::<ArrayShape>();
    shared::<BufferTensorDesc>();
    shared::<DataType>();
    shared::<ErrorKind>();
    shared::<tensor_layout::plan::Code>();
    shared::<Facts>();
    shared::<IndexMap>();
    shared::<LayoutClass>();
    shared::<Shape>();
    shared::<TensorFlags>();
    shared::<element::ElementKind>();
    shared::<element::Naming>();
    shared::<tensor_layout::cursor::Cursor<'_>>();
    shared::<strided::IndexWidth>();
    shared::<strided::Offsets>();
    shared::<strided::Overlap>();
    shared::<strided::GapOwner>();
    shared::<strided::NewAxes>();
    shared::<strided::SignedDesc>();
    shared::<strided::Slice>();
    shared::<strided::Slices>();
    shared::<tiled::Extent>();
    shared::<tiled::Layout>();
    shared::<tiled::SplitConfig>();
    shared::<tiled::Tile>();
    shared::<tiled::TileSize>();
    shared::<tiled::TpuGeneration>();
    shared::<tiled::TpuTiles>();
    shared::<tiled::UnboundedArray>();
    shared::<map::Fingerprint>();
    shared::<plan::BufferBoxes>();
    shared::<plan::Chain>();
    shared::<plan::Component>();
    shared::<plan::Stride>();
    shared::<plan::CopyBox>();
    shared::<plan::Digit>();
    shared::<plan::DigitPlace>();
    shared::<plan::Loop>();
    shared::<plan::OffsetBox>();
    shared::<plan::TileGroup>();
    shared::<plan::TileLevel>();
    shared::<plan::TileLevels>();
    shared::<bridge::Lowering>();
    shared::<bridge::Split>();
    shared::<plan::CopyPass<'_>>();
    shared::<relayout::Level>();
    shared::<relayout::Padding>();
    shared::<relayout::Piece>();
    shared::<relayout::Plans>();
    shared::<relayout::Relayout>();
    shared::<relayout::Caches>();
    shared::<relayout::Destination<'_>>();
    shared::<relayout::DestinationMemory>();
    shared::<relayout::Effort>();
    shared::<relayout::Settings>();
    shared::<relayout::Stores>();
    shared::<relayout::Strided<'_, usize>>();
    shared::<element::BlockType>();
    shared::<strided::BlockPlace>();
    shared::<strided::BlockTensorDesc>();
    shared::<upload::ScaledTensor<'_>>();
    shared::<upload::Arena>();
    shared::<upload::ArenaBinding>();
    shared::<upload::ScaledPiece>();
    error::<upload::ArenaErrors>();
    shared::<upload::BindingPiece>();
    shared::<upload::Binding<'_>>();
    shared::<upload::UploadBuffer>();
    shared::<upload::FeatureLevel>();
    shared::<upload::DeviceLimits>();
    shared::<upload::PackedBuffer>();
    shared::<upload::Role>();
    shared::<upload::Suggestion>();
    shared::<element::BlockField>();
    shared::<element::FieldRole>();
    shared::<map::Flip>();
    shared::<map::Swizzle>();
    shared::<upload::BoxReport>();
    shared::<upload::Im2col>();
    shared::<upload::Interleave>();
    shared::<upload::TensorMapBox>();
    shared::<upload::PlaneLimits>();
    shared::<upload::PlaneRole>();
    shared::<upload::TypeLimits>();
    shared::<upload::UploadReport>();
    shared::<upload::WideIndex>();
    shared::<bridge::AnyLayout>();
    shared::<tensor_layout_text::Line>();
    shared::<tensor_layout_text::Layout>();
    shared::<tensor_layout_text::Notation>();
    shared::<tensor_layout_text::ViewStep>();
    shared::<tensor_layout_text::Raised>();
    shared::<tensor_layout_text::draw::Picture>();
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

    shared::<DirectmlFields<'_>>();
    shared::<DirectmlTensor>();
    pinned!(RawBufferTensorDesc, RawTensorDesc, RawBufferBinding);
    pinned!(Lent<'_, RawBufferTensorDesc>, Lent<'_, RawTensorDesc>, DirectmlTensorDesc);
}

#[cfg(feature = "dlpack")]
#[test]
fn dlpack_types() {
    use interop::Lent;
    use interop::dlpack::*;

    shared::<DlDataType>();
    shared::<DlDevice>();
    shared::<DlFields<'_>>();
    shared::<DlLayout>();
    shared::<DlVersion>();
    pinned!(DlTensor, Lent<'_, DlTensor>, DlManagedTensor, DlOwned);
}

#[cfg(feature = "pjrt")]
#[test]
fn pjrt_types() {
    use interop::Lent;
    use interop::pjrt::*;

    shared::<PjrtFields<'_>>();
    shared::<PjrtLayout>();
    pinned!(PjrtTiledLayout, PjrtStridesLayout, PjrtLayoutUnion, PjrtMemoryLayout, Lent<'_, PjrtMemoryLayout>);
}

#[test]
fn named_layouts_are_shared() {
    use tensor_layout_text::named;
    shared::<named::NameMatch>();
    shared::<named::NamedLayout>();
    shared::<tensor_layout_text::layout::Part>();
    shared::<named::Row>();
}

#[test]
fn no_public_type_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let names = crate::public_types::missing_in(include_str!("auto_traits.rs"), &folder);
    assert!(names.is_empty(), "neither asserted to be shared nor to be pinned: {names:?}");
}
