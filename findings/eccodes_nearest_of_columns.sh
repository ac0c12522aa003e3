#!/usr/bin/env bash
# ecCodes 2.50.0: where the values of a GRIB message lie along columns, the search for the point of the grid that
# is nearest to a place finds the right point, at a distance of 0, and gives another point's value, without an
# error.
#
# The search counts row by row whatever `jPointsAreConsecutive` says: of 4 columns and 3 rows, the point in row 1
# and column 2 is value 6 to it, and value 7 in the message. ecCodes' own iterator over the message has the right
# value at every point. Seen for 0 to 2 degrees north and 0 to 3 east, whose values are 10 times the latitude
# plus the longitude: what is nearest to 1 north and 2 east, where the value is 12:
#   rows from the north-west: iterator 12, nearest 1 north 2 east, distance 0, value 6 is 12
#   rows from the south-west: iterator 12, nearest 1 north 2 east, distance 0, value 6 is 12
#   columns from the north-west: iterator 12, nearest 1 north 2 east, distance 0, value 6 is 22
#   columns from the south-west: iterator 12, nearest 1 north 2 east, distance 0, value 6 is 2
#
# Exits with 1 if ecCodes does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet eccodes==2.50.0 eccodeslib==2.50.0.33 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import eccodes
import numpy


def points(message):
    iterator = eccodes.codes_grib_iterator_new(message, 0)
    while point := eccodes.codes_grib_iterator_next(iterator):
        yield tuple(map(float, point))


seen = []
for columns in (0, 1):
    for from_south in (0, 1):
        grid = (10.0 * numpy.arange(3)[:, None] + numpy.arange(4))[:: 1 if from_south else -1]
        message = eccodes.codes_grib_new_from_samples("regular_ll_sfc_grib2")
        for key, value in {
            "parameterCategory": 3, "parameterNumber": 5, "Ni": 4, "Nj": 3, "iScansNegatively": 0,
            "jScansPositively": from_south, "jPointsAreConsecutive": columns,
            "longitudeOfFirstGridPointInDegrees": 0.0, "longitudeOfLastGridPointInDegrees": 3.0,
            "latitudeOfFirstGridPointInDegrees": 0.0 if from_south else 2.0,
            "latitudeOfLastGridPointInDegrees": 2.0 if from_south else 0.0,
            "iDirectionIncrementInDegrees": 1.0, "jDirectionIncrementInDegrees": 1.0, "bitsPerValue": 8,
        }.items():
            eccodes.codes_set(message, key, value)
        eccodes.codes_set_values(message, (grid.T if columns else grid).ravel())
        assert all(value == 10 * latitude + longitude for latitude, longitude, value in points(message))
        iterated = next(value for latitude, longitude, value in points(message) if (latitude, longitude) == (1, 2))
        nearest = eccodes.codes_grib_find_nearest(message, 1.0, 2.0)[0]
        order = f"{'columns' if columns else 'rows'} from the {'south' if from_south else 'north'}-west"
        seen.append(f"{order}: iterator {iterated:g}, nearest {nearest.lat:g} north {nearest.lon:g} east, "
                    f"distance {nearest.distance:g}, value {nearest.index} is {nearest.value:g}")
print("\n".join(seen))
sys.exit(seen != """\
rows from the north-west: iterator 12, nearest 1 north 2 east, distance 0, value 6 is 12
rows from the south-west: iterator 12, nearest 1 north 2 east, distance 0, value 6 is 12
columns from the north-west: iterator 12, nearest 1 north 2 east, distance 0, value 6 is 22
columns from the south-west: iterator 12, nearest 1 north 2 east, distance 0, value 6 is 2""".splitlines())
PYTHON
