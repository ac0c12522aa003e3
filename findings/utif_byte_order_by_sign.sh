#!/usr/bin/env bash
# UTIF.js 4.1.0 (npm package `utif2`) and the TIFFLoader of three.js 0.187.0, which has a copy of it, do not
# ask a TIFF file of RGB as float32 for its byte order. They take the samples as little-endian, and if one of
# them is negative, exchange the bytes of all of them, without an error.
#
# A little-endian picture that has one negative sample, as filters leave behind, is black or garbage. A
# big-endian one is right if one of its samples, misread, happens to be negative: 0.1 (3dcccccd) is, and
# 0.25 (3e800000) is not, so pictures of round values are black. `toRGBA8` also writes into the samples that
# it is given, so a second call gives a brighter picture. tifffile 2026.3.3 writes the files and reads them
# right. Seen for four pixels (0.25, 0.5, 0.75), (1, 0, 0.5), (s, 0.25, 0.5), (0, 0, 1), which have the bytes
# 137, 188, 225 and so on in sRGB, the first two pixels of a file and of the second call:
#   little-endian, s = 0.125: [137,188,225], [255,0,188]; again [194,223,241], [255,0,223]
#   little-endian, s = -0.001: [0,0,0], [0,0,0]; again [0,0,0], [0,0,0]
#   big-endian, s = 0.125: [0,0,0], [0,0,0]; again [0,0,0], [0,0,0]
#   big-endian, s = 0.1: [137,188,225], [255,0,188]; again [194,223,241], [255,0,223]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet tifffile==2026.3.3 numpy==2.4.6
npm install --silent --no-audit --no-fund --no-save --ignore-scripts utif2@4.1.0 three@0.187.0
cat > write.py <<'PYTHON'
import numpy
import tifffile

for name, order, sample in [("a", "<", 0.125), ("b", "<", -0.001), ("c", ">", 0.125), ("d", ">", 0.1)]:
    pixels = numpy.array([[[0.25, 0.5, 0.75], [1, 0, 0.5]], [[sample, 0.25, 0.5], [0, 0, 1]]], "f4")
    tifffile.imwrite(f"{name}.tif", pixels, photometric="rgb", byteorder=order, metadata=None)
    assert (tifffile.imread(f"{name}.tif") == pixels).all()
PYTHON
venv/bin/python write.py
cat > read.mjs <<'JS'
import { readFileSync } from "node:fs";

import { TIFFLoader } from "three/examples/jsm/loaders/TIFFLoader.js";
import UTIF from "utif2";

const first_two = (rgba) => `${JSON.stringify(Array.from(rgba.slice(0, 3)))}, ${JSON.stringify(Array.from(rgba.slice(4, 7)))}`;
let right = true;
for (const [name, text, wanted] of [
  ["a", "little-endian, s = 0.125", "[137,188,225], [255,0,188]; again [194,223,241], [255,0,223]"],
  ["b", "little-endian, s = -0.001", "[0,0,0], [0,0,0]; again [0,0,0], [0,0,0]"],
  ["c", "big-endian, s = 0.125", "[0,0,0], [0,0,0]; again [0,0,0], [0,0,0]"],
  ["d", "big-endian, s = 0.1", "[137,188,225], [255,0,188]; again [194,223,241], [255,0,223]"],
]) {
  const { buffer } = Uint8Array.from(readFileSync(`${name}.tif`));
  const [image] = UTIF.decode(buffer);
  UTIF.decodeImage(buffer, image);
  const first = first_two(UTIF.toRGBA8(image));
  const seen = `${first}; again ${first_two(UTIF.toRGBA8(image))}`;
  console.log(`${text}: ${seen}`);
  right &&= seen === wanted && first_two(new TIFFLoader().parse(buffer).data) === first;
}
process.exit(right ? 0 : 1);
JS
node read.mjs
