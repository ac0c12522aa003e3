//! Frames: the planes of pictures, against frames that FFmpeg made, and the texts that are refused.

use serde_json::Value;
use tensor_layout::DeviceLimits;
use tensor_layout::relayout::Settings;
use tensor_layout_text::layout::{copies, frames};
use tensor_layout_text::{Layout, ViewStep};

fn bytes(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn read(text: &str) -> Layout {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The planes of FFmpeg's frames, taken out and put back, are those that swscale made them of.
#[test]
fn planes_of_frames_are_those_of_ffmpeg() {
    let mut formats = Vec::new();
    for line in include_str!("../data/frames/ffmpeg.jsonl").lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let (stored, planes, name) =
            (bytes(&record["stored"]), bytes(&record["planes"]), record["frame"].as_str().unwrap());
        let wide = if name.ends_with("le") { "u16" } else { "u8" };
        let sizes = match name {
            "rgb24" | "bgr24" => "[6,24,3]".to_owned(),
            "rgba" | "bgra" => "[6,24,4]".to_owned(),
            _ => record["sizes"].to_string(),
        };
        let frame = read(&format!("frame.{name}<pitch={}>:{wide}{sizes}", record["line_sizes"][0]));
        let packed = read(&format!("frame.{name}<planes>:{wide}{sizes}"));
        assert_eq!(frame.frame().unwrap().size_in_bytes(), Ok(stored.len() as u64), "{name}");
        let (mut found, mut back) = (vec![0; planes.len()], vec![0x5a; stored.len()]);
        copies(&frame, &packed, &Settings::default()).unwrap().run(&stored, &mut found).unwrap();
        assert_eq!(found, planes, "{name}");
        copies(&packed, &frame, &Settings::default()).unwrap().run(&planes, &mut back).unwrap();
        let width = if wide == "u16" { 2 } else { 1 };
        for (offset, (back, stored)) in back.chunks(width).zip(stored.chunks(width)).enumerate() {
            let indices = frame.planes().iter().filter_map(|plane| plane.index_at(offset as u64).unwrap_or(None));
            let wanted: &[u8] = if indices.count() == 0 { &[0x5a, 0x5a][..width] } else { stored };
            assert_eq!(back, wanted, "{name} at {offset}");
        }
        formats.push(frame.frame().unwrap().format().name);
    }
    let of_ffmpeg = frames().iter().filter(|format| format.known.starts_with("run"));
    assert_eq!(of_ffmpeg.map(|format| format.name).filter(|name| !formats.contains(name)).collect::<Vec<_>>(), [""; 0]);
}

/// Pixels whose channels differ in their order are one copy, where rows are whole pixels apart: on every
/// side, of every size, bottom up, and of a part of a picture.
#[test]
fn channels_in_another_order_are_one_copy() {
    let bottom_up = ViewStep::Reverse(vec![0]);
    let part = ViewStep::read("slice", "1:3,2:5,:").unwrap();
    // The frames, the step of the source, and how many copies there are.
    let cases: [(&str, &str, Option<&ViewStep>, usize); 11] = [
        ("bgra<pitch=24>:u8[3,5,4]", "rgba:u8[3,5,4]", None, 1),
        ("rgba:u8[3,5,4]", "bgra<pitch=24,rows=4>:u8[3,5,4]", None, 1),
        ("bgra<pitch=8192>:u8[40,1920,4]", "rgba:u8[40,1920,4]", None, 1),
        ("rgba:u8[70,300,4]", "bgra<pitch=1204>:u8[70,300,4]", None, 1),
        ("bgra<pitch=24>:u8[3,5,4]", "bgra:u8[3,5,4]", None, 1),
        ("bgra<pitch=22>:u8[3,5,4]", "rgba:u8[3,5,4]", None, 4),
        ("bgra<pitch=24>:u8[3,5,4]", "rgba:u8[3,5,4]", Some(&bottom_up), 1),
        ("rgba:u8[3,5,4]", "bgra:u8[3,5,4]", Some(&bottom_up), 1),
        ("bgra<pitch=2048>:u8[40,500,4]", "rgba:u8[40,500,4]", Some(&bottom_up), 1),
        ("bgra:u8[4,6,4]", "rgba:u8[2,3,4]", Some(&part), 1),
        ("bgra:u8[0,6,4]", "rgba:u8[0,6,4]", None, 0),
    ];
    for (from, to, step, count) in cases {
        let (mut from, to) = (read(&format!("frame.{from}")), read(&format!("frame.{to}")));
        let size = usize::try_from(from.size_in_bytes().unwrap()).unwrap();
        let source: Vec<u8> = (0..size).map(|byte| (byte * 7 % 251) as u8).collect();
        if let Some(step) = step {
            from = from.view(step).unwrap();
        }
        let mut found = vec![0; usize::try_from(to.size_in_bytes().unwrap()).unwrap()];
        let copies = copies(&from, &to, &Settings::default()).unwrap();
        assert_eq!(copies.list().len(), count, "{from} to {to}");
        copies.run(&source, &mut found).unwrap();
        let [height, width, _] = to.sizes() else { panic!("{to}") };
        for (row, column, channel) in (0..*height)
            .flat_map(|row| (0..*width).flat_map(move |column| (0..4).map(move |channel| (row, column, channel))))
        {
            let [at, place] = [&from, &to].map(|side| side.values().place(&[row, column, channel]).unwrap().offset);
            assert_eq!(found[place as usize], source[at as usize], "{from} to {to} at {row},{column},{channel}");
        }
    }
}

#[test]
fn sizes_pitches_and_offsets() {
    // Text, its canonical form, the layouts of the planes, bytes.
    let cases: [(&str, &str, &[&str], u64); 9] = [
        (
            "frame.nv12<pitch=2048,rows=1088>:u8[1080,1920]",
            "frame.nv12<pitch=2048,rows=1088>:u8[1080,1920]",
            &["u8[1080,1920]:[2048,1]+0", "u8[540,960]:[2048,2]+2228224", "u8[540,960]:[2048,2]+2228225"],
            3_342_336,
        ),
        // FFmpeg's sizes of an odd picture: halves are rounded up.
        (
            "frame.YUV420P<rows=5>:u8[5,101]",
            "frame.i420:u8[5,101]",
            &["u8[5,101]:[101,1]+0", "u8[3,51]:[51,1]+505", "u8[3,51]:[51,1]+658"],
            811,
        ),
        // GStreamer 1.22: multiples of 4, and six rows before the next plane.
        (
            "frame.i420<rows=6,pitch=104>:u8[5,101]",
            "frame.i420<pitch=104,rows=6>:u8[5,101]",
            &["u8[5,101]:[104,1]+0", "u8[3,51]:[52,1]+624", "u8[3,51]:[52,1]+780"],
            936,
        ),
        (
            "frame.nv24<pitch=16>:u8[2,12]",
            "frame.nv24<pitch=16>:u8[2,12]",
            &["u8[2,12]:[16,1]+0", "u8[2,12]:[32,2]+32", "u8[2,12]:[32,2]+33"],
            96,
        ),
        ("frame.yuy2:u8[2,5]", "frame.yuy2:u8[2,5]", &["u8[2,5]:[12,2]+0", "u8[2,3]:[12,4]+1", "u8[2,3]:[12,4]+3"], 24),
        (
            "frame.DXGI_FORMAT_P016:u16[64,64]",
            "frame.p016:u16[64,64]",
            &["u16[64,64]:[64,1]+0", "u16[32,32]:[64,2]+4096", "u16[32,32]:[64,2]+4097"],
            12_288,
        ),
        ("frame.VK_FORMAT_A8_UNORM_KHR:u8[48,48]", "frame.gray:u8[48,48]", &["frame.gray:u8[48,48]"], 2304),
        (
            "frame.gray<rows=208>:u8[200,640]",
            "frame.gray<rows=208>:u8[200,640]",
            &["frame.gray<rows=208>:u8[200,640]"],
            133_120,
        ),
        ("frame.nv12:u8[0,4]", "frame.nv12:u8[0,4]", &["u8[0,4]:[4,1]+0", "u8[0,2]:[2,1]+0", "u8[0,2]:[2,1]+0"], 0),
    ];
    for (text, canonical, planes, bytes) in cases {
        let layout = read(text);
        assert_eq!(layout.to_string(), canonical);
        assert_eq!(read(canonical), layout);
        assert_eq!(layout.planes().iter().map(ToString::to_string).collect::<Vec<_>>(), planes, "{text}");
        assert_eq!(layout.frame().unwrap().size_in_bytes(), Ok(bytes), "{text}");
    }
}

#[test]
fn frames_that_are_refused() {
    let cases = [
        ("frame.nv13:u8[4,4]", 7, "the nearest is nv12"),
        ("frame.nv12<pitch=3>:u8[4,4]", 18, "a pitch of bytes of at least 4"),
        ("frame.p010<pitch=9>:u16[4,4]", 18, "a multiple of 2"),
        ("frame.nv12<rows=3>:u8[4,4]", 17, "a number of rows of at least 4"),
        ("frame.nv12<rows=8,planes>:u8[4,4]", 17, "planes are packed"),
        ("frame.nv12<pich=8>:u8[4,4]", 12, "pitch=, rows= or planes"),
        ("frame.nv12:u8[4,4,3]", 12, "u8[H,W], the sizes of nv12"),
        ("frame.rgba:u8[4,4,3]", 12, "u8[H,W,4], the sizes of rgba"),
        ("frame.nv12:u16[4,4]", 12, "u8, the type of nv12"),
        ("frame.nv12:u8[4,4] x", 20, "nothing more"),
        ("frame.nv12 u8[4,4]", 12, "`:`, or `<`"),
    ];
    for (text, column, expected) in cases {
        let error = text.parse::<Layout>().unwrap_err();
        assert_eq!(error.column(), Some(column), "{text}: {error}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    for text in ["frame.nv12<pitch=18446744073709551615>:u8[4,4]", "frame.nv24<pitch=9223372036854775808>:u8[2,2]"] {
        assert_eq!(text.parse::<Layout>().unwrap_err().code(), "overflow", "{text}");
    }
    let error = "frame.argb32:u8[4,4,4]".parse::<Layout>().unwrap_err();
    assert!(error.to_string().contains("two orders of bytes"), "{error}");
    let error = "frame.nv12:u8[4,4] with f32 per 2".parse::<Layout>().unwrap_err();
    assert!(error.to_string().contains("is a frame"), "{error}");
    let one = |from: &str, to: &str| copies(&read(from), &read(to), &Settings::default()).unwrap_err().to_string();
    assert!(one("frame.nv12:u8[4,4]", "u8[6,4]:[4,1]").contains("the planes y, u, v, and the other none with a name"));
    assert!(one("frame.nv12:u8[4,4]", "frame.nv16:u8[4,4]").contains("axis 0 has size"));
}

/// Vulkan (VUID-VkImageCreateInfo-format-04712 and 04713), DXGI and WebGPU refuse odd sizes where colours
/// have halves of them. No other set of limits has the rule.
#[test]
fn odd_frames_are_refused_by_devices() {
    let broken = |text: &str, limits: &str| {
        let (layout, limits) = (read(text), limits.parse::<DeviceLimits>().unwrap());
        layout.frame().unwrap().broken_rules(&limits).iter().map(|error| error.axis().unwrap()).collect::<Vec<_>>()
    };
    let with_the_rule = ["d3d12", "webgpu", "vulkan", "d3d12-texture-copy", "webgpu-texture-copy"];
    // The frame, and the axes that the rule refuses. Planes that are packed follow the rule of their frame.
    let cases: [(&str, &[usize]); 10] = [
        ("nv12:u8[5,101]", &[0, 1]),
        ("nv12<pitch=128,rows=8>:u8[5,101]", &[0, 1]),
        ("nv12<planes>:u8[5,101]", &[0, 1]),
        ("i420:u8[5,100]", &[0]),
        ("p010:u16[4,101]", &[1]),
        ("yuy2:u8[5,101]", &[1]),
        ("nv16:u8[5,101]", &[1]),
        ("nv24:u8[5,101]", &[]),
        ("nv12:u8[4,100]", &[]),
        ("rgba:u8[5,101,4]", &[]),
    ];
    for limits in DeviceLimits::names() {
        for (frame, axes) in cases {
            let axes = if with_the_rule.contains(&limits) { axes } else { &[] };
            assert_eq!(broken(&format!("frame.{frame}"), limits), axes, "{frame} on {limits}");
        }
    }
}

/// Whatever a device says, memory holds odd frames: the last colours of a row and the last row of colours
/// have one pixel where others have two.
#[test]
fn odd_frames_are_copied() {
    for frame in ["nv12", "i420", "nv16", "yuy2"] {
        let (stored, packed) =
            (read(&format!("frame.{frame}:u8[5,7]")), read(&format!("frame.{frame}<planes>:u8[5,7]")));
        let rows = if ["nv12", "i420"].contains(&frame) { 3 } else { 5 };
        assert_eq!(packed.frame().unwrap().size_in_bytes(), Ok(35 + 2 * rows * 4), "{frame}");
        let size = usize::try_from(stored.frame().unwrap().size_in_bytes().unwrap()).unwrap();
        let source: Vec<u8> = (1..=size).map(|byte| byte as u8).collect();
        let mut planes = vec![0; 35 + 2 * rows as usize * 4];
        copies(&stored, &packed, &Settings::default()).unwrap().run(&source, &mut planes).unwrap();
        for (row, column) in (0..5).flat_map(|row| (0..7).map(move |column| (row, column))) {
            let [from, to] = [&stored, &packed].map(|side| side.places(&[row, column]).unwrap());
            for (from, to) in from.iter().zip(&to) {
                assert_eq!(planes[to.offset as usize], source[from.offset as usize], "{frame} at {row}, {column}");
            }
        }
        assert!(!planes.contains(&0), "{frame}");
    }
}
