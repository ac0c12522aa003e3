//! The bench `relayout` with other crates beside this crate, for all cases that they can express as a strided
//! copy.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use candle_core::{Device, Tensor, WithDType};
use ndarray::{ArrayView, ArrayViewMut, IxDyn, ShapeBuilder};
use rten_tensor::{TensorView, TensorViewMut};
use strided_view::{StridedView, StridedViewMut};
use tensor_layout::bridge::{Lowering, lower};
use tensor_layout::{BufferTensorDesc, IndexMap, ToIndexMap};
use threadteam::Exec;

#[cfg(feature = "onednn")]
#[path = "../onednn.rs"]
mod onednn;
#[path = "../../../suite/mod.rs"]
mod suite;

use suite::{Case, Contestant, Options};

fn main() {
    suite::run(&Options::from_arguments(), contestants);
}

/// A copy in the form that all these crates take: one loop nest with strides on both sides, in the order of
/// falling destination stride. All numbers count elements.
#[derive(Clone)]
struct Problem {
    sizes: Vec<usize>,
    from: Vec<usize>,
    to: Vec<usize>,
    /// The offset of the first element on the source and on the destination.
    starts: (usize, usize),
}

fn contestants(case: &Case) -> Vec<Contestant<'static>> {
    let (from, to) = (case.from.to_index_map().unwrap(), case.to.to_index_map().unwrap());
    let Some(problem) = Problem::new(&from, &to) else { return Vec::new() };
    match from.element_bits() {
        8 => contestants_of::<u8>(&problem),
        16 => contestants_of::<half::f16>(&problem),
        32 => contestants_of::<f32>(&problem),
        64 => contestants_of::<f64>(&problem),
        _ => Vec::new(),
    }
}

impl Problem {
    /// Returns the copy between two maps. `None` if the copy is not a single loop nest.
    fn new(from: &IndexMap, to: &IndexMap) -> Option<Problem> {
        let (from, to) = match (lower(from).ok()?, lower(to).ok()?) {
            (Lowering::Strided(from), Lowering::Strided(to)) => (from, to),
            (Lowering::Strided(from), Lowering::Split(to)) => (divided(&from, to.desc.sizes(), &to.dims)?, to.desc),
            (Lowering::Split(from), Lowering::Strided(to)) => {
                let to = divided(&to, from.desc.sizes(), &from.dims)?;
                (from.desc, to)
            }
            _ => return None,
        };
        let mut axes: Vec<(usize, usize, usize)> = (0..from.sizes().len())
            .map(|axis| (from.sizes()[axis] as usize, from.strides()[axis] as usize, to.strides()[axis] as usize))
            .filter(|&(size, ..)| size > 1)
            .collect();
        axes.sort_by_key(|&(_, _, to)| std::cmp::Reverse(to));
        let sizes = axes.iter().map(|axis| axis.0).collect();
        Some(Problem {
            sizes,
            from: axes.iter().map(|axis| axis.1).collect(),
            to: axes.iter().map(|axis| axis.2).collect(),
            starts: (from.base_offset() as usize, to.base_offset() as usize),
        })
    }

    /// The source from its first element to its last element.
    fn source<'a, T: Pod>(&self, source: &'a [u8]) -> &'a [T] {
        &cast_slice(source)[self.starts.0..][..self.source_length()]
    }

    /// The destination from its first element to its last element.
    fn destination<'a, T: Pod>(&self, destination: &'a mut [u8]) -> &'a mut [T] {
        &mut cast_slice_mut(destination)[self.starts.1..][..self.destination_length()]
    }

    fn source_length(&self) -> usize {
        self.sizes.iter().zip(&self.from).map(|(size, stride)| (size - 1) * stride).sum::<usize>() + 1
    }

    fn destination_length(&self) -> usize {
        self.sizes.iter().zip(&self.to).map(|(size, stride)| (size - 1) * stride).sum::<usize>() + 1
    }

    /// The axes in the order of falling source stride. `None` if the source is not packed in that order.
    fn source_order(&self) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        order.sort_by_key(|&axis| std::cmp::Reverse(self.from[axis]));
        is_packed(order.iter().map(|&axis| (self.sizes[axis], self.from[axis]))).then_some(order)
    }

    fn destination_is_packed(&self) -> bool {
        is_packed(self.sizes.iter().copied().zip(self.to.iter().copied()))
    }
}

fn is_packed(axes: impl DoubleEndedIterator<Item = (usize, usize)>) -> bool {
    let mut next = 1;
    axes.rev().all(|(size, stride)| {
        let packed = stride == next;
        next *= size;
        packed
    })
}

/// Returns a strided tensor whose axes are cut like the axes of a tiled tensor. `None` if a tile is partial.
fn divided(desc: &BufferTensorDesc, sizes: &[u64], dims: &[usize]) -> Option<BufferTensorDesc> {
    let mut strides = vec![0; sizes.len()];
    for dim in 0..desc.sizes().len() {
        let mut stride = desc.strides()[dim];
        let mut count = 1;
        for axis in (0..sizes.len()).rev().filter(|&axis| dims[axis] == dim) {
            strides[axis] = stride;
            stride *= sizes[axis];
            count *= sizes[axis];
        }
        if count != desc.sizes()[dim] {
            return None;
        }
    }
    BufferTensorDesc::new(desc.data_type(), sizes, Some(&strides)).ok()?.with_base_offset(desc.base_offset()).ok()
}

