#!/usr/bin/env bash
# three.js 0.187.0 and parse-exr 1.0.2 give wrong colours for an OpenEXR file that has a channel of unsigned
# integers (an object's number, say) beside red, green and blue, without an error. Without that channel the
# same colours are right.
#
# The type's code is taken for its width: HALF is 1 and has 2 bytes, FLOAT is 2 and has 4, UINT is 0 and has
# none. So the rows of a block are taken to lie closer than they do: the first is right, all others are off by
# more and more. Blocks of one row (ZIPS) and uncompressed rows are therefore right. In a file of RLE a row is
# larger than it should be, so it is taken for an uncompressed one, and the code's bytes become colours.
# OpenEXR 3.5.3 writes these files and reads them right. Seen for red 0, 1, 2 and so on, green 100 more, blue
# 200 more, in rows of 9: what the fifth pixel of the first and of the second row is, which are 4, 104, 204
# and 13, 113, 213:
#   none: 4, 104, 204; 13, 113, 213
#   ZIPS: 4, 104, 204; 13, 113, 213
#   ZIP: 4, 104, 204; 113, 213, 5.605e-45
#   PIZ: 4, 104, 204; 113, 213, 5.605e-45
#   RLE: 0.09533, -2.412e-40, 1.515e-9; 0.09533, 2.498e-38, 6.027e-15
#   ZIP without that channel: 4, 104, 204; 13, 113, 213
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet OpenEXR==3.5.3 numpy==2.4.6
npm install --silent --no-audit --no-fund --no-save --ignore-scripts three@0.187.0 parse-exr@1.0.2
cat > write.py <<'PYTHON'
import numpy
import OpenEXR

number = numpy.arange(54).reshape(6, 9)
colours = {name: (number + more).astype("f4") for name, more in [("R", 0), ("G", 100), ("B", 200)]}
for name, compression, channels in [("none", "NO", ["id"]), ("ZIPS", "ZIPS", ["id"]), ("ZIP", "ZIP", ["id"]), ("PIZ", "PIZ", ["id"]),
                                    ("RLE", "RLE", ["id"]), ("plain", "ZIP", [])]:
    header = {"compression": getattr(OpenEXR, f"{compression}_COMPRESSION"), "type": OpenEXR.scanlineimage}
    with OpenEXR.File(header, colours | {name: number.astype("u4") for name in channels}) as file:
        file.write(f"{name}.exr")
    with OpenEXR.File(f"{name}.exr", separate_channels=True) as file:
        assert all((file.channels()[name].pixels == pixels).all() for name, pixels in colours.items())
PYTHON
venv/bin/python write.py
cat > read.mjs <<'JS'
import { readFileSync } from "node:fs";

import parse_exr from "parse-exr";
import { FloatType } from "three";
import { EXRLoader } from "three/examples/jsm/loaders/EXRLoader.js";

const value = (number) => Number(number.toPrecision(4)).toString();
const pixels = ({ data, width, height }) => {
  const pixel = (row) => Array.from(data.slice(((height - 1 - row) * width + 4) * 4).slice(0, 3), value).join(", ");
  return `${pixel(0)}; ${pixel(1)}`;
};
let right = true;
for (const [name, text, wanted] of [
  ["none", "none", "4, 104, 204; 13, 113, 213"],
  ["ZIPS", "ZIPS", "4, 104, 204; 13, 113, 213"],
  ["ZIP", "ZIP", "4, 104, 204; 113, 213, 5.605e-45"],
  ["PIZ", "PIZ", "4, 104, 204; 113, 213, 5.605e-45"],
  ["RLE", "RLE", "0.09533, -2.412e-40, 1.515e-9; 0.09533, 2.498e-38, 6.027e-15"],
  ["plain", "ZIP without that channel", "4, 104, 204; 13, 113, 213"],
]) {
  const { buffer } = Uint8Array.from(readFileSync(`${name}.exr`));
  const seen = pixels(new EXRLoader().setDataType(FloatType).parse(buffer));
  console.log(`${text}: ${seen}`);
  right &&= seen === wanted && pixels(parse_exr(buffer, FloatType)) === seen;
}
process.exit(right ? 0 : 1);
JS
node read.mjs
