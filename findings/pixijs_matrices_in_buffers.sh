#!/usr/bin/env bash
# PixiJS 8.22.0 on WebGPU: of matrices that are not square, `mat4x2` alone is written right into a uniform
# buffer. The others are cut into groups of as many elements as the matrix has columns, each in 16 bytes of
# its own, where WGSL has columns of as many elements as there are rows. There is no error.
#
# Sizes and offsets are WGSL's, so groups reach behind the bytes of the matrix, and the next uniform is
# written over them. Arrays of `mat3x3` have the right size, their elements packed in it and NaN in the rest;
# arrays of `vec4<u32>` hold the bits of floats. Square matrices are right. Seen for 1, 2, 3 and so on between
# two numbers, -2 and -1; 0 is padding, and WGSL's order is in brackets:
#   mat3x3: -2 0 0 0 1 2 3 0 4 5 6 0 7 8 9 0 -1 0 0 0 [1 2 3 0 4 5 6 0 7 8 9 0]
#   mat3x2: -2 0 1 2 3 0 4 5 -1 0 0 0 [1 2 3 4 5 6]
#   mat4x2: -2 0 1 2 3 4 5 6 7 8 -1 0 [1 2 3 4 5 6 7 8]
#   mat2x3: -2 0 0 0 1 2 0 0 3 4 0 0 -1 6 0 0 [1 2 3 0 4 5 6 0]
#   mat4x3: -2 0 0 0 1 2 3 4 5 6 7 8 9 10 11 12 0 0 0 0 -1 0 0 0 [1 2 3 0 4 5 6 0 7 8 9 0 10 11 12 0]
#   mat2x4: -2 0 0 0 1 2 0 0 3 4 0 0 -1 6 0 0 [1 2 3 4 5 6 7 8]
#   mat3x4: -2 0 0 0 1 2 3 0 4 5 6 0 7 8 9 0 -1 11 12 0 [1 2 3 4 5 6 7 8 9 10 11 12]
#
# Exits with 1 if PixiJS does something else. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts pixi.js@8.22.0
cat > matrices.cjs <<'JS'
const path = require("path").resolve("node_modules/pixi.js/lib/rendering/renderers");
const { GpuUboSystem } = require(`${path}/gpu/GpuUboSystem.js`);
const { UniformGroup } = require(`${path}/shared/shader/UniformGroup.js`);

// A column begins at a multiple of its bytes, and columns of three elements take four.
function wgsl(columns, rows) {
  const pitch = rows === 3 ? 4 : rows;
  const elements = Array(columns * pitch).fill(0);
  for (let i = 0; i < columns * rows; i++) elements[Math.floor(i / rows) * pitch + (i % rows)] = i + 1;
  return elements.join(" ");
}

const wanted = {
  mat3x3: "-2 0 0 0 1 2 3 0 4 5 6 0 7 8 9 0 -1 0 0 0",
  mat3x2: "-2 0 1 2 3 0 4 5 -1 0 0 0",
  mat4x2: "-2 0 1 2 3 4 5 6 7 8 -1 0",
  mat2x3: "-2 0 0 0 1 2 0 0 3 4 0 0 -1 6 0 0",
  mat4x3: "-2 0 0 0 1 2 3 4 5 6 7 8 9 10 11 12 0 0 0 0 -1 0 0 0",
  mat2x4: "-2 0 0 0 1 2 0 0 3 4 0 0 -1 6 0 0",
  mat3x4: "-2 0 0 0 1 2 3 0 4 5 6 0 7 8 9 0 -1 11 12 0",
};
let right = true;
for (const name in wanted) {
  const [columns, rows] = name.match(/\d/g).map(Number);
  const group = new UniformGroup({
    before: { value: -2, type: "f32" },
    matrix: { value: Float32Array.from({ length: columns * rows }, (_, i) => i + 1), type: `${name}<f32>` },
    after: { value: -1, type: "f32" },
  }, { ubo: true });
  new GpuUboSystem().syncUniformGroup(group);
  const seen = Array.from(group.buffer.data).join(" ");
  console.log(`${name}: ${seen} [${wgsl(columns, rows)}]`);
  right &&= seen === wanted[name] && seen.includes(wgsl(columns, rows)) === ["mat3x3", "mat4x2"].includes(name);
}
process.exit(right ? 0 : 1);
JS
node matrices.cjs
