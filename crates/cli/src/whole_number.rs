//! Reads numbers on the command line.

/// Reads the value of an option that is a whole number.
pub(crate) fn whole_number<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("expected a whole number, such as 4096".into());
    }
    let number = text.parse::<u64>().ok().and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| "the number is too large".into())
}

/// Reads the value of an option that is a number of bytes: `4096`, `4_194_304`, `4MiB`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    tensor_layout::upload::read_size(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
