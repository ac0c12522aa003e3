#!/usr/bin/env bash
# The colour map of a TGA file can begin at another colour than 0, and the header says at which. tga 1.0.7,
# tga-js 1.1.1 and @lunapaint/tga-codec 0.2.0 for JavaScript and pygame-ce 2.5.8 (SDL_image 2.8.12) take
# colour n for entry n all the same, so every pixel has the colour of a later one, without an error.
#
# three.js 0.187.0 and Pillow 13.0.0 count from the first colour, and where it is 0, all six are right. Of
# pixels of 16 bits without a map, tga-js has a blue of 3 where it should be 248, and the others are right.
# Seen for the pixels 2, 3, 4 and 5 and a map in which colour n is gray 10 n, red, green and blue of the first
# two; then for a blue and a white pixel of 16 bits:
#   map from 0: all 20,20,20 and 30,30,30
#   map from 2: three.js and Pillow 20,20,20 and 30,30,30, the others 40,40,40 and 50,50,50
#   16 bits: tga-js 0,0,3 and 248,248,3, the others 0,0,248 and 248,248,248, or 255 for 248
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pillow==13.0.0 pygame-ce==2.5.8 numpy==2.4.6
npm install --silent --no-audit --no-fund --no-save --ignore-scripts tga@1.0.7 tga-js@1.1.1 @lunapaint/tga-codec@0.2.0 three@0.187.0
cat > javascript.mjs <<'JS'
import { writeFileSync } from "node:fs";

import { decodeTga } from "@lunapaint/tga-codec";
import { TGALoader } from "three/examples/jsm/loaders/TGALoader.js";
import Tga from "tga";
import TgaJs from "tga-js";

function header(type, bits, [columns, first, colours]) {
  const bytes = Buffer.alloc(18);
  bytes.set([0, Number(colours > 0), type]);
  bytes.writeUInt16LE(first, 3);
  bytes.writeUInt16LE(colours, 5);
  bytes[7] = colours > 0 ? 24 : 0;
  bytes.writeUInt16LE(columns, 12);
  bytes.writeUInt16LE(1, 14);
  bytes.set([bits, 0x20], 16);
  return bytes;
}

const grays = (first) => Buffer.from(Array.from({ length: 10 - first }, (_, at) => Array(3).fill(10 * (first + at))).flat());
const pixels = Buffer.from([2, 3, 4, 5]);
const TgaLoader = TgaJs.default ?? TgaJs;
for (const [name, file] of [
  ["map from 0", Buffer.concat([header(1, 8, [4, 0, 10]), grays(0), pixels])],
  ["map from 2", Buffer.concat([header(1, 8, [4, 2, 8]), grays(2), pixels])],
  ["16 bits", Buffer.concat([header(2, 16, [4, 0, 0]), Buffer.from(Uint16Array.of(0x1f, 0x7fff, 0, 0).buffer)])],
]) {
  writeFileSync(`${name}.tga`, file);
  const columns = file.readUInt16LE(12);
  const loader = new TgaLoader();
  loader.load(Uint8Array.from(file));
  const readers = {
    "tga": new Tga(file).pixels,
    "tga-js": loader.getImageData({ width: columns, height: 1, data: new Uint8ClampedArray(4 * columns) }).data,
    "@lunapaint/tga-codec": (await decodeTga(Uint8Array.from(file))).image.data,
    "three.js": new TGALoader().parse(Uint8Array.from(file).buffer).data,
  };
  for (const [reader, rgba] of Object.entries(readers)) {
    console.log(`${name}: ${reader} ${Array.from(rgba.slice(0, 3))} and ${Array.from(rgba.slice(4, 7))}`);
  }
}
JS
cat > python.py <<'PYTHON'
import numpy
import PIL.Image
import pygame

for name in ["map from 0", "map from 2", "16 bits"]:
    surface = pygame.image.load(f"{name}.tga")
    for reader, rgb in [("pygame", [surface.get_at((column, 0))[:3] for column in [0, 1]]),
                        ("Pillow", numpy.asarray(PIL.Image.open(f"{name}.tga").convert("RGB"))[0, :2].tolist())]:
        print(f"{name}: {reader} " + " and ".join(",".join(map(str, pixel)) for pixel in rgb))
PYTHON
{ node javascript.mjs && PYGAME_HIDE_SUPPORT_PROMPT=1 venv/bin/python python.py; } | LC_ALL=C sort > seen
cat seen
diff seen - <<'TEXT'
16 bits: @lunapaint/tga-codec 0,0,255 and 255,255,255
16 bits: Pillow 0,0,255 and 255,255,255
16 bits: pygame 0,0,255 and 255,255,255
16 bits: tga 0,0,248 and 248,248,248
16 bits: tga-js 0,0,3 and 248,248,3
16 bits: three.js 0,0,248 and 248,248,248
map from 0: @lunapaint/tga-codec 20,20,20 and 30,30,30
map from 0: Pillow 20,20,20 and 30,30,30
map from 0: pygame 20,20,20 and 30,30,30
map from 0: tga 20,20,20 and 30,30,30
map from 0: tga-js 20,20,20 and 30,30,30
map from 0: three.js 20,20,20 and 30,30,30
map from 2: @lunapaint/tga-codec 40,40,40 and 50,50,50
map from 2: Pillow 20,20,20 and 30,30,30
map from 2: pygame 40,40,40 and 50,50,50
map from 2: tga 40,40,40 and 50,50,50
map from 2: tga-js 40,40,40 and 50,50,50
map from 2: three.js 20,20,20 and 30,30,30
TEXT
