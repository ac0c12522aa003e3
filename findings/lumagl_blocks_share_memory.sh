#!/usr/bin/env bash
# luma.gl 9.4.2: the bytes of a uniform block that `ShaderBlockWriter.getData` returns are overwritten by the
# next `getData` of any writer, whatever block it is of, without an error. A block that is larger than all
# before it is the exception: it gets new memory, and what was returned before is safe from then on.
#
# Its comment says that the values are serialized "into buffer-backed binary data", and of the buffer nothing.
# Halves, which the types allow, are numbers of 4 bytes to the layout, and integers of 2 bytes to the writer,
# which counts words of the layout as numbers of 2 bytes. So they lie at half their offset and are not
# converted. Seen, and for halves the bytes of the block; WGSL has 24, the last number at 16:
#   vec4 (1, 2, 3, 4): 1 2 3 4
#   after a number 9 of another block: 9 2 3 4
#   vec4 (1, 2, 3, 4), then of a block of eight: 1 2 3 4
#   offsets of a number 1, four halves 1 to 4, a number -1: 0, 16, 32 of 48 bytes
#   first 20 of them: 0000803f00000000010002000300040000000000
#
# Exits with 1 if luma.gl does something else. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts @luma.gl/core@9.4.2
cat > blocks.mjs <<'JS'
import { makeShaderBlockLayout, ShaderBlockWriter } from "@luma.gl/core";

const writer = (types) => new ShaderBlockWriter(makeShaderBlockLayout(types, { layout: "wgsl-storage" }));
const vector = writer({ value: "vec4<f32>" });
const number = writer({ value: "f32" });
const floats = (bytes) => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4).join(" ");
let right = true;
function show(name, seen, wanted) {
  console.log(`${name}: ${seen}`);
  right &&= seen === wanted;
}

const first = vector.getData({ value: [1, 2, 3, 4] });
show("vec4 (1, 2, 3, 4)", floats(first), "1 2 3 4");
number.getData({ value: 9 });
show("after a number 9 of another block", floats(first), "9 2 3 4");
const second = vector.getData({ value: [1, 2, 3, 4] });
writer({ value: ["vec4<f32>", 8] }).getData({ value: Array(32).fill(9) });
show("vec4 (1, 2, 3, 4), then of a block of eight", floats(second), "1 2 3 4");
const halves = writer({ before: "f32", halves: "vec4<f16>", after: "f32" });
const bytes = Buffer.from(halves.getData({ before: 1, halves: [1, 2, 3, 4], after: -1 }));
const offsets = ["before", "halves", "after"].map((name) => 4 * halves.get(name).offset).join(", ");
show("offsets of a number 1, four halves 1 to 4, a number -1", `${offsets} of ${bytes.length} bytes`, "0, 16, 32 of 48 bytes");
show("first 20 of them", bytes.toString("hex", 0, 20), "0000803f00000000010002000300040000000000");
process.exit(right ? 0 : 1);
JS
node blocks.mjs
