#!/usr/bin/env bash
# @napi-rs/webcodecs 1.3.1 for Node.js: `copyTo` of a VideoFrame with a layout writes zeros over all bytes of
# the destination that no row covers, before the first plane, between rows and behind the last one. Of two
# frames that are copied side by side into one buffer, the second is left. There is no error.
#
# Chroma planes of an odd number of columns or rows are rounded down: of a frame of 5 x 3 in I420 they have 2
# x 1 samples, not 3 x 2, and a frame of 1 x 1 has none. A frame of 27 bytes, whose planes are rounded up, is
# taken without an error, bytes of its first chroma plane become both planes, and NV12 has a byte that no
# sample fills. Seen for bytes 1, 2, 3 and so on, copied over bytes of 255:
#   RGBA, 1 x 2, at 4, a row every 8 bytes: 0,0,0,0,1,2,3,4,0,0,0,0,5,6,7,8,0,0,0,0,255,255,255,255
#   then a second one at 0: 9,10,11,12,0,0,0,0,13,14,15,16,0,0,0,0,0,0,0,0,255,255,255,255
#   I420, 4 x 2, luma at 8, chroma at 1 and 4: 0,9,10,0,11,12,0,0,1,2,3,4,5,6,7,8,255,255,255,255
#   I420, 5 x 3: 19 bytes of 27, planes at 0, 15, 17, the last two 16,17,18,19
#   NV12, 5 x 3: 20 bytes of 27, planes at 0, 15, the last 16,17,18,19,0
#   I420, 1 x 1: 1 bytes of 3, planes at 0, 1, 1, the last two none
#
# Exits with 1 if it does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts @napi-rs/webcodecs@1.3.1
cat > copy.mjs <<'JS'
import { VideoFrame } from "@napi-rs/webcodecs";

function frame(format, [width, height], bytes, first = 1) {
  const data = Uint8Array.from({ length: bytes }, (_, index) => index + first);
  return new VideoFrame(data, { format, codedWidth: width, codedHeight: height, timestamp: 0 });
}

const seen = [];
const rgba = new Uint8Array(24).fill(255);
await frame("RGBA", [1, 2], 8).copyTo(rgba, { layout: [{ offset: 4, stride: 8 }] });
seen.push(`RGBA, 1 x 2, at 4, a row every 8 bytes: ${rgba}`);
await frame("RGBA", [1, 2], 8, 9).copyTo(rgba, { layout: [{ offset: 0, stride: 8 }] });
seen.push(`then a second one at 0: ${rgba}`);
const planes = new Uint8Array(20).fill(255);
const layout = [{ offset: 8, stride: 4 }, { offset: 1, stride: 2 }, { offset: 4, stride: 2 }];
await frame("I420", [4, 2], 12).copyTo(planes, { layout });
seen.push(`I420, 4 x 2, luma at 8, chroma at 1 and 4: ${planes}`);
for (const [format, size, bytes] of [["I420", [5, 3], 27], ["NV12", [5, 3], 27], ["I420", [1, 1], 3]]) {
  const odd = frame(format, size, bytes);
  const destination = new Uint8Array(odd.allocationSize()).fill(255);
  const at = (await odd.copyTo(destination)).map(({ offset }) => offset);
  const last = format === "I420" ? "the last two" : "the last";
  seen.push(`${format}, ${size.join(" x ")}: ${destination.length} bytes of ${bytes}, planes at ${at.join(", ")}, ` +
    `${last} ${destination.slice(at[1]).join() || "none"}`);
}
console.log(seen.join("\n"));
process.exit(JSON.stringify(seen) === JSON.stringify([
  "RGBA, 1 x 2, at 4, a row every 8 bytes: 0,0,0,0,1,2,3,4,0,0,0,0,5,6,7,8,0,0,0,0,255,255,255,255",
  "then a second one at 0: 9,10,11,12,0,0,0,0,13,14,15,16,0,0,0,0,0,0,0,0,255,255,255,255",
  "I420, 4 x 2, luma at 8, chroma at 1 and 4: 0,9,10,0,11,12,0,0,1,2,3,4,5,6,7,8,255,255,255,255",
  "I420, 5 x 3: 19 bytes of 27, planes at 0, 15, 17, the last two 16,17,18,19",
  "NV12, 5 x 3: 20 bytes of 27, planes at 0, 15, the last 16,17,18,19,0",
  "I420, 1 x 1: 1 bytes of 3, planes at 0, 1, 1, the last two none",
]) ? 0 : 1);
JS
node copy.mjs
