//! Planning a list takes no long time, and no much memory, on a short text: as in the library's
//! `tests/house/work_limits`.

#![allow(unsafe_code, reason = "the allocator that counts, and the compiler's counters")]
#![allow(dead_code, reason = "the library's own tests use the rest")]

#[path = "../../../../tests/house/work_limits/calls.rs"]
mod calls;
#[path = "../../../../tests/counting/mod.rs"]
mod counting;
#[path = "../../../../tests/house/work_limits/hostile.rs"]
mod hostile;
#[path = "../../../../tests/literal/mod.rs"]
mod literal;
#[path = "../../../../tests/house/work_limits/steps.rs"]
mod steps;

mod work_limits {
    use tensor_layout::tiled::Layout;
    use tensor_layout::{ArrayShape, DataType, Error};
    use tensor_layout_transfers::{BOX_LIMIT, Sharded, Shards, TransferLimits, Transfers, reshard};

    use super::calls::{each_plan, limited};
    use super::steps::counted;

    #[test]
    fn lists() {
        each_plan("plain ranges", |plan| Transfers::of(&[plan], &TransferLimits::ranges()).map(|list| list.reach()));
        each_plan("strided transfers", |plan| {
            Transfers::of(&[plan], &TransferLimits::with_loops(1)).map(|list| list.count())
        });
    }

    fn row(size: u64) -> Shards {
        Shards::of(&[size]).unwrap()
    }

    /// Many ranks are many numbers, or one number.
    #[test]
    fn splits() {
        let limited = |name: &str, split: &dyn Fn() -> Result<Shards, Error>| limited(name, "a row", split);
        let all = limited("cut", &|| row(200_000).cut(0, &vec![1; 200_000])).unwrap();
        assert_eq!((all.ranks(), all.sizes(199_999)), (200_000, &[1][..]));
        let refused = |name: &str, split: &dyn Fn() -> Result<Shards, Error>| {
            assert_eq!(limited(name, split).unwrap_err().code(), "out_of_limits", "{name}");
        };
        refused("split", &|| row(1 << 40).split(0, 10_000_000));
        refused("replicated", &|| row(8).replicated(usize::MAX));
        refused("split of splits", &|| row(1 << 40).split(0, 1 << 10)?.split(0, 1 << 10));
        refused("ordered", &|| row(8).ordered(&vec![0; 1_000_000]));
        let parts = vec![(2, 1); 100_000];
        refused("fused", &|| row(200_000).fused(0, &parts, 2)?.split(0, 200));
        assert!(limited("fused", &|| row(200_000).fused(0, &parts, 2)).is_ok());
        // A rank of 64 axes takes eight times as much as one of 8.
        let cube = Shards::of(&[1; 64]).unwrap();
        assert!(limited("64 axes", &|| cube.replicated(usize::try_from(BOX_LIMIT / 8).unwrap())).is_ok());
        refused("64 axes", &|| cube.replicated(usize::try_from(BOX_LIMIT / 4).unwrap()));
    }

    fn packed(split: Result<Shards, Error>) -> Sharded {
        split.unwrap().with_layouts(|_, sizes| ArrayShape::row_major(DataType::U8, sizes)).unwrap()
    }

    /// Four times as many lengths, or ranks, take at most five times the steps.
    #[test]
    fn cuts_and_pairs_are_linear() {
        let is_linear = |name: &str, steps: &dyn Fn(u64) -> u64| {
            let (few, many) = (steps(1 << 12), steps(1 << 14));
            assert!(many <= 5 * few, "{name}: {few} steps, and {many} for four times as many");
        };
        let ones = |count: u64| vec![1; usize::try_from(count).unwrap()];
        is_linear("cut", &|count| counted("cut", || row(count).cut(0, &ones(count)).unwrap()).1);
        is_linear("fused", &|count| {
            let parts: Vec<(u64, u64)> = ones(count).into_iter().map(|one| (2, one)).collect();
            counted("fused", || row(2 * count).fused(0, &parts, 2).unwrap()).1
        });
        // Ranges of two rows, which begin one apart on the two sides.
        is_linear("reshard", &|count| {
            let apart = [vec![1], vec![2; usize::try_from(count - 1).unwrap()], vec![1]].concat();
            let from = packed(row(2 * count).split(0, usize::try_from(count).unwrap()));
            let to = packed(row(2 * count).cut(0, &apart));
            let (pairs, steps) = counted("reshard", || reshard(&from, &to, &TransferLimits::ranges()).unwrap());
            assert_eq!(pairs.len() as u64, 2 * count);
            steps
        });
    }

    /// The work goes by the pairs of ranks that share elements.
    #[test]
    fn plans_between_ranks() {
        let pairs = |name: &str, from: &Sharded, to: &Sharded| {
            limited("reshard", name, || reshard(from, to, &TransferLimits::ranges())).map(|pairs| pairs.len())
        };
        let (one, many) = (packed(Ok(row(1 << 20))), packed(row(1 << 20).split(0, 1 << 12)));
        assert_eq!(pairs("a row each to one", &many, &one).unwrap(), 1 << 12);
        assert_eq!(pairs("one to a row each", &one, &many).unwrap(), 1 << 12);
        let replicas = packed(row(1 << 20).replicated(1 << 12));
        assert_eq!(pairs("replicas to a row each", &replicas, &many).unwrap(), 1 << 12);
        assert_eq!(pairs("replicas to replicas", &replicas, &replicas).unwrap(), 1 << 12);
        let grid =
            |a, b| packed(Shards::of(&[1 << 10, 1 << 10]).unwrap().split(a, 64).and_then(|rows| rows.split(b, 64)));
        assert_eq!(pairs("a grid", &grid(0, 1), &grid(1, 0)).unwrap(), 1 << 12);
        // Blocks of two rows, which begin one apart on the two sides: a piece for each row.
        let tiled = |cut: [u64; 2]| {
            let layout: Layout = "{1,0:T(2,1)}".parse().unwrap();
            let split = Shards::of(&[1 << 30, 4]).unwrap().cut(0, &cut).unwrap();
            split.with_layouts(|_, sizes| ArrayShape::new(DataType::U8, sizes, layout.clone())).unwrap()
        };
        let error = pairs("rows one apart", &tiled([1, (1 << 30) - 1]), &tiled([1 << 29, 1 << 29])).unwrap_err();
        assert_eq!(error.code(), "undecided");
    }
}
