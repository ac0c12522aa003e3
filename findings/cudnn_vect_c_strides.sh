#!/usr/bin/env bash
# cuDNN 9.26.0: the strides of an NCHW_VECT_C tensor count vectors of 4 (or 32) channels, its sizes count channels. The strides of
# s8 [2, 12, 3, 1] are 9, 3, 1, 1, those of a tensor of 3 channels; as strides of elements they would let all channels overlap. The size in
# bytes is that of all 12.
#
# Whoever takes sizes and strides of a descriptor together, as for NCHW, gets wrong offsets. Seen:
#   INT8x4 [2, 12, 3, 1]: strides [9, 3, 1, 1], 72 bytes
#   INT8x32 [1, 64, 2, 3]: strides [12, 6, 3, 1], 384 bytes
#
# Exits with 1 if cuDNN says something else. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --no-deps --target "$folder/packages" nvidia-cudnn-cu13==9.26.0.51
LD_LIBRARY_PATH="$folder/packages/nvidia/cudnn/lib" "$folder/env/bin/python" - <<'PYTHON'
import ctypes
import sys

cudnn = ctypes.CDLL("libcudnn.so.9")
NCHW_VECT_C = 2
seen = []
for name, data_type, sizes in [("INT8x4", 5, [2, 12, 3, 1]), ("INT8x32", 8, [1, 64, 2, 3])]:
    tensor, size, found = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_int()
    cudnn.cudnnCreateTensorDescriptor(ctypes.byref(tensor))
    cudnn.cudnnSetTensor4dDescriptor(tensor, NCHW_VECT_C, data_type, *sizes)
    numbers = [ctypes.c_int() for _ in range(8)]
    cudnn.cudnnGetTensor4dDescriptor(tensor, ctypes.byref(found), *map(ctypes.byref, numbers))
    cudnn.cudnnGetTensorSizeInBytes(tensor, ctypes.byref(size))
    strides = [number.value for number in numbers[4:]]
    print(f"{name} {sizes}: strides {strides}, {size.value} bytes")
    seen.append((strides, size.value))
sys.exit(seen != [([9, 3, 1, 1], 72), ([12, 6, 3, 1], 384)])
PYTHON
