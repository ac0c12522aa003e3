#!/usr/bin/env bash
# oneDNN 3.13.2 (onednn 2026.1.0): the size of a tensor of 3 x 4 floats with the strides 0, 0 is 0 bytes, although all its elements are one float
# that has to be somewhere. With the strides 0, 1 it is 16 bytes.
#
# A buffer that is allocated by this size is empty. Seen:
#   strides [0, 0]: 0 bytes
#   strides [0, 1]: 16 bytes
#
# Exits with 1 if oneDNN says something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet onednn==2026.1.0
LD_LIBRARY_PATH="$folder/env/lib" "$folder/env/bin/python" - "$folder/env/lib/libdnnl.so" <<'PYTHON'
import ctypes
import sys

dnnl = ctypes.CDLL(sys.argv[1])
dnnl.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
F32 = 3
seen = []
for strides in ([0, 0], [0, 1]):
    desc = ctypes.c_void_p()
    numbers = [(ctypes.c_int64 * 2)(*list) for list in ([3, 4], strides)]
    status = dnnl.dnnl_memory_desc_create_with_strides(ctypes.byref(desc), 2, numbers[0], F32, numbers[1])
    size = dnnl.dnnl_memory_desc_get_size(desc)
    print(f"strides {strides}: {size} bytes")
    seen.append((status, size))
sys.exit(seen != [(0, 0), (0, 16)])
PYTHON
