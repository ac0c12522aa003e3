"""Elements of 1, 2, 3, 4 and 6 bits, packed by OpenVINO itself: pip install openvino==2026.4.1 numpy==2.4.6

Writes openvino_bits.jsonl: the values, and the bytes of a constant that holds them.
"""

import json
import pathlib
import random

import openvino

TYPES = {bits: getattr(openvino.Type, f"u{bits}") for bits in (1, 2, 3, 4, 6)}


def packed(bits, values):
    return bytes(openvino.op.Constant(TYPES[bits], openvino.Shape([len(values)]), values).data).hex()


chosen = random.Random(1)
rows = [{"about": f"OpenVINO {openvino.__version__.split('-')[0]}: values of so many bits, and the bytes of a constant of them"}]
for bits, first in [(1, [1, 0, 0, 0, 0, 0, 0, 0]), (2, [0, 1, 2, 3]), (3, [1, 2, 3, 4, 5, 6, 7, 0]), (4, [1, 2]), (6, [1, 2, 3, 33])]:
    ragged = [[chosen.randrange(1, 1 << bits) for _ in range(count)] for count in (1, 5, 10)]
    for values in [first, [chosen.randrange(1 << bits) for _ in range(64)], *ragged]:
        rows.append({"bits": bits, "values": values, "bytes": packed(bits, values)})
(pathlib.Path(__file__).with_suffix(".jsonl")).write_text("".join(json.dumps(row) + "\n" for row in rows))
