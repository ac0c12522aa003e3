"""Layouts of CUTLASS, by its headers compiled for the host with g++.

pip install --no-deps --target DIR nvidia-cutlass==4.2.0.0 nvidia-cuda-runtime==13.2.86 nvidia-cuda-crt==13.2.86 nvidia-cuda-cccl==13.3.5.0.6;
python cutlass_layouts.py DIR
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile

from record import row, write

CASES = [
    *[("s8", f"RowMajorInterleaved<{k}>", sizes) for k in [2, 4, 32] for sizes in [(3, 5), (33, 7)]],
    *[("s8", f"ColumnMajorInterleaved<{k}>", sizes) for k in [4, 16, 64] for sizes in [(3, 5), (7, 65)]],
    *[("s8", f"TensorNCxHWx<{x}>", sizes) for x in [4, 32] for sizes in [(1, x, 2, 3), (2, 3 * x, 3, 2)]],
    *[("f16", f"TensorCxRSKx<{x}>", sizes) for x in [4, 16] for sizes in [(5, x, 2, 2), (3, 2 * x, 3, 1)]],
]
program = ["#include <cstdio>", "#include <cutlass/layout/matrix.h>", "#include <cutlass/layout/tensor.h>", "int main() {"]
for _, layout, sizes in CASES:
    numbers = ", ".join(map(str, sizes))
    # NHWC is the order of coordinates; our axes are N, C, H, W, and K, C, R, S.
    coordinate = "cutlass::MatrixCoord"
    if len(sizes) == 4:
        coordinate = "cutlass::Tensor4DCoord"
        numbers = f"{sizes[0]}, {sizes[2]}, {sizes[3]}, {sizes[1]}"
    program.append(f"{{ {coordinate} extent({numbers}); auto layout = cutlass::layout::{layout}::packed(extent);")
    loops = "".join(f"for (int i{axis} = 0; i{axis} < {size}; i{axis}++) " for axis, size in enumerate(sizes))
    index = "i0, i1" if len(sizes) == 2 else "i0, i2, i3, i1"
    program.append(f'{loops} std::printf("%lld ", (long long)layout({coordinate}({index})));')
    program.append('std::printf("%lld\\n", (long long)layout.capacity(extent)); }')
program.append("}")
with tempfile.TemporaryDirectory() as folder:
    source, binary = pathlib.Path(folder, "layouts.cpp"), pathlib.Path(folder, "layouts")
    source.write_text("\n".join(program))
    headers = [f"-I{pathlib.Path(sys.argv[1], path)}" for path in ["cutlass_library/source/include", "nvidia/cu13/include", "nvidia/cu13/include/cccl"]]
    subprocess.run(["g++", "-std=c++17", "-w", *headers, str(source), "-o", str(binary)], check=True)
    lines = subprocess.run([str(binary)], check=True, capture_output=True, text=True).stdout.splitlines()
rows = []
for (data_type, layout, sizes), line in zip(CASES, lines, strict=True):
    *offsets, capacity = map(int, line.split())
    found = dict(zip(itertools.product(*map(range, sizes)), offsets, strict=True))
    rows.append(row(f"cutlass.{layout}:{data_type}{list(sizes)}".replace(" ", ""), found, capacity * (2 if data_type == "f16" else 1)))
write(__file__, "CUTLASS 4.2.0, compiled", rows)
