use super::*;

#[test]
fn named_orders_equal_their_letters() {
    for order in [AxisOrder::NCHW, AxisOrder::NHWC, AxisOrder::NCDHW, AxisOrder::NDHWC] {
        assert_eq!(order, order.to_string().parse().unwrap());
        assert_eq!(order, order.to_string().to_lowercase().parse().unwrap());
    }
}

#[test]
fn logical_order_is_fixed_by_the_letters() {
    for (memory, logical) in [("WHCN", "NCHW"), ("HWIO", "OIHW"), ("GOIDHW", "GOIDHW"), ("dcba", "ABCD"), ("WC", "CW")]
    {
        assert_eq!(AxisOrder::new(memory).unwrap().logical(), logical);
    }
}

#[test]
fn wrong_orders_are_refused_with_a_reason() {
    for order in ["", "NCHC", "NCXW", "acd", "NCHWNCHWN", "N1", "é"] {
        assert_eq!(AxisOrder::new(order).unwrap_err().code(), "bad_axis_order", "{order}");
    }
}
