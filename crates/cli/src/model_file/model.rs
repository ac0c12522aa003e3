//! `Model`: the tensors of one file.

use std::collections::HashMap;
use std::io;

use tensor_layout::Error;

use super::new_header::Header;
use super::tensor::Tensor;
use super::{check_names, header, layout_key};

/// The tensors of a safetensors file, each with its layout, and the rest of the metadata.
///
/// A sharded model consists of several of these files: see [`Index`](super::Index).
///
/// ```
/// use tensor_layout_cli::model_file::{Model, Tensor};
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
    /// For the name of each tensor, the index of the tensor in `tensors`.
    places: HashMap<String, usize>,
    metadata: Vec<(String, String)>,
}

impl<'a> Model<'a> {
    /// Returns a model of these tensors, in this order, with this metadata.
    ///
    /// # Errors
    ///
    /// `model_repeated_name` if two tensors have the same name.
    pub fn new(tensors: Vec<Tensor<'a>>, metadata: Vec<(String, String)>) -> Result<Model<'a>, Error> {
        check_names("the list of tensors", tensors.iter().map(Tensor::name))?;
        let places = tensors.iter().enumerate().map(|(place, tensor)| (tensor.name().to_owned(), place)).collect();
        Ok(Model { tensors, places, metadata })
    }

    /// Reads the bytes of a file. Everything is validated: sizes, offsets, names and layouts are checked
    /// against each other and against the length of the file, and allocations never exceed that length.
    ///
    /// A key `layout.NAME` of the metadata is the layout of the tensor NAME if the file has such a tensor.
    /// Otherwise the key is ordinary metadata.
    ///
    /// # Errors
    ///
    /// `model_header`, `model_truncated`, `model_trailing_bytes` and
    /// `model_repeated_name` if the file is damaged or of another format; `model_layout` if a
    /// layout does not fit its tensor. For a tensor of an unknown type, only
    /// [`Tensor::layout`] returns an error.
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

    /// The tensors of the model. Tensors of a file are in the order of their bytes, and other tensors in the
    /// order in which they were passed to [`new`](Self::new).
    #[must_use]
    pub fn tensors(&self) -> &[Tensor<'a>] {
        &self.tensors
    }

    /// Returns the tensor with this name.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&Tensor<'a>> {
        self.tensors.get(*self.places.get(name)?)
    }

    /// The metadata without the layouts, in the order of the file.
    #[must_use]
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }

    /// Writes the file: the [header](Header), and then the tensors one after the other. Tensors with wider
    /// elements come first.
    ///
    /// # Errors
    ///
    /// The errors of `out`. An [`Error`] of [`Header::new`] or [`Tensor::layout`] is returned as
    /// [`io::ErrorKind::InvalidInput`].
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
