#!/usr/bin/env bash
# h5coro 1.0.7, a reader of HDF5 files in the cloud and on disk: a part of a dataset that is not chunked is
# read from the dataset's start, as many bytes as the part has, and put behind as many zeros as there are
# elements before the part. There is no error: 5 to 12 of 20 elements are five zeros and three.
#
# A part of rows that begins in the second half is nothing but zeros, a part of columns is an error ("buffer
# is smaller than requested size"). In a chunked dataset the same parts are right, but whole chunks are
# skipped and left as zeros where the last chunk of an axis is cut: chunks are counted with the size of the
# axis rounded down to them, so a part can seem to end before it begins. h5py 3.16.0 wrote the files. Seen for
# 0 to 19, for 0 to 39 in 5 rows of 8, and for 1 to 624 in [8, 6, 13] in chunks of [2, 5, 1], first row of
# [3:7, 5, 6:12]:
#   elements 5 to 12: [0, 0, 0, 0, 0, 5, 6, 7], chunked [5, 6, 7, 8, 9, 10, 11, 12]
#   elements 12 to 19: [0, 0, 0, 0, 0, 0, 0, 0], chunked [12, 13, 14, 15, 16, 17, 18, 19]
#   rows 2 to 4, their first elements: [0, 0, 16], chunked [16, 24, 32]
#   columns 0 to 2: refused, chunked [[0, 1, 2], [8, 9, 10], [16, 17, 18], [24, 25, 26], [32, 33, 34]]
#   chunks that are cut: [0, 0, 0, 0, 0, 0], it is [306, 307, 308, 309, 310, 311]
#
# Exits with 1 if h5coro does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet boto3==1.43.117 requests==2.34.2 h5py==3.16.0 numpy==2.4.6
# Without its other dependencies, which are for xarray and the cloud and take minutes to resolve.
venv/bin/pip install --quiet --no-deps h5coro==1.0.7
cat > parts.py <<'PYTHON'
import sys

import h5py
import numpy
from h5coro import filedriver, h5coro

row = numpy.arange(20, dtype="<i4")
rows = numpy.arange(40, dtype="<i4").reshape(5, 8)
box = numpy.arange(1, 625, dtype="<i4").reshape(8, 6, 13)
with h5py.File("a.h5", "w") as file:
    file["row"], file["rows"] = row, rows
    file.create_dataset("row_chunked", data=row, chunks=(8,))
    file.create_dataset("rows_chunked", data=rows, chunks=(2, 4))
    file.create_dataset("box", data=box, chunks=(2, 5, 1))


def read(name, *ranges):
    request = {"dataset": name, "hyperslice": list(ranges)}
    try:
        return numpy.asarray(h5coro.H5Coro("a.h5", filedriver.FileDriver).readDatasets([request], block=True)[name])
    except ValueError:
        return None


seen = []
for text, name, ranges, shown in [("elements 5 to 12", "row", [(5, 13)], lambda part: part),
                                  ("elements 12 to 19", "row", [(12, 20)], lambda part: part),
                                  ("rows 2 to 4, their first elements", "rows", [(2, 5), (0, 8)], lambda part: part[:, 0]),
                                  ("columns 0 to 2", "rows", [(0, 5), (0, 3)], lambda part: part)]:
    plain, chunked = read(name, *ranges), read(f"{name}_chunked", *ranges)
    seen.append(f"{text}: {'refused' if plain is None else shown(plain).tolist()}, chunked {shown(chunked).tolist()}")
cut = read("box", (3, 7), (5, 6), (6, 12))
seen.append(f"chunks that are cut: {cut[0, 0].tolist()}, it is {box[3, 5, 6:12].tolist()}")
print("\n".join(seen))
sys.exit(seen != [
    "elements 5 to 12: [0, 0, 0, 0, 0, 5, 6, 7], chunked [5, 6, 7, 8, 9, 10, 11, 12]",
    "elements 12 to 19: [0, 0, 0, 0, 0, 0, 0, 0], chunked [12, 13, 14, 15, 16, 17, 18, 19]",
    "rows 2 to 4, their first elements: [0, 0, 16], chunked [16, 24, 32]",
    "columns 0 to 2: refused, chunked [[0, 1, 2], [8, 9, 10], [16, 17, 18], [24, 25, 26], [32, 33, 34]]",
    "chunks that are cut: [0, 0, 0, 0, 0, 0], it is [306, 307, 308, 309, 310, 311]",
])
PYTHON
venv/bin/python parts.py
