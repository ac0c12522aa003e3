#!/usr/bin/env bash
# libavjs-webcodecs-polyfill 0.5.5, WebCodecs for where there is none: `copyTo` of a VideoFrame takes every
# plane from the start of the memory of the frame, so the chroma planes that come out are the first bytes of
# luma. The sizes and layouts it returns are right, and there is no error.
#
# The text of WebCodecs speaks of an offset in the plane, and is followed step by step; where the plane itself
# begins is left out. Of RGBA as many bytes are kept as there are pixels, and rows are taken to lie as many
# bytes apart as they have pixels; with a layout that names the strides it is right. @napi-rs/webcodecs 1.3.1
# gives the bytes that went in. Seen for bytes 1, 2, 3 and so on, written over zeros by the polyfill:
#   I420, 4 x 2: [1,2,3,4,5,6,7,8,1,2,1,2]
#   I420, planes at 40, 2 and 0: [1,2,3,4,5,6,7,8,1,2,1,2]
#   NV12, 4 x 2: [1,2,3,4,5,6,7,8,1,2,3,4]
#   I420, 2 x 2 at (2, 0): [3,4,7,8,2,2]
#   RGBA, 2 x 2: [1,2,3,4,0,0,0,0,3,4,0,0,0,0,0,0]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts libavjs-webcodecs-polyfill@0.5.5 @napi-rs/webcodecs@1.3.1
cat > copy.mjs <<'JS'
// Node.js has no DOMRect, which the polyfill takes from the browser.
globalThis.DOMRect = class {
  constructor(x = 0, y = 0, width = 0, height = 0) {
    Object.assign(this, { x, y, width, height, left: x, top: y, right: x + width, bottom: y + height });
  }
  static fromRect = ({ x, y, width, height }) => new DOMRect(x, y, width, height);
};
globalThis.DOMRectReadOnly = globalThis.DOMRect;
const native = await import("@napi-rs/webcodecs");
const polyfill = await import("libavjs-webcodecs-polyfill");

async function copied({ VideoFrame }, format, size, options, init) {
  const bytes = Uint8Array.from({ length: 64 }, (_, index) => index + 1);
  const frame = new VideoFrame(bytes, { format, codedWidth: size[0], codedHeight: size[1], timestamp: 0, ...init });
  const destination = new Uint8Array(frame.allocationSize(options));
  await frame.copyTo(destination, options);
  return JSON.stringify(Array.from(destination));
}

const apart = { layout: [{ offset: 40, stride: 4 }, { offset: 2, stride: 2 }, { offset: 0, stride: 2 }] };
let right = true;
for (const [text, format, size, options, init, wanted, went_in] of [
  ["I420, 4 x 2", "I420", [4, 2], {}, {}, "[1,2,3,4,5,6,7,8,1,2,1,2]", "[1,2,3,4,5,6,7,8,9,10,11,12]"],
  ["I420, planes at 40, 2 and 0", "I420", [4, 2], {}, apart, "[1,2,3,4,5,6,7,8,1,2,1,2]", "[41,42,43,44,45,46,47,48,3,4,1,2]"],
  ["NV12, 4 x 2", "NV12", [4, 2], {}, {}, "[1,2,3,4,5,6,7,8,1,2,3,4]", "[1,2,3,4,5,6,7,8,9,10,11,12]"],
  ["I420, 2 x 2 at (2, 0)", "I420", [4, 2], { rect: { x: 2, y: 0, width: 2, height: 2 } }, {}, "[3,4,7,8,2,2]", "[3,4,7,8,10,12]"],
  ["RGBA, 2 x 2", "RGBA", [2, 2], {}, {}, "[1,2,3,4,0,0,0,0,3,4,0,0,0,0,0,0]", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]"],
]) {
  const seen = await copied(polyfill, format, size, options, init);
  console.log(`${text}: ${seen}`);
  right &&= seen === wanted && (await copied(native, format, size, options, init)) === went_in;
}
process.exit(right ? 0 : 1);
JS
node copy.mjs
