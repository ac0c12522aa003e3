#!/usr/bin/env bash
# FreeType 2.13.2 (freetype-py 2.5.1): the rows of one glyph are padded to 1, 2 or 4 bytes, by the mode it is rendered in. Gray rows are packed,
# rows of bits are whole words of 16, rows of three subpixels a pixel are whole words of 32; three subpixels a column are packed again.
#
# An upload that takes one alignment for all glyphs, or the bits rounded up to bytes, reads rows from wrong places. Both forms with subpixels
# also have 6 more of them than three a pixel. Seen for a box of 3 rows, width x rows and pitch in bytes:
#   5 pixels: gray 5 x 3, pitch 5; bits 5 x 3, pitch 2; subpixels of rows 21 x 3, pitch 24; of columns 5 x 15, pitch 5
#   9 pixels: gray 9 x 3, pitch 9; bits 9 x 3, pitch 2; subpixels of rows 33 x 3, pitch 36; of columns 9 x 15, pitch 9
#   17 pixels: gray 17 x 3, pitch 17; bits 17 x 3, pitch 4; subpixels of rows 57 x 3, pitch 60; of columns 17 x 15, pitch 17
#
# Exits with 1 if FreeType does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet freetype-py==2.5.1 fonttools==4.68.0
"$folder/env/bin/python" - <<'PYTHON'
import io
import sys

import freetype
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen


def box(width, height):
    """A font of 100 units an em, whose letter A is a box."""
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in [(0, height), (width, height), (width, 0)]:
        pen.lineTo(corner)
    pen.closePath()
    font = FontBuilder(100, isTTF=True)
    font.setupGlyphOrder([".notdef", "A"])
    font.setupCharacterMap({ord("A"): "A"})
    font.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "A": pen.glyph()})
    font.setupHorizontalMetrics({".notdef": (100, 0), "A": (width, 0)})
    font.setupHorizontalHeader(ascent=height, descent=0)
    font.setupNameTable({"familyName": "Box", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    file = io.BytesIO()
    font.save(file)
    file.seek(0)
    return file


modes = {
    "gray": freetype.FT_LOAD_TARGET_NORMAL,
    "bits": freetype.FT_LOAD_TARGET_MONO,
    "subpixels of rows": freetype.FT_LOAD_TARGET_LCD,
    "of columns": freetype.FT_LOAD_TARGET_LCD_V,
}
seen = []
for width in (5, 9, 17):
    face = freetype.Face(box(width * 100, 300))
    face.set_pixel_sizes(1, 1)
    row = []
    for target in modes.values():
        face.load_char("A", freetype.FT_LOAD_RENDER | freetype.FT_LOAD_NO_HINTING | target)
        bitmap = face.glyph.bitmap
        row.append((bitmap.width, bitmap.rows, bitmap.pitch))
    seen.append(row)
    print(f"{width} pixels:", "; ".join("{} {} x {}, pitch {}".format(name, *sizes) for name, sizes in zip(modes, row)))
sys.exit(freetype.version() != (2, 13, 2) or seen != [
    [(5, 3, 5), (5, 3, 2), (21, 3, 24), (5, 15, 5)],
    [(9, 3, 9), (9, 3, 2), (33, 3, 36), (9, 15, 9)],
    [(17, 3, 17), (17, 3, 4), (57, 3, 60), (17, 15, 17)],
])
PYTHON
