//! A plan as data, for code that runs the copy by its own means, such as a shader.

use std::borrow::Cow;

use crate::map::{CopyBox, IndexMap};

use super::plan::program::{Passes, Program};
use super::relayout::Relayout;

/// One pass of a copy. The boxes of a pass copy the elements of one buffer to the next buffer.
///
/// Nearly every copy has one pass, from the source to the destination. Two layouts that fuse dimensions in
/// contradicting orders are copied through a packed buffer: the first pass fills it, the second pass reads
/// it.
///
/// ```
/// use tensor_layout::relayout::Relayout;
/// use tensor_layout::plan::CopyPass;
/// use tensor_layout::BufferTensorDesc;
///
/// let (from, to): (BufferTensorDesc, BufferTensorDesc) = ("f32[2,3]:[3,1]".parse()?, "f32[2,3]:[4,1]".parse()?);
/// let plan = Relayout::new(&from, &to)?;
/// let passes: Vec<CopyPass<'_>> = plan.passes().collect();
/// assert_eq!(passes.len(), 1);
/// assert_eq!((passes[0].source_elements, passes[0].destination_elements), (6, 7));
/// let elements: u64 = passes[0].boxes().map(|part| part.elements()).sum();
/// assert_eq!((passes[0].box_count, elements), (1, 6));
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CopyPass<'a> {
    program: &'a Program,
    /// The number of elements of the buffer that is read, padding included.
    pub source_elements: u64,
    /// The number of elements of the buffer that is filled, padding included.
    pub destination_elements: u64,
    /// The number of [boxes](Self::boxes).
    pub box_count: u64,
}

impl CopyPass<'_> {
    /// The boxes of the pass. They are loop nests that together copy every element once. A box is made when
    /// the iterator asks for it.
    ///
    /// Offsets and strides count elements of their own side. The widths of these elements differ if the copy
    /// [changes the width](Relayout::changes_width).
    pub fn boxes(&self) -> impl Iterator<Item = CopyBox> + '_ {
        self.program.boxes.iter().map(Cow::into_owned)
    }
}

impl Relayout {
    /// The layout that is read.
    #[must_use]
    pub fn source(&self) -> &IndexMap {
        &self.source
    }

    /// The layout that is written.
    #[must_use]
    pub fn destination(&self) -> &IndexMap {
        &self.destination
    }

    /// The passes of the copy, in order. The boxes of a pass are the same for all kernels and machines.
    ///
    /// The method needs the feature `plan`.
    ///
    /// ```
    /// use tensor_layout::{plan::{Loop, Stride}, relayout::Relayout, ArrayShape};
    ///
    /// let (rows, tiles): (ArrayShape, ArrayShape) = ("f32[16,200]{1,0}".parse()?, "f32[16,200]{1,0:T(8,128)}".parse()?);
    /// let relayout = Relayout::new(&rows, &tiles)?;
    /// let passes: Vec<_> = relayout.passes().collect();
    /// let boxes: Vec<_> = passes[0].boxes().collect();
    /// // 128 columns of both rows of tiles, and the ragged edge of 72.
    /// assert_eq!((passes.len(), boxes.len()), (1, 2));
    /// assert_eq!((boxes[1].source, boxes[1].destination, boxes[1].elements()), (128, 1024, 16 * 72));
    /// assert_eq!(boxes[1].loops()[0], Loop::Strided(Stride { extent: 2, source: 1600, destination: 2048 }));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn passes(&self) -> impl Iterator<Item = CopyPass<'_>> + '_ {
        let Passes { before, last } = &self.passes;
        let mut elements = self.source.physical_elements();
        let last = CopyPass {
            program: last,
            box_count: last.boxes.count(),
            source_elements: before.as_ref().map_or(elements, |pass| pass.elements),
            destination_elements: self.destination.physical_elements(),
        };
        let before = before.iter().map(move |pass| CopyPass {
            program: &pass.program,
            box_count: pass.program.boxes.count(),
            source_elements: std::mem::replace(&mut elements, pass.elements),
            destination_elements: pass.elements,
        });
        before.chain(std::iter::once(last))
    }
}
