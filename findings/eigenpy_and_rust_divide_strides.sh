#!/usr/bin/env bash
# eigenpy 3.13.0, by which Pinocchio and its kin take NumPy arrays, and the crate numpy, by which Rust modules
# do (rustworkx 0.18.1 here), divide a stride in bytes by the size of an element and drop the remainder. Of a
# field of records other bytes are taken for the elements, without an error.
#
# Float64 beside float32 in a record lies 12 bytes apart, which becomes 1 element: the second one begins in
# the middle of the record. Alignment is no protection, complex numbers beside a float64 lie 24 bytes apart
# and are aligned. A field whose stride is whole elements is right, and so is a copy of any of them. Seen for
# a vector (1, 2, 3), rounded, and for the weights 1, 2, 3, 4 of a full graph of two nodes:
#   float64 beside float64: strides (16,), eigenpy [1, 2, 3]
#   float64 beside float32: strides (12,), eigenpy [1, 0, 0]
#   copy of it: strides (8,), eigenpy [1, 2, 3]
#   complex128 beside complex128: strides (64, 32), rustworkx [1+1j, 2+2j, 3+3j, 4+4j]
#   complex128 beside float64: strides (48, 24), rustworkx [1+1j, 2j, 3+3j, 4j]
#   copy of it: strides (32, 16), rustworkx [1+1j, 2+2j, 3+3j, 4+4j]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet eigenpy==3.13.0 rustworkx==0.18.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import eigenpy
import numpy
import rustworkx


def field(values, beside):
    records = numpy.zeros(values.shape, numpy.dtype([("value", values.dtype), ("beside", beside)]))
    records["value"] = values
    assert (records["value"] == values).all()
    return records["value"]


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
for name, array, library, read, wanted in [
    ("float64 beside float64", field(vector, "f8"), "eigenpy", axis, [1, 2, 3]),
    ("float64 beside float32", field(vector, "f4"), "eigenpy", axis, [1, 0, 0]),
    ("copy of it", field(vector, "f4").copy(), "eigenpy", axis, [1, 2, 3]),
    ("complex128 beside complex128", field(matrix, "c16"), "rustworkx", weights, ones),
    ("complex128 beside float64", field(matrix, "f8"), "rustworkx", weights, [1 + 1j, 2j, 3 + 3j, 4j]),
    ("copy of it", field(matrix, "f8").copy(), "rustworkx", weights, ones),
]:
    seen = read(array)
    print(f"{name}: strides {array.strides}, {library} [{', '.join(str(value).strip('()') for value in seen)}]")
    right = right and seen == wanted
sys.exit(not right)
PYTHON
