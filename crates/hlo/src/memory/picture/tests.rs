#![allow(clippy::arithmetic_side_effects, reason = "a test may panic")]

use super::*;
use crate::Module;

fn program(body: &str) -> Module {
    let text = format!("HloModule m, is_scheduled=true\nENTRY %e (x: f32[256]) -> f32[256] {{\n{body}}}\n");
    Module::read(text.as_bytes()).unwrap()
}

#[test]
fn the_picture_is_drawn_to_scale() {
    let module = program(
        "  %x = f32[256]{0} parameter(0)
  %y = f32[1024]{0} pad(%x), padding=0_768
  %z = f32[512]{0} slice(%y), slice={[0:512]}, metadata={op_name=\"jit(f)/cut\"}
  ROOT %r = f32[256]{0} slice(%z), slice={[0:256]}
",
    );
    let live = module.live_memory().unwrap();
    let svg = live.to_svg(0);
    // %x and %r take 2048 bytes all the time, %y takes 4096 bytes at times 1 and 2, and %z takes 2048 bytes
    // at times 2 and 3. The peak is 8192 bytes, at time 2. The area has 320 pixels for 8192 bytes, from 390
    // up to 70, so 2048 bytes are 80 pixels. Each of the four columns has 860 / 4 = 215 pixels, from 90 on.
    let line = |fill: &str, above: [u32; 4], below: [u32; 4]| {
        let to: String = above.iter().map(|y| format!("V{y}.0h215.000")).collect();
        let fro: String = below.iter().rev().map(|y| format!("V{y}.0h-215.000")).collect();
        format!("<path fill='{fill}' d='M90.0 {}.0{to}{fro}z'/>", below[0])
    };
    for piece in [
        "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='980' height='544' viewBox='0 0 980 544'>",
        "<title>memory: 8.0 KiB at the peak</title><desc>Memory in use over the 4 instructions of a program. Parameters \
         and results take 2.0 KiB all the time;",
        "@media(prefers-color-scheme:dark)",
        "<text x='90.0' y='28.0' class='title'>memory: 8.0 KiB at the peak</text>",
        "<text x='90.0' y='48.0' class=''>instruction 2 of 4: z (slice), jit(f)/cut</text>",
        // Horizontal lines are at multiples of 2 KiB, and every instruction has its number below the area.
        "<path class='grid' d='M90.0 390.0h860.0'/><text x='82.0' y='394.0' class='end'>0 B</text>",
        "<path class='grid' d='M90.0 310.0h860.0'/><text x='82.0' y='314.0' class='end'>2 KiB</text>",
        "<path class='grid' d='M90.0 70.0h860.0'/><text x='82.0' y='74.0' class='end'>8 KiB</text>",
        "<text x='90.0' y='408.0' class='middle'>0</text>",
        "<text x='305.0' y='408.0' class='middle'>1</text>",
        "<text x='950.0' y='408.0' class='middle'>4</text>",
        "<text x='520.0' y='426.0' class='middle'>instruction in the schedule</text>",
        &line("#c8ccd0", [310; 4], [390; 4]),
        &line("#4e79a7", [310, 150, 150, 310], [310; 4]),
        &line("#f28e2b", [310, 150, 70, 230], [310, 150, 150, 310]),
        // The vertical line at the peak is in the middle of the third column: 90 + 2.5 * 215.
        "<path class='peak' d='M627.5 70.0V390.0'/>",
        "<rect x='90.0' y='444.0' width='12' height='12' fill='#c8ccd0'/>\
         <text x='110.0' y='454.0' class=''>parameters and results, 2.0 KiB</text>",
        "<rect x='90.0' y='464.0' width='12' height='12' fill='#4e79a7'/>\
         <text x='110.0' y='474.0' class=''>y, 4.0 KiB, f32[1024]{0}</text>",
        "<text x='110.0' y='494.0' class=''>z, 2.0 KiB, f32[512]{0}, jit(f)/cut</text>",
        "<text x='110.0' y='514.0' class=''>all other temporaries</text>",
    ] {
        assert!(svg.contains(piece), "{piece}\n{svg}");
    }
    // There are no temporaries without a band of their own, so the last band is not drawn.
    assert_eq!(svg.matches("<path fill=").count(), 3);
    // The program has no buffer in space 7.
    let empty = live.to_svg(7);
    assert!(empty.contains(">S(7): 0 B at the peak<") && empty.contains("d='M90.0 390.0h860.0'"), "{empty}");
    assert!(!empty.contains("<path fill=") && !empty.contains("NaN"), "{empty}");
}

/// The numbers at an axis are round, and the capacity of the device is a line if it is near the peak.
#[test]
fn ticks_are_round_and_a_capacity_is_a_line() {
    // A peak of 3 GiB has lines every 512 MiB, and a peak of 700 MiB every 128 MiB. The capacity of 16 GiB is
    // too far above either peak to be drawn.
    for (bytes, last, lines) in [(3_u64 << 30, "3 GiB", 7), (700 << 20, "640 MiB", 6)] {
        let text = format!("ENTRY %e () -> u8[] {{\n  ROOT %x = u8[{bytes}]{{0:T(1024)}} parameter(0)\n}}\n");
        let module = Module::read(text.as_bytes()).unwrap();
        let svg = module.live_memory().unwrap().to_svg_on(0, Some(TpuGeneration::V5e));
        assert!(svg.contains(&format!("class='end'>{last}</text>")), "{last}\n{svg}");
        assert_eq!((svg.matches("class='grid'").count(), svg.matches("<path class='limit'").count()), (lines, 0));
        assert!(svg.contains(" at the peak, and a v5e has 16.0 GiB<"), "{svg}");
    }
    let large = "ENTRY %e (x: u8[8589934592]) -> u8[] {\n  ROOT %x = u8[8589934592]{0:T(1024)} parameter(0)\n}\n";
    let module = Module::read(large.as_bytes()).unwrap();
    let live = module.live_memory().unwrap();
    let svg = live.to_svg_on(0, Some(TpuGeneration::V5e));
    // The parameter takes half of the area, so the upper edge is at 16 GiB.
    assert!(
        svg.contains("<path class='limit' d='M90.0 70.0h860.0'/>") && svg.contains(">a v5e has 16.0 GiB<"),
        "{svg}"
    );
    assert!(
        !live.to_svg(0).contains("<path class='limit'")
            && !live.to_svg_on(1, Some(TpuGeneration::V5e)).contains(">a v5e")
    );
}

#[test]
fn the_largest_eight_temporaries_have_bands_and_names_of_their_own() {
    let made: String = (0..9).map(|i| format!("  %y{i} = (f32[256]{{0}}) custom-call()\n")).collect();
    let module = program(&format!(
        "{made}  ROOT %r = pred[] custom-call({})\n",
        (0..9).map(|i| format!("%y{i}")).collect::<Vec<_>>().join(", ")
    ));
    let svg = module.live_memory().unwrap().to_svg(0);
    // The areas are the byte of the result, eight temporaries, and all other temporaries.
    assert_eq!(svg.matches("<path fill=").count(), 10);
    assert!(svg.contains(">y0{0}, 1.0 KiB, f32[256]{0}<") && svg.contains(">y7{0}, ") && !svg.contains(">y8"), "{svg}");
}

#[test]
fn a_column_of_several_times_shows_the_largest() {
    // For each temporary, its size in bytes, and the first and the last time at which it is needed.
    let values = [(4096, 101, 102), (2048, 200, 299), (1024, 398, 400), (1024, 401, 403), (512, 604, 605)];
    let mut body = "  %x = f32[256]{0} parameter(0)\n".to_owned();
    for time in 1..1719_u32 {
        let name = |&(_, from, to): &(u32, u32, u32)| {
            if time == from {
                "made"
            } else if time == to {
                "used"
            } else {
                ""
            }
        };
        match values.iter().find(|&value| !name(value).is_empty()) {
            Some(value) if name(value) == "made" => {
                body += &format!("  %v{} = f32[{}]{{0}} custom-call()\n", value.1, value.0 / 4);
            }
            Some(value) => body += &format!("  %t{time} = token[] custom-call(%v{})\n", value.1),
            None => body += &format!("  %t{time} = token[] after-all()\n"),
        }
    }
    body += "  ROOT %r = pred[] custom-call(%x)\n";
    let module = program(&body);
    let live = module.live_memory().unwrap();
    assert_eq!(live.instructions(), 1720);
    // %x takes 1024 bytes and %r takes one, all the time.
    let bytes = |time: u32| {
        let live = values.iter().filter(|&&(_, from, to)| (from..=to).contains(&time));
        1025 + live.map(|&(bytes, ..)| u128::from(bytes)).sum::<u128>()
    };
    // Each of the 860 columns stands for two times. The earlier one counts if both have equal bytes.
    let larger = |time: u32| if bytes(time + 1) > bytes(time) { time + 1 } else { time };
    let expected: Vec<_> = (0..860).map(|column| larger(2 * column)).map(|time| (time, bytes(time))).collect();
    assert_eq!(live.columns(0), expected);
}

#[test]
fn numbers_and_words_of_the_picture() {
    for (power, shift) in [(0, 0), (32, 32), (64, 64), (96, 96)] {
        assert_eq!(float(7_u128 << shift), 7.0 * 2_f64.powi(power));
        // The sum has set bits in two pieces of 32 bits, and still fits an `f64` exactly.
        if shift > 0 {
            assert_eq!(
                float((7_u128 << shift) + (5_u128 << (shift - 32))),
                (7.0 * 2_f64.powi(32) + 5.0) * 2_f64.powi(power - 32)
            );
        }
    }
    for (bytes, expected) in [
        (0_u128, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        ((1 << 20) - 1, "1.0 MiB"),
        (1 << 20, "1.0 MiB"),
        (3 << 29, "1.5 GiB"),
        (1 << 80, "1048576.0 EiB"),
    ] {
        assert_eq!(short_bytes(bytes), expected);
    }
    assert_eq!((cut("äbc", 3), cut("äbcd", 3)), ("äbc".to_owned(), "äbc…".to_owned()));
    assert_eq!(escaped("a<b>&\u{7}c"), "a&lt;b&gt;&amp; c");
}
