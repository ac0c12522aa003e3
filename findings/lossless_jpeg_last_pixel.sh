#!/usr/bin/env bash
# jpeg-lossless-decoder-js 2.1.2, for lossless JPEG in DICOM files: the last pixel of an image comes back as 0
# where its code ends with a byte, without an error. An image of 4 x 4 equal pixels of one bit each loses the
# last one, one of 3 x 5 does not.
#
# Codes are read ahead, and where the marker of the end is met, the loop over the pixels ends before the one
# that has just been decoded is put out. With bits that fill up the last byte this does not happen, and
# neither where the last difference is not 0. libjpeg-turbo 3 (imagecodecs 2026.3.6) reads the same files
# right. Seen for pixels of 128, bits of the image and its last two pixels:
#   3 x 5, equal: 15 bits, 128, 128
#   4 x 4, equal: 16 bits, 128, 0
#   1 x 17, equal: 17 bits, 128, 128
#   5 x 8, equal: 40 bits, 128, 0
#   2 x 7, the last one 129: 16 bits, 128, 129
#   2 x 7, the first one 129: 20 bits, 128, 128
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet imagecodecs==2026.3.6 numpy==2.4.6
npm install --silent --no-audit --no-fund --no-save --ignore-scripts jpeg-lossless-decoder-js@2.1.2
cat > images.py <<'PYTHON'
import imagecodecs
import numpy


def jpeg(pixels):
    """A lossless JPEG with two codes: 0 for no difference, 10 and a bit for a difference of -1 or 1."""
    rows, columns = pixels.shape
    bits = ""
    for row in range(rows):
        for column in range(columns):
            before = pixels[row, column - 1] if column else pixels[row - 1, 0] if row else 128
            bits += {0: "0", -1: "100", 1: "101"}[int(pixels[row, column]) - int(before)]
    filled = bits + "1" * (-len(bits) % 8)
    codes = bytes(int(filled[at:at + 8], 2) for at in range(0, len(filled), 8))
    assert 0xFF not in codes
    frame = bytes([0xFF, 0xC3, 0, 11, 8, 0, rows, 0, columns, 1, 1, 0x11, 0])
    table = bytes([0xFF, 0xC4, 0, 21, 0, 1, 1, *[0] * 14, 0, 1])
    scan = bytes([0xFF, 0xDA, 0, 8, 1, 1, 0, 1, 0, 0])
    return len(bits), b"\xff\xd8" + frame + table + scan + codes + b"\xff\xd9"


def equal(rows, columns, *changes):
    pixels = numpy.full((rows, columns), 128, "u1")
    for at, value in changes:
        pixels[at] = value
    return pixels


for text, pixels in [("3 x 5, equal", equal(3, 5)), ("4 x 4, equal", equal(4, 4)), ("1 x 17, equal", equal(1, 17)),
                     ("5 x 8, equal", equal(5, 8)), ("2 x 7, the last one 129", equal(2, 7, ((1, 6), 129))),
                     ("2 x 7, the first one 129", equal(2, 7, ((0, 0), 129), ((1, 0), 129)))]:
    bits, data = jpeg(pixels)
    assert (imagecodecs.jpeg8_decode(data) == pixels).all()
    print(f"{text}: {bits} bits\t{data.hex()}\t{pixels.size}")
PYTHON
venv/bin/python images.py > images
cat > read.mjs <<'JS'
import { readFileSync } from "node:fs";

import { Decoder } from "jpeg-lossless-decoder-js";

for (const line of readFileSync("images", "utf8").trimEnd().split("\n")) {
  const [text, hex, pixels] = line.split("\t");
  const { buffer } = Uint8Array.from(Buffer.from(hex, "hex"));
  const read = new Uint8Array(new Decoder().decode(buffer).buffer, 0, Number(pixels));
  console.log(`${text}, ${read.slice(-2).join(", ")}`);
}
JS
node read.mjs > seen
cat seen
diff seen - <<'TEXT'
3 x 5, equal: 15 bits, 128, 128
4 x 4, equal: 16 bits, 128, 0
1 x 17, equal: 17 bits, 128, 128
5 x 8, equal: 40 bits, 128, 0
2 x 7, the last one 129: 16 bits, 128, 129
2 x 7, the first one 129: 20 bits, 128, 128
TEXT
