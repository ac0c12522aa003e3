#!/usr/bin/env bash
# MNN 3.6.1 for Python: `read()` of a variable in the format NC4HW4 is an array of the plain sizes, filled with the memory of the blocks from its
# start: the elements are at other indices, zeros of the padding are among them, and the last ones are missing. `shape` has the plain sizes too,
# `size`, "the number of elements", and `read_as_tuple()` count the padding, and `write()` refuses an array of the plain sizes.
#
# The manual says no more of `read()` than that it returns the data as a NumPy array, and that convolutions and pooling take this format.
# Seen for 1 to 24 in [1, 3, 2, 4], 3 channels that become a block of 4:
#   NCHW: shape [1, 3, 2, 4], size 24, read() right, 24 in a tuple, write() of 24 taken
#   NC4HW4: shape [1, 3, 2, 4], size 32, read() wrong, 32 in a tuple, write() of 24 refused
#   the NC4HW4 array has [[1, 9, 17, 0], [2, 10, 18, 0]] for channel 0, and 7, 8, 15, 16, 23 and 24 nowhere
#
# Exits with 1 if MNN does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet MNN==3.6.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import MNN.expr as expr
import numpy

plain = numpy.arange(1, 25, dtype=numpy.float32).reshape(1, 3, 2, 4)
seen = []
for name in ("NCHW", "NC4HW4"):
    form = getattr(expr, name)
    variable = expr.convert(expr.const(plain, [1, 3, 2, 4], expr.NCHW), form)
    assert (expr.convert(variable, expr.NCHW).read() == plain).all()
    array = variable.read()
    assert array.shape == plain.shape
    try:
        expr.placeholder([1, 3, 2, 4], form).write(plain)
        taken = "taken"
    except Exception:
        taken = "refused"
    same = "right" if (array == plain).all() else "wrong"
    seen.append((variable.shape, variable.size, same, len(variable.read_as_tuple()), taken))
    print("{}: shape {}, size {}, read() {}, {} in a tuple, write() of 24 {}".format(name, *seen[-1]))
first = array[0, 0].astype(int).tolist()
lost = [int(value) for value in sorted(set(plain.flat) - set(array.flat))]
print(f"the NC4HW4 array has {first} for channel 0, and {lost} nowhere")
sizes = [1, 3, 2, 4]
right = seen == [(sizes, 24, "right", 24, "taken"), (sizes, 32, "wrong", 32, "refused")]
sys.exit(not right or first != [[1, 9, 17, 0], [2, 10, 18, 0]] or lost != [7, 8, 15, 16, 23, 24])
PYTHON
