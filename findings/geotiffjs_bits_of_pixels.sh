#!/usr/bin/env bash
# geotiff.js 3.0.5: of pixels whose samples have 2, 4, 10 or 12 bits and lie side by side, only the first
# sample is read right. The samples are unpacked to 1 or 2 bytes each and then read at the offsets that the
# packed ones had, rounded down: 0, 1 and 3 for 12 bits in place of 0, 2, 4.
#
# Of a big-endian file it is the first sample that is wrong, as it is unpacked in the order of the machine and
# read in the order of the file. Planes of their own are right, and so are 16 bits. Seen for files of GDAL
# 3.10.3 (rasterio 1.4.4), the first two pixels, which are 7, 5, 3 and 14, 10, 6 (3, 1, 3 and 2, 2, 2 in 2
# bits):
#   2 bits: 3, 3, 3 and 2, 2, 2
#   4 bits: 7, 7, 5 and 14, 14, 10
#   10 bits: 7, 1280, 5 and 14, 2560, 10
#   12 bits: 7, 1280, 768 and 14, 2560, 1536
#   16 bits: 7, 5, 3 and 14, 10, 6
#   12 bits, big-endian: 1792, 5, 3 and 3584, 10, 6
#   12 bits, planes: 7, 5, 3 and 14, 10, 6
#
# Exits with 1 if geotiff.js does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet rasterio==1.4.4 numpy==2.4.6
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts geotiff@3.0.5
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import numpy
import rasterio

array = numpy.multiply.outer([7, 5, 3], numpy.arange(1, 16)).reshape(3, 3, 5)
for name, bits, interleave, order in [("2", 2, "pixel", "LITTLE"), ("4", 4, "pixel", "LITTLE"), ("10", 10, "pixel", "LITTLE"),
                                      ("12", 12, "pixel", "LITTLE"), ("big", 12, "pixel", "BIG"), ("planes", 12, "band", "LITTLE"),
                                      ("16", 16, "pixel", "LITTLE")]:
    kind = "uint8" if bits < 9 else "uint16"
    pixels = (array % 2**bits).astype(kind)
    with rasterio.open(f"{name}.tif", "w", driver="GTiff", width=5, height=3, count=3, dtype=kind, nbits=bits, interleave=interleave,
                       ENDIANNESS=order) as file:
        file.write(pixels)
    with rasterio.open(f"{name}.tif") as file:
        assert (file.read() == pixels).all()
PYTHON
cat > read.mjs <<'JS'
import { fromArrayBuffer } from "geotiff";
import { readFileSync } from "node:fs";

const expected = {
  "2": ["2 bits", "3, 3, 3 and 2, 2, 2"],
  "4": ["4 bits", "7, 7, 5 and 14, 14, 10"],
  "10": ["10 bits", "7, 1280, 5 and 14, 2560, 10"],
  "12": ["12 bits", "7, 1280, 768 and 14, 2560, 1536"],
  "16": ["16 bits", "7, 5, 3 and 14, 10, 6"],
  big: ["12 bits, big-endian", "1792, 5, 3 and 3584, 10, 6"],
  planes: ["12 bits, planes", "7, 5, 3 and 14, 10, 6"],
};
let right = true;
for (const [name, [title, wanted]] of Object.entries(expected)) {
  const tiff = await fromArrayBuffer(new Uint8Array(readFileSync(`${name}.tif`)).buffer);
  const samples = await (await tiff.getImage()).readRasters({ interleave: true });
  const seen = [0, 3].map((place) => Array.from(samples.slice(place, place + 3)).join(", ")).join(" and ");
  console.log(`${title}: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node read.mjs
