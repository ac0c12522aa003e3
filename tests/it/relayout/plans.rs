//! Kept plans: found by the whole copy, bounded, and shared by threads.

use std::sync::Arc;

use tensor_layout::relayout::{Padding, Plans, Settings, Stores};
use tensor_layout::{ArrayShape, BufferTensorDesc, DataType};

fn rows(columns: u64) -> BufferTensorDesc {
    BufferTensorDesc::packed(DataType::U8, &[3, columns]).unwrap()
}

fn turned(columns: u64) -> BufferTensorDesc {
    BufferTensorDesc::new(DataType::U8, &[3, columns], Some(&[1, 3])).unwrap()
}

#[test]
fn a_plan_is_found_by_layouts_and_settings() {
    let plans = Plans::new(64);
    let tiles: ArrayShape = "u8[3,5]{1,0:T(2,2)}".parse().unwrap();
    let defaults = Settings::default();
    let others = [
        Settings { reversed: vec![1], ..Settings::default() },
        Settings { padding: Padding::Zero, ..Settings::default() },
        Settings { stores: Stores::Cached, ..Settings::default() },
        Settings { choice: Some("v1 stores=cached".into()), ..Settings::default() },
    ];
    let mut found: Vec<_> =
        [&defaults].into_iter().chain(&others).map(|s| plans.get(&rows(5), &turned(5), s)).collect();
    found.push(plans.get(&turned(5), &rows(5), &defaults));
    found.push(plans.get(&rows(5), &tiles, &defaults));
    found.push(plans.get(&tiles, &rows(5), &defaults));
    let found: Vec<_> = found.into_iter().map(Result::unwrap).collect();
    for (i, plan) in found.iter().enumerate() {
        assert!(found[..i].iter().all(|other| !Arc::ptr_eq(plan, other)), "plan {i} is of another copy");
    }
    // They are found again, also by an equal layout of another kind of text.
    let again = [
        plans.get(&rows(5), &turned(5), &defaults).unwrap(),
        plans.get(&rows(5), &"u8[3,5]{1,0:T(2,2)}".parse::<ArrayShape>().unwrap(), &defaults).unwrap(),
    ];
    assert!(Arc::ptr_eq(&again[0], &found[0]) && Arc::ptr_eq(&again[1], &found[6]) && plans.len() == 8);
    // A copy that is refused is not kept, and says why each time.
    for _ in 0..2 {
        assert_eq!(plans.get(&rows(5), &rows(6), &defaults).unwrap_err().code(), "size_mismatch");
    }
    assert_eq!(plans.len(), 8);
}

#[test]
fn the_plan_that_was_not_used_for_longest_makes_room() {
    let plans = Plans::new(3);
    let get = |columns| plans.get(&rows(columns), &turned(columns), &Settings::default()).unwrap();
    let first = [get(2), get(3), get(4)];
    assert!(Arc::ptr_eq(&get(2), &first[0]));
    get(5);
    assert!(plans.len() == 3 && Arc::ptr_eq(&get(2), &first[0]) && Arc::ptr_eq(&get(4), &first[2]));
    assert!(!Arc::ptr_eq(&get(3), &first[1]));
    // A capacity of nothing holds one plan.
    let one = Plans::new(0);
    assert!(one.is_empty());
    one.get(&rows(2), &turned(2), &Settings::default()).unwrap();
    assert_eq!(one.len(), 1);
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "there are no threads")]
fn threads_share_plans() {
    let plans = Plans::new(8);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for columns in (2..20).cycle().take(200) {
                    let source: Vec<u8> = (0..3 * columns as u8).collect();
                    let mut destination = vec![0; source.len()];
                    let plan = plans.get(&rows(columns), &turned(columns), &Settings::default()).unwrap();
                    plan.run(&source, &mut destination).unwrap();
                    assert_eq!(destination[..4], [0, columns as u8, 2 * columns as u8, 1]);
                }
            });
        }
    });
    assert_eq!(plans.len(), 8);
}
