//! What an executor refuses, and how much is done.

use tensor_layout::{DataType, IndexMap};
use tensor_layout_transfers::{Loop, NEST_LIMIT, TransferLimits, Transfers, transfers};

use super::literal::{copied, map, moved};

fn refusal(from: &str, to: &str, executor: &str) -> (String, String) {
    let error = transfers(&map(from), &map(to), &executor.parse().unwrap()).unwrap_err();
    (error.code().to_owned(), error.to_string())
}

#[test]
fn a_refusal_names_the_axis_the_value_and_the_limit() {
    for (from, to, executor, code, sentence) in [
        (
            "u8[2,6]:[8,1]",
            "u8[2,6]:[6,1]",
            "webgpu",
            "run_unaligned",
            "the contiguous runs that begin with axis 1 are 6 elements of 8 bits, which are not a multiple of 4 bytes",
        ),
        (
            "u8[1,2,4]:[12,6,1]",
            "u8[1,2,4]:[16,8,1]",
            "webgpu",
            "transfer_unaligned",
            "along axis 1 a transfer begins at byte 6 of the source, which is not a multiple of 4",
        ),
        (
            "u8[2,4]:[8,1]",
            "u8[2,4]:[6,1]",
            "any:offset_alignment=4",
            "transfer_unaligned",
            "along axis 0 a transfer begins at byte 6 of the destination, which is not a multiple of 4",
        ),
        (
            "u8[2,4]:[8,1]",
            "u8[2,4]:[4,1]",
            "rdma:max_transfers=1",
            "transfer_limit",
            "the copy takes 2 transfers, because its contiguous runs end along axis 0, but the executor takes at most 1",
        ),
        (
            "s4[3,5]:[5,1]",
            "s4[3,5]:[1,3]",
            "any",
            "run_inside_byte",
            "the contiguous runs that begin with axis 0 are 1 element of 4 bits, and begin or end inside a byte, which no transfer does",
        ),
        (
            "s4[4]:[1]",
            "s4[4]{0}",
            "any",
            "element_bits_mismatch",
            "an element is stored in 4 bits on one side and in 8 bits on the other",
        ),
    ] {
        assert_eq!(refusal(from, to, executor), (code.to_owned(), sentence.to_owned()), "{from} -> {to}");
    }
    for executor in ["opengl", "rdma:speed=1", "rdma:max_run=many"] {
        assert!(executor.parse::<TransferLimits>().is_err(), "{executor}");
    }
    assert_eq!("nixl:max_run=1MiB".parse::<TransferLimits>().unwrap().name, "nixl:max_run=1MiB");
    assert_eq!("webgpu:max_run=3".parse::<TransferLimits>().unwrap_err().code(), "out_of_limits");
}

#[test]
fn runs_are_cut_and_loops_cover_their_runs_where_the_executor_says_so() {
    let (from, to) = (map("u8[2,10]:[16,1]"), map("u8[2,10]:[10,1]"));
    let lengths = |executor: &str| {
        let list = transfers(&from, &to, &executor.parse().unwrap()).unwrap();
        assert_eq!((moved(&list), list.count_at_most()), (copied(&from, &to), list.count()));
        list.iter().map(|one| one.bytes).collect::<Vec<_>>()
    };
    assert_eq!(lengths("rdma:max_run=4,max_transfers=6"), [4, 4, 2, 4, 4, 2]);
    assert_eq!(lengths("nixl:max_run=4"), [4, 4, 2]);
    // Runs that are even, and loops, are counted without a visit.
    let within = |executor: &str, runs| {
        let list = transfers(&from, &to, &executor.parse().unwrap()).unwrap();
        list.summary_within(runs).map(|sum| (sum.bytes, sum.count, sum.shortest_bytes, sum.longest_bytes))
    };
    assert_eq!([within("rdma", 0), within("nixl:max_run=4", 0)], [Some((20, 2, 10, 10)), Some((20, 3, 2, 4))]);
    assert_eq!([1, 2].map(|runs| within("rdma:max_run=4", runs)), [None, Some((20, 6, 2, 4))]);
    // A source that is repeated has no pitch.
    let (one, three) = (map("u8[3,4]:[0,1]"), map("u8[3,4]:[4,1]"));
    let count = |executor: &str| transfers(&one, &three, &executor.parse().unwrap()).unwrap().count();
    assert_eq!(["nixl", "any:loops=1,pitched=true", "any:loops=1"].map(count), [3, 3, 1]);
}

#[test]
fn blocks_at_one_distance_are_one_transfer() {
    let plan = tensor_layout::Relayout::new(&map("u8[4]:[1]"), &map("u8[4]:[1]")).unwrap();
    let list = Transfers::placed(&[[0, 0], [8, 6], [16, 12]].map(|at| (&plan, at)), &TransferLimits::any()).unwrap();
    let all: Vec<_> = list.iter().map(|one| (one.source, one.destination, one.bytes, one.loops.to_vec())).collect();
    assert_eq!(all, [(0, 0, 4, vec![Loop { count: 3, source_stride: 8, destination_stride: 6 }])]);
}

