"""A terminal with a few commands, line by line, in about 20 seconds.

    python3 docs/pictures/describe.py > docs/pictures/describe.svg

runs the program through cargo; `python3 docs/pictures/describe.py PROGRAM` runs one that is built already. Where animations are not shown, all
lines are.
"""

import html
import shlex
import subprocess
import sys

PROGRAM = sys.argv[1:] or ["cargo", "run", "--quiet", "--features", "cli", "--"]
# A command, how many of its lines are shown, and what the reader is to see.
SCENES = [
    ("describe 'f32[4096,1]{1,0:T(8,128)}'", 8, ["520192 (99.2%) padding", "2097152 bytes (2.0 MiB)", "strides [128,1]"]),
    ("describe --tpu v5e 'f32[4096,1]'", 5, ["{0,1:T(1,128)}", "no padding", "16384 bytes (16.0 KiB)"]),
    ("offset --explain 'f32[3,5]{1,0:T(2,2)}' 2,3", 5, ["element 17 of the buffer"]),
]
SECONDS = 20.0
WIDTH, LINE, LEFT, TOP = 760, 19, 18, 46


def scenes():
    """Every line with the second it appears at: a prompt waits to be read, output comes at once."""
    rows, total = [], sum(count + 6 for _, count, _ in SCENES)
    step, time = SECONDS / total, 0.4
    for command, count, marks in SCENES:
        output = subprocess.run(PROGRAM + shlex.split(command), capture_output=True, text=True, check=True).stdout
        rows.append((time, "prompt", f"tensor-layout {command}", []))
        time += 2 * step
        for line in output.splitlines()[:count]:
            rows.append((time, "output", line, marks))
            time += 0.12
        time += (count + 4) * step - 0.12 * count
        rows.append((time, "output", "", []))
    return rows[:-1]


def spans(line, marks):
    """The line with what matters in a class of its own."""
    text = html.escape(line, quote=False)
    for mark in marks:
        mark = html.escape(mark, quote=False)
        text = text.replace(mark, f'<tspan class="mark">{mark}</tspan>')
    return text


def main():
    rows = scenes()
    height = TOP + LINE * len(rows) + 14
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        "<title>tensor-layout in a terminal: why an array takes 128 times its size on a TPU</title>",
        "<style>",
        "text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #c9d1d9; white-space: pre }",
        ".prompt { fill: #ffffff; font-weight: bold } .sign { fill: #7ee787 } .mark { fill: #ffa657; font-weight: bold }",
        "@media (prefers-reduced-motion: no-preference) { .row { animation: show 0.2s both } }",
        "@keyframes show { from { opacity: 0 } to { opacity: 1 } }",
        "</style>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#161b22"/>',
    ]
    for place, colour in enumerate(["#ff5f57", "#febc2e", "#28c840"]):
        out.append(f'<circle cx="{22 + 18 * place}" cy="19" r="5.5" fill="{colour}"/>')
    for number, (time, kind, line, marks) in enumerate(rows):
        if not line:
            continue
        sign = '<tspan class="sign">$ </tspan>' if kind == "prompt" else ""
        y = TOP + LINE * number + 8
        out.append(
            f'<text class="row {kind}" x="{LEFT}" y="{y}" xml:space="preserve" style="animation-delay: {time:.2f}s">'
            f"{sign}{spans(line, marks)}</text>"
        )
    out.append("</svg>")
    print("\n".join(out))


main()
