use super::*;

#[test]
fn donated_parameters() {
    let header = ModuleHeader::read(
        "jit_step, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias), {1}: (2, {0,1}, must-alias), \
         {2}: (3, {}) }, entry_computation_layout={(f32[2]{0}, f32[2]{0})->f32[2]{0}}",
    );
    assert_eq!((header.name.as_str(), header.is_scheduled), ("jit_step", true));
    let found: Vec<_> =
        header.aliases.iter().map(|a| (a.output.clone(), a.parameter, a.parameter_index.clone())).collect();
    assert_eq!(found, [(vec![], 0, vec![]), (vec![1], 2, vec![0, 1]), (vec![2], 3, vec![])]);
}

#[test]
fn damaged_headers_say_less() {
    let header = ModuleHeader::read("m, input_output_alias={ {0}: (0, {}, may-ali");
    assert_eq!((header.name.as_str(), header.is_scheduled, header.aliases.len()), ("m", false, 0));
    assert_eq!(ModuleHeader::read(""), ModuleHeader::default());
}
