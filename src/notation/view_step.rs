//! Views of a layout of any model, as they are typed.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::bridge::spell_view;
use crate::error::Error;
use crate::map::ToIndexMap;
use crate::strided::Slices;

use super::list::read_list;
use super::strided::text_of;
use super::{AnyLayout, Notation, text_in};

/// One step from a layout to a view of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewStep {
    /// Other sizes for the same elements in the same order.
    Reshape(Vec<u64>),
    /// Axis `i` of the view is this axis of the layout.
    Permute(Vec<usize>),
    /// A part of every axis.
    Slice(Slices),
    /// Axes of size 1, and new ones in front, repeated up to these sizes.
    Broadcast(Vec<u64>),
}

impl ViewStep {
    /// Reads `reshape 6,4`, `permute 1,0`, `slice 0:2,:,1:9:2` or `broadcast 8,3,4`; lists may be in
    /// brackets.
    ///
    /// # Errors
    ///
    /// [`Error::Parse`] with the column in the part that does not read.
    ///
    /// ```
    /// use tensor_layout::notation::ViewStep;
    ///
    /// assert_eq!(ViewStep::read("permute", "1,0")?, ViewStep::Permute(vec![1, 0]));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn read(name: &str, argument: &str) -> Result<ViewStep, Error> {
        Ok(match name {
            "reshape" => ViewStep::Reshape(read_list(argument, "a size")?),
            "permute" => {
                let axes = read_list(argument, "an axis")?;
                ViewStep::Permute(axes.into_iter().map(|axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect())
            }
            "slice" => ViewStep::Slice(argument.parse()?),
            "broadcast" => ViewStep::Broadcast(read_list(argument, "a size")?),
            _ => {
                return Err(Error::Parse {
                    text: name.to_owned(),
                    column: 1,
                    expected: "a view: reshape, permute, slice or broadcast".into(),
                    found: format!("`{name}`"),
                });
            }
        })
    }
}

impl AnyLayout {
    /// The layout of a view: of the same model where that can say it, else an index map.
    ///
    /// # Errors
    ///
    /// Those of the view: [`IndexMap::reshape`](crate::IndexMap::reshape),
    /// [`permute`](crate::IndexMap::permute), [`slice`](crate::IndexMap::slice) and
    /// [`broadcast_to`](crate::IndexMap::broadcast_to).
    ///
    /// ```
    /// use tensor_layout::{notation::{AnyLayout, ViewStep}, ArrayShape};
    ///
    /// let tiled = AnyLayout::from("f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?);
    /// let turned = tiled.view(&ViewStep::read("permute", "1,0")?)?;
    /// assert_eq!(turned.to_text()?, "f32[256,16]{0,1:T(8,128)}");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn view(&self, step: &ViewStep) -> Result<AnyLayout, Error> {
        if let AnyLayout::Strided(desc) = self {
            return Ok(AnyLayout::Strided(match step {
                ViewStep::Reshape(sizes) => desc.reshape(sizes),
                ViewStep::Permute(axes) => desc.permute(axes),
                ViewStep::Slice(slices) => desc.slice(slices),
                ViewStep::Broadcast(sizes) => desc.broadcast_to(sizes),
            }?));
        }
        let map = self.to_index_map()?;
        let view = match step {
            ViewStep::Reshape(sizes) => map.reshape(sizes),
            ViewStep::Permute(axes) => map.permute(axes),
            ViewStep::Slice(slices) => map.slice(slices),
            ViewStep::Broadcast(sizes) => map.broadcast_to(sizes),
        }?;
        Ok(match (self, step) {
            (AnyLayout::Tiled(shape), ViewStep::Permute(axes)) => AnyLayout::Tiled(shape.permute(axes)?),
            (AnyLayout::Tiled(shape), _) => spell_view(&view, shape).map_or(AnyLayout::Mapped(view), AnyLayout::Tiled),
            _ => AnyLayout::Mapped(view),
        })
    }

    /// The layout in the notation of its model; of an index map the shortest there is, CuTe's if need be.
    ///
    /// # Errors
    ///
    /// [`Error::NotExpressible`] if no notation can say it.
    ///
    /// ```
    /// use tensor_layout::{notation::AnyLayout, ArrayShape, BufferTensorDesc, ToIndexMap};
    ///
    /// assert_eq!(AnyLayout::from("f32[2,3]:[5,1]".parse::<BufferTensorDesc>()?).to_text()?, "f32[2,3]:[5,1]");
    /// let map = "f32[16,256]{1,0:T(8,128)}".parse::<ArrayShape>()?.to_index_map()?;
    /// let text = |map| AnyLayout::from(map).to_text();
    /// assert_eq!(text(map.reshape(&[2, 8, 2, 128])?)?, "f32[2,8,2,128]:[2048,128,1024,1]");
    /// assert_eq!(text(map.permute(&[1, 0])?)?, "f32[256,16]{0,1:T(8,128)}");
    /// assert_eq!(text(map.slice(&[(8..16).into(), (0..128).into()])?)?, "f32[8,128]:[128,1]+2048");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn to_text(&self) -> Result<String, Error> {
        match self {
            AnyLayout::Strided(desc) => Ok(desc.to_string()),
            AnyLayout::Tiled(shape) => Ok(shape.to_string()),
            // CuTe's notation has strides for the digits of a dimension, which a gap inside of one needs.
            AnyLayout::Mapped(map) => text_of(map).or_else(|_| text_in(self, Notation::CuTe)),
        }
    }
}
