#!/usr/bin/env bash
# wgsl_reflect 1.6.0, and webgpu-utils 2.1.1 which has it inside: `@size` and `@align` of a member that is a
# struct count for the offsets in its struct, and not for the size of that struct where it is a member itself.
# The next member is placed on the last bytes of it, without an error.
#
# So both have two values in one place. Arrays of such structs have too small a stride; webgpu-utils throws at
# them. Members that are no structs are right, and so is the struct that is the variable itself. Seen for a
# number 1, a vector (2, 3, 4) of 12 bytes alone or in a struct, a number 5 behind it, and a number 6 behind
# the struct of these three: the offsets of the last two in the whole, the size of the whole, and what
# webgpu-utils writes:
#   vector: 5 at 28, 6 at 32, 48 bytes, 1 0 0 0 2 3 4 5 6 0 0 0
#   struct: 5 at 32, 6 at 48, 64 bytes, 1 0 0 0 2 3 4 0 5 0 0 0 6 0 0 0
#   @size(32) vector: 5 at 48, 6 at 64, 80 bytes, 1 0 0 0 2 3 4 0 0 0 0 0 5 0 0 0 6 0 0 0
#   @size(32) struct: 5 at 48, 6 at 48, 64 bytes, 1 0 0 0 2 3 4 0 0 0 0 0 6 0 0 0
#   @align(32) vector: 5 at 44, 6 at 64, 96 bytes, 1 0 0 0 0 0 0 0 2 3 4 5 0 0 0 0 6 0 0 0 0 0 0 0
#   @align(32) struct: 5 at 48, 6 at 48, 64 bytes, 1 0 0 0 0 0 0 0 2 3 4 0 6 0 0 0
#
# Exits with 1 if one of them does something else. No GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts wgsl_reflect@1.6.0 webgpu-utils@2.1.1
cat > sizes.mjs <<'JS'
import { WgslReflect } from "wgsl_reflect/wgsl_reflect.module.js";

// Two names that browsers have and older versions of Node.js do not.
globalThis.GPUShaderStage ??= { VERTEX: 1, FRAGMENT: 2, COMPUTE: 4 };
globalThis.Float16Array ??= class extends Uint16Array {};
const { makeShaderDataDefinitions, makeStructuredView } = await import("webgpu-utils");

let right = true;
for (const [attribute, member, wanted] of [
  ["", "vector", "5 at 28, 6 at 32, 48 bytes, 1 0 0 0 2 3 4 5 6 0 0 0"],
  ["", "struct", "5 at 32, 6 at 48, 64 bytes, 1 0 0 0 2 3 4 0 5 0 0 0 6 0 0 0"],
  ["@size(32) ", "vector", "5 at 48, 6 at 64, 80 bytes, 1 0 0 0 2 3 4 0 0 0 0 0 5 0 0 0 6 0 0 0"],
  ["@size(32) ", "struct", "5 at 48, 6 at 48, 64 bytes, 1 0 0 0 2 3 4 0 0 0 0 0 6 0 0 0"],
  ["@align(32) ", "vector", "5 at 44, 6 at 64, 96 bytes, 1 0 0 0 0 0 0 0 2 3 4 5 0 0 0 0 6 0 0 0 0 0 0 0"],
  ["@align(32) ", "struct", "5 at 48, 6 at 48, 64 bytes, 1 0 0 0 0 0 0 0 2 3 4 0 6 0 0 0"],
]) {
  const text = `
    struct Colour { rgb: vec3f }
    struct Light { power: f32, ${attribute}colour: ${member === "vector" ? "vec3f" : "Colour"}, angle: f32 }
    struct Scene { light: Light, time: f32 }
    @group(0) @binding(0) var<storage> scene: Scene;`;
  const scene = new WgslReflect(text).storage[0];
  const [light, time] = scene.members;
  const view = makeStructuredView(makeShaderDataDefinitions(text).storages.scene);
  const colour = member === "vector" ? [2, 3, 4] : { rgb: [2, 3, 4] };
  view.set({ light: { power: 1, colour, angle: 5 }, time: 6 });
  const written = new Float32Array(view.arrayBuffer).join(" ");
  const seen = `5 at ${light.offset + light.members[2].offset}, 6 at ${time.offset}, ${scene.size} bytes, ${written}`;
  console.log(`${attribute}${member}: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node sizes.mjs
