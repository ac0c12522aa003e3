#!/usr/bin/env python3
"""Draws docs/pictures/trust.svg: what the answers of the library are compared with.

    python3 docs/pictures/trust.py
"""

import html
import pathlib

ROWS = [  # a source of truth, what is compared with it, where the tests are
    ("recorded answers of DirectML's helper, XLA's parser, TPU compilers, oneDNN, NumPy, CuTe", "texts, sizes, offsets, tiles", "tests/data, tests/it"),
    ("literal code: pad, reshape and transpose with ndarray", "offsets and copies of random layouts", "tests/literal"),
    ("safe Rust without SIMD, the twin of every kernel", "the bytes of every kernel and CPU level", "crates/kernel/tests"),
    ("a second implementation that shares no code", "any bytes that a fuzzer invents", "fuzz"),
    ("pages without access, AddressSanitizer", "every read and write of a kernel", "tests/house"),
    ("system calls that fail, signals, a full disk", "the files that are written", "crates/cli/tests/it"),
]
WIDTH, LEFT, MIDDLE, RIGHT, HEIGHT, GAP = 860, 350, 270, 180, 40, 10
STYLE = """text{font:12px system-ui,sans-serif;fill:#222}.head{font-weight:600}.place{font-family:ui-monospace,monospace;fill:#555}
rect{fill:#eef4f8;stroke:#2a6f97}rect.ours{fill:#2a6f97}text.ours{fill:#fff}path{stroke:#2a6f97;stroke-width:1.5;fill:none}
@media(prefers-color-scheme:dark){text{fill:#e8e8e8}.place{fill:#aaa}rect{fill:#1f2d38;stroke:#6db3d8}path{stroke:#6db3d8}}"""


def lines(text, most):
    """The words of a text in lines of at most `most` characters."""
    found = [""]
    for word in text.split():
        if len(found[-1]) + len(word) + 1 > most and found[-1]:
            found.append("")
        found[-1] = f"{found[-1]} {word}".strip()
    return found


def box(x, y, width, text, kind=""):
    rows = lines(text, int(width / 6.1))
    first = y + HEIGHT / 2 + 4 - 7.5 * (len(rows) - 1)
    words = "".join(
        f'<text class="{kind}" x="{x + width / 2}" y="{first + 15 * i}" text-anchor="middle">{html.escape(row)}</text>'
        for i, row in enumerate(rows)
    )
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{HEIGHT}" rx="4"/>{words}'


def main():
    height = 34 + len(ROWS) * (HEIGHT + GAP)
    middle = LEFT + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        "<title>What the answers are compared with</title><desc>Six sources of truth, each with what is compared with it and the folder of the tests.</desc>",
        f"<style>{STYLE}</style>",
        f'<text class="head" x="2" y="16">truth from outside</text><text class="head" x="{middle}" y="16">what is compared with it</text>',
        f'<text class="head" x="{middle + MIDDLE + 16}" y="16">tests</text>',
    ]
    for number, (truth, compared, place) in enumerate(ROWS):
        y = 28 + number * (HEIGHT + GAP)
        parts.append(box(1, y, LEFT, truth))
        parts.append(box(middle, y, MIDDLE, compared, "ours"))
        at = y + HEIGHT / 2
        parts.append(f'<path d="M{LEFT + 4} {at}H{middle - 6}m-6 -5l6 5l-6 5"/>')
        parts.append(f'<text class="place" x="{middle + MIDDLE + 16}" y="{at + 4}">{html.escape(place)}</text>')
    parts.append("</svg>\n")
    pathlib.Path(__file__).with_name("trust.svg").write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
