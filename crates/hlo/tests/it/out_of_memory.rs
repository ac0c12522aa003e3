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
        assert_eq!(
            (report.used.as_ref().map(|size| size.bytes), report.capacity.as_ref().map(|size| size.bytes)),
            (Some(gib(4174)), Some(gib(1575)))
        );
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
    assert_eq!(
        (report.used.as_ref().map(|size| size.bytes), report.capacity.as_ref().map(|size| size.bytes)),
        (Some((1836 << 30) / 100), Some((1575 << 30) / 100))
    );
    assert!(report.allocations.is_empty());
    for odd in ["1. Size: x", " 1. Size: 1..2G", " 1. Size: 99999999999999999999999G", "Used 1G", " Shape: f32[2]", ""]
    {
        assert!(OutOfMemoryReport::read(odd.as_bytes()).unwrap().allocations.is_empty(), "{odd}");
    }
}

/// Lists lose their numbers where somebody pasted them as Markdown, and others use bullets.
#[test]
fn a_list_may_have_any_marks() {
    for mark in ["3. ", "", "- ", "* ", "12) ", "> 4. "] {
        let text = format!(
            "Ran out of memory in memory space vmem. Used 76.58M of 64.00M vmem. Exceeded vmem capacity by 12.58M.\n\n\
             {mark}Size: 50.23M\n   XLA label: register allocator spill slots call depth 2\n   Allocation type: scoped\n"
        );
        let report = OutOfMemoryReport::read(text.as_bytes()).unwrap();
        let [spills] = &report.allocations[..] else { panic!("{mark:?}") };
        assert_eq!(spills.instruction, "register allocator spill slots call depth 2");
        assert_eq!((spills.shape.as_str(), spills.size.as_ref().unwrap().to_string()), ("", "50.23M".to_owned()));
        assert_eq!((report.memory.as_str(), report.missing.unwrap().to_string()), ("vmem", "12.58M".to_owned()));
        assert_eq!(report.used.unwrap().to_string(), "76.58M");
    }
}

/// The padding of `E(32)` is in no tile: the array without padding has a byte for each element.
#[test]
fn the_report_states_the_size_without_padding() {
    let text = "  2. Size: 16.00M\n Shape: pred[4096,1024]{1,0:T(8,128)E(32)}\n Unpadded size: 4.00M\n";
    let report = OutOfMemoryReport::read(text.as_bytes()).unwrap();
    assert_eq!((report.allocations[0].bytes, report.allocations[0].unpadded_bytes), (16 << 20, 4 << 20));
}

/// The form of the GPU backend (`BufferAssignment OOM Debugging`).
#[test]
fn buffers_of_a_gpu() {
    let text = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 3145728 bytes.
BufferAssignment stats:
             parameter allocation:    3.00MiB
              constant allocation:         0B
        maybe_live_out allocation:    3.00MiB
                 total allocation:    6.00MiB
              total fragmentation:         0B (0.00%)
Peak buffers:
\tBuffer 1:
\t\tSize: 3.00MiB
\t\tOperator: op_name=\"jit(join)/concatenate\" source_file=\"a.py\" source_line=6
\t\tXLA Label: concatenate
\t\tShape: f32[2048,128,3]
\t\t==========================

\tBuffer 2:
\t\tSize: 384.0KiB
\t\tEntry Parameter Subshape: f32[256,128,3]
";
    let report = OutOfMemoryReport::read(text.as_bytes()).unwrap();
    assert_eq!(report.asked.unwrap().bytes, 3 << 20);
    assert_eq!(report.total.unwrap().bytes, 6 << 20);
    let parts: Vec<_> = report.parts.iter().map(|(name, size)| (name.as_str(), size.bytes)).collect();
    assert_eq!(parts, [("parameter allocation", 3 << 20), ("maybe_live_out allocation", 3 << 20)]);
    let [made, given] = &report.allocations[..] else { panic!() };
    assert_eq!((made.bytes, made.instruction.as_str(), made.kind.as_str()), (3 << 20, "concatenate", ""));
    assert_eq!((given.bytes, given.shape.as_str(), given.kind.as_str()), (384 << 10, "f32[256,128,3]", "argument"));
}

