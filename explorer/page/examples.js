"use strict";
// What the list of examples offers: a name, and the part of the state that it sets.

const EXAMPLES = [
  ["XLA's page, figure 1: tiles of 2 x 2", { layout: "f32[3,5]{1,0:T(2,2)}" }],
  ["XLA's page, figure 2: tiles inside tiles", { layout: "f32[4,8]{1,0:T(2,4)(2,1)}" }],
  ["bf16 pairs: two rows share 32-bit words", { layout: "bf16[8,8]{1,0:T(4,4)(2,1)}" }],
  ["* joins dimensions before they are cut", { layout: "f32[2,2,2,5]{3,2,1,0:T(*,2,*,3)}" }],
  ["A TPU's tile, and its padding", { layout: "f32[10,100]{1,0:T(8,128)}" }],
  ["DirectML: a broadcast row", { layout: "f32[4,3]:[0,1]", tab: "upload" }],
  ["DirectML: packed NCHW", { layout: "f16[1,3,4,4]:NCHW", tab: "upload" }],
  ["NHWC: channels last", { layout: "f32[1,3,4,4]:NHWC" }],
  ["A row pitch", { layout: "f32[4,6]:[8,1]" }],
  ["oneDNN's nChw16c", { layout: "f32[1,18,2,2]:nChw16c" }],
  ["CuTe: digits of dimensions", { layout: "f32((2,2),4):((1,8),2)" }],
  ["int4, two in a byte", { layout: "s4[4,6]{1,0:E(4)}" }],
  ["A slice of a KV cache", { layout: "bf16[2,4,8,4]:[128,32,4,1]", tab: "view", steps: "slice :,:,2:3,:" }],
  ["NCHW to NHWC, run by run", { layout: "f32[1,3,4,4]:NCHW", tab: "pair", other: "f32[1,3,4,4]:NHWC" }],
  ["Rows to tiles, run by run", { layout: "f32[5,7]{1,0}", tab: "pair", other: "f32[5,7]{1,0:T(2,4)}" }],
  ["100,000 x 100,000 in tiles", { layout: "f32[100000,100000]{1,0:T(8,128)}" }],
  ["128 times its size: a column in a TPU's tiles", { layout: "f32[100000,1]{1,0:T(8,128)}" }],
  ["What a TPU makes of a small tensor", { tab: "tpu", sizes: "f32[8,8,3]", tpu: "v5e" }],
];
