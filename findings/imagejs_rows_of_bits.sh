#!/usr/bin/env bash
# image-js 1.7.0: of a gray PNG of one bit a pixel it takes as many bits of each byte as there are columns
# behind the last whole byte, so an image of 8 or 64 columns is black. Of a PNG whose palette has fewer than 8
# bits the padding at the end of a row becomes pixels of colour 0, and all later ones are shifted. There is no
# error.
#
# The reader below it, fast-png 8.0.0, gives packed rows and their depth. Gray of 2 and 4 bits is refused,
# palettes of 8 bits are right, and pngjs 7.0.0 reads all these files right. Seen for the pixels 1, 2, 3 and so
# on of a palette whose colour n is gray n, and for a gray image in which every third pixel is white, three rows
# each:
#   palette of 4 bits, 4 columns: [[1,2,3,4],[5,6,7,8],[9,10,11,12]]
#   palette of 4 bits, 5 columns: [[1,2,3,4,5],[0,6,7,8,9],[10,0,11,12,13]]
#   palette of 2 bits, 5 columns: [[1,2,3,0,1],[0,0,0,2,3],[0,1,2,0,0]]
#   palette of 8 bits, 5 columns: [[1,2,3,4,5],[6,7,8,9,10],[11,12,13,14,15]]
#   gray of 1 bit, 5 columns: [[255,0,0,255,0],[0,255,0,0,255],[0,0,255,0,0]]
#   gray of 1 bit, 8 columns: [[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0]]
#   gray of 1 bit, 10 columns: [[255,0,0,255,0,0,0,0,0,0],[0,0,255,0,0,0,0,0,0,0],[0,255,0,0,0,0,0,0,0,0]]
#   gray of 4 bits, 5 columns: incorrect data size: 9. Expected 15
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts image-js@1.7.0 fast-png@8.0.0 pngjs@7.0.0
cat > rows.mjs <<'JS'
import { crc32, deflateSync } from "node:zlib";

import { decode } from "image-js";
import { PNG } from "pngjs";

const ROWS = 3;
const [GRAY, PALETTE] = [0, 3];

function png(colour, bits, columns, value) {
  const chunk = (name, data) => {
    const bytes = Buffer.alloc(12 + data.length);
    bytes.writeUInt32BE(data.length);
    bytes.write(name, 4);
    Buffer.from(data).copy(bytes, 8);
    bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
    return bytes;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(columns);
  header.writeUInt32BE(ROWS, 4);
  header.set([bits, colour], 8);
  const pitch = 1 + Math.ceil((columns * bits) / 8);
  const rows = Buffer.alloc(pitch * ROWS);
  for (let pixel = 0; pixel < ROWS * columns; pixel++) {
    const [row, bit] = [Math.floor(pixel / columns), (pixel % columns) * bits];
    rows[row * pitch + 1 + (bit >> 3)] |= value(pixel) << (8 - bits - (bit & 7));
  }
  const chunks = [chunk("IHDR", header)];
  if (colour === PALETTE) chunks.push(chunk("PLTE", Array.from({ length: 3 << bits }, (_, at) => Math.floor(at / 3))));
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...chunks, chunk("IDAT", deflateSync(rows)), chunk("IEND", [])]);
}

const rows_of = (columns, of) =>
  JSON.stringify([0, 1, 2].map((row) => Array.from({ length: columns }, (_, column) => of(row * columns + column))));
let right = true;
for (const [colour, bits, columns, wanted] of [
  [PALETTE, 4, 4, "[[1,2,3,4],[5,6,7,8],[9,10,11,12]]"],
  [PALETTE, 4, 5, "[[1,2,3,4,5],[0,6,7,8,9],[10,0,11,12,13]]"],
  [PALETTE, 2, 5, "[[1,2,3,0,1],[0,0,0,2,3],[0,1,2,0,0]]"],
  [PALETTE, 8, 5, "[[1,2,3,4,5],[6,7,8,9,10],[11,12,13,14,15]]"],
  [GRAY, 1, 5, "[[255,0,0,255,0],[0,255,0,0,255],[0,0,255,0,0]]"],
  [GRAY, 1, 8, "[[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0],[0,0,0,0,0,0,0,0]]"],
  [GRAY, 1, 10, "[[255,0,0,255,0,0,0,0,0,0],[0,0,255,0,0,0,0,0,0,0],[0,255,0,0,0,0,0,0,0,0]]"],
  [GRAY, 4, 5, "incorrect data size: 9. Expected 15"],
]) {
  const value = (pixel) => (bits === 1 ? Number(pixel % 3 === 0) : (pixel + 1) % (1 << bits));
  const white = colour === GRAY ? 255 / ((1 << bits) - 1) : 1;
  const file = png(colour, bits, columns, value);
  const pixels = PNG.sync.read(file).data;
  right &&= rows_of(columns, (pixel) => pixels[4 * pixel]) === rows_of(columns, (pixel) => value(pixel) * white);
  let seen;
  try {
    const image = decode(file);
    seen = rows_of(columns, (pixel) => image.getPixelByIndex(pixel)[0]);
  } catch (error) {
    seen = error.message;
  }
  console.log(`${colour === GRAY ? "gray" : "palette"} of ${bits} bit${bits > 1 ? "s" : ""}, ${columns} columns: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node rows.mjs
