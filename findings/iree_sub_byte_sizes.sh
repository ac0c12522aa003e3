#!/usr/bin/env bash
# IREE 3.13.0: a tensor at the interface of a program is packed where its type has 2 or 4 bits, and takes a byte an element where it has 1, 3, 5, 6 or
# 7 bits. Tensors of 2 or 4 bits whose bits are no whole number of bytes are refused; a tensor of five i1 takes 5 bytes.
#
# A size that is computed as elements times bits is right for two of these widths only. Seen, in bytes:
#   16xi1 16, 16xi2 4, 16xi3 16, 16xi4 8, 16xi5 16, 16xi6 16, 16xi7 16, 5xi1 5, 5xi4 refused
#
# Exits with 1 if IREE does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet iree-base-compiler==3.13.0
"$folder/env/bin/python" - <<'PYTHON'
import re
import sys

import iree.compiler

seen = []
for tensor in ("16xi1", "16xi2", "16xi3", "16xi4", "16xi5", "16xi6", "16xi7", "5xi1", "5xi4"):
    program = (f"func.func @same(%a: tensor<{tensor}>) -> tensor<{tensor}> {{ %b = util.optimization_barrier %a : tensor<{tensor}> "
               f"return %b : tensor<{tensor}> }}")
    try:
        text = iree.compiler.compile_str(program, target_backends=["llvm-cpu"],
                                         extra_args=["--compile-to=stream", "--iree-llvmcpu-target-cpu=generic"]).decode()
        size = re.search(r"stream\.tensor\.import .* in !stream\.resource<external>\{%c(\d+)\}", text)[1]
    except iree.compiler.CompilerToolError as error:
        size = "refused" if "integral number of total bytes" in str(error) else "error"
    seen.append(f"{tensor} {size}")
print(", ".join(seen))
expected = "16xi1 16, 16xi2 4, 16xi3 16, 16xi4 8, 16xi5 16, 16xi6 16, 16xi7 16, 5xi1 5, 5xi4 refused"
sys.exit(", ".join(seen) != expected)
PYTHON
