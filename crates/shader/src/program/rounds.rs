//! Divides the items of a tile among the invocations of a workgroup.

/// Divides items among invocations, so that consecutive invocations take consecutive items in each round.
/// `extents` are the digits of an item's number, the fastest first. Returns for each digit how many of its
/// values one round covers, and over how many rounds it goes. Returns `None` if the items do not divide
/// evenly, or take more than `most` rounds.
pub(super) fn shared_out(extents: &[u64], invocations: u64, most: u64) -> Option<Vec<(u64, u64)>> {
    let (mut left, mut rounds) = (invocations, 1_u64);
    let mut parts = Vec::with_capacity(extents.len());
    for &extent in extents {
        let inside = if left.is_multiple_of(extent) { extent } else { left };
        if !extent.is_multiple_of(inside) {
            return None;
        }
        let times = extent.checked_div(inside)?;
        parts.push((inside, times));
        left = left.checked_div(inside)?;
        rounds = rounds.saturating_mul(times);
    }
    (left == 1 && rounds <= most).then_some(parts)
}
