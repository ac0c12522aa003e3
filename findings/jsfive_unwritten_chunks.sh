#!/usr/bin/env bash
# jsfive 0.4.2: the elements of chunks that an HDF5 file does not have, because nobody wrote them or because
# the dataset grew, are undefined, whatever the fill value is. A virtual dataset is undefined as a whole.
# There is no error.
#
# A dataset of which nothing was written is an array of no elements. h5wasm 0.10.3, the HDF5 library itself,
# gives the fill value as h5py 3.16.0 does. Seen for 2 rows of 4 in chunks of 2 x 2:
#   two chunks written, fill value 7: h5wasm [1,1,7,7,1,1,7,7], jsfive [1,1,-,-,1,1,-,-]
#   grown from two columns: h5wasm [1,1,0,0,1,1,0,0], jsfive [1,1,-,-,1,1,-,-]
#   nothing written, fill value 7: h5wasm [7,7,7,7,7,7,7,7], jsfive []
#   a virtual dataset of the first: h5wasm [1,1,7,7,1,1,7,7], jsfive undefined
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
import h5py

with h5py.File("part.h5", "w") as file:
    file.create_dataset("d", (2, 4), "i4", chunks=(2, 2), fillvalue=7)[:, :2] = 1
with h5py.File("grown.h5", "w") as file:
    dataset = file.create_dataset("d", (2, 2), "i4", chunks=(2, 2), maxshape=(None, None))
    dataset[:] = 1
    dataset.resize((2, 4))
with h5py.File("nothing.h5", "w") as file:
    file.create_dataset("d", (2, 4), "i4", chunks=(2, 2), fillvalue=7)
with h5py.File("virtual.h5", "w") as file:
    layout = h5py.VirtualLayout((2, 4), "i4")
    layout[:] = h5py.VirtualSource("part.h5", "d", (2, 4))
    file.create_virtual_dataset("d", layout)
for name, fill in [("part", 7), ("grown", 0), ("virtual", 7)]:
    with h5py.File(f"{name}.h5") as file:
        assert file["d"][:].tolist() == [[1, 1, fill, fill]] * 2
PYTHON
cat > read.mjs <<'JS'
import * as h5wasm from "h5wasm/node";
import * as jsfive from "jsfive";
import { readFileSync } from "node:fs";

await h5wasm.ready;
const text = (values) => values && `[${Array.from(values, (value) => value ?? "-")}]`;
let right = true;
for (const [name, title, wanted] of [
  ["part", "two chunks written, fill value 7", "h5wasm [1,1,7,7,1,1,7,7], jsfive [1,1,-,-,1,1,-,-]"],
  ["grown", "grown from two columns", "h5wasm [1,1,0,0,1,1,0,0], jsfive [1,1,-,-,1,1,-,-]"],
  ["nothing", "nothing written, fill value 7", "h5wasm [7,7,7,7,7,7,7,7], jsfive []"],
  ["virtual", "a virtual dataset of the first", "h5wasm [1,1,7,7,1,1,7,7], jsfive undefined"],
]) {
  const file = new h5wasm.File(`${name}.h5`, "r");
  const byH5wasm = text(file.get("d").value);
  file.close();
  const byJsfive = text(new jsfive.File(new Uint8Array(readFileSync(`${name}.h5`)).buffer).get("d").value);
  const seen = `h5wasm ${byH5wasm}, jsfive ${byJsfive}`;
  console.log(`${title}: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node read.mjs
