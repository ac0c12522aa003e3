#!/usr/bin/env bash
# tiff 7.1.3 for JavaScript, the TIFF reader of image-js 1.7.0: of a tiled TIFF file of colours only red is
# filled in, and it is taken from the first third of each tile's row of samples as if the tile were gray;
# green and blue are 0. There is no error.
#
# The same picture in strips is right. Of a gray file whose tiles hold differences (predictor 2), they are
# added up along whole rows of the picture, so each tile but the leftmost is too bright by the last pixel of
# the one before it: by TIFF, differences begin anew in every tile. tifffile 2026.3.3 writes these files and
# reads them right. Seen for pixels whose red is 0 to 35 along a row, green 100 more, blue 200 more, the first
# three and two from the second tile of 16 columns:
#   strips: (0,100,200), (1,101,201), (2,102,202); (16,116,216), (17,117,217)
#   tiles: (0,0,0), (100,0,0), (200,0,0); (16,0,0), (116,0,0)
#   gray tiles: 0, 1, 2; 16, 17
#   gray tiles of differences: 0, 1, 2; 31, 32
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet tifffile==2026.3.3 imagecodecs==2026.3.6 numpy==2.4.6
npm install --silent --no-audit --no-fund --no-save --ignore-scripts tiff@7.1.3
cat > write.py <<'PYTHON'
import numpy
import tifffile

gray = numpy.tile(numpy.arange(36, dtype="u1"), (20, 1))
colours = numpy.stack([gray, gray + 100, gray + 200], axis=-1)
for name, pixels, options in [("a", colours, {"photometric": "rgb"}), ("b", colours, {"photometric": "rgb", "tile": (16, 16)}),
                              ("c", gray, {"tile": (16, 16), "compression": "deflate"}),
                              ("d", gray, {"tile": (16, 16), "compression": "deflate", "predictor": 2})]:
    tifffile.imwrite(f"{name}.tif", pixels, metadata=None, **options)
    assert (tifffile.imread(f"{name}.tif") == pixels).all()
PYTHON
venv/bin/python write.py
cat > read.mjs <<'JS'
import { readFileSync } from "node:fs";

import { decode } from "tiff";

let right = true;
for (const [name, text, wanted] of [
  ["a", "strips", "(0,100,200), (1,101,201), (2,102,202); (16,116,216), (17,117,217)"],
  ["b", "tiles", "(0,0,0), (100,0,0), (200,0,0); (16,0,0), (116,0,0)"],
  ["c", "gray tiles", "0, 1, 2; 16, 17"],
  ["d", "gray tiles of differences", "0, 1, 2; 31, 32"],
]) {
  const [{ data, components }] = decode(readFileSync(`${name}.tif`));
  const pixel = (at) => {
    const samples = Array.from(data.slice(components * at, components * (at + 1)));
    return components > 1 ? `(${samples.join(",")})` : samples.join(",");
  };
  const seen = `${[0, 1, 2].map(pixel).join(", ")}; ${[16, 17].map(pixel).join(", ")}`;
  console.log(`${text}: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node read.mjs
