#!/usr/bin/env bash
# MAX 26.7.0 for Python: a slice of a `driver.Buffer` knows its strides, and what it lends by DLPack is a packed tensor of the same sizes that
# begins at the slice's first element. `to_numpy()` and `copy()` give the same wrong elements, without an error.
#
# `contiguous()` and `item()` read the same slice right, and `inplace_copy_from` refuses it. Rows that lie one behind another are right
# everywhere. Seen for 0 to 11 in 3 rows of 4:
#   [:, 1:3]: strides (4, 1), DLPack, to_numpy and copy [[1, 2], [3, 4], [5, 6]], contiguous [[1, 2], [5, 6], [9, 10]]
#   [:, ::2]: strides (4, 2), DLPack, to_numpy and copy [[0, 1], [2, 3], [4, 5]], contiguous [[0, 2], [4, 6], [8, 10]]
#   [::2, :]: strides (8, 1), DLPack, to_numpy and copy [[0, 1, 2, 3], [4, 5, 6, 7]], contiguous [[0, 1, 2, 3], [8, 9, 10, 11]]
#   [:, 1]: strides (4,), DLPack, to_numpy and copy [1, 2, 3], contiguous [1, 5, 9]
#   [1:, :]: strides (4, 1), DLPack, to_numpy and copy [[4, 5, 6, 7], [8, 9, 10, 11]], contiguous [[4, 5, 6, 7], [8, 9, 10, 11]]
#
# Exits with 1 if MAX does something else. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet max==26.7.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import max.driver
import numpy

plain = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
expected = {
    "[:, 1:3]": (numpy.s_[:, 1:3], (4, 1), [[1, 2], [3, 4], [5, 6]]),
    "[:, ::2]": (numpy.s_[:, ::2], (4, 2), [[0, 1], [2, 3], [4, 5]]),
    "[::2, :]": (numpy.s_[::2, :], (8, 1), [[0, 1, 2, 3], [4, 5, 6, 7]]),
    "[:, 1]": (numpy.s_[:, 1], (4,), [1, 2, 3]),
    "[1:, :]": (numpy.s_[1:, :], (4, 1), [[4, 5, 6, 7], [8, 9, 10, 11]]),
}
right = True
for name, (slices, strides, elements) in expected.items():
    buffer = max.driver.Buffer.from_numpy(plain.copy())
    part = buffer[slices]
    lent = numpy.from_dlpack(part).astype(int).tolist()
    same = lent == part.to_numpy().tolist() == part.copy().to_numpy().tolist()
    packed = part.contiguous().to_numpy()
    assert (packed == plain[slices]).all() and part.shape == packed.shape
    assert part[tuple(size - 1 for size in part.shape)].item() == packed.flat[-1]
    print(f"{name}: strides {tuple(part.strides)}, DLPack{', to_numpy and copy' if same else ''} {lent}, "
          f"contiguous {packed.astype(int).tolist()}")
    right = right and same and tuple(part.strides) == strides and lent == elements
sys.exit(not right)
PYTHON
