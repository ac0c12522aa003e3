"""Strides, in vectors, and sizes of NCHW_VECT_C tensors by cuDNN's descriptors, which need no GPU: pip install nvidia-cudnn-cu13==9.26.0.51
nvidia-cublas==13.4.1.3; LD_LIBRARY_PATH=FOLDERS python cudnn_descriptors.py libcudnn.so.9"""

import ctypes
import itertools
import sys

from record import row, write

cudnn = ctypes.CDLL(sys.argv[1])
cudnn.cudnnGetVersion.restype = ctypes.c_size_t
VECT_C = 2
rows = []
for name, data_type, vector in [("s8", 5, 4), ("u8", 7, 4), ("s8", 8, 32)]:
    for sizes in [(1, vector, 2, 3), (2, 3 * vector, 3, 1)]:
        tensor, size, found_type = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_int()
        values = (ctypes.c_int * 8)()
        assert cudnn.cudnnCreateTensorDescriptor(ctypes.byref(tensor)) == 0
        assert cudnn.cudnnSetTensor4dDescriptor(tensor, VECT_C, data_type, *sizes) == 0
        pointers = [ctypes.byref(values, 4 * place) for place in range(8)]
        assert cudnn.cudnnGetTensor4dDescriptor(tensor, ctypes.byref(found_type), *pointers) == 0
        assert cudnn.cudnnGetTensorSizeInBytes(tensor, ctypes.byref(size)) == 0
        n, c, h, w = list(values)[4:]
        found = {
            (i, j, k, l): (i * n + j // vector * c + k * h + l * w) * vector + j % vector
            for i, j, k, l in itertools.product(*map(range, sizes))
        }
        rows.append(row(f"cudnn.NCHW_VECT_C<{vector}>:{name}{list(sizes)}".replace(" ", ""), found, size.value))
version = cudnn.cudnnGetVersion()
write(__file__, f"cuDNN {version // 10000}.{version // 100 % 100}.{version % 100}", rows)
