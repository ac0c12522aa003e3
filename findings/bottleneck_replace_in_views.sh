#!/usr/bin/env bash
# Bottleneck 1.6.0: `replace` in a view whose elements do not lie side by side replaces some of the values and
# leaves the others, without an error. So it does in rows or columns that run backwards, in every second
# column, and in a field of records.
#
# The manual says "Replace (inplace) given scalar values of an array", and of views nothing. What is reached
# depends on the strides: of every second column the first half of a row, of a field that begins behind one
# byte the first element alone. Packed arrays of both orders, every second row and types that Bottleneck has no
# compiled code for are right. Seen for 3, 1, 3, 2 and 1, 3, 2, 3 as float64 where 3 becomes 9:
#   row-major: [[9, 1, 9, 2], [1, 9, 2, 9]]
#   column-major: [[9, 1, 9, 2], [1, 9, 2, 9]]
#   every second row: [[9, 1, 9, 2], [1, 9, 2, 9]]
#   every second column: [[9, 1, 3, 2], [1, 9, 2, 3]]
#   columns reversed: [[9, 1, 3, 2], [1, 9, 2, 9]]
#   rows reversed: [[9, 1, 9, 2], [1, 3, 2, 3]]
#   field behind a byte: [[9, 1, 3, 2], [1, 3, 2, 3]]
#   every second column, as float16: [[9, 1, 9, 2], [1, 9, 2, 9]]
#
# Exits with 1 if Bottleneck does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet bottleneck==1.6.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import bottleneck
import numpy

values = numpy.array([[3.0, 1, 3, 2], [1, 3, 2, 3]])
records = numpy.zeros(values.shape, [("flag", "u1"), ("value", "f8")])
records["value"] = values
views = {
    "row-major": values.copy(),
    "column-major": numpy.asfortranarray(values),
    "every second row": values.repeat(2, axis=0)[::2],
    "every second column": values.repeat(2, axis=1)[:, ::2],
    "columns reversed": values[:, ::-1].copy()[:, ::-1],
    "rows reversed": values[::-1].copy()[::-1],
    "field behind a byte": records["value"],
    "every second column, as float16": values.astype(numpy.float16).repeat(2, axis=1)[:, ::2],
}
seen = []
for name, view in views.items():
    assert (view == values).all()
    bottleneck.replace(view, 3, 9)
    seen.append(f"{name}: {view.astype(int).tolist()}")
print("\n".join(seen))
sys.exit(seen != """\
row-major: [[9, 1, 9, 2], [1, 9, 2, 9]]
column-major: [[9, 1, 9, 2], [1, 9, 2, 9]]
every second row: [[9, 1, 9, 2], [1, 9, 2, 9]]
every second column: [[9, 1, 3, 2], [1, 9, 2, 3]]
columns reversed: [[9, 1, 3, 2], [1, 9, 2, 9]]
rows reversed: [[9, 1, 9, 2], [1, 3, 2, 3]]
field behind a byte: [[9, 1, 3, 2], [1, 3, 2, 3]]
every second column, as float16: [[9, 1, 9, 2], [1, 9, 2, 9]]""".splitlines())
PYTHON
