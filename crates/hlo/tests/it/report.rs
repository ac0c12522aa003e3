//! The report: one truth for people and as objects.

use tensor_layout_hlo::{BufferAssignment, Module, Report, ReportLine, ReportSettings};

fn report(text: &str, rows: usize) -> Report {
    let module = Module::read(text.as_bytes()).unwrap();
    let live = module.live_memory();
    Report::new(&module, live.as_ref(), None, &ReportSettings { rows, tpu: None })
}

const DUMP: &str = "HloModule m, is_scheduled=true

ENTRY %e (p: f32[1000,1]) -> f32[1000,1] {
  %p = f32[1000,1]{1,0:T(8,128)} parameter(0)
  ROOT %n = f32[1000,1]{1,0:T(8,128)} negate(%p)
}
";

#[test]
fn it_prints_and_serialises_itself() {
    let found = report(DUMP, 10);
    let text = found.to_string();
    for words in [
        "HBM: 1024000 bytes (1000.0 KiB) at the peak, all the time\n",
        "  parameters  512000 bytes (500.0 KiB)  50.0%\n",
        "    bytes  share  used as   instruction  opcode  shape\n500.0 KiB  50.0%  argument  p                    f32[1000,1]{1,0:T(8,128)}\n",
        "  500.0 KiB  donate p: results of the same shape are written over them",
        "Padding is 99.2% of all buffers. Most of it is in:\n",
        "memory  buffers  logical      padded  padding\nHBM           2  7.8 KiB  1000.0 KiB    99.2%\n",
        "2 instructions read\n",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let serialised = serde_json::to_value(&found).unwrap();
    assert_eq!(serialised.as_array().unwrap(), found.objects());
    let types: Vec<&str> = found.objects().iter().map(|object| object["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["buffer", "buffer", "padding", "dump", "lever", "lever", "memory", "live", "live", "total"]);
    assert!(found.is_whole());
}

#[test]
fn what_could_not_be_read_is_a_complaint_and_an_object() {
    let found = report(&DUMP.replace("  ROOT", "  what is this?\n  %d = f64[?]{0} custom-call(%p)\n  ROOT"), 1);
    assert!(!found.is_whole());
    let complaints: Vec<&str> = found
        .lines()
        .iter()
        .filter_map(|line| match line {
            ReportLine::Complaint(words) => Some(words.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(complaints.len(), 4, "{complaints:?}");
    assert!(complaints[1].starts_with("line 5, column "), "{complaints:?}");
    let errors = found.objects().iter().filter(|object| object["type"] == "error").count();
    assert_eq!(errors, 2);
    assert_eq!(found.objects().iter().filter(|object| object["type"] == "buffer").count(), 1, "one row");
    // No text, and one that is cut.
    assert!(report("", 10).to_string().starts_with("no peak: the text has no entry computation"));
}

#[test]
fn bytes_of_thread_local_allocations_have_a_sentence() {
    let module = Module::read(DUMP.as_bytes()).unwrap();
    let text = |dump: &str| {
        let assignment = BufferAssignment::read(dump.as_bytes()).unwrap();
        let live = module.live_memory_assigned(None, &assignment);
        let settings = ReportSettings { rows: 1, tpu: None };
        Report::new(&module, live.as_ref(), Some(("a.txt", &assignment)), &settings).to_string()
    };
    let local = "BufferAssignment:\nallocation 0: size 4, thread-local:\nallocation 1: size 8, thread-local:\n";
    assert!(text(local).contains("Thread-local allocations (12 B) are in no total"), "{}", text(local));
    let other = "BufferAssignment:\nallocation 0: size 4, preallocated-temp:\nallocation 1: size x, thread-local:\n";
    assert!(!text(other).contains("hread-local alloc") && text(other).contains("1 lines could not be read"));
}
