#!/usr/bin/env bash
# HDF5 has integers whose bits begin inside the bytes: 12 bits at an offset of 4 in 16. h5wasm 0.10.3, which
# is the HDF5 library itself, and jsfive 0.4.2 give the 16 bits as they lie, so all numbers are 16 times too
# large, without an error. h5py 3.16.0 gives the numbers.
#
# The N-bit filter, which is made for such types, changes nothing in h5wasm; jsfive does not read it. Seen for
# 1, 2, 3:
#   12 bits at 0: h5py [1,2,3], h5wasm [1,2,3], jsfive [1,2,3]
#   12 bits at 4: h5py [1,2,3], h5wasm [16,32,48], jsfive [16,32,48]
#   12 bits at 4, packed: h5py [1,2,3], h5wasm [16,32,48], jsfive refused
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet h5py==3.16.0 numpy==2.4.6
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts h5wasm@0.10.3 jsfive@0.4.2
"$folder/env/bin/python" - <<'PYTHON'
import json

import h5py
import numpy
from h5py import h5d, h5p, h5s, h5t, h5z

read = {}
for name, offset, packed in [("plain", 0, False), ("shifted", 4, False), ("packed", 4, True)]:
    kind = h5t.STD_U16LE.copy()
    kind.set_precision(12)
    kind.set_offset(offset)
    created = h5p.create(h5p.DATASET_CREATE)
    if packed:
        created.set_chunk((3,))
        created.set_filter(h5z.FILTER_NBIT)
    with h5py.File(f"{name}.h5", "w") as file:
        dataset = h5d.create(file.id, b"d", kind, h5s.create_simple((3,)), created)
        dataset.write(h5s.ALL, h5s.ALL, numpy.array([1, 2, 3], numpy.uint16))
    with h5py.File(f"{name}.h5") as file:
        read[name] = file["d"][:].tolist()
json.dump(read, open("h5py.json", "w"))
PYTHON
cat > read.mjs <<'JS'
import * as h5wasm from "h5wasm/node";
import * as jsfive from "jsfive";
import { readFileSync } from "node:fs";

await h5wasm.ready;
const byH5py = JSON.parse(readFileSync("h5py.json"));
const text = (values) => JSON.stringify(Array.from(values));
let right = true;
for (const [name, title, wanted] of [
  ["plain", "12 bits at 0", "h5py [1,2,3], h5wasm [1,2,3], jsfive [1,2,3]"],
  ["shifted", "12 bits at 4", "h5py [1,2,3], h5wasm [16,32,48], jsfive [16,32,48]"],
  ["packed", "12 bits at 4, packed", "h5py [1,2,3], h5wasm [16,32,48], jsfive refused"],
]) {
  const file = new h5wasm.File(`${name}.h5`, "r");
  const byH5wasm = text(file.get("d").value);
  file.close();
  let byJsfive;
  try {
    byJsfive = text(new jsfive.File(new Uint8Array(readFileSync(`${name}.h5`)).buffer).get("d").value);
  } catch (error) {
    byJsfive = String(error.message ?? error).includes("id:5 not supported") ? "refused" : String(error);
  }
  const seen = `h5py ${text(byH5py[name])}, h5wasm ${byH5wasm}, jsfive ${byJsfive}`;
  console.log(`${title}: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node read.mjs
