#!/usr/bin/env bash
# Babylon.js 9.35.0 and parse-dds 1.2.1 take the smaller levels of a compressed DDS file from wrong bytes where
# a level is not whole blocks of 4 x 4, without an error. They multiply a quarter of the width by a quarter of
# the height where each has to be rounded up to blocks: a level of 10 x 6 has 3.75 blocks, not 6, and the next
# one begins there. three.js 0.187.0 and loaders.gl 4.5.4 are right.
#
# A first level of whole blocks is no protection, 12 x 12 goes wrong from the third level on. Babylon.js hands
# on sizes of 1.5 and 2.5 pixels too, and reads levels without compression by them; parse-dds has a last level
# of no row. Seen for files in which all bytes of level 1 are 1, of level 2 are 2 and so on: size and number of
# bytes of each level, and what is in them:
#   BC1, 10 x 6, of 48, 16, 8, 8 bytes:
#     three.js: 10 x 6, 48 of 1; 5 x 3, 16 of 2; 2 x 1, 8 of 3; 1 x 1, 8 of 4
#     loaders.gl: 10 x 6, 48 of 1; 5 x 3, 16 of 2; 2 x 1, 8 of 3; 1 x 1, 8 of 4
#     parse-dds: 10 x 6, 30 of 1; 5 x 3, 10 of 1; 2 x 1, 8 of 1; 1 x 0, 8 of 2
#     Babylon.js: 10 x 6, 30 of 1; 5 x 3, 10 of 1; 2.5 x 1.5, 8 of 1; 1.25 x 1, 8 of 2
#   BC1, 12 x 12, of 72, 32, 8, 8 bytes:
#     three.js: 12 x 12, 72 of 1; 6 x 6, 32 of 2; 3 x 3, 8 of 3; 1 x 1, 8 of 4
#     loaders.gl: 12 x 12, 72 of 1; 6 x 6, 32 of 2; 3 x 3, 8 of 3; 1 x 1, 8 of 4
#     parse-dds: 12 x 12, 72 of 1; 6 x 6, 18 of 2; 3 x 3, 8 of 2; 1 x 1, 8 of 2 and 3
#     Babylon.js: 12 x 12, 72 of 1; 6 x 6, 18 of 2; 3 x 3, 8 of 2; 1.5 x 1.5, 8 of 2 and 3
#
# Exits with 1 if one of them does something else. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts three@0.187.0 @loaders.gl/textures@4.5.4 @loaders.gl/core@4.5.4 \
    parse-dds@1.2.1 @babylonjs/core@9.35.0
cat > levels.mjs <<'JS'
import { NullEngine } from "@babylonjs/core/Engines/nullEngine.js";
import { DDSTools } from "@babylonjs/core/Misc/dds.js";
import { Logger } from "@babylonjs/core/Misc/logger.js";
import parseDDS from "parse-dds";
import { DDSLoader } from "three/examples/jsm/loaders/DDSLoader.js";
import * as loaders from "./node_modules/@loaders.gl/textures/dist/lib/parsers/parse-dds.js";

Logger.LogLevels = Logger.NoneLogLevel;
const LEVELS = 4;
const BLOCK_BYTES = 8;

function file(width, height) {
  const sizes = Array.from({ length: LEVELS }, (_, level) => {
    const blocks = (pixels) => Math.ceil(Math.max(1, pixels >> level) / 4);
    return blocks(width) * blocks(height) * BLOCK_BYTES;
  });
  const bytes = new Uint8Array(128 + sizes.reduce((sum, size) => sum + size));
  const header = new Uint32Array(bytes.buffer, 0, 32);
  const words = { 0: 0x20534444, 1: 124, 2: 0xa1007, 3: height, 4: width, 5: sizes[0], 7: LEVELS, 19: 32, 20: 4, 21: 0x31545844, 27: 0x401008 };
  for (const [at, word] of Object.entries(words)) header[at] = word;
  let start = 128;
  for (const [level, size] of sizes.entries()) {
    bytes.fill(level + 1, start, start + size);
    start += size;
  }
  return { bytes, sizes };
}

const told = (width, height, data) => `${width} x ${height}, ${data.length} of ${[...new Set(data)].join(" and ")}`;
const readers = {
  "three.js": ({ buffer }) => new DDSLoader().parse(buffer, true).mipmaps.map(({ width, height, data }) => told(width, height, data)),
  "loaders.gl": ({ buffer }) => loaders.parseDDS(buffer).map(({ width, height, data }) => told(width, height, data)),
  "parse-dds": ({ buffer }) =>
    parseDDS(buffer).images.map(({ shape, offset, length }) => told(...shape, new Uint8Array(buffer, offset, length))),
  "Babylon.js": (bytes) => {
    const engine = new NullEngine();
    engine.getCaps().s3tc = { COMPRESSED_RGBA_S3TC_DXT1_EXT: 1 };
    const levels = [];
    engine._uploadCompressedDataToTextureDirectly = (texture, format, width, height, data) => levels.push(told(width, height, data));
    DDSTools.UploadDDSLevels(engine, {}, bytes, DDSTools.GetDDSInfo(bytes), true, 1);
    return levels;
  },
};
const wanted = {
  "10,6": {
    "three.js": "10 x 6, 48 of 1; 5 x 3, 16 of 2; 2 x 1, 8 of 3; 1 x 1, 8 of 4",
    "loaders.gl": "10 x 6, 48 of 1; 5 x 3, 16 of 2; 2 x 1, 8 of 3; 1 x 1, 8 of 4",
    "parse-dds": "10 x 6, 30 of 1; 5 x 3, 10 of 1; 2 x 1, 8 of 1; 1 x 0, 8 of 2",
    "Babylon.js": "10 x 6, 30 of 1; 5 x 3, 10 of 1; 2.5 x 1.5, 8 of 1; 1.25 x 1, 8 of 2",
  },
  "12,12": {
    "three.js": "12 x 12, 72 of 1; 6 x 6, 32 of 2; 3 x 3, 8 of 3; 1 x 1, 8 of 4",
    "loaders.gl": "12 x 12, 72 of 1; 6 x 6, 32 of 2; 3 x 3, 8 of 3; 1 x 1, 8 of 4",
    "parse-dds": "12 x 12, 72 of 1; 6 x 6, 18 of 2; 3 x 3, 8 of 2; 1 x 1, 8 of 2 and 3",
    "Babylon.js": "12 x 12, 72 of 1; 6 x 6, 18 of 2; 3 x 3, 8 of 2; 1.5 x 1.5, 8 of 2 and 3",
  },
};
let right = true;
for (const [width, height] of [[10, 6], [12, 12]]) {
  const { bytes, sizes } = file(width, height);
  console.log(`BC1, ${width} x ${height}, of ${sizes.join(", ")} bytes:`);
  for (const [name, read] of Object.entries(readers)) {
    const seen = read(bytes).join("; ");
    console.log(`  ${name}: ${seen}`);
    right &&= seen === wanted[[width, height]][name];
  }
}
process.exit(right ? 0 : 1);
JS
node levels.mjs
