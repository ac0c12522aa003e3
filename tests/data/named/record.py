"""What the scripts of this folder share: samples of indices, where values are found in a memory, and the recorded file.

Each script runs a library, and writes what the library itself answered: `python ncnn_mats.py` writes ncnn_mats.jsonl. The head of a script
names the packages and versions. The scripts are run by hand; tests read the files.
"""

import importlib
import itertools
import json
import pathlib
import random
import re
import sys
import types
import unittest.mock


def samples(sizes, most=24):
    """The first and the last index, and others at random, the same ones every time."""
    all_indices = list(itertools.product(*map(range, sizes)))
    if len(all_indices) <= most:
        return all_indices
    chosen = random.Random(str(sizes)).sample(all_indices[1:-1], most - 2)
    return sorted([all_indices[0], all_indices[-1], *chosen])


RUNS = 4


def numbers(run, count):
    """The element numbers 1 to `count`, in an order of the run's own. The first run has them in ascending order."""
    numbers = list(range(1, count + 1))
    return random.Random(run).sample(numbers, count) if run else numbers


def places(memories, sizes):
    """The offset of each index, from the memories of `RUNS` arrays of these sizes that hold `numbers`, as lists of whole numbers.

    An offset holds an element if it does so in every run: padding may hold anything.
    """
    indices = list(itertools.product(*map(range, sizes)))
    runs = [numbers(run, len(indices)) for run in range(RUNS)]
    element_of = {number: element for element, number in enumerate(zip(*runs))}
    found = {}
    for offset, held in enumerate(zip(*memories)):
        if held in element_of:
            assert element_of[held] not in found, (sizes, held)
            found[element_of[held]] = offset
    assert len(found) == len(indices), (sizes, len(found))
    return {index: found[element] for element, index in enumerate(indices)}


def bit_places(pack, sizes, bits):
    """The offset of each index, in elements of `bits` bits, low ones first, from a function that packs an array of such elements into bytes.

    The numbers of the elements, from 1 on, are too large for so few bits, so each run packs some of the bits of all numbers. Padding is zero.
    """
    indices = list(itertools.product(*map(range, sizes)))
    runs = range(-(-len(indices).bit_length() // bits))
    held = None
    for run in runs:
        memory = pack([(number >> (bits * run)) & ((1 << bits) - 1) for number in range(1, len(indices) + 1)])
        parts = [(byte >> shift) & ((1 << bits) - 1) for byte in memory for shift in range(0, 8, bits)]
        held = [0] * len(parts) if held is None else held
        held = [number | (part << (bits * run)) for number, part in zip(held, parts)]
    assert sorted(filter(None, held)) == list(range(1, len(indices) + 1)), sizes
    return {indices[number - 1]: offset for offset, number in enumerate(held) if number}, len(held) * bits // 8


def one_module(folder, name, **stubs):
    """One module of the package below a folder. What it imports of the package and the wanted function does not use is named as a stub: a
    mock that answers every question, with `__` for the dots of its name."""
    parts = name.split(".")
    for length in range(1, len(parts)):
        package = types.ModuleType(".".join(parts[:length]))
        package.__path__ = [str(pathlib.Path(folder, *parts[:length]))]
        sys.modules.setdefault(package.__name__, package)
    for stub, attributes in stubs.items():
        sys.modules[stub.replace("__", ".")] = unittest.mock.MagicMock(**attributes)
    return importlib.import_module(name)


def row(layout, offsets, size_in_bytes=None):
    sizes = json.loads(re.search(r"\[[\d,]*\]", layout).group())
    line = {"layout": layout, "bytes": size_in_bytes, "offsets": [[*index, offsets[index]] for index in samples(sizes)]}
    return {key: value for key, value in line.items() if value is not None}


def write(script, by, rows):
    path = pathlib.Path(script).with_suffix(".jsonl")
    lines = [json.dumps({"by": by}), *(json.dumps(row, separators=(",", ":")) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    print(f"{path.name}: {len(rows)} layouts by {by}")
