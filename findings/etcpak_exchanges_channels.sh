#!/usr/bin/env bash
# etcpak 0.9.15: compression to ETC1, ETC2 and EAC exchanges red and blue in the memory of the `bytes` that
# are given, which Python holds to be immutable. The same picture compressed a second time has red and blue
# exchanged, and so has every later reader of these bytes.
#
# The README says that these functions take BGRA; of bytes that were never given before they take RGBA, as the
# BC functions always do, which leave the bytes alone. Seen for a picture of RGBA ff8000ff, first pixel of the
# first and of the second result by texture2ddecoder 1.0.6, and the bytes after the first:
#   bc1: (255, 130, 0), then (255, 130, 0); bytes ff8000ff
#   etc1_rgb: (255, 134, 2), then (2, 134, 255); bytes 0080ffff
#   etc2_rgb: (255, 134, 2), then (2, 134, 255); bytes 0080ffff
#   etc2_rgba: (255, 134, 2), then (2, 134, 255); bytes 0080ffff
#   eac_rg: (255, 128, 0), then (0, 128, 0); bytes 0080ffff
#
# Exits with 1 if etcpak does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet etcpak==0.9.15 texture2ddecoder==1.0.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import etcpak
import texture2ddecoder

seen = []
for name, decoder in [("bc1", "bc1"), ("etc1_rgb", "etc1"), ("etc2_rgb", "etc2"), ("etc2_rgba", "etc2a8"), ("eac_rg", "eacrg")]:
    compress, decode = getattr(etcpak, f"compress_{name}"), getattr(texture2ddecoder, f"decode_{decoder}")
    picture = bytes(bytearray([255, 128, 0, 255] * 32))

    def first_pixel():
        blue, green, red = decode(compress(picture, 8, 4), 8, 4)[:3]
        return red, green, blue

    once, memory = first_pixel(), picture[:4].hex()
    seen.append((once, first_pixel(), memory))
    print("{}: {}, then {}; bytes {}".format(name, *seen[-1]))
etc = ((255, 134, 2), (2, 134, 255), "0080ffff")
sys.exit(seen != [((255, 130, 0), (255, 130, 0), "ff8000ff"), etc, etc, etc, ((255, 128, 0), (0, 128, 0), "0080ffff")])
PYTHON
