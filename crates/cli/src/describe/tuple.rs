//! A tuple element by element, and shapes that are not arrays.

use serde_json::{Value, json};
use tensor_layout::Error;
use tensor_layout::tiled::Shape;
use tensor_layout_text::Layout;
use tensor_layout_text::layout::{Plane, Role};

use crate::answer::Answer;
use crate::parts::path_in_words;
use crate::table::{Table, lines, long_bytes, percent_wasted, short_bytes};

use super::array::Description;

/// The size of a pointer in the table of a tuple, in bytes, on the 64-bit backends of XLA.
const POINTER_BYTES: u64 = 8;

struct Element<'a> {
    /// The index of the element, with a number for each tuple around it.
    path: Vec<usize>,
    plane: &'a Plane,
    array: Option<Description<'a>>,
}

/// Says everything about a tuple. Its keys are those of an array, and `null` if a key makes no sense for a
/// tuple.
pub(super) fn say(layout: &Layout, shape: &Shape, mut answer: Answer) -> Result<Answer, Error> {
    let element = |plane| {
        let path = if let Role::Element { path } = Plane::role(plane) { path.clone() } else { Vec::new() };
        let array = plane.any().map(|layout| Description::of(plane, layout, true)).transpose()?;
        Ok(Element { path, plane, array })
    };
    // The elements that are not tuples, in the order of the text.
    let elements = layout.planes().iter().map(element).collect::<Result<Vec<_>, Error>>()?;
    let tables = tables(shape);
    let sum = |value: fn(&Description<'_>) -> u64| {
        let mut values = elements.iter().filter_map(|element| element.array.as_ref()).map(value);
        values.try_fold(0_u64, u64::checked_add).ok_or_else(|| Error::overflow("the size of the tuple in bytes", 64))
    };
    let (logical_elements, physical_elements) =
        (sum(|array| array.logical_elements)?, sum(|array| array.physical_elements)?);
    let (logical, physical) = (sum(|array| array.logical_size_in_bytes())?, sum(|array| array.physical_size_in_bytes)?);
    let pointers = tables.iter().map(|(_, count)| *count).fold(0, u64::saturating_add);
    let table_bytes = pointers.saturating_mul(POINTER_BYTES);
    let reason = match shape {
        Shape::Tuple(_) => "a tuple is a table of pointers to the buffers of its elements",
        Shape::Buffer(_) => "it is a buffer with the array",
        other => why_without_size(other),
    };
    answer.keys(|| {
        json!({
            "notation": "xla", "canonical": shape.to_string(),
            "data_type": null, "sizes": null, "logical_elements": logical_elements,
            "physical_elements": physical_elements, "min_size_in_bytes": null,
            "physical_size_in_bytes": physical, "class": null, "lowering": null,
            "strides": null, "split": null, "reason": reason,
            "logical_size_in_bytes": logical, "tuple_table_bytes": table_bytes,
            "elements": elements.iter().map(Element::value).collect::<Vec<_>>(),
            "tuples": tables.iter().map(|(path, count)| json!({
                "index": path, "elements": count, "bytes": count.saturating_mul(POINTER_BYTES),
            })).collect::<Vec<_>>(),
        })
    });
    answer.line(shape);
    answer.says("notation", "XLA");
    answer.says("no map", reason);
    let mut table = Table::new("  index|>elements|>bytes|>padded|>padding|class|shape");
    elements.iter().for_each(|element| table.row(element.cells()));
    if !elements.is_empty() {
        answer.lines(lines(&table));
    }
    let wasted = percent_wasted(logical, physical);
    let [logical, physical] = [logical, physical].map(long_bytes);
    answer.says("memory", format_args!("{physical} in all, {logical} of elements: {wasted} padding"));
    if !tables.is_empty() {
        let tables: Vec<String> =
            tables.iter().map(|(path, count)| format!("{count} for {}", path_in_words(path))).collect();
        let (bytes, tables) = (long_bytes(table_bytes), tables.join(", "));
        answer.says("tables", format_args!("{bytes} for pointers of {POINTER_BYTES} bytes: {tables}"));
    }
    Ok(answer)
}

/// Returns the index of each tuple, with its number of elements. The table of its pointers is a buffer of its
/// own.
fn tables(shape: &Shape) -> Vec<(Vec<usize>, u64)> {
    // The tuples that are still to be visited. The next one is on top.
    let (mut tables, mut stack) = (Vec::new(), vec![(Vec::new(), shape)]);
    while let Some((path, shape)) = stack.pop() {
        let Shape::Tuple(inner) = shape else { continue };
        for (index, element) in inner.iter().enumerate().rev() {
            stack.push(([path.as_slice(), &[index]].concat(), element));
        }
        tables.push((path, u64::try_from(inner.len()).unwrap_or(u64::MAX)));
    }
    tables
}

impl Element<'_> {
    fn value(&self) -> Value {
        let mut object = match &self.array {
            Some(array) => {
                let mut answer = Answer::new(true, "layout");
                array.say(&mut answer);
                answer.into_object()
            }
            None => json!({
                "type": "shape", "notation": "xla", "canonical": self.plane.to_string(),
                "reason": self.plane.shape().map(why_without_size),
            }),
        };
        object["index"] = json!(self.path);
        object
    }

    fn cells(&self) -> Vec<String> {
        let index = format!("  {}", path_in_words(&self.path));
        let facts = match &self.array {
            Some(array) => {
                let (logical, physical) = (array.logical_size_in_bytes(), array.physical_size_in_bytes);
                let (elements, wasted) = (array.logical_elements.to_string(), percent_wasted(logical, physical));
                [elements, short_bytes(logical), short_bytes(physical), wasted, array.class()]
            }
            None => ["-"; 5].map(str::to_owned),
        };
        [vec![index], facts.to_vec(), vec![self.plane.to_string()]].concat()
    }
}

fn why_without_size(shape: &Shape) -> &'static str {
    match shape {
        Shape::Token => "a token orders side effects and holds no elements",
        Shape::Opaque => "only the backend knows what an opaque value holds",
        Shape::Unbounded(_) => "a dimension without a bound has no size",
        _ => "it is not an array",
    }
}
