//! Headers of .npy files: types against NumPy's own answers, texts that are no header, and headers that are
//! read as they were written.

use std::fs;

use tensor_layout::{BufferTensorDesc, DataType, ToIndexMap};
use tensor_layout_files::npy::Header;

/// A file with this text as its header, in version 1 of the format.
fn file(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], text.as_bytes()].concat()
}

fn dict(descr: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")
}

/// tests/data/npy_types.tsv has what NumPy makes of a text.
#[test]
fn types_are_those_of_numpy() {
    let rows = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/npy_types.tsv")).unwrap();
    let mut read = 0;
    for row in rows.lines().skip(1) {
        let [text, exact, bytes, is_read] = row.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let header = Header::read(&file(&dict(text, "(2, 3)")));
        let kind = exact.trim_start_matches(['<', '>', '|']);
        match header {
            // Names that NumPy has with the package ml_dtypes.
            Ok(_) if ["bfloat16", "float8_e4m3fn"].contains(&text) => {}
            // mlx writes f1, which NumPy refuses.
            Ok((header, _)) if text.ends_with("f1") => assert_eq!(header.opaque.as_deref(), Some(text)),
            Ok((header, _)) => {
                assert_eq!(
                    (is_read, u64::from(header.data_type.bits())),
                    ("yes", bytes.parse::<u64>().unwrap() * 8),
                    "{text}"
                );
                assert!(!exact.starts_with('>') && !kind.starts_with(['O', 'U', 'S', 'M', 'm']), "{text}");
                assert_eq!(header.opaque.is_some(), kind.starts_with('V'), "{text}");
                read += 1;
            }
            Err(sentence) if exact.starts_with('>') => assert!(sentence.contains("big-endian"), "{sentence}"),
            Err(sentence) => {
                let has_none =
                    exact == "-" || kind.starts_with(['O', 'U', 'S', 'M', 'm']) || kind == "V3" || kind == "f16";
                assert!(has_none && sentence.contains("no counterpart"), "{text}: {sentence}");
            }
        }
    }
    assert!(read >= 60, "{read}");
}

#[test]
fn headers_may_be_written_as_python_writes_a_dict() {
    let header = |text: &str| Header::read(&file(text)).map(|(header, _)| (header.sizes, header.fortran_order));
    for (text, sizes, order) in [
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n", vec![], false),
        ("{'descr': '<f4', 'fortran_order': True, 'shape': (7,)}", vec![7], true),
        ("{'shape': (2L, 3L), 'fortran_order': False, 'descr': '<f4'}  \n", vec![2, 3], false),
        ("{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,3,)}", vec![2, 3], false),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 18446744073709551615), }", vec![0, u64::MAX], false),
    ] {
        assert_eq!(header(text), Ok((sizes, order)), "{text}");
    }
}

#[test]
fn what_is_no_header_is_refused_in_words() {
    for (text, complaint) in [
        ("", "expected `{`"),
        ("{}", "expected all of the keys"),
        ("{'descr': '<f4', 'fortran_order': False}", "expected all of the keys"),
        ("{'descr': '<f4', 'fortran_order': Perhaps, 'shape': ()}", "expected True or False, found `Perhaps`"),
        ("{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", "expected True or False"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", "expected `,` after the only size"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': [2]}", "expected `(`"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "expected a size, found `-`"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (((2,),),)}", "expected a size, found `(`"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "a size below 2^64"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3}", "expected `,` or `)`"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} more", "expected nothing more"),
        ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'order': 1}", "expected one of the keys"),
        ("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "expected each key once"),
        ("{'descr': '<\\x664', 'fortran_order': False, 'shape': (2,)}", "expected a string"),
        ("{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", "expected `,` or `}`"),
        ("{'descr': '<f4', /* two */ 'fortran_order': False, 'shape': (2,)}", "comment"),
        ("{'descr': [('a/b', '<f4')], 'fortran_order': False, 'shape': (2,)}", "records of several fields"),
    ] {
        let refused = Header::read(&file(text)).unwrap_err();
        assert!(refused.contains(complaint), "{text}: {refused}");
    }
    let open = "(".repeat(60_000);
    assert!(Header::read(&file(&dict("<f4", &open))).unwrap_err().contains("expected a size"));
    let text = dict("<f4", "(2,)");
    let long = [b"\x93NUMPY\x03\x00", &u32::try_from(text.len()).unwrap().to_le_bytes()[..], text.as_bytes()].concat();
    assert_eq!(Header::read(&long).unwrap().1, long.len());
    for (bytes, complaint) in [
        (&b"PK"[..], "is not a .npy file"),
        (b"\x93NUMPY\x09\x00\x00\x00", "version 9.0"),
        (b"\x93NUMPY\x01\x01\x00\x00", "version 1.1"),
        (b"\x93NUMPY\x02\x00\xff\xff\x00\x00{", "ends inside"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{", "header of 4294967295 bytes"),
        (b"\x93NUMPY\x02\x00\xff", "ends inside"),
        (b"\x93NUMPY\x01", "ends inside"),
        (&long[..long.len() - 1], "ends inside"),
    ] {
        assert!(Header::read(bytes).unwrap_err().contains(complaint), "{complaint}");
    }
}

#[test]
fn a_written_header_is_read_again() {
    for (sizes, length) in
        [(vec![], 128), (vec![7], 128), (vec![2, 3, 4], 128), (vec![1; 64], 256), (vec![1; 30_000], 90_112)]
    {
        let desc = BufferTensorDesc::packed(DataType::F16, &sizes);
        let Ok(map) = desc.and_then(|desc| desc.to_index_map()) else { continue };
        let header = Header::of(&map, "it").unwrap();
        let bytes = header.write().unwrap();
        assert_eq!((bytes.len(), bytes.last()), (length, Some(&b'\n')), "{sizes:?}");
        assert_eq!(Header::read(&bytes), Ok((header, length)));
    }
}
