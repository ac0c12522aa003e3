//! `draw`: the picture of a layout.

use std::path::PathBuf;

use clap::Args;
use tensor_layout::draw::Picture;
use tensor_layout::notation::Notated;
use tensor_layout::{Error, ToIndexMap};

use crate::index_text::read_list;
use crate::input_file::is_standard;
use crate::new_file::NewFile;
use crate::output::{Object, Output, Stop, Verdict};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout.
    layout: String,
    /// Write an SVG here instead of printing text; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Of a layout too large to be drawn whole, draw the part around this index instead of the corner.
    #[arg(long, value_name = "INDEX")]
    at: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let picture = match picture(&arguments.layout, arguments.at.as_deref()) {
        Ok(picture) => picture,
        Err(error) => return output.refuse(&arguments.layout, &error),
    };
    let object = Object::of("picture").with("input", arguments.layout.as_str());
    if arguments.svg.as_deref().is_some_and(is_standard) && !output.is_json() {
        output.line(picture.to_svg().trim_end())?;
    } else if let Some(path) = &arguments.svg {
        NewFile::write(path, picture.to_svg().as_bytes())?;
        if output.is_json() {
            output.line(object.with("svg", path.to_string_lossy().as_ref()))?;
        }
    } else if output.is_json() {
        output.line(object.with("text", picture.to_string()))?;
    } else {
        output.line(picture.to_string().trim_end())?;
    }
    Ok(Verdict::Well)
}

fn picture(layout: &str, at: Option<&str>) -> Result<Picture, Error> {
    let layout: Notated = layout.parse()?;
    let (map, caption) = (layout.to_index_map()?, layout.to_string());
    match at {
        Some(index) => Picture::around(&map, &caption, &read_list(index, "an index")?),
        None => Picture::corner(&map, &caption),
    }
}
