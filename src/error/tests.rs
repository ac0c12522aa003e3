//! Tests that the page of the error codes is complete.

use super::{ArgumentRule, DeviceRule};

#[test]
fn every_code_is_on_the_page() {
    let page = include_str!("../../docs/ERRORS.md");
    let others = [
        "overflow unsupported_data_type data_type_mismatch parse buffer_too_short binding_outside_buffer overlapping_destination",
        "undecided not_expressible fill_too_wide not_a_view out_of_limits bindings_overlap buffer_read_and_written",
        "unknown_data_type unknown_limits unknown_texture_format unknown_texture_api bad_axis_order",
        "model_header model_truncated model_trailing_bytes model_repeated_name model_layout model_index model_part_name",
        "model_missing_tensor model_duplicate_tensor gaps_may_be_overwritten wide_byte_offsets",
    ];
    let others = others.iter().flat_map(|line| line.split(' '));
    let codes: Vec<&str> = ArgumentRule::CODES.iter().chain(DeviceRule::CODES).copied().chain(others).collect();
    for code in &codes {
        assert!(page.contains(&format!("`{code}`")), "{code}");
    }
    let listed = page.lines().filter_map(|line| line.strip_prefix("| `")).count();
    // One row of the page lists two codes, so the page has one row less than codes.
    assert_eq!(listed + 1, codes.len(), "a code of the page is none");
}
