#!/usr/bin/env bash
# SciPy 1.17.1: a block matrix (BSR) whose array of blocks is no packed row-major one becomes another matrix
# when it is asked for its `max`, its norm or `count_nonzero`. Block columns are sorted, the blocks are not.
#
# All of these sort the block columns in place first, and so do `abs`, `sqrt` and `power`, whose results are
# wrong too. The sort gets `data.ravel()` for the blocks, which is a view of packed blocks and a copy of all
# others; the copy is sorted and dropped. Products, sums and `tocsr` are right before it, and wrong ever
# after. Seen for the blocks [[1, 2], [3, 4]] in columns 2 and 3 and [[5, 6], [7, 8]] in columns 0 and 1:
#   row-major: [[5, 6, 1, 2], [7, 8, 3, 4]], largest 8, then [[5, 6, 1, 2], [7, 8, 3, 4]]
#   blocks transposed twice: [[5, 6, 1, 2], [7, 8, 3, 4]], largest 8, then [[1, 2, 5, 6], [3, 4, 7, 8]]
#   column-major: [[5, 6, 1, 2], [7, 8, 3, 4]], largest 8, then [[1, 2, 5, 6], [3, 4, 7, 8]]
#   every second block of four: [[5, 6, 1, 2], [7, 8, 3, 4]], largest 8, then [[1, 2, 5, 6], [3, 4, 7, 8]]
#
# Exits with 1 if SciPy does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet scipy==1.17.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import scipy.sparse

first, sorted_columns_alone = [[5, 6, 1, 2], [7, 8, 3, 4]], [[1, 2, 5, 6], [3, 4, 7, 8]]


def blocks():
    return numpy.arange(1, 9).reshape(2, 2, 2)


right = True
for name, data, wanted in [
    ("row-major", blocks(), first),
    ("blocks transposed twice", blocks().transpose(0, 2, 1).copy().transpose(0, 2, 1), sorted_columns_alone),
    ("column-major", numpy.asfortranarray(blocks()), sorted_columns_alone),
    ("every second block of four", numpy.repeat(blocks(), 2, axis=0)[::2], sorted_columns_alone),
]:
    assert (data == blocks()).all()
    matrix = scipy.sparse.bsr_array((data, [1, 0], [0, 2]), shape=(2, 4))
    before, largest, after = matrix.toarray().tolist(), matrix.max(), matrix.toarray().tolist()
    print(f"{name}: {before}, largest {largest}, then {after}")
    right = right and before == first and largest == 8 and after == wanted
sys.exit(not right)
PYTHON
