// Packs a file as a script: node pack.mjs FILE.wasm > wasm.js
//
// A page that is opened from a folder may not fetch files, so the crate travels inside a script, as text. Base64 takes 4 bytes of text for
// 3 bytes of the file. This text has 7 bits in each ASCII character, 8 bytes for 7. The five characters that cannot stand in a string are
// left out: such a group of 7 bits and the next group are one character of 2 bytes, from U+0080 on. `unpacked` in page/ask.js reads it.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LEFT_OUT = [0, 10, 13, 34, 92];

const packed = gzipSync(readFileSync(process.argv[2]), { level: 9 });
const groups = [];
let held = 0;
let bits = 0;
for (const byte of packed) {
  held = ((held << 8) | byte) & 0x7fff;
  bits += 8;
  while (bits >= 7) {
    bits -= 7;
    groups.push((held >> bits) & 127);
  }
}
groups.push((held << (7 - bits)) & 127);

let text = "";
for (let i = 0; i < groups.length; i += 1) {
  const place = LEFT_OUT.indexOf(groups[i]);
  if (place < 0) {
    text += String.fromCharCode(groups[i]);
  } else {
    i += 1;
    text += String.fromCharCode(128 + place * 128 + (groups[i] ?? 0));
  }
}
process.stdout.write(`const WASM_BYTES = ${packed.length};\nconst WASM = "${text}";\n`);
