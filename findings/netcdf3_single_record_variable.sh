#!/usr/bin/env bash
# netCDF-C (netCDF4 1.7.5.1.post1 for Python) and SciPy 1.17.1 write a NetCDF-3 file with one record variable
# of three bytes a record that differ in one byte: the size of a record, 4 to netCDF-C and 3 to SciPy. The
# records lie 3 bytes apart in both files, because a single record variable has no padding.
#
# Both read both files right. netcdfjs 4.0.0 goes by that number: of netCDF-C's file it makes rows of four,
# made of the records that follow, and zeros in the end, without an error; two bytes an element are an error.
# With a second record variable, whose records do have padding, the padding is a fourth column, and negative
# bytes become positive. Seen for the rows 1, 2, 3 and so on up to -31, 32, 33, read by netcdfjs:
#   one variable, SciPy: [[1,2,3],[11,12,13],[21,22,23],[225,32,33]]
#   one variable, netCDF-C: [[1,2,3,11],[12,13,21,22],[23,225,32,33],[0,0,0,0]]
#   one of two variables, netCDF-C: [[1,2,3,129],[11,12,13,129],[21,22,23,129],[225,32,33,129]]
#   one variable of int16, netCDF-C: Offset is outside the bounds of the DataView
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet netCDF4==1.7.5.1.post1 scipy==1.17.1 numpy==2.4.6
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts netcdfjs@4.0.0
"$folder/env/bin/python" - <<'PYTHON'
import netCDF4
import numpy
from scipy.io import netcdf_file

rows = numpy.array([[1, 2, 3], [11, 12, 13], [21, 22, 23], [-31, 32, 33]])
makers = {
    "scipy": lambda path: netcdf_file(path, "w"),
    "netcdf": lambda path: netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC"),
}
for name, kind, others in [("scipy", "i1", []), ("netcdf", "i1", []), ("netcdf", "i1", ["w"]), ("netcdf", "i2", [])]:
    path = f"{name}-{kind}-{len(others)}.nc"
    file = makers[name](path)
    file.createDimension("time", None)
    file.createDimension("x", 3)
    variables = [file.createVariable(variable, kind, ("time", "x")) for variable in ["v", *others]]
    for variable in variables:
        for record, row in enumerate(rows):
            variable[record] = row
    file.close()
    with netCDF4.Dataset(path) as file:
        assert (file["v"][:] == rows).all()
    with netcdf_file(path, "r", mmap=False) as file:
        assert (file.variables["v"][:] == rows).all()
pair = [open(f"{name}-i1-0.nc", "rb").read() for name in ("netcdf", "scipy")]
assert len(pair[0]) == len(pair[1])
assert [(a, b) for a, b in zip(*pair) if a != b] == [(4, 3)]
PYTHON
cat > read.mjs <<'JS'
import { NetCDFReader } from "netcdfjs";
import { readFileSync } from "node:fs";

let right = true;
for (const [path, title, wanted] of [
  ["scipy-i1-0", "one variable, SciPy", "[[1,2,3],[11,12,13],[21,22,23],[225,32,33]]"],
  ["netcdf-i1-0", "one variable, netCDF-C", "[[1,2,3,11],[12,13,21,22],[23,225,32,33],[0,0,0,0]]"],
  ["netcdf-i1-1", "one of two variables, netCDF-C", "[[1,2,3,129],[11,12,13,129],[21,22,23,129],[225,32,33,129]]"],
  ["netcdf-i2-0", "one variable of int16, netCDF-C", "Offset is outside the bounds of the DataView"],
]) {
  let seen;
  try {
    seen = JSON.stringify(new NetCDFReader(readFileSync(`${path}.nc`)).getDataVariable("v"));
  } catch (error) {
    seen = error.message;
  }
  console.log(`${title}: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node read.mjs
