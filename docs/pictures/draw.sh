#!/usr/bin/env bash
# Draws every picture of this folder.
set -euo pipefail
cd "$(dirname "$0")/../.."
cargo build --quiet -p tensor-layout-cli

draw() {
    "${CARGO_TARGET_DIR:-target}/debug/tensor-layout" draw "$2" --svg "docs/pictures/$1.svg"
}

# Figures 1 and 2 of XLA's page on tiled layout.
draw figure-1 'f32[3,5]{1,0:T(2,2)}'
draw figure-2 'f32[4,8]{1,0:T(2,4)(2,1)}'
# What a TPU does to bf16, at a quarter of the size: pairs of rows share 32-bit words.
draw bf16-tile 'bf16[8,8]{1,0:T(4,4)(2,1)}'
# `*` joins dimensions before they are cut.
draw combine 'f32[2,2,2,5]{3,2,1,0:T(*,2,*,3)}'
# The README's: channels last, rows padded from 6 to 8 elements.
draw padded-nhwc 'f16[1,3,3,2]:[24,1,8,3]'
# Rows 1 of two matrices, a part of a larger buffer: DirectML's page.
draw slice 'f16[2,2,3]:[12,3,1]+3'
# What a shader writes that turns rows into columns.
draw transpose 'f32[4,8]{0,1}'
# The memory a training step has in use on a TPU, over its schedule.
"${CARGO_TARGET_DIR:-target}/debug/tensor-layout" hlo crates/hlo/tests/data/memory_tpu_mlp_step.hlo --rows 0 \
    --svg docs/pictures/live-memory.svg > /dev/null
# What the answers of the library are compared with.
python3 docs/pictures/trust.py
