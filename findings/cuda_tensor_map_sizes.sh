#!/usr/bin/env bash
# How large may an axis of a CUDA tensor map be? cuda.h said "at most 2^32" up to CUDA 13.3 and says "at most 2^31" in 13.5, with no
# word about the change. CCCL's make_tma_descriptor, shipped beside it, still takes sizes up to 2^32, so a size between the two passes
# its checks and is against the header.
#
# Seen on 28 November 2026: nvidia-cuda-runtime 13.3.29 and 13.5.37, nvidia-cuda-cccl 13.3.5.0.6.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fetch() {
    pip download --quiet --no-deps --no-cache-dir --platform manylinux2014_x86_64 --only-binary :all: -d "$1" "$2"
    python3 -m zipfile -e "$1"/*.whl "$1"
}
fetch old nvidia-cuda-runtime==13.3.29
fetch new nvidia-cuda-runtime==13.5.37
fetch cccl nvidia-cuda-cccl==13.3.5.0.6
said() {
    grep -A1 'globalDim array, which specifies tensor size' "$(find "$1" -name cuda.h)" | grep -o 'equal to 2^[0-9]*' | sort -u
}
old=$(said old)
new=$(said new)
sentence=$(grep -o 'less than or equal to 2^[0-9]*"' "$(find cccl -name make_tma_descriptor.h)" | tr -d '"')
printf 'cuda.h of 13.3.29: sizes %s\ncuda.h of 13.5.37: sizes %s\nCCCL 13.3.5: sizes %s\n' "$old" "$new" "$sentence"
[ "$old" = 'equal to 2^32' ] && [ "$new" = 'equal to 2^31' ] && [ "$sentence" = 'less than or equal to 2^32' ]
