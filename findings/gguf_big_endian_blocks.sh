#!/usr/bin/env bash
# gguf 0.19.0: a writer of big-endian files swaps the bytes of plain tensors, but not the scales inside quantised blocks. In one big-endian file
# an f16 is then big-endian, and the f16 scale of a Q8_0 block is little-endian. The reader gives the bytes as they are.
#
# A reader has to know how the file was made: the package's own converter between byte orders does swap the scales. Seen, the first bytes of
# a tensor of ones in f16 and of a Q8_0 block with the scale 1:
#   LITTLE: f16 003c, Q8_0 003c
#   BIG: f16 3c00, Q8_0 003c
#
# Exits with 1 if the bytes are others.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet gguf==0.19.0 numpy==2.4.6
"$folder/env/bin/python" - "$folder/model.gguf" <<'PYTHON'
import pathlib
import sys

import gguf
import numpy

path = pathlib.Path(sys.argv[1])
Q8_0 = gguf.GGMLQuantizationType.Q8_0
block = gguf.quants.quantize(numpy.full((1, 32), 127, dtype=numpy.float32), Q8_0)
seen = {}
for order in (gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG):
    writer = gguf.GGUFWriter(str(path), "test", endianess=order)
    writer.add_tensor("block", block.copy(), raw_dtype=Q8_0)
    writer.add_tensor("plain", numpy.ones(8, dtype=numpy.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    data = path.read_bytes()
    first = {tensor.name: data[tensor.data_offset :][:2].hex() for tensor in gguf.GGUFReader(str(path)).tensors}
    print(f"{order.name}: f16 {first['plain']}, Q8_0 {first['block']}")
    seen[order.name] = first
sys.exit(seen != {"LITTLE": {"block": "003c", "plain": "003c"}, "BIG": {"block": "003c", "plain": "3c00"}})
PYTHON
