//! Out-of-memory reports, as logs and exceptions have them.

use tensor_layout::tiled::TpuGeneration;
use tensor_layout_hlo::{OutOfMemoryReport, PaddedDimension, smaller_layout};

/// The form is that of XLA's reports; the program is made up.
const REPORT: &str = r#"Traceback (most recent call last):
  File "train.py", line 3, in <module>
jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 41.74G of 15.75G hbm. Exceeded hbm capacity by 25.99G.

Total hbm usage >= 42.24G:
    reserved        528.00M
    program          41.74G

Program hbm requirement 41.74G:
    HLO temp         41.74G (24.2% utilization, 0.7% fragmentation (293.84M))

  Largest program allocations in hbm:

  1. Size: 32.00G
     Operator: op_type="mod" op_name="jit(paint)/mod" source_file="train.py" source_line=7
     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
     Unpadded size: 1.00G
     Extra memory due to padding: 31.00G (32.0x expansion)
     XLA label: %copy.404 = s32[8388608,8,4]{2,1,0:T(8,128)} copy(s32[8388608,8,4]{0,2,1:T(4,128)} %x)
     Allocation type: HLO temp
     ==========================

  2. Size: 512.50M
     Shape: (f32[2], u8[3])
     Unpadded size: 500.00M
     XLA label: custom-call.2
     Allocation type: arguments
     ==========================
"#;

#[test]
fn the_arrays_of_a_report_are_read() {
    // The report as it is, and with the prefix that a log puts in front of each line.
    let logged: String = REPORT.lines().map(|line| format!("2020-05-04 09:05:40: E 15 util.cc:76] {line}\n")).collect();
    for text in [REPORT, &logged] {
        assert!(OutOfMemoryReport::is_in(text));
        let report = OutOfMemoryReport::read(text.as_bytes()).unwrap();
        let gib = |hundredths: u64| (hundredths << 30) / 100;
        assert_eq!((report.used_bytes, report.capacity_bytes), (Some(gib(4174)), Some(gib(1575))));
        let [first, second] = &report.allocations[..] else { panic!("{report:?}") };
        assert_eq!((first.bytes, first.unpadded_bytes), (32 << 30, 1 << 30));
        assert_eq!((first.op_name.as_str(), first.instruction.as_str()), ("jit(paint)/mod", "copy.404"));
        assert_eq!(first.kind, "HLO temp");
        let shape = first.array.as_ref().unwrap();
        let padded = PaddedDimension::of(shape).unwrap();
        assert_eq!((padded.axis, padded.size, padded.stored), (2, 4, 128));
        let (other, bytes) = smaller_layout(shape, TpuGeneration::V5e).unwrap();
        assert_eq!((other.to_string().as_str(), bytes), ("s32[8388608,8,4]{0,2,1:T(4,128)}", 1 << 30));
        // A shape that is no array leaves the sizes of the report.
        assert_eq!((second.bytes, second.unpadded_bytes), (1025 << 19, 500 << 20));
        assert_eq!((second.array.is_none(), second.kind.as_str()), (true, "arguments"));
    }
}

/// What libtpu 0.0.52 says names no arrays.
#[test]
fn a_report_without_arrays() {
    let text = "RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO \
                temporaries (18.36G) exceeds available HBM (15.75G). HLO module: jit_too_big.";
    let report = OutOfMemoryReport::read(text.as_bytes()).unwrap();
    assert_eq!((report.used_bytes, report.capacity_bytes), (Some((1836 << 30) / 100), Some((1575 << 30) / 100)));
    assert!(report.allocations.is_empty());
    for odd in ["1. Size: x", " 1. Size: 1..2G", " 1. Size: 99999999999999999999999G", "Used 1G", " Shape: f32[2]", ""]
    {
        assert!(OutOfMemoryReport::read(odd.as_bytes()).unwrap().allocations.is_empty(), "{odd}");
    }
}
