//! Every public type can be sent to another thread and shared between threads; errors travel in a `Box<dyn Error>`.

use std::error::Error as StdError;

use tensor_layout::*;

fn shared<T: Send + Sync + 'static>() {}

fn error<T: StdError + Send + Sync + 'static>() {}

#[test]
fn public_types_are_send_and_sync() {
    shared::<AxisOrder>();
    shared::<ArrayShape>();
    shared::<BufferTensorDesc>();
    shared::<DataType>();
    shared::<Dims>();
    shared::<ErrorKind>();
    shared::<Facts>();
    shared::<IndexMap>();
    shared::<LayoutClass>();
    shared::<Shape>();
    shared::<TensorFlags>();
    shared::<strided::BlockIter>();
    shared::<strided::Blocks>();
    shared::<strided::GemmOperand>();
    shared::<strided::IndexWidth>();
    shared::<strided::MemoryOrder>();
    shared::<strided::Offsets>();
    shared::<strided::Overlap>();
    shared::<strided::Side>();
    shared::<strided::Slice>();
    shared::<strided::Slices>();
    shared::<tiled::Extent>();
    shared::<tiled::Layout>();
    shared::<tiled::SplitConfig>();
    shared::<tiled::Tile>();
    shared::<tiled::TpuGeneration>();
    shared::<tiled::UnboundedArray>();
    shared::<map::BufferBoxes>();
    shared::<map::Chain>();
    shared::<map::Component>();
    shared::<map::OffsetBox>();
    shared::<map::RowAccess>();
    shared::<bridge::Lowering>();
    shared::<bridge::Raised>();
    shared::<relayout::KernelLevel>();
    shared::<relayout::Padding>();
    shared::<relayout::Piece>();
    shared::<relayout::Relayout>();
    shared::<upload::Buffer>();
    shared::<upload::FeatureLevel>();
    shared::<upload::Limits>();
    shared::<upload::PackedBuffer>();
    shared::<upload::Pieces>();
    shared::<upload::UploadReport>();
    shared::<notation::AnyLayout>();
    shared::<notation::Notated>();
    shared::<notation::Notation>();
    shared::<draw::Picture>();
    shared::<hlo::BufferTable>();
    error::<Error>();
    error::<upload::Errors>();
}