/// The work is bounded by nests and by transfers, not by elements or bytes.
#[test]
fn large_tensors_are_planned_in_a_few_nests() {
    let digits = |strides: [u64; 3]| strides.map(|stride| vec![(1 << 18, stride)]);
    let map = |strides| IndexMap::from_digits(DataType::U8, 8, &digits(strides)).unwrap();
    let (from, to) = (map([1 << 36, 1 << 18, 1]), map([1, 1 << 18, 1 << 36]));
    let list = transfers(&from, &to, &TransferLimits::ranges()).unwrap();
    assert_eq!((list.count(), list.iter().take(3).count()), (1 << 54, 3));
    assert_eq!(transfers(&from, &to, &TransferLimits::with_loops(2)).unwrap().count(), 1 << 18);
    // Strides of 3 and 2 take turns: the loop of 3 steps is unrolled, which leaves room for the longest one.
    let texts = ["u8[40000,4,3]:[12,3,1]", "u8[40000,4,3]:[16,3,2]"].map(super::literal::map);
    let list = transfers(&texts[0], &texts[1], &TransferLimits::ranges()).unwrap();
    let places: Vec<_> = list.iter().take(7).map(|one| one.destination).collect();
    assert_eq!(places, [0, 2, 3, 4, 5, 6, 7]);
    // Blocks of 7 and 11 do not divide each other, so their places are a table.
    let texts = ["u8[3000,500]{1,0:T(7,1)}", "u8[3000,500]{1,0:T(11,1)}"].map(super::literal::map);
    let list = transfers(&texts[0], &texts[1], &TransferLimits::any()).unwrap();
    assert!(list.count() < NEST_LIMIT as u64 && list.summary().bytes == 3000 * 500);
}

/// Tables are read up to 65,536 entries, and a copy of two passes up to 65,536 indices.
#[test]
fn entries_and_indices_are_counted() {
    let irreducible = ["2,1,0:T(2,3,2)(*,2,1)", "2,1,0"];
    let contradicting = ["2,1,0:T(*,4,3)", "2,0,1:T(*,4,3)"];
    for (sizes, orders, counted) in [
        ("64,512,2", irreducible, Ok(1 << 14)),
        ("65,512,2", irreducible, Err(Some(1 << 16))),
        ("54,35,35", contradicting, Err(Some(1 << 16))),
    ] {
        let [from, to] = orders.map(|order| map(&format!("u8[{sizes}]{{{order}}}")));
        let list = transfers(&from, &to, &TransferLimits::any());
        assert_eq!(list.map(|list| list.count()).map_err(|error| error.limit()), counted, "{sizes}");
    }
}

/// Block tables are data of requests: an offset that passes 64 bits is refused.
#[test]
fn places_near_the_last_address_are_refused() {
    let block = map("u8[4,64]:[64,1]");
    let plan = tensor_layout::Relayout::new(&block, &block).unwrap();
    let repeated = |places: &[[u64; 2]], executor: &TransferLimits| {
        Transfers::placed(&places.iter().map(|&at| (&plan, at)).collect::<Vec<_>>(), executor)
    };
    for executor in ["rdma", "any", "cuda-2d"].map(|name| name.parse::<TransferLimits>().unwrap()) {
        for least in [1, 100, 255] {
            let end = u64::MAX - least + 1;
            for places in [&[[end, end]][..], &[[0, 0], [end, 256]], &[[0, 0], [256, end]], &[[end, end], [0, 0]]] {
                assert_eq!(repeated(places, &executor).unwrap_err().code(), "overflow", "{places:?}");
            }
        }
        // A run may end at the last address, as long as each stride and each distance fits in 63 bits.
        let last = u64::MAX - 256;
        let list = repeated(&[[0, 0], [last, last]], &executor).unwrap();
        assert_eq!((list.reach(), list.summary().bytes), ((u64::MAX, u64::MAX), 512));
        assert_eq!(list.run(&[7; 512], &mut [0; 512]).unwrap_err().code(), "buffer_too_short");
        let half = 1 << 63;
        let list = repeated(&[[half, 0], [0, half]], &executor).unwrap();
        assert_eq!(list.reach(), (half + 256, half + 256));
        let counted = [1, 2].map(|runs| list.summary_within(runs).is_some());
        assert_eq!(counted, [executor.loops != Some(0), true]);
        assert_eq!(list.iter().map(|one| (one.source, one.destination)).collect::<Vec<_>>(), [(half, 0), (0, half)]);
    }
}
