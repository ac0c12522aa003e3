#!/usr/bin/env bash
# CUTLASS 4.2.0 (nvidia-cutlass): `capacity()` of the layout TensorCxRSKx<4> says fewer elements than the tensor reaches, where C is no multiple of
# 4: 5 filters of 10 x 2 x 2 have their last element at 237, and the capacity is 160. The layout places the channels in 3 blocks of 4; the
# capacity divides 10 by 4 and rounds down.
#
# A buffer that is allocated by the capacity is too small by a block of channels. Seen:
#   C 8: capacity 160, largest offset 159
#   C 10: capacity 160, largest offset 237
#
# Exits with 1 if CUTLASS says something else. Needs g++; the headers of CUDA come from PyPI, and no GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --no-deps --target "$folder/packages" nvidia-cutlass==4.2.0.0 nvidia-cuda-runtime==13.2.86 nvidia-cuda-crt==13.2.86 \
    nvidia-cuda-cccl==13.3.5.0.6
cat > "$folder/capacity.cpp" <<'CPP'
#include <algorithm>
#include <cstdio>
#include <cutlass/layout/tensor.h>

int main() {
    bool same = true;
    for (int channels : {8, 10}) {
        cutlass::Tensor4DCoord extent(5, 2, 2, channels);
        auto layout = cutlass::layout::TensorCxRSKx<4>::packed(extent);
        long long largest = 0;
        for (int k = 0; k < 5; k++)
            for (int r = 0; r < 2; r++)
                for (int s = 0; s < 2; s++)
                    for (int c = 0; c < channels; c++)
                        largest = std::max<long long>(largest, layout(cutlass::Tensor4DCoord(k, r, s, c)));
        long long capacity = layout.capacity(extent);
        std::printf("C %d: capacity %lld, largest offset %lld\n", channels, capacity, largest);
        same = same && capacity == 160 && largest == (channels == 8 ? 159 : 237);
    }
    return !same;
}
CPP
include="$folder/packages/nvidia/cu13/include"
g++ -std=c++17 -w -I"$folder/packages/cutlass_library/source/include" -I"$include" -I"$include/cccl" "$folder/capacity.cpp" -o "$folder/capacity"
"$folder/capacity"
