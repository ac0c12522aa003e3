//! `transfers` and `reshard`: copies as lists for whatever executes them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use tensor_layout::{BufferTensorDesc, Error, IndexMap};
use tensor_layout_transfers::{Sharded, Shards as Split, TransferLimits, Transfers};

use crate::copy::{How, Plan, Side, planned};
use crate::error::{refusal, refused};
use crate::layout::{Layout, data_type};
use crate::numbers::{Count, Numbers};

/// How many rows are made before other threads may run, and before signals are looked for.
const ROWS_AT_ONCE: usize = 1 << 12;

/// Lists a copy as the fewest transfers, in bytes.
///
/// Each transfer is (source, destination, bytes, loops): `bytes` is one contiguous run, and each of the loops
/// around it, from outer to inner, is (count, source stride, destination stride). `loops` is the most loops
/// of a transfer: 0 for plain ranges, None for any number, or for what `limits` has. `limits` names the
/// executor, perhaps with limits of its own after it: "webgpu", "rdma:max_run=1MiB". The error of an unknown
/// name lists all names. Both layouts may be caches with a block table.
///
/// >>> transfers("f16[4,6]:[8,1]", "f16[4,6]:[6,1]")
/// [(0, 0, 12, [(4, 16, 12)])]
/// >>> transfers("f16[2,6]:[8,1]", "f16[2,6]:[6,1]", loops=0)
/// [(0, 0, 12, []), (16, 12, 12, [])]
#[pyfunction]
#[pyo3(signature = (layout, to, loops = None, *, limits = "any"))]
pub(crate) fn transfers<'py>(
    layout: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    loops: Option<Count>,
    limits: &str,
) -> PyResult<Bound<'py, PyList>> {
    let (py, from, to) = (layout.py(), Layout::of(layout)?, Layout::of(to)?);
    let executor = executor(loops, limits)?;
    let list = match planned(py, Side::of(from.get())?, Side::of(to.get())?, How::default())? {
        Plan::One(plan) => py.detach(|| Transfers::of(&[&plan], &executor)),
        Plan::Parts(copies) if copies.list().iter().any(|copy| copy.flip != 0) => {
            let sentence = "a transfer moves bytes as they are, and this copy flips bits of them";
            return Err(refusal("not_expressible", sentence));
        }
        Plan::Parts(copies) => py.detach(|| {
            let copies: Vec<_> = copies.list().iter().map(|copy| (&*copy.plan, copy.at)).collect();
            Transfers::placed(&copies, &executor)
        }),
    };
    rows(py, &list.map_err(refused)?)
}

fn executor(loops: Option<Count>, limits: &str) -> PyResult<TransferLimits> {
    let mut executor: TransferLimits = limits.parse().map_err(refused)?;
    executor.loops = loops.map(|loops| loops.0).or(executor.loops);
    Ok(executor)
}

/// Returns the transfers as tuples. Other threads and signals are let in from time to time, because there may
/// be millions.
fn rows<'py>(py: Python<'py>, list: &Transfers) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for (number, one) in list.iter().enumerate() {
        if number.checked_rem(ROWS_AT_ONCE) == Some(ROWS_AT_ONCE - 1) {
            py.check_signals()?;
            py.detach(std::thread::yield_now);
        }
        let loops = one.loops.iter().map(|step| (step.count, step.source_stride, step.destination_stride));
        rows.append((one.source, one.destination, one.bytes, loops.collect::<Vec<_>>()))?;
    }
    Ok(rows)
}

/// Which part of a tensor each rank holds. `Shards(sizes)` is a tensor that one rank holds, and each step
/// divides every rank into several, which follow each other. Axes and ranks are counted from 0.
///
/// >>> stages = Shards((5, 8, 64)).cut(0, (3, 2)).split(1, 2)    # two stages of 3 and 2 layers, 2 ranks each
/// >>> stages.ranks, stages.sizes(2)
/// (4, (2, 4, 64))
#[pyclass(frozen, module = "relayout")]
pub(crate) struct Shards {
    split: Split,
}

impl Shards {
    fn after(split: Result<Split, Error>) -> PyResult<Shards> {
        Ok(Shards { split: split.map_err(refused)? })
    }
}

#[pymethods]
impl Shards {
    #[new]
    fn new(sizes: Numbers) -> PyResult<Shards> {
        Self::after(Split::of(&sizes.0))
    }

    /// The number of ranks.
    #[getter]
    fn ranks(&self) -> usize {
        self.split.ranks()
    }

