"""Block scales in FlashInfer's layouts, by the functions of its kernels that are also for the host, compiled with g++.

pip install --no-deps --target DIR flashinfer-python==0.7.2.post1; python flashinfer_scales.py DIR
"""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

from record import row, write

source = pathlib.Path(sys.argv[1], "flashinfer/data/csrc/nv_internal/tensorrt_llm/kernels/quantization_utils.cuh").read_text()
functions = []
for start in re.finditer(r"inline __device__ __host__ int64_t get_sf_out_offset_(128x4|8x4)\(int batchIdx|inline __device__ __host__ int64_t get_sf_out_offset_128x4\(std", source):
    functions.append(source[start.start() : source.index("\n}\n", start.start()) + 3])
CASES = [(name, sizes) for name in ["128x4", "8x4"] for sizes in [(1, 5, 3), (1, 130, 5), (1, 8, 4), (2, 130, 5), (3, 9, 9)]]
program = ["#include <cstdint>", "#include <cstdio>", "#include <optional>", "#define __device__", "#define __host__", *functions, "int main() {"]
for name, (batch, rows, columns) in CASES:
    program.append(f"for (int b = 0; b < {batch}; b++) for (int m = 0; m < {rows}; m++) for (int k = 0; k < {columns}; k++)")
    program.append(f'std::printf("%lld ", (long long)get_sf_out_offset_{name}(b, m, k, {rows}, {columns})); std::puts("");')
program.append("}")
with tempfile.TemporaryDirectory() as folder:
    text, binary = pathlib.Path(folder, "scales.cpp"), pathlib.Path(folder, "scales")
    text.write_text("\n".join(program))
    subprocess.run(["g++", "-std=c++17", "-w", str(text), "-o", str(binary)], check=True)
    lines = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout.splitlines()
recorded = []
for (name, sizes), line in zip(CASES, lines, strict=True):
    found = dict(zip(itertools.product(*map(range, sizes)), map(int, line.split()), strict=True))
    # The functions give no size.
    recorded.append(row(f"nvidia.sf_{name}:f8e4m3fn{list(sizes)}".replace(" ", ""), found))
write(__file__, "FlashInfer 0.7.2.post1, compiled", recorded)
