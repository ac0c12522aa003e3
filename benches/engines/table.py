"""Reads `case<TAB>theirs<TAB>ours` in seconds from several processes, and writes a table: minima, and the median of the ratios."""

import statistics
import sys

cases = {}
for line in sys.stdin:
    name, *times = line.rstrip("\n").split("\t")
    cases.setdefault(name, []).append([float(time) for time in times])
print("| case | theirs, ms | ours, ms | ours / theirs | median |\n|---|---|---|---|---|")
for name, runs in cases.items():
    theirs, ours = (min(column) for column in zip(*runs))
    median = statistics.median(mine / their for their, mine in runs)
    print(f"| {name} | {theirs * 1e3:.4g} | {ours * 1e3:.4g} | {ours / theirs:.2f} | {median:.2f} |")
