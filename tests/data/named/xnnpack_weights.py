"""Packed weights of XNNPACK, by the packing function inside PyTorch, which has no symbols in later versions: pip install torch==2.12.1
numpy==2.4.6; python xnnpack_weights.py. `nm`, of binutils, says where the function is, as it is not exported."""

import ctypes
import importlib.metadata
import subprocess

import numpy

from record import RUNS, numbers, places, row, write

path = next(file for file in importlib.metadata.files("torch") if file.name == "libtorch_cpu.so").locate()
table = dict(line.split()[::-2] for line in subprocess.check_output(["nm", path], text=True).splitlines() if " xnn_" in line)
library = ctypes.CDLL(path)
base = ctypes.cast(library.xnn_initialize, ctypes.c_void_p).value - int(table["xnn_initialize"], 16)
size, pointer = ctypes.c_size_t, ctypes.c_void_p
pack = ctypes.CFUNCTYPE(None, *[size] * 6, *[pointer] * 4, size, pointer)(base + int(table["xnn_pack_f32_gemm_goi_w"], 16))


def packed(weights, nr, kr, sr):
    """The packed weights as whole numbers, 0 for what is padding, a bias or not written, and the bytes up to the last write."""
    n, k = weights.shape
    memory = numpy.full(4 * (n + nr) * (k + kr * sr + 1), -7, dtype=numpy.float32)
    bias = numpy.full(n, -5, dtype=numpy.float32)
    pack(1, n, k, nr, kr, sr, weights.ctypes.data, bias.ctypes.data, None, memory.ctypes.data, 0, None)
    end = int((memory != -7).nonzero()[0][-1]) + 1
    return numpy.maximum(memory, 0).astype(int).tolist(), 4 * end


rows = []
for name, parameters, nr, kr, sr, sizes in [
    *(("f32_gemm_goi", f"{nr},{kr}", nr, kr, 1, [n, k]) for nr in [4, 8, 16, 32] for kr in [1, 2, 4] for n, k in [(nr, 4), (2 * nr, 7), (nr + 3, 5)]),
    *(("f32_gemm_goi_s4", f"{nr}", nr, 1, 4, [n, k]) for nr in [4, 8, 16, 32] for n, k in [(nr, 8), (2 * nr, 7), (nr + 3, 6)]),
]:  # fmt: skip
    count = sizes[0] * sizes[1]
    runs = [packed(numpy.array(numbers(run, count), dtype=numpy.float32).reshape(sizes), nr, kr, sr) for run in range(RUNS)]
    # Padding is not written, so the memory's end is seen only where there is none.
    end = runs[0][1] if sizes[0] % nr == 0 and sizes[1] % (kr * sr) == 0 else None
    rows.append(row(f"xnnpack.{name}.weights<{parameters}>:f32{sizes}".replace(" ", ""), places([memory for memory, _ in runs], sizes), end))
write(__file__, f"the function inside PyTorch {importlib.metadata.version('torch')}", rows)
