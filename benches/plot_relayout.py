#!/usr/bin/env python3
"""Turns the CSV of `cargo bench --bench relayout -- --csv` into tables and a picture.

    python3 benches/plot_relayout.py RUN.csv [RUN.csv ...] [--svg FILE]

Prints three tables: the machine that this script runs on, the geometric means, and the cases. Several runs of the
same suite are columns of the tables; several kernel levels are rows.
"""

import argparse
import csv
import html
import math
import platform
import re
import sys
from collections import defaultdict
from pathlib import Path

LEVELS = ("portable", "neon", "avx2", "avx512")
SIZES = ("large", "unaligned", "small", "tiny", "planes", "named", "check")
COLOURS = {"own": "#2a6f97", "measured": "#8ab6d6", "peer": "#e07a1f", "axis": "#999999", "text": "#222222"}


def read(paths):
    """Runs: for each, (setting, size, case) -> who -> row. `own` is this crate, `measured` its measured plan; a setting is a
    number of threads and a level."""
    runs = []
    for path in paths:
        run = defaultdict(dict)
        with open(path, newline="") as file:
            # A build may have written lines in front of the header, and several outputs may follow each other.
            lines = [line for line in file if line.count(",") == 8]
            lines = lines[:1] + [line for line in lines[1:] if line != lines[0]]
        level = LEVELS[-1]
        for row in csv.DictReader(lines):
            who = "own" if row["level"] in LEVELS else row["level"]
            # The level of a measured plan is its choice.
            who = "measured" if re.match(r"v\d", who) else who
            if who == "own":
                level = row["level"]
            run[f'{row["threads"]}, {level}', row["size"], row["case"]][who] = row
        if not run:
            sys.exit(f"{path}: no line of the bench's CSV in it")
        runs.append(run)
    return runs


def keys(runs):
    """Every case of any run: the highest level and one thread first, then in the order of the suite."""
    seen = {}
    for run in runs:
        for key in run:
            seen.setdefault(key, len(seen))
    order = {name: place for place, name in enumerate(reversed(LEVELS))}
    return sorted(seen, key=lambda key: (order[key[0].split(", ")[1]], key[0], SIZES.index(key[1]), seen[key]))


def ratio(cell, column="ratio"):
    return float(cell[column]) if cell else None


def shown(value):
    return "-" if value is None else f"{value:.2f}"


def best_peer(runs, key):
    """The lowest ratio of any other crate, and its name."""
    others = [(ratio(row), who) for run in runs for who, row in run.get(key, {}).items() if who not in ("own", "measured")]
    return min(others, default=(None, None))


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def machine():
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*:\s*(.*)", text)
    flags = set(re.search(r"flags\s*:\s*(.*)|$", text).group(1).split()) if "flags" in text else set()
    memory = Path("/proc/meminfo").read_text() if Path("/proc/meminfo").exists() else ""
    total = re.search(r"MemTotal:\s*(\d+)", memory)
    caches = []
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        caches.append(f"L{level} {kind.lower()} {size}")
    vectors = [name for name in ("avx2", "avx512f", "avx512bw", "avx512vbmi") if name in flags]
    return [
        ("processor", model.group(1) if model else platform.processor() or platform.machine()),
        ("logical CPUs", str(text.count("processor\t")) if text else "?"),
        ("vectors", ", ".join(vectors) or "none named"),
        ("caches", ", ".join(caches) or "?"),
        ("memory", f"{int(total.group(1)) / 2**20:.0f} GiB" if total else "?"),
        ("system", f"{platform.system()} {platform.release()}"),
    ]


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def means_table(runs):
    rows = []
    measured = any("measured" in row for run in runs for row in run.values())
    groups = dict.fromkeys((key[0], key[1]) for key in keys(runs))
    for threads, size, who in [(*group, who) for group in groups for who in ["own"] + ["measured"] * measured]:
        cells = []
        for run in runs:
            own = [(ratio(row[who]), key[2]) for key, row in run.items() if key[:2] == (threads, size) and who in row]
            if own:
                worst, case = max(own)
                cells += [f"{geometric_mean([value for value, _ in own]):.2f}", f"{worst:.2f} ({case})"]
            else:
                cells += ["-", "-"]
        rows.append([size if who == "own" else f"{size}, measured", threads, *cells])
    header = ["group", "threads, kernels"]
    for place in range(len(runs)):
        header += [f"run {place + 1}: geometric mean", "worst"]
    return table(header, rows)


