//! Numbers of bytes as text.

/// `96 B`, `4.0 KiB`, `1.5 GiB`, rounded down.
///
/// ```
/// use tensor_layout_hlo::short_bytes;
///
/// assert_eq!([short_bytes(96_u64), short_bytes(4096_u64), short_bytes(1_u128 << 40)], ["96 B", "4.0 KiB", "1.0 TiB"]);
/// ```
#[must_use]
pub fn short_bytes(bytes: impl Into<u128>) -> String {
    let bytes = bytes.into();
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes.saturating_mul(10) >> 10;
    let mut units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].into_iter().peekable();
    let mut unit = units.next();
    while tenths >= 10_240 && units.peek().is_some() {
        tenths >>= 10;
        unit = units.next();
    }
    format!("{}.{} {}", tenths.div_euclid(10), tenths.rem_euclid(10), unit.unwrap_or(""))
}
