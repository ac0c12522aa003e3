//! Numbers of Python: sizes, offsets and counts, which are refused in words if no layout can have them.

use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::error::refusal;

/// A number from 0 to 2^64 - 1.
pub(crate) struct Number(pub(crate) u64);

/// A list of numbers from 0 to 2^64 - 1: a tuple, a list or a NumPy array.
pub(crate) struct Numbers(pub(crate) Vec<u64>);

/// A place in a list, or the length of one.
pub(crate) struct Count(pub(crate) usize);

fn number(object: &Bound<'_, PyAny>, largest: u64) -> PyResult<u64> {
    let out_of_range = || {
        let sentence = format!("a number is {object}, but must be between 0 and {largest}");
        refusal("out_of_limits", &sentence)
    };
    match object.extract::<u64>() {
        Ok(number) if number <= largest => Ok(number),
        Ok(_) => Err(out_of_range()),
        Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => Err(out_of_range()),
        Err(error) => Err(error),
    }
}

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Number> {
        number(&object, u64::MAX).map(Number)
    }
}

impl<'py> FromPyObject<'_, 'py> for Count {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Count> {
        let number = number(&object, u64::try_from(isize::MAX).unwrap_or(u64::MAX))?;
        Ok(Count(usize::try_from(number).unwrap_or(usize::MAX)))
    }
}

impl<'py> FromPyObject<'_, 'py> for Numbers {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Numbers> {
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("a text is no sequence of numbers"));
        }
        object.try_iter()?.map(|item| number(&item?, u64::MAX)).collect::<PyResult<_>>().map(Numbers)
    }
}
