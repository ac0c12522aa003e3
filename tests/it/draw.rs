//! Every picture agrees with the map that it is drawn from.

use tensor_layout::{Error, ToIndexMap};
use tensor_layout_text::Layout;
use tensor_layout_text::draw::{MAX_COLUMNS, MAX_ELEMENTS, Picture};

fn picture(layout: &str) -> Result<Picture, Error> {
    let layout: Layout = layout.parse()?;
    Picture::new(&layout.to_index_map()?, &layout.to_string())
}

#[test]
fn figure_1_as_text() {
    let expected = "\
f32[3,5]{1,0:T(2,2)}
15 elements, 24 physical: 9 of them are padding

the tensor: where each element is stored, and padding in parentheses

          0    1      2    3      4
   0 │    0    1 │    4    5 │    8  (9)
   1 │    2    3 │    6    7 │   10 (11)
     ├───────────┼───────────┼──────────
   2 │   12   13 │   16   17 │   20 (21)
     │ (14) (15) │ (18) (19) │ (22) (23)

the memory: first element and byte of each row, and what is in it; ·· is padding

  0   0 │ 0,0 0,1 1,0 1,1 │ 0,2 0,3 1,2 1,3 │ 0,4  ·· 1,4  ··
 12  48 │ 2,0 2,1  ··  ·· │ 2,2 2,3  ··  ·· │ 2,4  ··  ··  ··
";
    assert_eq!(picture("f32[3,5]{1,0:T(2,2)}").unwrap().to_string(), expected);
}

#[test]
fn a_row_pitch_shows_its_padding() {
    let text = picture("f32[2,3]:[5,1]").unwrap().to_string();
    assert!(text.contains("   0 │   0   1   2 (3) (4)\n   1 │   5   6   7\n"), "{text}");
    assert!(text.contains("  0   0 │ 0,0 0,1 0,2  ··  ··\n  5  20 │ 1,0 1,1 1,2\n"), "{text}");
}