    /// Returns the sizes of the tensor of a rank.
    fn sizes<'py>(&self, py: Python<'py>, rank: Count) -> PyResult<Bound<'py, PyTuple>> {
        if rank.0 >= self.split.ranks() {
            let sentence = format!("rank {} does not exist: there are {}", rank.0, self.split.ranks());
            return Err(refusal("out_of_limits", &sentence));
        }
        PyTuple::new(py, self.split.sizes(rank.0))
    }

    /// Splits each rank along an axis over `ranks` ranks. The last ones get fewer indices if the size is no
    /// multiple.
    fn split(&self, axis: Count, ranks: Count) -> PyResult<Shards> {
        Self::after(self.split.split(axis.0, ranks.0))
    }

    /// Cuts each rank along an axis into parts of these lengths.
    fn cut(&self, axis: Count, lengths: Numbers) -> PyResult<Shards> {
        Self::after(self.split.cut(axis.0, &lengths.0))
    }

    /// Splits each rank along an axis that is made of parts, such as queries, keys and values. A part is
    /// (units, length of a unit). Each rank gets its units of every part, one part behind another. Of a part
    /// with fewer units than ranks, several ranks hold the same unit, or with `repeat=False` the last ranks
    /// hold none, as PyTorch's `_StridedShard` does.
    ///
    /// >>> fused = Shards((12 * 64, 512)).fused(0, [(8, 64), (2, 64), (2, 64)], 4)
    /// >>> fused.sizes(3)
    /// (256, 512)
    #[pyo3(signature = (axis, parts, ranks, *, repeat = true))]
    fn fused(&self, axis: Count, parts: Vec<Numbers>, ranks: Count, repeat: bool) -> PyResult<Shards> {
        let part = |part: &Numbers| match part.0.as_slice() {
            &[units, length] => Ok((units, length)),
            other => {
                Err(PyTypeError::new_err(format!("a part is (units, length of a unit), not {} numbers", other.len())))
            }
        };
        let parts = parts.iter().map(part).collect::<PyResult<Vec<_>>>()?;
        Self::after(match repeat {
            true => self.split.fused(axis.0, &parts, ranks.0),
            false => self.split.fused_once(axis.0, &parts, ranks.0),
        })
    }

    /// Gives what each rank holds to `ranks` ranks.
    fn replicated(&self, ranks: Count) -> PyResult<Shards> {
        Self::after(self.split.replicated(ranks.0))
    }

    /// The ranks whose numbers are listed, in this order.
    fn ordered(&self, ranks: Vec<Count>) -> PyResult<Shards> {
        let ranks: Vec<usize> = ranks.iter().map(|rank| rank.0).collect();
        Self::after(self.split.ordered(&ranks))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Shards>().is_ok_and(|other| self.split == other.get().split)
    }

    fn __repr__(&self) -> String {
        format!("<Shards of {} ranks>", self.split.ranks())
    }
}

/// Lists what each rank of one split sends to each rank of another one: rows (from rank, to rank, transfers),
/// with transfers as `transfers` has them. Every element is written once.
///
/// `layouts` are the layouts of the ranks of `source`: a dtype, for packed row-major tensors, or a sequence
/// with a layout for each rank. `to_layouts` are those of the ranks of `to`; without it, a dtype in `layouts`
/// holds for both sides. A layout may be larger than the tensor of its rank, and then the rest is padding.
///
/// >>> cache = Shards((16, 8, 64))
/// >>> rows = reshard(cache.split(1, 4), cache.split(1, 8), "float16")
/// >>> rows[1]
/// (0, 1, [(128, 0, 128, [(16, 256, 128)])])
#[pyfunction]
#[pyo3(signature = (source, to, layouts, to_layouts = None, loops = None, *, limits = "any"))]
pub(crate) fn reshard<'py>(
    source: &Bound<'py, Shards>,
    to: &Bound<'py, Shards>,
    layouts: &Bound<'py, PyAny>,
    to_layouts: Option<&Bound<'py, PyAny>>,
    loops: Option<Count>,
    limits: &str,
) -> PyResult<Bound<'py, PyList>> {
    let (py, executor) = (source.py(), executor(loops, limits)?);
    let from = sharded(&source.get().split, layouts)?;
    let into = sharded(&to.get().split, to_layouts.unwrap_or(layouts))?;
    let pairs = py.detach(|| tensor_layout_transfers::reshard(&from, &into, &executor)).map_err(refused)?;
    let list = PyList::empty(py);
    for pair in pairs {
        list.append((pair.from, pair.to, rows(py, &pair.transfers)?))?;
    }
    Ok(list)
}

/// Gives each rank its layout.
fn sharded(split: &Split, layouts: &Bound<'_, PyAny>) -> PyResult<Sharded> {
    // A text in a sequence is a layout. Alone it is a dtype, as are the scalar types of NumPy.
    let is_one = layouts.is_instance_of::<PyString>() || layouts.hasattr("itemsize")? || layouts.try_iter().is_err();
    if is_one {
        let element = data_type(layouts)?;
        let packed = |_: usize, sizes: &[u64]| BufferTensorDesc::packed(element, sizes);
        return split.clone().with_layouts(packed).map_err(refused);
    }
    let maps = layouts.try_iter()?.map(|layout| Layout::of(&layout?)?.get().map().cloned());
    let maps: Vec<IndexMap> = maps.collect::<PyResult<_>>()?;
    if maps.len() != split.ranks() {
        let sentence = format!("there are {} layouts for {} ranks", maps.len(), split.ranks());
        return Err(refusal("size_mismatch", &sentence));
    }
    let of_rank =
        |rank: usize, _: &[u64]| maps.get(rank).cloned().ok_or_else(|| Error::axis_out_of_range(rank, maps.len()));
    split.clone().with_layouts(of_rank).map_err(refused)
}
