#!/usr/bin/env bash
# The NRRDLoader of three.js 0.187.0 reads what an NRRD file says of bytes or lines to skip before the
# elements, and then takes them for elements, without an error: all later ones are shifted. Elements in
# hexadecimal become zeros, as their digits, which stand without a space, are taken for one large number.
#
# `endian: big` is read into the header and not heeded either, and of an image of several components, whose
# axis comes first, the components are taken for columns and the last axis is left out. SimpleITK 2.5.7 reads
# all of these files right, and nrrd-js 0.2.1 all but the skips and the hexadecimal, which it leaves alone
# with a warning. Seen for 1 to 24 as int16 of 2 x 3 x 4 voxels (2 x 3 x 2 of two components), sizes by
# three.js, the number of elements and the first five, by both:
#   raw: 2 x 3 x 4, 24: [1,2,3,4,5]; nrrd-js [1,2,3,4,5]
#   skip of 4 bytes: 2 x 3 x 4, 26: [-1,-1,1,2,3]; nrrd-js [-1,-1,1,2,3]
#   skip of all but the last 48 bytes: 2 x 3 x 4, 26: [-1,-1,1,2,3]; nrrd-js [-1,-1,1,2,3]
#   skip of a line: 2 x 3 x 4, 25: [2623,1,2,3,4]; nrrd-js [2623,1,2,3,4]
#   hexadecimal: 2 x 3 x 4, 24: [0,0,0,0,0]; nrrd-js none
#   big-endian: 2 x 3 x 4, 24: [256,512,768,1024,1280]; nrrd-js [1,2,3,4,5]
#   two components: 2 x 2 x 3, 24: [1,2,3,4,5]; nrrd-js [1,2,3,4,5]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet SimpleITK==2.5.7 numpy==2.4.6
npm install --silent --no-audit --no-fund --no-save --ignore-scripts three@0.187.0 nrrd-js@0.2.1
cat > write.py <<'PYTHON'
import numpy
import SimpleITK

numbers = numpy.arange(1, 25, dtype="<i2")
raw = numbers.tobytes()
plain = {"type": "int16", "dimension": 3, "sizes": "2 3 4", "endian": "little", "encoding": "raw"}
for name, changes, data in [
    ("a", {}, raw),
    ("b", {"byte skip": 4}, b"\xff" * 4 + raw),
    ("c", {"byte skip": -1}, b"\xff" * 4 + raw),
    ("d", {"line skip": 1}, b"?\n" + raw),
    ("e", {"encoding": "hex"}, raw.hex().encode()),
    ("f", {"endian": "big"}, numbers.astype(">i2").tobytes()),
    ("g", {"dimension": 4, "sizes": "2 2 3 2", "kinds": "vector domain domain domain"}, raw),
]:
    header = "".join(f"{key}: {value}\n" for key, value in (plain | changes).items())
    with open(f"{name}.nrrd", "wb") as file:
        file.write(b"NRRD0004\n" + header.encode() + b"\n" + data)
    image = SimpleITK.ReadImage(f"{name}.nrrd")
    assert (SimpleITK.GetArrayFromImage(image).ravel() == numbers).all(), name
    assert image.GetNumberOfComponentsPerPixel() == (2 if name == "g" else 1)
PYTHON
venv/bin/python write.py
cat > read.mjs <<'JS'
import { readFileSync } from "node:fs";

import nrrd from "nrrd-js";
import { NRRDLoader } from "three/examples/jsm/loaders/NRRDLoader.js";

console.warn = () => {};
const first = (data) => (data ? JSON.stringify(Array.from(data.slice(0, 5))) : "none");
let right = true;
for (const [name, text, wanted] of [
  ["a", "raw", "2 x 3 x 4, 24: [1,2,3,4,5]; nrrd-js [1,2,3,4,5]"],
  ["b", "skip of 4 bytes", "2 x 3 x 4, 26: [-1,-1,1,2,3]; nrrd-js [-1,-1,1,2,3]"],
  ["c", "skip of all but the last 48 bytes", "2 x 3 x 4, 26: [-1,-1,1,2,3]; nrrd-js [-1,-1,1,2,3]"],
  ["d", "skip of a line", "2 x 3 x 4, 25: [2623,1,2,3,4]; nrrd-js [2623,1,2,3,4]"],
  ["e", "hexadecimal", "2 x 3 x 4, 24: [0,0,0,0,0]; nrrd-js none"],
  ["f", "big-endian", "2 x 3 x 4, 24: [256,512,768,1024,1280]; nrrd-js [1,2,3,4,5]"],
  ["g", "two components", "2 x 2 x 3, 24: [1,2,3,4,5]; nrrd-js [1,2,3,4,5]"],
]) {
  const { buffer } = Uint8Array.from(readFileSync(`${name}.nrrd`));
  const { data, xLength, yLength, zLength } = new NRRDLoader().parse(buffer);
  const seen = `${xLength} x ${yLength} x ${zLength}, ${data.length}: ${first(data)}; nrrd-js ${first(nrrd.parse(buffer).data)}`;
  console.log(`${text}: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node read.mjs
