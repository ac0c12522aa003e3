// Runs a test program compiled for wasm32-wasip1 in node:
//
//   CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings $PWD/tests/wasi.mjs" cargo test -p tensor-layout --target wasm32-wasip1 --test NAME
import { readFile } from "node:fs/promises";
import { WASI } from "node:wasi";

const [program, ...words] = process.argv.slice(2);
const wasi = new WASI({
  version: "preview1",
  args: [program, ...words],
  env: process.env,
  preopens: { ".": ".", [process.cwd()]: "." },
  returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
// Not `process.exit`: node 20 crashes now and then while it tears down an instance that had much memory, after all tests have passed.
process.reallyExit(wasi.start(instance));