/// A stack in VMEM, a reservation of the allocator with exact bytes, and the sum of what a program takes.
#[test]
fn sizes_without_a_list_of_arrays() {
    let stack = "Ran out of memory in memory space vmem while allocating on stack for %k.1 = bf16[16,80]{1,0:T(8,128)(2,1)} \
                 custom-call(%p0), custom_call_target=\"tpu_custom_call\". Scoped allocation with size 37.22M and limit 32.00M \
                 exceeded scoped vmem limit by 5.22M.";
    let report = OutOfMemoryReport::read(stack.as_bytes()).unwrap();
    let text = |size: Option<tensor_layout_hlo::ReportedSize>| size.map(|size| size.to_string()).unwrap_or_default();
    assert_eq!(
        (text(report.used), text(report.capacity), text(report.missing)),
        ("37.22M".into(), "32.00M".into(), "5.22M".into())
    );
    let failed = report.failed.unwrap();
    assert_eq!((failed.instruction.as_str(), failed.shape.as_str()), ("k.1", "bf16[16,80]{1,0:T(8,128)(2,1)}"));

    let reserve =
        "Attempting to reserve 3.95G at the bottom of memory. That was not possible. There are 1.92G free, 0B \
                   reserved, and 1.92G reservable.;
HBM capacity 8.00G:
          Program requirement:    3.95G (   4,237,689,856 bytes)
      Available after request:   -2.55G (  -2,735,391,744 bytes)

Total hbm usage >= 10.94G:
    reserved(Infeed/Outfeed/Continuations) 529.00M
    heap allocations (without fragmentation)   6.08G
    program                    4.34G

Persistent allocations include some or all of:
    arguments                478.07M (89.4% utilization)
";
    let report = OutOfMemoryReport::read(reserve.as_bytes()).unwrap();
    assert_eq!((report.asked.unwrap().bytes, report.missing.unwrap().bytes), (4_237_689_856, 2_735_391_744));
    assert_eq!(
        (text(report.free), text(report.capacity), text(report.total)),
        ("1.92G".into(), "8.00G".into(), "10.94G".into())
    );
    let parts: Vec<_> = report.parts.iter().map(|(name, size)| format!("{name} {size}")).collect();
    assert_eq!(
        parts,
        [
            "reserved(Infeed/Outfeed/Continuations) 529.00M",
            "heap allocations (without fragmentation) 6.08G",
            "program 4.34G"
        ]
    );
}

/// Reports of one sentence, by the allocators of GPUs and TPUs, and by a compiler about one kernel.
#[test]
fn sentences_without_the_usual_words() {
    let asked = |text: &str| {
        assert!(OutOfMemoryReport::is_in(text), "{text}");
        OutOfMemoryReport::read(text.as_bytes()).unwrap().asked.unwrap().bytes
    };
    let sentences = [
        ("Out of memory allocating 536870912 bytes.", 536_870_912),
        (
            "Allocator (GPU_0_bfc) ran out of memory trying to allocate 3.00GiB (rounded to 3221225472)requested by op",
            3 << 30,
        ),
        ("Failed to allocate request for 2.25GiB (2415919104B) on device ordinal 0", 2_415_919_104),
        (
            "Error loading program: Attempting to allocate 512.25M. That was not possible. There are 102.50M free.",
            2049 << 18,
        ),
    ];
    for (text, bytes) in sentences {
        assert_eq!(asked(text), bytes, "{text}");
    }
    let kernel = "Scoped allocation with size 18.27M and limit 16.00M exceeded scoped vmem limit by 2.27M.";
    assert!(OutOfMemoryReport::is_in(kernel));
    let report = OutOfMemoryReport::read(kernel.as_bytes()).unwrap();
    let sizes = [report.used, report.capacity, report.missing].map(|size| size.unwrap().to_string());
    assert_eq!(sizes, ["18.27M", "16.00M", "2.27M"]);
}
