#!/usr/bin/env bash
# Open3D 0.20.0: `svd` of a column-major tensor computes in the tensor's own memory. After it the matrix has
# its singular values on the diagonal and zeros beside them, and so has the NumPy array that lent the memory.
#
# A row-major matrix stays what it was. What the first call returns is right in all orders; a second call on the
# same tensor returns the vectors of the other matrix. `lu`, `inv`, `det`, `solve` and `lstsq` leave all orders
# alone. Seen for [[3, 0], [4, 5]], the matrix after `svd` and after all the others, and the first of the left
# vectors, of the first and of the second call:
#   row-major: svd [[3, 0], [4, 5]], others [[3, 0], [4, 5]]; [0.32, 0.95], [0.32, 0.95]
#   column-major: svd [[6.71, 0], [0, 2.24]], others [[3, 0], [4, 5]]; [0.32, 0.95], [1, 0]
#   transposed view: svd [[6.71, 0], [0, 2.24]], others [[3, 0], [4, 5]]; [0.32, 0.95], [1, 0]
#
# Exits with 1 if Open3D does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet open3d-cpu==0.20.0 libusb-package==1.0.30.0 numpy==2.4.6
usb=$("$folder/env/bin/python" -c 'import libusb_package; print(libusb_package.get_library_path())')
ln -s "$usb" "$folder/libusb-1.0.so.0"
LD_LIBRARY_PATH="$folder" "$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import numpy
import open3d.core

matrix = numpy.array([[3, 0], [4, 5]], numpy.float64)


def lend(array, turned=False):
    tensor = open3d.core.Tensor.from_numpy(array)
    return (array.T, tensor.T()) if turned else (array, tensor)


makers = {
    "row-major": lambda: lend(matrix.copy()),
    "column-major": lambda: lend(numpy.asfortranarray(matrix)),
    "transposed view": lambda: lend(numpy.ascontiguousarray(matrix.T), True),
}


def text(array):
    return str([[float(f"{value:.2f}") + 0 for value in row] for row in array]).replace(".0,", ",").replace(".0]", "]")


def left(tensor):
    vectors, values, other = (part.numpy() for part in tensor.svd())
    given = vectors @ numpy.diag(values) @ other
    return text([numpy.abs(vectors[:, 0])])[1:-1], given


seen = []
for name, make in makers.items():
    (lent, tensor), (_, untouched) = make(), make()
    assert (tensor.numpy() == matrix).all()
    first, given = left(tensor)
    assert numpy.allclose(given, matrix)
    after = tensor.numpy().copy()
    assert (lent == after).all()
    second, _ = left(tensor)
    for other in (untouched.lu, untouched.inv, untouched.det, lambda: untouched.solve(untouched.clone()),
                  lambda: untouched.lstsq(untouched.clone())):
        other()
    seen.append(f"{name}: svd {text(after)}, others {text(untouched.numpy())}; {first}, {second}")
    print(seen[-1])
same, changed = "[[3, 0], [4, 5]]", "[[6.71, 0], [0, 2.24]]"
sys.exit(seen != [
    f"row-major: svd {same}, others {same}; [0.32, 0.95], [0.32, 0.95]",
    f"column-major: svd {changed}, others {same}; [0.32, 0.95], [1, 0]",
    f"transposed view: svd {changed}, others {same}; [0.32, 0.95], [1, 0]",
])
PYTHON
