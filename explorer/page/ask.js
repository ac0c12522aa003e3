"use strict";
// Questions to the crate. Every answer is JSON; sizes and offsets in it are decimal strings.

const crate = {
  // The slowest answer so far, in milliseconds, and the question.
  slowest: { time: 0, question: "" },

  async start() {
    const stream = new Blob([unpacked(WASM, WASM_BYTES)]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = await new Response(stream).arrayBuffer();
    await wasm_bindgen({ module_or_path: bytes });
  },

  ask(question, ...parts) {
    const from = performance.now();
    const answer = JSON.parse(wasm_bindgen[question](...parts));
    const time = performance.now() - from;
    if (time > crate.slowest.time) {
      crate.slowest = { time, question: `${question} ${parts.join(" | ")}` };
    }
    return answer;
  },
};

// The bytes of a text that pack.mjs wrote: 7 bits in each character, and 14 bits in each from U+0080 on.
function unpacked(text, length) {
  const leftOut = [0, 10, 13, 34, 92];
  const bytes = new Uint8Array(length);
  let held = 0;
  let bits = 0;
  let at = 0;
  const add = (group) => {
    held = ((held << 7) | group) & 0x7fff;
    bits += 7;
    if (bits >= 8) {
      bits -= 8;
      bytes[at] = held >> bits; // A place after the end is ignored.
      at += 1;
    }
  };
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code >= 128) add(leftOut[(code - 128) >> 7]);
    add(code & 127);
  }
  return bytes;
}

function element(id) {
  return document.getElementById(id);
}

// A new element with a class and a text.
function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// Shows an error below its field, with a caret under the column of the text. No error clears it.
function showError(id, text, error) {
  const place = element(id);
  place.replaceChildren();
  if (!error) return;
  // The words of a parse error end with the text and a caret of their own, for terminals.
  const [sentence] = error.message.split("\n");
  if (error.column) {
    const before = [...new TextDecoder().decode(new TextEncoder().encode(text).slice(0, error.column - 1))].length;
    place.append(make("pre", "caret", `${text}\n${" ".repeat(before)}^`));
  }
  place.append(make("p", "", sentence));
}

// 8192 as "8,192 bytes (8 KiB)".
function bytesInWords(text) {
  const number = BigInt(text);
  const grouped = text.replace(/\B(?=(\d{3})+$)/g, ",");
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let unit = -1;
  let value = Number(number);
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  const plain = `${grouped} ${number === 1n ? "byte" : "bytes"}`;
  return unit < 0 ? plain : `${plain} (${Number(value.toPrecision(3))} ${units[unit]})`;
}
