use super::*;

#[test]
fn frames_lead_to_lines() {
    let mut sources = Sources::default();
    sources.add(SourceTable::Files, "1 \"./a b.py\"");
    sources.add(SourceTable::Functions, "1 \"main\"");
    sources.add(SourceTable::Locations, "3 {file_name_id=1 function_name_id=1 line=12 end_line=14 column=4}");
    sources.add(SourceTable::Frames, "5 {file_location_id=3 parent_frame_id=4}");
    sources.add(SourceTable::Frames, "6 {file_location_id=4}");
    sources.add(SourceTable::Frames, "x");
    sources.add(SourceTable::Locations, "9 {line=1}");
    let found = sources.frame(5).unwrap();
    assert_eq!((&*found.file, found.line), ("./a b.py", 12));
    assert_eq!((sources.frame(6), sources.frame(7)), (None, None));
    let named = sources.named("b.py", 3);
    assert!(Arc::ptr_eq(&named.file, &sources.named("b.py", 4).file));
}

#[test]
fn lines_of_files_in_turn() {
    let mut sources = Sources::default();
    for (file, line) in [("a.py", 1), ("b.py", 2), ("b.py", 3), ("a.py", 4)] {
        let found = sources.named(file, line);
        assert_eq!((&*found.file, found.line), (file, line));
    }
}
