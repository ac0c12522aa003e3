//! `Layout.view`: a step as Python writes it, as a step of the library.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice};
use tensor_layout_text::{Layout, ViewStep};

use crate::error::{refusal, refused};

/// Returns the layout of a view after one step.
pub(crate) fn step(name: &str, argument: &Bound<'_, PyAny>, layout: &Layout) -> PyResult<Layout> {
    if !["reshape", "permute", "slice", "broadcast"].contains(&name) {
        return Err(PyTypeError::new_err(format!("no step `{name}`: reshape, permute, slice or broadcast")));
    }
    let sizes = layout.sizes();
    let apply = |text: &str| {
        let steps = ViewStep::read_all_on(name, text, sizes).map_err(refused)?;
        steps.iter().try_fold(layout.clone(), |layout, step| layout.view(step)).map_err(refused)
    };
    if let Ok(text) = argument.extract::<String>() {
        return apply(&text);
    }
    let is_one = argument.is_instance_of::<PySlice>() || argument.is_instance_of::<PyEllipsis>();
    let items: Vec<Bound<'_, PyAny>> = match argument.try_iter() {
        Ok(items) if !is_one => items.collect::<PyResult<_>>()?,
        _ => vec![argument.clone()],
    };
    let list = |texts: Vec<String>| texts.join(",");
    if name != "slice" {
        return apply(&list(items.iter().map(number).collect::<PyResult<_>>()?));
    }
    let (texts, dropped) = slices(&items, sizes)?;
    if dropped.is_empty() {
        return apply(&list(texts));
    }
    let mut view = layout.clone();
    for step in ViewStep::read_all_on(name, &list(texts), sizes).map_err(refused)? {
        let is_kept = |axis: &usize| !dropped.contains(axis);
        let step = match step {
            // The numbers of the slice drop axes from the view, so the remaining axes are renumbered.
            ViewStep::Reverse(axes) => {
                ViewStep::Reverse(axes.iter().map(|&axis| (0..axis).filter(is_kept).count()).collect())
            }
            step => {
                view = view.view(&step).map_err(refused)?;
                let sizes = view.sizes().iter().enumerate().filter(|(axis, _)| is_kept(axis));
                ViewStep::Reshape(sizes.map(|(_, &size)| size).collect())
            }
        };
        view = view.view(&step).map_err(refused)?;
    }
    Ok(view)
}

/// Returns a whole number of any size as text. A text of this kind is refused in words by who reads it.
fn number(item: &Bound<'_, PyAny>) -> PyResult<String> {
    let index = item.call_method0("__index__");
    let index = index.map_err(|_| PyTypeError::new_err(format!("{item} is no number, and no slice")))?;
    index.str()?.extract()
}

/// Returns one text for each axis, and the axes that numbers drop.
fn slices(items: &[Bound<'_, PyAny>], sizes: &[u64]) -> PyResult<(Vec<String>, Vec<usize>)> {
    let is_ellipsis = |item: &Bound<'_, PyAny>| item.is_instance_of::<PyEllipsis>();
    let ellipses = items.iter().filter(|item| is_ellipsis(item)).count();
    let named = items.len().saturating_sub(ellipses);
    if ellipses > 1 || named > sizes.len() {
        let sentence =
            format!("slice has {named} axes and {ellipses} times `...`, for a layout of {} axes", sizes.len());
        return Err(refusal("rank_mismatch", &sentence));
    }
    let left_out = sizes.len().saturating_sub(named);
    let (mut texts, mut dropped) = (Vec::new(), Vec::new());
    for item in items {
        if is_ellipsis(item) {
            texts.extend(std::iter::repeat_n(":".to_owned(), left_out));
        } else if let Ok(slice) = item.cast::<PySlice>() {
            let bound = |name: &str| -> PyResult<String> {
                let bound = slice.getattr(name)?;
                if bound.is_none() { Ok(String::new()) } else { number(&bound) }
            };
            let (start, stop, step) = (bound("start")?, bound("stop")?, bound("step")?);
            texts.push(if step.is_empty() { format!("{start}:{stop}") } else { format!("{start}:{stop}:{step}") });
        } else {
            let axis = texts.len();
            let (size, text) = (sizes.get(axis).copied().unwrap_or(0), number(item)?);
            let index =
                text.parse::<i128>().ok().and_then(|at| if at < 0 { at.checked_add(size.into()) } else { Some(at) });
            let Some(index) = index.and_then(|index| u64::try_from(index).ok()).filter(|&index| index < size) else {
                let sentence = format!("index {text} on axis {axis} is out of range: its size is {size}");
                return Err(refusal("index_out_of_range", &sentence));
            };
            texts.push(format!("{index}:{}", index.saturating_add(1)));
            dropped.push(axis);
        }
    }
    // Axes that are not named are whole, as in NumPy.
    texts.resize(sizes.len(), ":".to_owned());
    Ok((texts, dropped))
}
