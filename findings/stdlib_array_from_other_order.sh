#!/usr/bin/env bash
# @stdlib/ndarray 0.4.1: `array(x, {copy: true})` of a column-major array is a row-major one of the same sizes
# with elements at other indices, without an error. Without a copy, and by `copy(x)`, they stay where they
# were.
#
# Elements are taken in the order that the old array names and laid down in the order of the new one,
# row-major where nothing is said. So is every conversion to another type, and a row-major array of which a
# column-major copy is asked. Seen for 1 to 6 in 2 rows of 3:
#   row-major, copied: strides 3,1, [[1,2,3],[4,5,6]]
#   row-major, copied column-major: strides 1,2, [[1,3,5],[2,4,6]]
#   column-major, not copied: strides 1,2, [[1,2,3],[4,5,6]]
#   column-major, copied: strides 3,1, [[1,4,2],[5,3,6]]
#   column-major, copied in the same order: strides 1,2, [[1,2,3],[4,5,6]]
#   column-major, as float32: strides 3,1, [[1,4,2],[5,3,6]]
#   column-major, by copy(): strides 1,2, [[1,2,3],[4,5,6]]
#   row-major, by copy() column-major: strides 1,2, [[1,2,3],[4,5,6]]
#
# Exits with 1 if @stdlib/ndarray does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts @stdlib/ndarray@0.4.1
cat > copies.cjs <<'JS'
const array = require("@stdlib/ndarray/array");
const copy = require("@stdlib/ndarray/copy");
const ndarray = require("@stdlib/ndarray/ctor");
const rows = require("@stdlib/ndarray/to-array");

const sources = {
  "row-major": ndarray("float64", new Float64Array([1, 2, 3, 4, 5, 6]), [2, 3], [3, 1], 0, "row-major"),
  "column-major": ndarray("float64", new Float64Array([1, 4, 2, 5, 3, 6]), [2, 3], [1, 2], 0, "column-major"),
};
let right = true;
for (const [order, title, make, strides, wanted] of [
  ["row-major", "copied", (x) => array(x, { copy: true }), "3,1", "[[1,2,3],[4,5,6]]"],
  ["row-major", "copied column-major", (x) => array(x, { copy: true, order: "column-major" }), "1,2", "[[1,3,5],[2,4,6]]"],
  ["column-major", "not copied", (x) => array(x), "1,2", "[[1,2,3],[4,5,6]]"],
  ["column-major", "copied", (x) => array(x, { copy: true }), "3,1", "[[1,4,2],[5,3,6]]"],
  ["column-major", "copied in the same order", (x) => array(x, { copy: true, order: "same" }), "1,2", "[[1,2,3],[4,5,6]]"],
  ["column-major", "as float32", (x) => array(x, { dtype: "float32", casting: "unsafe" }), "3,1", "[[1,4,2],[5,3,6]]"],
  ["column-major", "by copy()", (x) => copy(x), "1,2", "[[1,2,3],[4,5,6]]"],
  ["row-major", "by copy() column-major", (x) => copy(x, { order: "column-major" }), "1,2", "[[1,2,3],[4,5,6]]"],
]) {
  const source = sources[order];
  right &&= JSON.stringify(rows(source)) === "[[1,2,3],[4,5,6]]";
  const result = make(source);
  const seen = JSON.stringify(rows(result));
  console.log(`${order}, ${title}: strides ${result.strides}, ${seen}`);
  right &&= seen === wanted && String(result.strides) === strides;
}
process.exit(right ? 0 : 1);
JS
node copies.cjs
