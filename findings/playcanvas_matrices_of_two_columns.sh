#!/usr/bin/env bash
# PlayCanvas 2.23.3: a matrix of 2 x 2 is written into a uniform buffer as three columns. Two numbers behind
# the end of its four are written over the uniform that follows, which becomes NaN, without an error.
#
# They are NaN as the matrix has no fifth and sixth number. Which of the two uniforms is wrong depends on
# which is set last. Of an array of matrices the first one is written, three columns of it again where they
# are of 2 x 2, and nothing of the others. Arrays of `ivec4` and `uvec4`, and vectors of booleans, hold the
# bits of floats, and arrays of `ivec3` are right. Sizes and offsets are right everywhere. Seen, all numbers
# of the buffer, for 1, 2, 3 and so on and a vector of -1 to -4, or a number -1, behind it that is set first:
#   mat2: 1 2 0 0 3 4 0 0 NaN NaN -3 -4
#   two of mat2: 1 2 0 0 3 4 0 0 5 6 0 0 0 0 0 0 -1 -2 -3 -4
#   two of mat3: 1 2 3 0 4 5 6 0 7 8 9 0 0 0 0 0 0 0 0 0 0 0 0 0 -1 -2 -3 -4
#   two of mat4: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 -1 -2 -3 -4
#   two of ivec3: 1 2 3 0 4 5 6 0 -1 0 0 0
#   two of ivec4: 1065353216 1073741824 1077936128 1082130432 1084227584 1086324736 1088421888 1090519040 -1 0 0 0
#   bvec2: 1065353216 1073741824 -1 0
#
# Exits with 1 if PlayCanvas does something else. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts playcanvas@2.23.3
cat > uniforms.mjs <<'JS'
const graphics = "./node_modules/playcanvas/build/playcanvas/src/platform/graphics";
const { UniformBuffer } = await import(`${graphics}/uniform-buffer.js`);
const { UniformBufferFormat, UniformFormat } = await import(`${graphics}/uniform-buffer-format.js`);
const types = await import(`${graphics}/constants.js`);

// What a buffer asks of a device before it is uploaded.
const device = { scope: { resolve: () => ({}) }, createUniformBufferImpl: () => ({}), _vram: { ub: 0 }, buffers: new Set() };
let right = true;
for (const [type, numbers, length, wanted] of [
  ["mat2", 4, 0, "1 2 0 0 3 4 0 0 NaN NaN -3 -4"],
  ["mat2", 8, 2, "1 2 0 0 3 4 0 0 5 6 0 0 0 0 0 0 -1 -2 -3 -4"],
  ["mat3", 18, 2, "1 2 3 0 4 5 6 0 7 8 9 0 0 0 0 0 0 0 0 0 0 0 0 0 -1 -2 -3 -4"],
  ["mat4", 32, 2, `${Array.from({ length: 32 }, (_, i) => i + 1).join(" ")} -1 -2 -3 -4`],
  ["ivec3", 6, 2, "1 2 3 0 4 5 6 0 -1 0 0 0"],
  ["ivec4", 8, 2, "1065353216 1073741824 1077936128 1082130432 1084227584 1086324736 1088421888 1090519040 -1 0 0 0"],
  ["bvec2", 2, 0, "1065353216 1073741824 -1 0"],
]) {
  const integers = !type.startsWith("mat");
  const buffer = new UniformBuffer(device, new UniformBufferFormat(device, [
    new UniformFormat("value", types[`UNIFORMTYPE_${type.toUpperCase()}`], length),
    new UniformFormat("after", integers ? types.UNIFORMTYPE_INT : types.UNIFORMTYPE_VEC4),
  ]));
  buffer.set("after", integers ? -1 : [-1, -2, -3, -4]);
  buffer.set(length ? "value[0]" : "value", Array.from({ length: numbers }, (_, i) => i + 1));
  const seen = (integers ? buffer.storageInt32 : buffer.storageFloat32).join(" ");
  console.log(`${length ? "two of " : ""}${type}: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node uniforms.mjs
