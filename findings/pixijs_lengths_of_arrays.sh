#!/usr/bin/env bash
# PixiJS 8.22.0: a second uniform group with the same names and types as an earlier one is written into its
# buffer by the layout of the earlier one, whatever the lengths of its arrays are. Of a longer array the end
# is missing, and all uniforms behind it lie at the wrong offset, without an error.
#
# Layouts are kept by a key of the names and types, and the length of an array is in neither. The buffer has
# the size of the first group too. Which of two groups is wrong is decided by which was drawn first; both
# APIs, WebGL and WebGPU, share the code. Seen for an array of vec4, 1, 2, 3 and so on, and a number -1 behind
# it:
#   two first: 1 2 3 4 5 6 7 8 -1 0 0 0
#   three, after two: 1 2 3 4 5 6 7 8 -1 0 0 0
#   three first: 1 2 3 4 5 6 7 8 9 10 11 12 -1 0 0 0
#   two, after three: 1 2 3 4 5 6 7 8 NaN NaN NaN NaN -1 0 0 0
#
# Exits with 1 if PixiJS does something else. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts pixi.js@8.22.0
cat > lengths.cjs <<'JS'
const path = require("path").resolve("node_modules/pixi.js/lib/rendering/renderers");
const { UniformGroup } = require(`${path}/shared/shader/UniformGroup.js`);
const systems = [require(`${path}/gpu/GpuUboSystem.js`).GpuUboSystem, require(`${path}/gl/GlUboSystem.js`).GlUboSystem];

function write(system, length) {
  const group = new UniformGroup({
    colours: { value: Float32Array.from({ length: 4 * length }, (_, i) => i + 1), type: "vec4<f32>", size: length },
    after: { value: -1, type: "f32" },
  }, { ubo: true });
  system.syncUniformGroup(group);
  return Array.from(group.buffer.data).join(" ");
}

let right = true;
for (const System of systems) {
  const [one, other] = [new System(), new System()];
  for (const [name, system, length, wanted] of [
    ["two first", one, 2, "1 2 3 4 5 6 7 8 -1 0 0 0"],
    ["three, after two", one, 3, "1 2 3 4 5 6 7 8 -1 0 0 0"],
    ["three first", other, 3, "1 2 3 4 5 6 7 8 9 10 11 12 -1 0 0 0"],
    ["two, after three", other, 2, "1 2 3 4 5 6 7 8 NaN NaN NaN NaN -1 0 0 0"],
  ]) {
    const seen = write(system, length);
    if (System === systems[0]) console.log(`${name}: ${seen}`);
    right &&= seen === wanted;
  }
}
process.exit(right ? 0 : 1);
JS
node lengths.cjs
