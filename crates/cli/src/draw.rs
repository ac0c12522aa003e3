//! `draw`: the picture of a layout.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use tensor_layout::{Error, ToIndexMap};
use tensor_layout_text::Notated;
use tensor_layout_text::draw::Picture;

use crate::input::is_standard;
use crate::new_file::NewFile;
use crate::output::{Output, Stop, Verdict, each_layout, refused};
use crate::table::read_list;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The layout, or `-` to read one from each line of standard input.
    layout: String,
    /// Write an SVG here instead of printing text; `-` for standard output.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Of a layout too large to be drawn whole, draw the part around this index instead of the corner.
    #[arg(long, value_name = "INDEX")]
    at: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    check_svg(arguments.svg.as_deref())?;
    each_layout(&arguments.layout, output, |layout, output| draw(layout, arguments, output))
}

pub(crate) fn check_svg(path: Option<&Path>) -> Result<(), Stop> {
    match path.filter(|path| !is_standard(path) && path.extension().is_some_and(|name| name != "svg")) {
        Some(path) => Err(Stop::Unusable(format!(
            "{}: a picture is drawn as SVG, so name a file that ends in .svg",
            path.display()
        ))),
        None => Ok(()),
    }
}

fn draw(layout: &str, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let picture = picture(layout, arguments.at.as_deref()).map_err(refused(layout))?;
    match arguments.svg.as_deref() {
        Some(path) if is_standard(path) => output.line(picture.to_svg().trim_end())?,
        Some(path) => {
            NewFile::write(path, picture.to_svg().as_bytes())?;
            if output.is_json() {
                output.line(json!({ "type": "picture", "input": layout, "svg": path.to_string_lossy() }))?;
            }
        }
        None if output.is_json() => {
            output.line(json!({ "type": "picture", "input": layout, "text": picture.to_string() }))?;
        }
        None => output.line(picture.to_string().trim_end())?,
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
