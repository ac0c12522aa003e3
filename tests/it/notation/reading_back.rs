//! The text that a layout of any kind prints is read as the same layout, also after views of it.

use proptest::prelude::*;
use tensor_layout_text::{Layout, ViewStep};

/// Choices out of some random numbers.
struct Choices<'n>(std::slice::Iter<'n, u32>);

impl Choices<'_> {
    fn below(&mut self, end: u64) -> u64 {
        u64::from(*self.0.next().unwrap_or(&0)) % end.max(1)
    }

    fn one_of<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }

    /// `0,1,2` in another order.
    fn order(&mut self, length: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..length).collect();
        (0..length).for_each(|i| order.swap(i, usize::try_from(self.below(length as u64)).unwrap()));
        order
    }

    /// Some blocks of a pool, each once, and their number.
    fn table(&mut self) -> (String, u64) {
        let total = usize::try_from(3 + self.below(6)).unwrap();
        let mut blocks = self.order(total);
        blocks.truncate(usize::try_from(1 + self.below(total as u64)).unwrap());
        (format!("{blocks:?}/{total}").replace(' ', ""), blocks.len() as u64)
    }

    fn text(&mut self, kind: u32) -> String {
        let (a, b, c) = (1 + self.below(6), 1 + self.below(8), 1 + self.below(9));
        let name = self.one_of(&["f32", "bf16", "u8", "s4", "f4e2m1fn", "u3"]);
        match kind {
            0 => format!("{name}[{a},{b},{c}]:[{},{c},1]+{}", c * b + self.below(4), self.below(5)),
            1 => {
                let order = self.one_of(&["2,1,0", "0,1,2", "1,2,0"]);
                format!("{name}[{a},{b},{c}]{{{order}:T({},{})}}", 1 + self.below(4), 1 + self.below(4))
            }
            2 => {
                let scales = self.one_of(&["f8e8m0fnu", "f16", "nvidia.sf_128x4:f8e4m3fn"]);
                let per = self.one_of(&["32", "16", "tensor", "channel", "token", "[4,16]"]);
                format!("{}[{},{}] with {scales} per {per}", self.one_of(&["f4e2m1fn", "u4", "s8"]), 8 * a, 32 * c)
            }
            3 => format!("{}[{},{}]", self.one_of(&["mxfp4", "q8_0", "q4_0", "nvfp4"]), 8 * a, 256 * b),
            4 => {
                let packed = ["ggml.q8_0x4<8>:q8_0", "ggml.q4_0x8:q4_0", "sglang.packed_vnni2:bf16"];
                let packed = self.one_of(&packed);
                let rows = if packed.starts_with("sglang") { 32 * a + 16 } else { 8 * a };
                format!("{packed}[{rows},{}]", 32 * b)
            }
            5 => {
                let (order, (table, blocks)) =
                    (self.one_of(&["LBNHC", "LBHNC", "BLHNC", "NBHLC", "L2BNHD", "BHL2ND"]), self.table());
                let content = if order.contains('D') { "D=4" } else { "C=8" };
                let tokens = self.one_of(&["", ",T="]);
                let tokens =
                    if tokens.is_empty() { String::new() } else { format!(",T={}", self.below(blocks * 4 + 1)) };
                format!("kv:{order}:{name}[L=2,B={table}{tokens},{},N=4,{content}]", self.one_of(&["H=1:3/4", "H=4"]))
            }
            6 => format!("({name}[{a},{b}]{{1,0}}, (s8[{c}]{{0}}, token[]), f32[{b}]{{0:T(4)}})"),
            7 => {
                let format = self.one_of(&["nv12", "i420", "yv12", "nv12<pitch=64,rows=40>", "yuy2"]);
                format!("frame.{format}:u8[{},{}]", 2 * a, 2 * b)
            }
            8 => {
                let (pages, _) = self.table();
                let distance = self.one_of(&["", " to 4096"]);
                format!("kv page B={pages} {{ conv: bf16[3,{b}], ssm: f32[{c}] }}{distance}")
            }
            9 => {
                let (row, one) = (self.one_of(&["", "-"]), self.one_of(&["", "-"]));
                format!("ndarray(shape=({a},{b},{c}), dtype=float32, strides=({},{row}{},{one}4))", 8 * b * c, 4 * c)
            }
            10 => format!("{name}[{a},{},{b},{c}]:nChw8c", 3 * c),
            11 => format!("{name} ({a},({b},2)):(2,({},1))", 2 * a),
            12 => format!("gptq.qweight_u4:u4[{},{}]", 8 * a, 8 * b),
            13 => format!("{name}[{a},{b}][{},1]cuda:0", b + c),
            _ => format!("cuda.tma_swizzle<128>:bf16[{},64]", 8 * a),
        }
    }

    fn step(&mut self, sizes: &[u64]) -> ViewStep {
        match self.below(3) {
            0 => ViewStep::Permute(self.order(sizes.len())),
            1 => {
                let slices = sizes.iter().map(|&size| match self.below(3) {
                    0 => ":".to_owned(),
                    1 => {
                        let start = self.below(size);
                        format!("{start}:{}", start + 1 + self.below(size - start))
                    }
                    _ => format!("0:{size}:{}", 1 + self.below(3)),
                });
                ViewStep::read("slice", &slices.collect::<Vec<_>>().join(",")).unwrap()
            }
            _ => ViewStep::Reverse((0..sizes.len()).filter(|_| self.below(2) == 0).collect()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read_as_the_same_layout(
        kind in 0..15_u32,
        numbers in prop::collection::vec(any::<u32>(), 40),
    ) {
        let mut choices = Choices(numbers.iter());
        let mut layout: Layout = choices.text(kind).parse().unwrap();
        for _ in 0..4 {
            let text = layout.to_string();
            let back: Layout = text.parse().map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
            prop_assert_eq!(back.difference(&layout).unwrap(), None, "{}", text);
            prop_assert_eq!(back.to_string(), text);
            if layout.is_tuple() || layout.sizes().contains(&0) {
                break;
            }
            let step = choices.step(layout.sizes());
            match layout.view(&step) {
                Ok(view) => layout = view,
                Err(_) => break,
            }
        }
    }
}

#[test]
fn axes_that_run_backwards_are_named() {
    for text in ["q4_0[2,64], axes [0] backwards", "gptq.qweight_u4:u4[8,8], axes [0, 1] backwards"] {
        let layout: Layout = text.parse().unwrap();
        assert!(layout.to_string().ends_with(text.split_once("axes").unwrap().1), "{layout}");
        assert_eq!(layout.to_string().parse::<Layout>().unwrap(), layout);
    }
    for text in ["q4_0[2,64], axes [2] backwards", "q4_0[2,64], axes [x] backwards", "q4_0[2,64], axes [0] forwards"] {
        assert!(text.parse::<Layout>().is_err(), "{text}");
    }
    // However many lists there are, the answer comes at once.
    let lists = format!("q4_0[2,64]{}", ", axes [0] backwards".repeat(20_000));
    assert!(lists.parse::<Layout>().unwrap_err().to_string().contains("after one list of axes"));
}

/// Axes that run backwards on one side alone: each index is compared, whatever the form of the layout.
#[test]
fn turned_layouts_are_compared_index_by_index() {
    let table = |blocks: &str| format!("kv:BNHC:u8[B=[{blocks}]/4,H=1,N=1,C=2]");
    for (one, other, expected) in [
        ("q4_0[4,64], axes [0] backwards", "q4_0[4,64]".to_owned(), Some(vec![0, 0, 0])),
        ("gptq.qweight_u4:u4[16,4], axes [1] backwards", "gptq.qweight_u4:u4[16,4]".to_owned(), Some(vec![0, 0])),
        (&(table("0,1,2,3") + ", axes [0] backwards"), table("3,2,1,0"), None),
        // Equal at the first index and at its neighbours.
        (&(table("0,1,2,3") + ", axes [0] backwards"), table("3,2,0,1"), Some(vec![2, 0, 0, 0])),
    ] {
        let [one, other]: [Layout; 2] = [one, &other].map(|text| text.parse().unwrap());
        let difference = one.difference(&other).unwrap();
        assert_eq!(difference.as_ref().and_then(|found| found.index.clone()), expected, "{one} and {other}");
        assert_eq!(difference.is_none(), expected.is_none(), "{one} and {other}");
    }
}
