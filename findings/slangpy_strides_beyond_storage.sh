#!/usr/bin/env bash
# SlangPy 0.43.1: `Tensor.from_numpy` of a part of an array keeps the strides of the whole and stores only as
# many bytes as the part has elements, so most of the strides' elements are outside of the storage. Transposed
# and column-major arrays, which have no gaps, are right.
#
# `copy_from_numpy` refuses arrays that are not contiguous, `from_numpy` neither refuses nor packs them. Seen
# for f32 [4, 6], the bytes that the sizes and strides reach and those that are stored:
#   packed: strides [6, 1], 96 of 96 bytes
#   column-major: strides [1, 4], 96 of 96 bytes
#   the first 6 columns of 12: strides [12, 1], 168 of 96 bytes
#   every second column: strides [12, 2], 188 of 96 bytes
#   every second row: strides [12, 1], 168 of 96 bytes
#
# Exits with 1 if SlangPy does something else. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet slangpy==0.43.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON' | grep -v supported
import sys

import numpy
import slangpy

device = slangpy.create_device(type=slangpy.DeviceType.cpu)
plain = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)
seen = []
for name, array in [("packed", plain), ("column-major", numpy.asfortranarray(plain)),
                    ("the first 6 columns of 12", numpy.hstack([plain, plain])[:, :6]),
                    ("every second column", plain.repeat(2, axis=1)[:, ::2]), ("every second row", plain.repeat(2, axis=0)[::2])]:
    assert (array == plain).all()
    tensor = slangpy.Tensor.from_numpy(device, array)
    assert list(tensor.shape) == [4, 6] and tensor.offset == 0
    reach = 4 * (1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.strides)))
    stored = tensor.storage.size
    seen.append((list(tensor.strides), reach, stored))
    print("{}: strides {}, {} of {} bytes".format(name, *seen[-1]))
    if reach == stored:
        assert (tensor.to_numpy() == plain).all()
sys.exit(seen != [([6, 1], 96, 96), ([1, 4], 96, 96), ([12, 1], 168, 96), ([12, 2], 188, 96), ([12, 1], 168, 96)])
PYTHON