def cases_table(runs):
    rows = []
    for key in keys(runs):
        threads, size, case = key
        cells = []
        for run in runs:
            own = run.get(key, {}).get("own")
            cells += [shown(ratio(own)), shown(ratio(own, "ratio_median") if own else None)]
        peer, who = best_peer(runs, key)
        rows.append([f"{size} {case}", threads, *cells, "-" if who is None else f"{peer:.2f} {who}"])
    header = ["case", "threads, kernels"]
    for place in range(len(runs)):
        header += [f"run {place + 1}", "median"]
    return table(header + ["best other crate"], rows)


def picture(runs):
    """Bars on a logarithmic scale: this crate's ratio, a lighter bar for its measured plan, and a mark at the best other
    crate's. If other crates took part, the picture has the cases that one of them can express."""
    wanted = [key for key in keys(runs) if key[0] == keys(runs)[0][0]]
    wanted = [key for key in wanted if any("own" in run.get(key, {}) for run in runs)]
    wanted = [key for key in wanted if best_peer(runs, key)[1]] or wanted
    rows = []
    for key in wanted:
        own = min(ratio(run[key]["own"]) for run in runs if "own" in run.get(key, {}))
        measured = [ratio(run[key]["measured"]) for run in runs if "measured" in run.get(key, {})]
        rows.append((key, own, min(measured, default=None), best_peer(runs, key)))
    top = max([2.5] + [value for _, own, _, (peer, _) in rows for value in (own, peer) if value is not None])
    low, high = math.log(0.5), math.log(top * 1.1)
    left, width, line, head = 250, 560, 16, 56
    height = head + line * len(rows) + 24

    def x(value):
        return left + (math.log(max(value, 0.5)) - low) / (high - low) * width

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 70}" height="{height}" '
        f'viewBox="0 0 {left + width + 70} {height}" font-family="sans-serif" font-size="11" fill="{COLOURS["text"]}">',
        '<rect width="100%" height="100%" fill="white"/>',
        '<text x="10" y="18" font-size="14">Time of a relayout over the time of the best plain copy of as many bytes</text>',
        f'<rect x="10" y="27" width="14" height="9" fill="{COLOURS["own"]}"/><text x="30" y="36">tensor-layout</text>',
    ]
    if any(measured for _, _, measured, _ in rows):
        parts.append(f'<rect x="250" y="27" width="14" height="9" fill="{COLOURS["measured"]}"/><text x="270" y="36">measured</text>')
    if any(who for *_, (_, who) in rows):
        parts.append(f'<circle cx="127" cy="32" r="4" fill="{COLOURS["peer"]}"/><text x="137" y="36">best other crate</text>')
    ticks = [value for value in (0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256) if value <= top * 1.1]
    for tick in ticks:
        weight = 1.5 if tick == 1 else 0.5
        parts.append(
            f'<line x1="{x(tick):.1f}" y1="{head - 4}" x2="{x(tick):.1f}" y2="{height - 20}" '
            f'stroke="{COLOURS["axis"]}" stroke-width="{weight}"/>'
            f'<text x="{x(tick):.1f}" y="{height - 8}" text-anchor="middle">{tick:g}</text>'
        )
    for place, ((_, size, case), own, measured, (peer, who)) in enumerate(rows):
        y = head + place * line
        start, end = sorted((x(1), x(own)))
        parts.append(f'<text x="{left - 8}" y="{y + 9}" text-anchor="end">{html.escape(f"{size} {case}")}</text>')
        parts.append(
            f'<rect x="{start:.1f}" y="{y}" width="{max(end - start, 1.5):.1f}" height="{11 if measured is None else 6}" '
            f'fill="{COLOURS["own"]}"><title>{own:.2f}</title></rect>'
        )
        if measured is not None:
            start, end = sorted((x(1), x(measured)))
            parts.append(
                f'<rect x="{start:.1f}" y="{y + 6}" width="{max(end - start, 1.5):.1f}" height="6" fill="{COLOURS["measured"]}">'
                f"<title>{measured:.2f}</title></rect>"
            )
        if who is not None:
            parts.append(
                f'<circle cx="{x(peer):.1f}" cy="{y + 5.5}" r="4" fill="{COLOURS["peer"]}">'
                f"<title>{html.escape(who)} {peer:.2f}</title></circle>"
            )
    return "\n".join(parts + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", metavar="RUN.csv", help="output of the bench")
    parser.add_argument("--svg", type=Path, help="a file for the picture")
    options = parser.parse_args()
    runs = read(options.runs)
    machine_table = table(["what", "this machine"], [list(row) for row in machine()])
    print("\n\n".join([machine_table, means_table(runs), cases_table(runs)]))
    if options.svg:
        options.svg.write_text(picture(runs))


if __name__ == "__main__":
    main()
