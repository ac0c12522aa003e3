//! The explanation of a plan is the plan: its boxes, loops and kernels, and how it stores.

use crate::literal::replanned::{CACHES, Replanned, reversing};
use tensor_layout::relayout::{Level, Padding, Relayout};
use tensor_layout_text::Layout;

fn plan(from: &str, to: &str) -> Relayout {
    let (from, to): (Layout, Layout) = (from.parse().unwrap(), to.parse().unwrap());
    Relayout::new(&from, &to).unwrap()
}

#[track_caller]
fn says(plan: &Relayout, facts: &[&str]) {
    let words = plan.explain();
    for fact in facts {
        assert!(words.contains(fact), "{fact} is not in\n{words}");
    }
}

#[test]
fn a_line_a_box() {
    let plan = plan("f32[32,64,112,112]:NCHW", "f32[32,64,112,112]:NHWC").with_kernel_level(Level::Portable);
    says(&plan, &["1 box\n  102760448 bytes at +0 -> +0; 32 x (+3211264, +3211264); Transpose {"]);
    says(&plan, &["unit: 4, columns: 12544 x +256, rows: 64 x +50176,", "102760448 bytes read and 102760448 written"]);
    says(&plan, &["stores: non-temporal; non-temporal from 8388608 bytes moved", "kernels: portable"]);
    says(&plan, &["padding: 0 bytes of its own, Keep\n", "machine: Knobs {"]);
}

#[test]
fn what_goes_backwards_has_a_sign() {
    let side: Layout = "u8[40,300]".parse().unwrap();
    let plan = reversing(&side, &side, &[0]).unwrap().with_streaming(false);
    says(&plan, &["(+300, -300)"]);
    // Mirrored rows are permuted, where the level has vectors.
    let rows = reversing(&side, &side, &[1]).unwrap();
    let is_permuted = |level| rows.clone().with_kernel_level(level).explain().contains("PermuteBlocks(");
    assert!(Level::SOFTWARE.iter().all(|&level| is_permuted(level)) && !is_permuted(Level::Portable));
}

#[test]
fn padding_passes_and_small_copies() {
    let padded = plan("f32[15,2000]{1,0}", "f32[15,2000]{1,0:T(8,128)}").with_padding(Padding::Fill(1)).unwrap();
    says(&padded, &["padding: 11072 bytes of its own, Fill(1), written after the elements"]);
    says(&plan("f32[6,5,7]{2,1,0:T(*,4,3)}", "f32[6,5,7]{2,0,1:T(*,4,3)}"), &["pass 1 of 2", "pass 2 of 2"]);
    says(&plan("u4[64,65]{1,0:E(4)}", "u4[64,65]{0,1:E(4)}"), &["StepBox {"]);
    says(&plan("f32[2,3]", "f32[2,3]{0,1}"), &["plain loops around 4 bytes"]);
}

/// Large copies use non-temporal stores and small copies do not. Long rows use them from a larger size on
/// than scattered elements.
#[test]
fn what_is_streamed_depends_on_what_is_moved() {
    let streams = |from: &str, to: &str| plan(from, to).explain().contains("stores: non-temporal;");
    let turned = |rows: u64| streams(&format!("f32[{rows},1024]{{1,0}}"), &format!("f32[{rows},1024]{{0,1}}"));
    let padded = |rows: u64| streams(&format!("f32[{rows},1024]"), &format!("f32[{rows},1024]:[1040,1]"));
    assert!(turned(1024) && !turned(1023));
    assert!(padded(2048) && !padded(2047));
}

/// A plan is a function of the layouts, the level and the caches, so that vectors in plain Rust show what
/// every CPU gets: at both lengths of a register, with any caches, on any machine.
#[test]
fn kernels_are_chosen_for_the_level() {
    for &level in Level::SOFTWARE {
        for caches in CACHES {
            for (from, to, kernel) in [
                ("f32[4096,4096]{1,0}", "f32[4096,4096]{0,1}", "by: Panels("),
                ("f32[40,50]{1,0}", "f32[40,50]{0,1}", "by: Panel {"),
                ("u8[16,3,1080,1920]:NCHW", "u8[16,3,1080,1920]:NHWC", "by: Interleave("),
                ("f16[16,3,1080,1920]:NHWC", "f16[16,3,1080,1920]:NCHW", "by: Deinterleave("),
                ("bf16[64,512]{1,0}", "bf16[64,512]{1,0:T(8,128)(2,1)}", "by: Interleave("),
                ("u8[4096]", "u8[4096]", "by: Memcpy"),
                ("f32[100]:[0]", "f32[100]", "by: Repeat"),
                ("f32[3000,2,7]", "f32[3000,2,7]{1,2,0}", "PermuteBlocks("),
            ] {
                let plan = plan(from, to).with_kernel_level(level).with_caches(caches);
                says(&plan, &[&format!("kernels: {level}"), kernel]);
            }
        }
    }
}
