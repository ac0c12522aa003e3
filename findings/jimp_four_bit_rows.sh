#!/usr/bin/env bash
# Jimp 1.6.1 (bmp-ts 1.0.9): of a BMP file of 4 bits a pixel and an odd number of columns only the row that is
# stored first is read, which is the lowest one of most files. All others stay black, without an error.
#
# Where the last byte of a row holds one pixel, the reader stops, and leaves the whole image for the end of the
# row. Even numbers of columns are right, whether rows are padded or not, and so are 1 and 8 bits; bmp-js 0.1.0
# is right everywhere. Seen for the pixels 1, 2, 3 and so on in three rows, of a palette whose colour n is gray
# n:
#   4 bits, 4 columns, lowest row first: [[1,2,3,4],[5,6,7,8],[9,10,11,12]]
#   4 bits, 5 columns, lowest row first: [[0,0,0,0,0],[0,0,0,0,0],[11,12,13,14,15]]
#   4 bits, 5 columns, highest row first: [[1,2,3,4,5],[0,0,0,0,0],[0,0,0,0,0]]
#   8 bits, 5 columns, lowest row first: [[1,2,3,4,5],[6,7,8,9,10],[11,12,13,14,15]]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts jimp@1.6.1 bmp-ts@1.0.9 bmp-js@0.1.0
cat > rows.mjs <<'JS'
import bmpjs from "bmp-js";
import { Jimp } from "jimp";

const ROWS = 3;

function bmp(bits, columns, highest_first) {
  const pitch = Math.ceil((columns * bits) / 32) * 4;
  const colours = 1 << bits;
  const start = 54 + 4 * colours;
  const file = Buffer.alloc(start + pitch * ROWS);
  file.write("BM");
  for (const [at, value] of [[2, file.length], [10, start], [14, 40], [18, columns], [34, pitch * ROWS], [46, colours]]) {
    file.writeUInt32LE(value, at);
  }
  file.writeInt32LE(highest_first ? -ROWS : ROWS, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(bits, 28);
  for (let gray = 0; gray < colours; gray++) file.fill(gray, 54 + 4 * gray, 57 + 4 * gray);
  for (let pixel = 0; pixel < ROWS * columns; pixel++) {
    const [row, column] = [Math.floor(pixel / columns), pixel % columns];
    const byte = start + (highest_first ? row : ROWS - 1 - row) * pitch + Math.floor((column * bits) / 8);
    file[byte] |= (pixel + 1) << (8 - bits - ((column * bits) % 8));
  }
  return file;
}

const rows_of = (data, columns, channel) => {
  const row = (at) => Array.from({ length: columns }, (_, column) => data[4 * (at * columns + column) + channel]);
  return JSON.stringify([0, 1, 2].map(row));
};
let right = true;
for (const [bits, columns, highest_first, wanted] of [
  [4, 4, false, "[[1,2,3,4],[5,6,7,8],[9,10,11,12]]"],
  [4, 5, false, "[[0,0,0,0,0],[0,0,0,0,0],[11,12,13,14,15]]"],
  [4, 5, true, "[[1,2,3,4,5],[0,0,0,0,0],[0,0,0,0,0]]"],
  [8, 5, false, "[[1,2,3,4,5],[6,7,8,9,10],[11,12,13,14,15]]"],
]) {
  const file = bmp(bits, columns, highest_first);
  const seen = rows_of((await Jimp.fromBuffer(file)).bitmap.data, columns, 0);
  console.log(`${bits} bits, ${columns} columns, ${highest_first ? "highest" : "lowest"} row first: ${seen}`);
  const all = JSON.stringify([0, 1, 2].map((row) => Array.from({ length: columns }, (_, column) => row * columns + column + 1)));
  right &&= seen === wanted && rows_of(bmpjs.decode(file).data, columns, 1) === all;
}
process.exit(right ? 0 : 1);
JS
node rows.mjs
