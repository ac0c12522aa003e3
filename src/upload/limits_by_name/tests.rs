use crate::upload::FeatureLevel;

use super::*;

#[test]
fn every_listed_name_is_known() {
    for name in Limits::NAMES {
        Limits::by_name(name).unwrap();
    }
    for level in FeatureLevel::ALL {
        assert_eq!(Limits::by_name(&format!("directml:{level}")).unwrap(), Limits::directml_level(*level));
    }
    for name in ["", "DirectML", "directml:", "directml:9.9", "webgpu:1"] {
        assert_eq!(Limits::by_name(name).unwrap_err().code(), "unknown_limits", "{name}");
    }
}
