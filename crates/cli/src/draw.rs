//! `draw`: the picture of a layout.

use std::path::{Path, PathBuf};

use clap::Args;
use tensor_layout::Error;
use tensor_layout_files::NewFile;
use tensor_layout_text::Layout;
use tensor_layout_text::draw::Picture;
use tensor_layout_text::layout::Plane;

use crate::input::is_standard;
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
    if is_standard(path) { output.line(svg.trim_end()) } else { Ok(NewFile::write(path, svg.as_bytes())?) }
}

fn draw(text: &str, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Stop> {
    let layout: Layout = text.parse().map_err(refused(text))?;
    let pictures = pictures(&layout, arguments.at.as_deref()).map_err(refused(text))?;
    let mut answer = output.new_answer("picture");
    answer.key("input", text);
    let Some(path) = arguments.svg.as_deref() else {
        let drawn: Vec<String> = pictures.iter().map(|picture| picture.to_string().trim_end().to_owned()).collect();
        let drawn = drawn.join("\n\n");
        answer.key("text", format!("{drawn}\n"));
        answer.line(drawn);
        return output.answer(&answer);
    };
    let [picture] = pictures.as_slice() else {
        let sentence =
            format!("{text} has {} planes, and an SVG draws one: name the layout of one plane", pictures.len());
        return Err(Stop::Unusable(sentence));
    };
    write_svg(path, &picture.to_svg(), output)?;
    answer.key("svg", path.to_string_lossy());
    if is_standard(path) { Ok(Verdict::Well) } else { output.answer(&answer) }
}

/// Draws every plane of a layout: the values first, then their scales, or the elements of a tuple.
fn pictures(layout: &Layout, at: Option<&str>) -> Result<Vec<Picture>, Error> {
    let at = at.map(|at| read_list(at, "an index")).transpose()?;
    let planes = layout.planes().iter().filter(|plane| plane.has_elements());
    let picture = |plane: &Plane| {
        let caption = plane.role().name().map_or_else(|| plane.to_string(), |name| format!("{name}: {plane}"));
        match &at {
            Some(index) => Picture::around(plane, &caption, &plane.index_of_value(index)),
            None => Picture::corner(plane, &caption),
        }
    };
    planes.map(picture).collect()
}
