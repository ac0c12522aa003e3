// Runs a test program compiled for wasm32-wasip1 in node:
//
//   CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings --single-threaded $PWD/tests/wasi.mjs" cargo test -p tensor-layout-tests --target wasm32-wasip1 --test NAME
//
// `--single-threaded`, because node 20 crashed (signal 11) at the end of some runs, after all tests had passed, while its own threads still
// compiled.
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { WASI } from "node:wasi";

const [program, ...words] = process.argv.slice(2);
const wasi = new WASI({
  version: "preview1",
  args: [program, ...words],
  env: process.env,
  preopens: { ".": ".", [dirname(process.cwd())]: ".." },
  returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
process.exitCode = wasi.start(instance);
