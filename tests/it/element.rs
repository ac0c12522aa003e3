//! Data types and their names.

use tensor_layout::DataType;
use tensor_layout::element::Naming;

#[test]
fn every_name_leads_back_to_its_type() {
    for &t in DataType::ALL {
        let name = t.name_in(Naming::Xla).unwrap();
        assert_eq!(DataType::from_name_in(Naming::Xla, name), Some(t));
        assert_eq!((name.parse(), name.to_uppercase().parse()), (Ok(t), Ok(t)));
        assert_eq!(t.to_string(), name);
        for naming in [Naming::Xla, Naming::Directml, Naming::Numpy, Naming::Npy, Naming::Safetensors] {
            let name = t.name_in(naming);
            assert_eq!(name.map(|_| t), name.and_then(|name| DataType::from_name_in(naming, name)), "{t}: {name:?}");
        }
    }
}

#[cfg(feature = "directml")]
#[test]
fn directml_values_are_those_of_its_header() {
    let header = [
        "FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16", "INT8", "FLOAT64", "UINT64", "INT64",
        "UINT4", "INT4",
    ];
    for (value, name) in (1..).zip(header) {
        let t = DataType::from_directml_value(value).unwrap();
        assert_eq!((t.name_in(Naming::Directml), t.directml_value()), (Some(name), Some(value)));
        assert_eq!(format!("DML_TENSOR_DATA_TYPE_{name}").parse(), Ok(t));
    }
    assert_eq!(DataType::from_directml_value(0), None);
    assert_eq!(DataType::from_directml_value(14), None);
}

#[test]
fn names_that_are_not_a_type_are_refused() {
    for name in ["", "f8", "i33", "tf32", "Float32", "opaque", "token", "F32 "] {
        assert_eq!(name.parse::<DataType>().unwrap_err().code(), "unknown_data_type", "{name}");
    }
}
