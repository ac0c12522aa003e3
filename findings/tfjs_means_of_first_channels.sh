#!/usr/bin/env bash
# TensorFlow.js 4.22.0 on a CPU and in WebAssembly: batch normalization of tensors whose channels come first
# gives each element the mean and the variance of another channel, without an error. So does the layer with
# `axis: 1`, trained or not, which channels-first models of Keras have.
#
# The means have the sizes [1, C, 1, 1], which fit by the rules of broadcasting, and `sub` takes them by
# these. `batchNorm` takes them in turns, one for each element in memory, which is right where channels are
# the last axis. `depthwiseConv2d` takes NCHW and reads NHWC on a CPU, `conv2d` is right for both,
# `separableConv2d` refuses NCHW. Seen for 0 to 11 in [1, 2, 2, 3] with the means 0 and 6 of its two channels,
# a variance of 1 and no epsilon:
#   sub: [[0,1,2],[3,4,5]], [[0,1,2],[3,4,5]]
#   batchNorm of channels last: [[0,1,2],[3,4,5]], [[0,1,2],[3,4,5]]
#   batchNorm: [[0,-5,2],[-3,4,-1]], [[6,1,8],[3,10,5]]
#   layer, axis 1: [[0,-5,2],[-3,4,-1]], [[6,1,8],[3,10,5]]
#
# Exits with 1 if TensorFlow.js does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts @tensorflow/tfjs-core@4.22.0 \
  @tensorflow/tfjs-backend-cpu@4.22.0 @tensorflow/tfjs-backend-wasm@4.22.0 @tensorflow/tfjs-layers@4.22.0
cat > means.cjs <<'JS'
const tf = require("@tensorflow/tfjs-core");
require("@tensorflow/tfjs-backend-cpu");
require("@tensorflow/tfjs-backend-wasm");
const { layers } = require("@tensorflow/tfjs-layers");

async function run() {
  let right = true;
  for (const backend of ["cpu", "wasm"]) {
    if (!await tf.setBackend(backend)) throw new Error(`no backend ${backend}`);
    const x = tf.reshape(tf.range(0, 12), [1, 2, 2, 3]);
    const [mean, variance] = [[0, 6], [1, 1]].map((values) => tf.tensor(values));
    const [channels, ones] = [mean, variance].map((values) => tf.reshape(values, [1, 2, 1, 1]));
    const layer = layers.batchNormalization({ axis: 1, epsilon: 0 });
    layer.build(x.shape);
    layer.setWeights([variance, tf.zeros([2]), mean, variance]);
    const last = tf.batchNorm(tf.transpose(x, [0, 2, 3, 1]), mean, variance, undefined, undefined, 0);
    const wanted = "[[0,1,2],[3,4,5]], [[0,1,2],[3,4,5]]";
    const inTurns = "[[0,-5,2],[-3,4,-1]], [[6,1,8],[3,10,5]]";
    for (const [name, result, expected] of [
      ["sub", tf.sub(x, channels), wanted],
      ["batchNorm of channels last", tf.transpose(last, [0, 3, 1, 2]), wanted],
      ["batchNorm", tf.batchNorm(x, channels, ones, undefined, undefined, 0), inTurns],
      ["layer, axis 1", layer.apply(x), inTurns],
    ]) {
      const seen = result.arraySync()[0].map((channel) => JSON.stringify(channel)).join(", ");
      if (backend === "cpu") console.log(`${name}: ${seen}`);
      right &&= seen === expected;
    }
  }
  process.exit(right ? 0 : 1);
}
run();
JS
node means.cjs
