#!/usr/bin/env bash
# ml_dtypes 0.6.0: an int4 of -1 has the byte 0f if it comes from a list, and ff if it comes from a unary minus. The two are equal as values.
#
# Bytes of equal arrays differ, so a checksum or a comparison of a round trip fails. Seen:
#   from a list: 0f
#   by a minus:  ff
#   equal: True
#
# Exits with 1 if ml_dtypes does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet ml_dtypes==0.6.0 numpy
"$folder/env/bin/python" - <<'PYTHON'
import sys

import ml_dtypes
import numpy

listed = numpy.array([-1], dtype=ml_dtypes.int4)
negated = -numpy.array([1], dtype=ml_dtypes.int4)
print("from a list:", listed.tobytes().hex())
print("by a minus: ", negated.tobytes().hex())
print("equal:", bool((listed == negated).all()))
sys.exit((listed.tobytes(), negated.tobytes(), bool((listed == negated).all())) != (b"\x0f", b"\xff", True))
PYTHON
