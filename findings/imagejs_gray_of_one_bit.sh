#!/usr/bin/env bash
# image-js 1.7.0: of a gray PNG of one bit a pixel it takes all bits of the last byte of a row, and of the first
# byte as many as belong to the last one, without an error. These are none in 8 or 16 columns, so an image of 8
# columns is black.
#
# Pixels are lost, the padding behind a row takes their place, and the end of the image is black where there is
# no padding. Images of fewer than 8 columns are right. The reader below it, fast-png 8.0.0, gives packed rows and their
# depth, and pngjs 7.0.0 reads all these files right. Seen for two rows, of which every third pixel is white, the
# numbers of the white pixels:
#   5 columns: pngjs [0,3,6,9], image-js [0,3,6,9]
#   8 columns: pngjs [0,3,6,9,12,15], image-js []
#   10 columns: pngjs [0,3,6,9,12,15,18], image-js [0,3,12]
#   16 columns: pngjs [0,3,6,9,12,15,18,21,24,27,30], image-js [1,4,7,8,11,14]
#
# Exits with 1 if one of them does something else. Needs Node 20.15, 22.2 or later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts image-js@1.7.0 fast-png@8.0.0 pngjs@7.0.0
cat > rows.mjs <<'JS'
import { crc32, deflateSync } from "node:zlib";

import * as fastPng from "fast-png";
import { decode } from "image-js";
import { PNG } from "pngjs";

function chunk(name, data) {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length);
  bytes.write(name, 4);
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
  return bytes;
}

function gray(columns, rows) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(columns);
  header.writeUInt32BE(rows.length, 4);
  header[8] = 1;
  const data = deflateSync(Buffer.concat(rows.flatMap((row) => [Buffer.alloc(1), row])));
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]);
}

let right = true;
for (const [columns, wanted] of [
  [5, [0, 3, 6, 9]],
  [8, []],
  [10, [0, 3, 12]],
  [16, [1, 4, 7, 8, 11, 14]],
]) {
  const rows = [0, 1].map(() => Buffer.alloc(Math.ceil(columns / 8)));
  for (let pixel = 0; pixel < 2 * columns; pixel += 3) {
    const column = pixel % columns;
    rows[Math.floor(pixel / columns)][column >> 3] |= 0x80 >> (column & 7);
  }
  const file = gray(columns, rows);
  const packed = fastPng.decode(file);
  right &&= packed.depth === 1 && Buffer.from(packed.data).equals(Buffer.concat(rows));
  const white = (sample) => JSON.stringify(Array.from({ length: 2 * columns }, (_, at) => at).filter((at) => sample(at) === 255));
  const pixels = PNG.sync.read(file).data;
  const image = decode(file);
  const [byPngjs, byImage] = [white((at) => pixels[4 * at]), white((at) => image.getPixelByIndex(at)[0])];
  console.log(`${columns} columns: pngjs ${byPngjs}, image-js ${byImage}`);
  right &&= byPngjs === white((at) => (at % 3 ? 0 : 255)) && byImage === JSON.stringify(wanted);
}
process.exit(right ? 0 : 1);
JS
node rows.mjs
