#!/usr/bin/env bash
# numpy-ts 1.4.0, "complete NumPy for TypeScript": functions read a transposed or cut array from its memory as
# if it were packed, without an error, and which views one of them reads right is another set for each.
#
# `astype` and `fft` forget where a view begins and what its strides are, `matmul` a step between columns,
# `unique` all gaps, and `reshape` where a view of whole rows begins. `add`, `sum` and `sort` are right, and all of
# these are right for the copy of a view. Seen for 0 to 11 in 3 rows of 4; right is the view itself, `matmul` is
# by the identity:
#   transposed, [[0,4,8],[1,5,9],[2,6,10],[3,7,11]]: matmul, unique, reshape right
#     astype [[0,1,2],[3,4,5],[6,7,8],[9,10,11]], fft and back [[0,1,2],[3,4,5],[6,7,8],[9,10,11]]
#   every second column, [[0,2],[4,6],[8,10]]: reshape right
#     astype [[0,1],[2,3],[4,5]], fft and back [[0,1],[2,3],[4,5]]
#     matmul [[0,1],[4,5],[8,9]], unique [0,1,2,3,4,5]
#   rows 1 and 2, [[4,5,6,7],[8,9,10,11]]: matmul, unique right
#     astype [[0,1,2,3],[4,5,6,7]], fft and back [[0,1,2,3],[4,5,6,7]]
#     reshape [0,1,2,3,4,5,6,7]
#   columns 1 and 2, [[1,2],[5,6],[9,10]]: matmul, reshape right
#     astype [[0,1],[2,3],[4,5]], fft and back [[0,1],[2,3],[4,5]]
#     unique [1,2,3,4,5,6]
#
# Exits with 1 if numpy-ts does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts numpy-ts@1.4.0
cat > views.mjs <<'JS'
import * as np from "numpy-ts";

const text = (array) => JSON.stringify(array.tolist(), (_, value) => (value?.re === undefined ? value : Math.round(value.re)));
const functions = {
  astype: (view) => view.astype("float32"),
  "fft and back": (view) => np.fft.ifft(np.fft.fft(view)),
  matmul: (view) => np.matmul(view, np.eye(view.shape[1])),
  unique: (view) => np.unique(view),
  reshape: (view) => view.reshape(view.size),
};
const by_strides = {
  sum: (view) => np.sum(view, 1),
  sort: (view) => np.sort(view, 1),
  add: (view) => np.add(view, view),
};
const rows = np.arange(12).reshape(3, 4);
let right = true;
for (const [name, view, elements, wanted] of [
  ["transposed", rows.T, "[[0,4,8],[1,5,9],[2,6,10],[3,7,11]]", {
    astype: "[[0,1,2],[3,4,5],[6,7,8],[9,10,11]]",
    "fft and back": "[[0,1,2],[3,4,5],[6,7,8],[9,10,11]]",
  }],
  ["every second column", rows.slice(":", "::2"), "[[0,2],[4,6],[8,10]]", {
    astype: "[[0,1],[2,3],[4,5]]",
    "fft and back": "[[0,1],[2,3],[4,5]]",
    matmul: "[[0,1],[4,5],[8,9]]",
    unique: "[0,1,2,3,4,5]",
  }],
  ["rows 1 and 2", rows.slice("1:3"), "[[4,5,6,7],[8,9,10,11]]", {
    astype: "[[0,1,2,3],[4,5,6,7]]",
    "fft and back": "[[0,1,2,3],[4,5,6,7]]",
    reshape: "[0,1,2,3,4,5,6,7]",
  }],
  ["columns 1 and 2", rows.slice(":", "1:3"), "[[1,2],[5,6],[9,10]]", {
    astype: "[[0,1],[2,3],[4,5]]",
    "fft and back": "[[0,1],[2,3],[4,5]]",
    unique: "[1,2,3,4,5,6]",
  }],
]) {
  const copy = view.copy();
  const wrong = {};
  for (const [called, of] of Object.entries(functions)) {
    const seen = text(of(view));
    if (seen !== text(of(copy))) wrong[called] = seen;
  }
  console.log(`${name}, ${text(view)}: ${Object.keys(functions).filter((called) => !wrong[called]).join(", ")} right`);
  const pairs = Object.entries(wrong).map((pair) => pair.join(" "));
  console.log(`  ${pairs.slice(0, 2).join(", ")}${pairs.length > 2 ? `\n  ${pairs.slice(2).join(", ")}` : ""}`);
  right &&= text(view) === elements && text(copy) === elements && JSON.stringify(wrong) === JSON.stringify(wanted);
  right &&= Object.values(by_strides).every((of) => text(of(view)) === text(of(copy)));
  right &&= ["astype", "fft and back", "matmul"].every((called) => text(functions[called](copy)) === elements);
  const flat = JSON.parse(elements).flat();
  right &&= text(copy.reshape(copy.size)) === JSON.stringify(flat);
  right &&= text(np.unique(copy)) === JSON.stringify([...flat].sort((one, other) => one - other));
  right &&= text(np.add(copy, copy)) === JSON.stringify(JSON.parse(elements).map((row) => row.map((value) => 2 * value)));
}
process.exit(right ? 0 : 1);
JS
node views.mjs
