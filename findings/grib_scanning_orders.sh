#!/usr/bin/env bash
# A GRIB message says in which order its grid lies: along rows or columns, from the west or the east, every
# second row backwards or not. ecCodes 2.50.0, cfgrib 0.9.15.1, pygrib 2.1.8 and GDAL 3.10.3 (rasterio 1.4.4)
# give different values for one place of one valid file, without an error.
#
# Along columns, cfgrib cuts the stream into rows of the grid's width, and ecCodes' search for the nearest
# point finds the right place, at a distance of 0, and another place's value. From the east, cfgrib and pygrib
# leave the values as they lie and sort the longitudes; GDAL turns the rows and lets them begin at the
# easternmost longitude, so the map lies its width too far east. Where every second row runs backwards,
# ecCodes has the values in the file's order and coordinates that do not go with them. Only rows from the west
# are right in all of them.
#
# Seen for a grid of 4 x 3, 0 to 2 degrees north and 0 to 3 east, whose values are 10 times the latitude plus
# the longitude: the value at 1 north and 2 east, which is 12:
#   rows from the north-west: ecCodes 12, cfgrib 12, pygrib 12, GDAL 12
#   rows from the south-west: ecCodes 12, cfgrib 12, pygrib 12, GDAL 12
#   rows from the north-east: ecCodes 12, cfgrib 11, pygrib 11, GDAL none
#   columns from the north-west: ecCodes 22, cfgrib 22, pygrib 12, GDAL 12
#   columns from the south-west: ecCodes 2, cfgrib 2, pygrib 12, GDAL 12
#   every second row backwards: ecCodes 11, cfgrib 12, pygrib 12, GDAL 12
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for reader in cfgrib==0.9.15.1 pygrib==2.1.8 rasterio==1.4.4; do
    python3 -m venv "$folder/${reader%%=*}"
    "$folder/${reader%%=*}/bin/pip" install --quiet "$reader" numpy==2.4.6
done
"$folder/cfgrib/bin/pip" install --quiet eccodes==2.50.0 eccodeslib==2.50.0.33 xarray==2026.9.0
cd "$folder"
cat > write.py <<'PYTHON'
import eccodes
import numpy

for name, from_east, from_south, columns, backwards in [("a", 0, 0, 0, 0), ("b", 0, 1, 0, 0), ("c", 1, 0, 0, 0),
                                                        ("d", 0, 0, 1, 0), ("e", 0, 1, 1, 0), ("f", 0, 0, 0, 1)]:
    grid = 10.0 * numpy.arange(3)[:, None] + numpy.arange(4)
    grid = grid[:: 1 if from_south else -1, :: -1 if from_east else 1].copy()
    if backwards:
        grid[1::2] = grid[1::2, ::-1].copy()
    message = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
    keys = {"parameterCategory": 3, "parameterNumber": 5, "Ni": 4, "Nj": 3, "iScansNegatively": from_east,
            "jScansPositively": from_south, "jPointsAreConsecutive": columns, "alternativeRowScanning": backwards,
            "longitudeOfFirstGridPointInDegrees": 3.0 if from_east else 0.0,
            "longitudeOfLastGridPointInDegrees": 0.0 if from_east else 3.0,
            "latitudeOfFirstGridPointInDegrees": 0.0 if from_south else 2.0,
            "latitudeOfLastGridPointInDegrees": 2.0 if from_south else 0.0,
            "iDirectionIncrementInDegrees": 1.0, "jDirectionIncrementInDegrees": 1.0, "bitsPerValue": 8}
    for key, value in keys.items():
        eccodes.codes_set(message, key, value)
    eccodes.codes_set_values(message, (grid.T if columns else grid).ravel())
    with open(f"{name}.grib", "wb") as file:
        eccodes.codes_write(message, file)
PYTHON
cat > eccodes_.py <<'PYTHON'
import sys

import eccodes

with open(sys.argv[1], "rb") as file:
    nearest = eccodes.codes_grib_find_nearest(eccodes.codes_grib_new_from_file(file), 1.0, 2.0)[0]
print(round(nearest.value) if nearest.distance < 1 else "none")
PYTHON
cat > cfgrib_.py <<'PYTHON'
import sys

import xarray

field = next(iter(xarray.open_dataset(sys.argv[1], engine="cfgrib", indexpath="").data_vars.values()))
print(round(float(field.sel(latitude=1, longitude=2))))
PYTHON
cat > pygrib_.py <<'PYTHON'
import sys

import pygrib

message = pygrib.open(sys.argv[1])[1]
latitudes, longitudes = message.latlons()
print(round(message.values[(latitudes == 1) & (longitudes == 2)][0]))
PYTHON
cat > rasterio_.py <<'PYTHON'
import sys

import rasterio

with rasterio.open(sys.argv[1]) as file:
    row, column = file.index(2.0, 1.0)
    inside = 0 <= row < file.height and 0 <= column < file.width
    print(round(float(file.read(1)[row, column])) if inside else "none")
PYTHON
cfgrib/bin/python write.py
while read -r name order; do
    echo "$order: ecCodes $(cfgrib/bin/python eccodes_.py "$name.grib"), cfgrib $(cfgrib/bin/python -W ignore cfgrib_.py "$name.grib")," \
        "pygrib $(pygrib/bin/python pygrib_.py "$name.grib"), GDAL $(rasterio/bin/python -W ignore rasterio_.py "$name.grib")"
done > seen <<'TEXT'
a rows from the north-west
b rows from the south-west
c rows from the north-east
d columns from the north-west
e columns from the south-west
f every second row backwards
TEXT
cat seen
diff seen - <<'TEXT'
rows from the north-west: ecCodes 12, cfgrib 12, pygrib 12, GDAL 12
rows from the south-west: ecCodes 12, cfgrib 12, pygrib 12, GDAL 12
rows from the north-east: ecCodes 12, cfgrib 11, pygrib 11, GDAL none
columns from the north-west: ecCodes 22, cfgrib 22, pygrib 12, GDAL 12
columns from the south-west: ecCodes 2, cfgrib 2, pygrib 12, GDAL 12
every second row backwards: ecCodes 11, cfgrib 12, pygrib 12, GDAL 12
TEXT
