use crate::upload::FeatureLevel;

use super::*;

#[test]
fn every_listed_name_is_known() {
    for name in Limits::NAMES {
        name.parse::<Limits>().unwrap();
    }
    for level in FeatureLevel::ALL {
        assert_eq!(format!("directml:{level}").parse::<Limits>().unwrap(), Limits::directml_level(*level));
    }
    for name in ["", "DirectML", "directml:", "directml:9.9", "webgpu:1"] {
        assert_eq!(name.parse::<Limits>().unwrap_err().code(), "unknown_limits", "{name}");
    }
}