fn contestants_of<T: Pod + WithDType + Default>(problem: &Problem) -> Vec<Contestant<'static>> {
    let mut found: Vec<Contestant<'static>> = Vec::new();
    let mut add = |name: &'static str, copy: suite::Copy<'static>| found.push(Contestant { name: name.into(), copy });
    let p = problem.clone();
    add(
        "ndarray",
        Box::new(move |source, destination| {
            let shape = |strides: &[usize]| IxDyn(&p.sizes).strides(IxDyn(strides));
            let from = ArrayView::from_shape(shape(&p.from), p.source::<T>(source)).unwrap();
            ArrayViewMut::from_shape(shape(&p.to), p.destination(destination)).unwrap().assign(&from);
        }),
    );
    let p = problem.clone();
    add(
        "rten-tensor",
        Box::new(move |source, destination| {
            let from = TensorView::from_slice_with_strides(&p.sizes, p.source::<T>(source), &p.from).unwrap();
            let destination = p.destination(destination);
            TensorViewMut::from_data_with_strides(&p.sizes, destination, &p.to).unwrap().copy_from(&from);
        }),
    );
    let p = problem.clone();
    add(
        "strided-perm",
        Box::new(move |source, destination| {
            let signed = |strides: &[usize]| strides.iter().map(|&stride| stride as isize).collect::<Vec<_>>();
            let from = StridedView::<T>::new(p.source(source), &p.sizes, &signed(&p.from), 0).unwrap();
            let mut to = StridedViewMut::new(p.destination(destination), &p.sizes, &signed(&p.to), 0).unwrap();
            strided_perm::copy_into(&mut to, &from, Exec::serial()).unwrap();
        }),
    );
    if let ([rows, columns], true, Some(order)) =
        (problem.sizes.as_slice(), problem.destination_is_packed(), problem.source_order())
        && order == [1, 0]
    {
        // The crate's `width` is the length of a source row.
        let (width, height) = (*rows, *columns);
        let p = problem.clone();
        add(
            "transpose",
            Box::new(move |source, destination| {
                transpose::transpose(p.source::<T>(source), p.destination(destination), width, height);
            }),
        );
    }
    if let (Some(order), true) = (problem.source_order(), problem.destination_is_packed()) {
        // candle-core owns its buffers and makes a new buffer for every result. The comparison of bytes reads
        // the result back, which is left out of the timing from the second call on.
        let p = problem.clone();
        let mut tensor: Option<Tensor> = None;
        add(
            "candle-core",
            Box::new(move |source, destination| {
                let packed: Vec<usize> = order.iter().map(|&axis| p.sizes[axis]).collect();
                let places: Vec<usize> =
                    (0..order.len()).map(|axis| order.iter().position(|&other| other == axis).unwrap()).collect();
                let first = tensor.is_none();
                let tensor = tensor.get_or_insert_with(|| {
                    let elements: Vec<T> = p.source(source).to_vec();
                    Tensor::from_vec(elements, packed, &Device::Cpu).unwrap()
                });
                let result = tensor.permute(places).unwrap().contiguous().unwrap();
                if first {
                    let elements: Vec<T> = result.flatten_all().unwrap().to_vec1().unwrap();
                    p.destination(destination).copy_from_slice(&elements);
                }
            }),
        );
    }
    #[cfg(feature = "hptt")]
    if let (Some(order), true) = (problem.source_order(), problem.destination_is_packed()) {
        // HPTT copies f32 and f64. Its crate makes the plan in every call.
        let p = problem.clone();
        let sizes: Vec<usize> = order.iter().map(|&axis| p.sizes[axis]).collect();
        let axes: Vec<usize> =
            (0..order.len()).map(|axis| order.iter().position(|&other| other == axis).unwrap()).collect();
        let order = hptt::MemoryOrder::RowMajor;
        match size_of::<T>() {
            4 => add(
                "hptt",
                Box::new(move |source, destination| {
                    let (from, to) = (p.source(source), p.destination(destination));
                    hptt::transpose_f32(&axes, 1.0, from, &sizes, 0.0, to, 1, order).unwrap();
                }),
            ),
            8 => add(
                "hptt",
                Box::new(move |source, destination| {
                    let (from, to) = (p.source(source), p.destination(destination));
                    hptt::transpose_f64(&axes, 1.0, from, &sizes, 0.0, to, 1, order).unwrap();
                }),
            ),
            _ => {}
        }
    }
    #[cfg(feature = "onednn")]
    if let Some(reorder) = onednn::Reorder::new(&problem.sizes, &problem.from, &problem.to, size_of::<T>()) {
        let p = problem.clone();
        add(
            "oneDNN",
            Box::new(move |source, destination| {
                reorder
                    .run(bytemuck::cast_slice(p.source::<T>(source)), cast_slice_mut(p.destination::<T>(destination)));
            }),
        );
    }
    found
}
