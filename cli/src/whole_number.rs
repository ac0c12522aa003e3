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
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_refused_by_a_sentence() {
        assert_eq!(whole_number("18446744073709551615"), Ok(u64::MAX));
        for text in ["", "x", "-1", "+1", "4k", "1.5", " 1"] {
            assert_eq!(whole_number::<u64>(text), Err("expected a whole number, such as 4096".into()), "{text}");
        }
        assert_eq!(whole_number::<u64>("18446744073709551616"), Err("the number is too large".into()));
        assert_eq!(whole_number::<u16>("65536"), Err("the number is too large".into()));
    }
}
