use super::*;

#[test]
fn levels_are_in_order_and_read_back() {
    assert!(FeatureLevel::ALL.is_sorted());
    assert_eq!(FeatureLevel::ALL.last(), Some(&FeatureLevel::LATEST));
    for &level in FeatureLevel::ALL {
        assert_eq!(level.to_string().parse(), Ok(level));
        assert_eq!(level.to_string().replace('.', "_").parse(), Ok(level));
        assert_eq!(FeatureLevel::try_from(u32::from(level)), Ok(level));
        let number = format!("{:x}", u32::from(level));
        assert_eq!(level.to_string(), format!("{}.{}", &number[..1], &number[1..2]));
    }
    assert_eq!(FeatureLevel::try_from(0x7000).unwrap_err().code(), "unknown_limits");
    assert_eq!("7.0".parse::<FeatureLevel>().unwrap_err().code(), "unknown_limits");
}

#[test]
fn later_levels_know_all_earlier_types() {
    for (older, newer) in FeatureLevel::ALL.iter().zip(FeatureLevel::ALL.iter().skip(1)) {
        assert!(newer.data_types().starts_with(older.data_types()));
    }
    let all = FeatureLevel::LATEST.data_types();
    for data_type in DataType::ALL {
        assert_eq!(
            all.contains(data_type),
            data_type.name_in(crate::element::Naming::Directml).is_some(),
            "{data_type}"
        );
    }
}
