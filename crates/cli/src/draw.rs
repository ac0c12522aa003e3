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

pub(crate) fn write_svg(path: &Path, svg: &str, output: &mut Output) -> Result<(), Stop> {
    if is_standard(path) { output.line(svg.trim_end()) } else { NewFile::write(path, svg.as_bytes()) }
}

fn draw(layout: &str, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let picture = picture(layout, arguments.at.as_deref()).map_err(refused(layout))?;
    let object = |key: &str, value: &str| json!({ "type": "picture", "input": layout, key: value });
    match arguments.svg.as_deref() {
        Some(path) => {
            write_svg(path, &picture.to_svg(), output)?;
            if output.is_json() && !is_standard(path) {
                output.line(object("svg", &path.to_string_lossy()))?;
            }
        }
        None => {
            let text = picture.to_string();
            return output.answer(|| object("text", &text), || text.trim_end());
        }
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
