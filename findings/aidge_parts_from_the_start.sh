#!/usr/bin/env bash
# Aidge 0.10.1 (aidge-core, aidge-backend-cpu): the part of a tensor that `extract` gives has the sizes and
# strides of the part, and nearly all that is done with it takes other elements, without an error.
#
# `numpy.array`, `abs` and `mean` begin at the start of the whole, `sqrt` and `t[i]` where the part begins, and
# all of them go on element by element, whatever the strides are. Of a sum of the part with itself one operand
# is right. `clone` is right, and so is everything of the clone. The manual says of `extract` that
# `t.extract([1])` of a CHW tensor is the image of channel 1. Seen for 0 to 11 in 3 rows of 4:
#   row 1, strides [1]: clone [4, 5, 6, 7]
#     numpy.array [0, 1, 2, 3], t[i] [4, 5, 6, 7], mean [1.5]
#     abs [0, 1, 2, 3], sqrt squared [4, 5, 6, 7], t + t [4, 6, 8, 10]
#   columns 1 and 2, strides [4, 1]: clone [1, 2, 5, 6, 9, 10]
#     numpy.array [0, 1, 2, 3, 4, 5], t[i] [1, 2, 3, 4, 5, 6], mean [2.5]
#     abs [0, 1, 2, 3, 4, 5], sqrt squared [1, 2, 3, 4, 5, 6], t + t [1, 3, 7, 9, 13, 15]
#
# Exits with 1 if Aidge does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet aidge-core==0.10.1 aidge-backend-cpu==0.10.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import aidge_backend_cpu
import aidge_core
import numpy


def list_of(tensor):
    return [float(f"{value:.4g}") for value in numpy.array(tensor).ravel()]


def of(tensor):
    by_index = [tensor[at] for at in range(tensor.size)]
    squared = [round(value**2) for value in list_of(tensor.sqrt())]
    return list_of(tensor), by_index, list_of(tensor.mean()), list_of(tensor.abs()), squared, list_of(tensor + tensor)


def short(values):
    return "[{}]".format(", ".join(f"{value:g}" for value in values))


whole = aidge_core.Tensor(numpy.arange(12, dtype=numpy.float32).reshape(3, 4))
seen = []
for name, part in {"row 1": ([1],), "columns 1 and 2": ([0, 1], [3, 2])}.items():
    tensor = whole.extract(*part)
    clone = tensor.clone()
    seen += [list(tensor.dims), list(tensor.strides), list_of(clone), *of(tensor)]
    print(f"{name}, strides {list(tensor.strides)}: clone {short(list_of(clone))}")
    print("  numpy.array {}, t[i] {}, mean {}\n  abs {}, sqrt squared {}, t + t {}".format(*map(short, of(tensor))))
    elements = list_of(clone)
    mean = float(f"{sum(elements) / len(elements):.4g}")
    assert of(clone) == (elements, elements, [mean], elements, elements, [2 * value for value in elements])
row = [[4], [1], [4, 5, 6, 7], [0, 1, 2, 3], [4, 5, 6, 7], [1.5], [0, 1, 2, 3], [4, 5, 6, 7], [4, 6, 8, 10]]
columns = [[3, 2], [4, 1], [1, 2, 5, 6, 9, 10], [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], [2.5]]
columns += [[0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], [1, 3, 7, 9, 13, 15]]
sys.exit(seen != row + columns)
PYTHON
