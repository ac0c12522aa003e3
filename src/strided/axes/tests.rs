use super::*;

#[test]
fn named_orders_equal_their_letters() {
    for order in [AxisOrder::NCHW, AxisOrder::NHWC, AxisOrder::NCDHW, AxisOrder::NDHWC] {
        assert_eq!(order, order.to_string().parse().unwrap());
        assert_eq!(order, order.to_string().to_lowercase().parse().unwrap());
    }
}

/// Tests the axis of each letter in the logical order: `OIHW` for HWIO.
#[test]
fn logical_order_is_fixed_by_the_letters() {
    for (memory, axes) in [
        ("WHCN", &[3, 2, 1, 0][..]),
        ("HWIO", &[2, 3, 1, 0]),
        ("GOIDHW", &[0, 1, 2, 3, 4, 5]),
        ("dcba", &[3, 2, 1, 0]),
        ("WC", &[1, 0]),
    ] {
        assert_eq!(memory.parse::<AxisOrder>().unwrap().axes().collect::<Vec<_>>(), axes, "{memory}");
    }
}

#[test]
fn wrong_orders_are_refused_with_a_reason() {
    for order in ["", "NCHC", "NCXW", "acd", "NCHWNCHWN", "N1", "é"] {
        assert_eq!(order.parse::<AxisOrder>().unwrap_err().code(), "bad_axis_order", "{order}");
    }
}
