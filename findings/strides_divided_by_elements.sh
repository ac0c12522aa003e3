#!/usr/bin/env bash
# `upfirdn` and `resample_poly` of SciPy 1.17.1, eigenpy 3.13.0, by which Pinocchio and its kin take NumPy
# arrays, and the crate numpy, by which Rust modules do (rustworkx 0.18.1 here), divide a stride in bytes by
# the size of an element and drop the remainder. Of a field of records other bytes are taken for the elements,
# without an error.
#
# Float64 beside float32 in a record lies 12 bytes apart, which becomes 1 element: the second one begins in
# the middle of the record. Alignment is no protection, complex numbers beside a float64 lie 24 bytes apart
# and are aligned. A field whose stride is whole elements is right, and so is a copy of any of them. Seen for
# the vector (1, 2, 3), rounded, and for the weights 1, 2, 3, 4 of a full graph of two nodes, times 1 + i;
# `upfirdn` is by the filter (1):
#   float64 beside float64: strides (16,), upfirdn [1, 2, 3], eigenpy [1, 2, 3]
#   float64 beside float32: strides (12,), upfirdn [1, 0, 0], eigenpy [1, 0, 0]
#   copy of it: strides (8,), upfirdn [1, 2, 3], eigenpy [1, 2, 3]
#   complex128 beside complex128: strides (64, 32), rustworkx [1+1j, 2+2j, 3+3j, 4+4j]
#   complex128 beside float64: strides (48, 24), rustworkx [1+1j, 2j, 3+3j, 4j]
#   copy of it: strides (32, 16), rustworkx [1+1j, 2+2j, 3+3j, 4+4j]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet eigenpy==3.13.0 scipy==1.17.1 rustworkx==0.18.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import eigenpy
import numpy
import rustworkx
import scipy.signal


def field(values, beside):
    records = numpy.zeros(values.shape, numpy.dtype([("value", values.dtype), ("beside", beside)]))
    records["value"] = values
    assert (records["value"] == values).all()
    return records["value"]


def filtered(vector):
    return scipy.signal.upfirdn([1], vector).round(6).astype(int).tolist()


def axis(vector):
    return eigenpy.AngleAxis(0.0, vector).axis.round(6).astype(int).tolist()


def weights(matrix):
    graph = rustworkx.PyDiGraph.from_complex_adjacency_matrix(matrix)
    edges = {(start, end): weight for start, end, weight in graph.weighted_edge_list()}
    return [edges.get(pair, 0) for pair in ((0, 0), (0, 1), (1, 0), (1, 1))]


vector = numpy.array([1.0, 2, 3])
matrix = numpy.array([[1, 2], [3, 4]]) * (1 + 1j)
assert field(matrix, "f8").flags.aligned
ones = [1 + 1j, 2 + 2j, 3 + 3j, 4 + 4j]
right = True
for name, array, readers, wanted in [
    ("float64 beside float64", field(vector, "f8"), {"upfirdn": filtered, "eigenpy": axis}, [1, 2, 3]),
    ("float64 beside float32", field(vector, "f4"), {"upfirdn": filtered, "eigenpy": axis}, [1, 0, 0]),
    ("copy of it", field(vector, "f4").copy(), {"upfirdn": filtered, "eigenpy": axis}, [1, 2, 3]),
    ("complex128 beside complex128", field(matrix, "c16"), {"rustworkx": weights}, ones),
    ("complex128 beside float64", field(matrix, "f8"), {"rustworkx": weights}, [1 + 1j, 2j, 3 + 3j, 4j]),
    ("copy of it", field(matrix, "f8").copy(), {"rustworkx": weights}, ones),
]:
    seen = {reader: read(array) for reader, read in readers.items()}
    print(f"{name}: strides {array.strides}" + "".join(
        f", {reader} [{', '.join(str(value).strip('()') for value in values)}]" for reader, values in seen.items()))
    right = right and all(values == wanted for values in seen.values())
sys.exit(not right)
PYTHON
