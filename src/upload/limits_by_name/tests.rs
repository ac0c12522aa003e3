use crate::upload::FeatureLevel;

use super::*;

#[test]
fn every_listed_name_is_known() {
    for name in DeviceLimits::NAMES {
        name.parse::<DeviceLimits>().unwrap();
    }
    for level in FeatureLevel::ALL {
        assert_eq!(format!("directml:{level}").parse::<DeviceLimits>().unwrap(), DeviceLimits::directml_level(*level));
    }
    for name in ["", "DirectML", "directml:", "directml:9.9", "webgpu:1"] {
        assert_eq!(name.parse::<DeviceLimits>().unwrap_err().code(), "unknown_limits", "{name}");
    }
}