#[test]
fn every_kind_of_layout_can_be_drawn() {
    for layout in [
        "f32[]",
        "f32[0,3]",
        "f32[7]",
        "f32[7]{0:T(4)}",
        "f32[4,8]{1,0:T(2,4)(2,1)}",
        "bf16[8,8]{1,0:T(4,4)(2,1)}",
        "f32[2,3,5]{2,1,0:T(*,4)}",
        "f32[12,4]{1,0:T(6,2)(4,1)}",
        "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)L(64)}",
        "f32[1,3,4,4]:NHWC",
        "f32[2,2]:[0,3]",
        "f32[2,2]:[1,1]",
        "f32[2,3]:[5,1]+4",
        "f32[3,5]{1,0:T(2,2)L(64)}",
        "u8[2,0,64]",
        "s4[3,3]:[3,1]",
        "f32[1,1,1,1,1,1,1,2]",
    ] {
        let picture = picture(layout).unwrap();
        let (text, svg) = (picture.to_string(), picture.to_svg());
        assert!(text.lines().all(|line| line.trim_end() == line), "{layout}:\n{text}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{layout}");
        let map = layout.parse::<Layout>().unwrap().to_index_map().unwrap();
        let cells = svg.matches("<g class=").count() as u64;
        // A run of padding is one cell. Bytes in front of the base offset are not drawn.
        let folded: u64 = svg
            .split("data-count=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().parse::<u64>().unwrap() - 1)
            .sum();
        assert!(cells + folded >= map.element_count() + map.physical_elements() - map.base(), "{layout}");
    }
}

#[test]
fn captions_are_escaped() {
    let map = "f32[2]".parse::<Layout>().unwrap().to_index_map().unwrap();
    let svg = Picture::new(&map, "a<b>&c").unwrap().to_svg();
    assert!(svg.contains("a&lt;b&gt;&amp;c") && !svg.contains("a<b>"));
}

#[test]
fn what_is_too_large_to_look_at_is_refused() {
    for layout in ["f32[50,50]", "f32[2,65]", "f32[2]:[4000000000]", "f32[4000,4000]:[0,0]", "f32[0,65]"] {
        assert_eq!(picture(layout).unwrap_err().code(), "out_of_limits", "{layout}");
    }
    picture(&format!("f32[{},{MAX_COLUMNS}]", MAX_ELEMENTS / MAX_COLUMNS)).unwrap();
}

/// Reads the attributes of the cells: pairs of an index and an offset in the tensor, and then the offsets of
/// the memory.
fn cells(svg: &str) -> (Vec<(String, String)>, Vec<String>) {
    let value = |line: &str, name: &str| -> Option<String> {
        let (_, rest) = line.split_once(&format!("{name}=\""))?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let (tensor, memory) = svg.split_once("The memory:").unwrap();
    let tensor = tensor.lines().filter_map(|line| Some((value(line, "data-index")?, value(line, "data-offset")?)));
    (tensor.collect(), memory.lines().filter_map(|line| value(line, "data-offset")).collect())
}

#[test]
fn cells_tell_scripts_where_they_are() {
    for text in
        ["f32[3,5]{1,0:T(2,2)}", "f32[2,2,3]{0,1,2}", "f32[4]:[3]+2", "f32[]", "f32[6,9,2]{2,1,0:T(2,3,2)(*,2,1)}"]
    {
        let layout: Layout = text.parse().unwrap();
        let map = layout.to_index_map().unwrap();
        let (tensor, memory) = cells(&Picture::new(&map, text).unwrap().to_svg());
        assert_eq!(u64::try_from(tensor.len()).unwrap(), map.element_count(), "{text}");
        for (index, offset) in tensor {
            let index: Vec<u64> = index.split(',').filter(|i| !i.is_empty()).map(|i| i.parse().unwrap()).collect();
            assert_eq!(map.offset(&index).unwrap().to_string(), offset, "{text} {index:?}");
        }
        let all: Vec<String> = (map.base()..map.physical_elements()).map(|offset| offset.to_string()).collect();
        assert_eq!(memory, all, "{text}");
    }
}

/// The text of a picture tells what is shared and folded, and where bytes begin.
#[test]
fn pictures_say_what_is_shared_folded_and_where_bytes_begin() {
    let text = |layout: &str| picture(layout).unwrap().to_string();
    let broadcast = text("f32[4,3]:[0,1]");
    assert!(broadcast.contains("12 elements, 3 physical: each is shared by 4\n"), "{broadcast}");
    assert!(broadcast.contains("  0   0 │ *,0 *,1 *,2\n"), "{broadcast}");
    let base = text("f32[2,2]:[2,1]+6");
    assert!(base.contains("4 elements from element 6 on, no padding\n"), "{base}");
    assert!(base.contains("  6  24 │ 0,0 0,1\n  8  32 │ 1,0 1,1\n"), "{base}");
    let folded = text("f32[3,5]{1,0:T(2,2)L(240)}");
    assert!(folded.contains(" ·· 216 elements of padding\n"), "{folded}");
    let nibbles = text("s4[2,4]:[4,1]");
    assert!(nibbles.contains("  0   0 │ 0,0 0,1 ╎ 0,2 0,3\n  4   2 │ 1,0 1,1 ╎ 1,2 1,3\n"), "{nibbles}");
    let wide = text("f32[2,40]");
    assert!(wide.contains("\n  columns 0 to 15\n") && wide.contains("\n  columns 32 to 39\n"), "{wide}");
    assert!(wide.lines().all(|line| line.chars().count() <= 80), "{wide}");
    for (layout, columns) in [
        ("f32[2,32]:[1000,1]", "\n  columns 8 to 15\n"),
        ("f32[3,33]{1,0:T(2,3)}", "\n  columns 6 to 11\n"),
        ("u8[4,2,18]:[40,18,1]", "\n  [3,:,:], columns 16 to 17\n"),
    ] {
        let layout: Layout = layout.parse().unwrap();
        let text = Picture::corner(&layout.to_index_map().unwrap(), "").unwrap().to_string();
        assert!(text.contains(columns), "{text}");
        let mut rows = text.split("the memory").next().unwrap().lines().filter(|line| line.contains('│'));
        assert!(rows.all(|row| row.chars().count() <= 80), "{text}");
    }
    let svg = picture("f32[4,3]:[0,1]").unwrap().to_svg();
    assert!(svg.contains("<desc>12 elements, 3 physical") && svg.contains("prefers-color-scheme:dark"), "{svg}");
}

#[test]
fn a_large_layout_is_drawn_around_an_index() {
    for text in
        ["f32[100000,100000]{1,0:T(8,128)}", "f32[7,9,1000,37]:NHWC", "u8[100,1000]{1,0:T(5,24)}", "f32[100000]"]
    {
        let layout: Layout = text.parse().unwrap();
        let map = layout.to_index_map().unwrap();
        let last: Vec<u64> = map.sizes().iter().map(|size| size - 1).collect();
        for index in [vec![0; last.len()], last.iter().map(|last| last / 2).collect(), last.clone()] {
            let svg = Picture::around(&map, text, &index).unwrap().to_svg();
            let (tensor, memory) = cells(&svg);
            let wanted: Vec<String> = index.iter().map(u64::to_string).collect();
            let offset = map.offset(&index).unwrap().to_string();
            assert!(tensor.contains(&(wanted.join(","), offset.clone())), "{text} {index:?}");
            assert!(memory.contains(&offset), "{text} {index:?}");
            for (index, offset) in tensor {
                let index: Vec<u64> = index.split(',').map(|i| i.parse().unwrap()).collect();
                assert_eq!(map.offset(&index).unwrap().to_string(), offset, "{text} {index:?}");
            }
        }
        assert!(Picture::around(&map, text, &vec![u64::MAX; last.len()]).is_err());
    }
}

#[test]
fn the_corner_of_a_large_layout() {
    let corner = |text: &str| {
        let layout: Layout = text.parse().unwrap();
        Picture::corner(&layout.to_index_map().unwrap(), text).unwrap()
    };
    for text in [
        "f32[100000,100000]",
        "f32[100000,100000]{1,0:T(8,128)}",
        "f32[7,9,1000,3]:NHWC",
        "f32[1000000000]",
        "f32[1000000000,0,3]",
        "u8[5,5]:[18446744073709551,1]",
        "f32[2,2]:[9000000,3]+1000000000",
        "f32[3,5]{1,0:T(8,4096)}",
    ] {
        let layout: Layout = text.parse().unwrap();
        let map = layout.to_index_map().unwrap();
        let (tensor, memory) = cells(&corner(text).to_svg());
        assert!(tensor.len() <= 1024 && memory.len() <= 256, "{text}: {} and {}", tensor.len(), memory.len());
        assert!(!tensor.is_empty() || map.element_count() == 0, "{text}");
        for (index, offset) in tensor {
            let index: Vec<u64> = index.split(',').map(|i| i.parse().unwrap()).collect();
            assert_eq!(map.offset(&index).unwrap().to_string(), offset, "{text} {index:?}");
        }
    }
    let text = corner("f32[100000,100000]").to_string();
    let summary = "10000000000 elements, 10000000000 physical; shown: [0:16,0:16], and the physical elements 0 to 255";
    assert_eq!(text.lines().nth(1), Some(summary));
    // Layouts that fit are drawn as a whole.
    assert_eq!(corner("f32[3,5]{1,0:T(2,2)}").to_string(), picture("f32[3,5]{1,0:T(2,2)}").unwrap().to_string());
    assert_eq!(
        corner("f32[2,2]:[9000000,3]+1000000000").to_string().lines().last().map(|l| l.starts_with("1000000")),
        Some(true)
    );
}
