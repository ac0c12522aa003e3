#!/usr/bin/env bash
# netCDF-C 4.10.1 (netCDF4 1.7.5.1.post1 for Python) and zarr.js 0.6.3 (npm package `zarr`) each leave out one
# of the two things that an array of Zarr 2 says of the elements in its chunks, without an error: netCDF-C
# reads column-major chunks (`order` F) as row-major ones, zarr.js reads filtered chunks as they are stored.
#
# Each of them is right about what the other one leaves out: zarr.js lays column-major chunks right, and
# netCDF-C undoes the shuffle and refuses the differences, which it has no code for. At the edge of the array
# the zeros that fill up a column-major chunk become elements. zarr-python 3.1.6 writes these arrays and reads
# all of them right. Seen for 0 to 23 in 4 rows of 6, in chunks of 3 x 4:
#   row-major: netCDF-C [0, 1, 2, 3, 4, 5], zarr.js [0, 1, 2, 3, 4, 5]
#   column-major: netCDF-C [0, 6, 12, 1, 4, 10], zarr.js [0, 1, 2, 3, 4, 5]
#   column-major, last row: netCDF-C [18, 0, 0, 19, 22, 0], zarr.js [18, 19, 20, 21, 22, 23]
#   differences: netCDF-C refused, zarr.js [0, 1, 1, 1, 4, 1]
#   bytes shuffled: netCDF-C [0, 1, 2, 3, 4, 5], zarr.js [50462976, 151521030, 252579084, 0, 1284, 2826]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet netCDF4==1.7.5.1.post1 zarr==3.1.6 numcodecs==0.16.6 numpy==2.4.6
npm install --silent --no-audit --no-fund --no-save --ignore-scripts zarr@0.6.3
cat > read.mjs <<'JS'
import { existsSync, readFileSync } from "node:fs";

import { openArray } from "zarr";

const store = {
  getItem: async (key) => readFileSync(`${process.argv[2]}/v/${key}`),
  containsItem: async (key) => existsSync(`${process.argv[2]}/v/${key}`),
};
const array = await openArray({ store, mode: "r" });
const { data } = await array.get(null);
console.log(JSON.stringify(data.map((row) => Array.from(row))));
JS
cat > read.py <<'PYTHON'
import json
import os
import subprocess
import sys
import warnings

import netCDF4
import numcodecs
import numpy
import zarr

warnings.simplefilter("ignore")
elements = numpy.arange(24, dtype="<i4").reshape(4, 6)


def write(name, **options):
    group = zarr.open_group(name, mode="w", zarr_format=2)
    array = group.create_array("v", shape=(4, 6), chunks=(3, 4), dtype="<i4", compressors=None, **options)
    array.attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
    array[...] = elements
    assert (group["v"][...] == elements).all()


def netcdf(name):
    try:
        with netCDF4.Dataset(f"file://{os.path.abspath(name)}#mode=zarr,file") as file:
            return numpy.asarray(file["v"][...]).tolist()
    except RuntimeError:
        return None


def zarrjs(name):
    return json.loads(subprocess.run(["node", "read.mjs", name], check=True, capture_output=True).stdout)


write("row-major")
write("column-major", order="F")
write("differences", filters=[numcodecs.Delta("<i4")])
write("shuffled", filters=[numcodecs.Shuffle(4)])
seen = []
for text, name, row in [("row-major", "row-major", 0), ("column-major", "column-major", 0),
                        ("column-major, last row", "column-major", 3), ("differences", "differences", 0),
                        ("bytes shuffled", "shuffled", 0)]:
    of_netcdf = netcdf(name)
    seen.append(f"{text}: netCDF-C {of_netcdf[row] if of_netcdf else 'refused'}, zarr.js {zarrjs(name)[row]}")
print("\n".join(seen))
sys.exit(seen != [
    "row-major: netCDF-C [0, 1, 2, 3, 4, 5], zarr.js [0, 1, 2, 3, 4, 5]",
    "column-major: netCDF-C [0, 6, 12, 1, 4, 10], zarr.js [0, 1, 2, 3, 4, 5]",
    "column-major, last row: netCDF-C [18, 0, 0, 19, 22, 0], zarr.js [18, 19, 20, 21, 22, 23]",
    "differences: netCDF-C refused, zarr.js [0, 1, 1, 1, 4, 1]",
    "bytes shuffled: netCDF-C [0, 1, 2, 3, 4, 5], zarr.js [50462976, 151521030, 252579084, 0, 1284, 2826]",
])
PYTHON
venv/bin/python read.py
