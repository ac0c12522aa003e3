//! Converts errors of the library to Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tensor_layout::Error;

create_exception!(
    relayout,
    LayoutError,
    PyValueError,
    "A layout, a size or a buffer that was refused. The text is a sentence; `code` is a stable word for programs, \
     `column` says where a text is wrong (1 is its first byte, None for other errors), and `pointer` shows the text \
     with a mark below that place.\n\n\
     >>> try:\n\
     ...     Layout('f32[2,3')\n\
     ... except LayoutError as error:\n\
     ...     print(error.code, error.column)\n\
     parse 8\n"
);

/// Returns the exception for an error of the library.
pub(crate) fn refused(error: Error) -> PyErr {
    exception(&error.to_string(), error.code(), error.column(), error.pointer())
}

/// Returns the exception for an error of this module.
pub(crate) fn refusal(code: &str, sentence: &str) -> PyErr {
    exception(sentence, code, None, None)
}

fn exception(sentence: &str, code: &str, column: Option<usize>, pointer: Option<String>) -> PyErr {
    let error = LayoutError::new_err(sentence.to_owned());
    let set = |py: Python<'_>| {
        let value = error.value(py);
        value.setattr("code", code)?;
        value.setattr("column", column)?;
        value.setattr("pointer", pointer)
    };
    match Python::attach(set) {
        Ok(()) => error,
        Err(other) => other,
    }
}
