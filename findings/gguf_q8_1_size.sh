#!/usr/bin/env bash
# gguf 0.19.0: its table says that a block of Q8_1 takes 40 bytes. ggml's own structure, block_q8_1, is two f16 and 32 values of 8 bits: 36 bytes.
#
# A size of a file that is computed from the table is too large by a ninth. Seen:
#   Q8_0: (32, 34)
#   Q8_1: (32, 40)
#
# Exits with 1 if the table says something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet gguf==0.19.0
"$folder/env/bin/python" - <<'PYTHON'
import sys

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

sizes = {name: GGML_QUANT_SIZES[GGMLQuantizationType[name]] for name in ("Q8_0", "Q8_1")}
for name, size in sizes.items():
    print(f"{name}: {tuple(size)}")
sys.exit(sizes != {"Q8_0": (32, 34), "Q8_1": (32, 40)})
PYTHON
