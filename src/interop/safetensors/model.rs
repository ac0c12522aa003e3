//! `Model`: the tensors of one file.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use std::collections::HashMap;
use std::io;

use crate::error::Error;
#[cfg(doc)]
use crate::error::ModelFault;

use super::new_header::Header;
use super::tensor::Tensor;
use super::{check_names, header, layout_key};

/// The tensors of a safetensors file, each in its layout, and what else the metadata says.
///
/// Of a sharded model it is one part; see [`Index`](super::Index).
///
/// ```
/// use tensor_layout::interop::safetensors::{Model, Tensor};
///
/// let tensors = vec![Tensor::new("a", "u8[2]:[1]".parse()?, b"ab")?, Tensor::new("b", "u8[2]:[1]".parse()?, b"cd")?];
/// let mut file = Vec::new();
/// Model::new(tensors, vec![("format".into(), "pt".into())])?.write(&mut file)?;
///
/// let model = Model::read(&file)?;
/// assert_eq!(model.tensors().len(), 2);
/// assert_eq!(model.tensor("b").map(|tensor| tensor.bytes()), Some(&b"cd"[..]));
/// assert_eq!(model.metadata(), [("format".to_owned(), "pt".to_owned())]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Model<'a> {
    tensors: Vec<Tensor<'a>>,
    /// Where in the list each name is.
    places: HashMap<String, usize>,
    metadata: Vec<(String, String)>,
}

impl<'a> Model<'a> {
    /// A model of these tensors, in this order, with this metadata.
    ///
    /// # Errors
    ///
    /// [`ModelFault::RepeatedName`], inside [`Error::Model`], if two tensors have one name.
    pub fn new(tensors: Vec<Tensor<'a>>, metadata: Vec<(String, String)>) -> Result<Model<'a>, Error> {
        check_names("the list of tensors", tensors.iter().map(Tensor::name))?;
        let places = tensors.iter().enumerate().map(|(place, tensor)| (tensor.name().to_owned(), place)).collect();
        Ok(Model { tensors, places, metadata })
    }

    /// Reads the bytes of a file. Everything in them is validated: sizes, offsets, names and layouts are held
    /// against each other and against the length of the file, and nothing is allocated that it does not
    /// cover.
    ///
    /// A key `layout.NAME` of the metadata is the layout of tensor NAME if there is one, and an ordinary word
    /// otherwise.
    ///
    /// # Errors
    ///
    /// [`ModelFault::Header`], [`ModelFault::Truncated`], [`ModelFault::TrailingBytes`] and
    /// [`ModelFault::RepeatedName`] if the file is damaged or of another format; [`ModelFault::Layout`] if a
    /// layout cannot be that of its tensor. All are inside [`Error::Model`]. A type without a counterpart
    /// here is refused where [its layout](Tensor::layout) is requested.
    pub fn read(file: &'a [u8]) -> Result<Model<'a>, Error> {
        let (header, data) = header::read(file)?;
        let mut layouts: HashMap<String, String> = HashMap::new();
        let mut metadata = Vec::new();
        let keys: std::collections::HashSet<String> = header.tensors.iter().map(|(name, _)| layout_key(name)).collect();
        for (key, value) in header.metadata {
            if keys.contains(&key) {
                layouts.insert(key, value);
            } else {
                metadata.push((key, value));
            }
        }
        let mut tensors = Vec::with_capacity(header.tensors.len());
        for (name, info) in header.tensors {
            let layout = layouts.get(&layout_key(&name)).map(String::as_str);
            tensors.push(Tensor::of_file(name, &info, layout, data)?);
        }
        Model::new(tensors, metadata)
    }

    /// The tensors: of a file in the order of their bytes, otherwise as they were given.
    #[must_use]
    pub fn tensors(&self) -> &[Tensor<'a>] {
        &self.tensors
    }

    /// The tensor of this name.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&Tensor<'a>> {
        self.tensors.get(*self.places.get(name)?)
    }

    /// The metadata without the layouts, in the order of the file.
    #[must_use]
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// Writes the file. one after the other come the [header](Header) and the tensors, those of the widest
    /// elements first.
    ///
    /// # Errors
    ///
    /// What `out` says; an [`Error`] as [`io::ErrorKind::InvalidInput`]: those of [`Header::new`] and
    /// [`Tensor::layout`].
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        let invalid = |error: Error| io::Error::new(io::ErrorKind::InvalidInput, error);
        let layouts = self.tensors.iter().map(|tensor| Ok((tensor.name(), tensor.layout()?)));
        let layouts: Vec<_> = layouts.collect::<Result<_, Error>>().map_err(invalid)?;
        let header = Header::new(layouts, &self.metadata).map_err(invalid)?;
        out.write_all(&header.bytes)?;
        for tensor in header.order.iter().filter_map(|&place| self.tensors.get(place)) {
            out.write_all(tensor.bytes())?;
        }
        Ok(())
    }
}
