//! Numbers on the command line.

/// A whole number of 0 or more, as the value of an option.
pub(crate) fn whole_number<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("expected a whole number, such as 4096".into());
    }
    let number = text.parse::<u64>().ok().and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| "the number is too large".into())
}

#[cfg(test)]
mod tests;
