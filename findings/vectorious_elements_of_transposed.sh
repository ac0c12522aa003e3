#!/usr/bin/env bash
# vectorious 6.1.14: `get` and `set` of a transposed array go by its sizes and not by its strides, so they read
# and write elements of other indices than `toArray` shows. So do `map`, `reshape`, `trace` and `solve`, and
# `inv` gives the inverse of the matrix that was not transposed, all without an error.
#
# Products and `toArray` go by the strides, and a `copy` is packed and right. `get`, `reshape` and `inv` of
# every second row of an array take the rows that come first. Seen for a transposed matrix and for two of three
# rows, without the optional bindings to LAPACK; inverses are rounded:
#   transposed: [[2,0,1],[1,3,0],[0,1,4]], strides 1,3
#     get [[2,1,0],[0,3,1],[1,0,4]], map [[2,1,0],[0,3,1],[1,0,4]], set(0, 1, 9) [[2,0,1],[9,3,0],[0,1,4]]
#     reshape [2,1,0,0,3,1,1,0,4], inv [[0.48,-0.16,0.04],[0.04,0.32,-0.08],[-0.12,0.04,0.24]]
#   the same, packed: [[2,0,1],[1,3,0],[0,1,4]], strides 3,1
#     get [[2,0,1],[1,3,0],[0,1,4]], map [[2,0,1],[1,3,0],[0,1,4]], set(0, 1, 9) [[2,9,1],[1,3,0],[0,1,4]]
#     reshape [2,0,1,1,3,0,0,1,4], inv [[0.48,0.04,-0.12],[-0.16,0.32,0.04],[0.04,-0.08,0.24]]
#   every second row: [[2,1],[1,4]], strides 4,1
#     get [[2,1],[0,3]], map [[2,1],[1,4]], set(0, 1, 9) [[2,9],[1,4]]
#     reshape [2,1,0,3], inv [[0.5,-0.17],[0,0.33]]
#
# Exits with 1 if vectorious does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts --omit=optional vectorious@6.1.14
cat > elements.mjs <<'JS'
import { array, inv } from "vectorious";

const text = (value) => JSON.stringify(value, (_, inner) => (typeof inner === "number" ? Math.round(inner * 100) / 100 : inner));
const matrix = () => array([[2, 1, 0], [0, 3, 1], [1, 0, 4]]);
const seen = [];
for (const [name, make] of [
  ["transposed", () => matrix().T],
  ["the same, packed", () => array(matrix().T.toArray())],
  ["every second row", () => array([[2, 1], [0, 3], [1, 4]]).slice(0, 3, 2)],
]) {
  const view = make();
  const [rows, columns] = view.shape.map((size) => [...Array(size).keys()]);
  const changed = make();
  changed.set(0, 1, 9);
  const results = {
    get: text(rows.map((row) => columns.map((column) => view.get(row, column)))),
    map: text(make().map((value) => value).toArray()),
    "set(0, 1, 9)": text(changed.toArray()),
    reshape: text(make().reshape(view.length).toArray()),
    inv: text(inv(make()).toArray()),
  };
  const told = Object.entries(results).map((pair) => pair.join(" "));
  console.log(`${name}: ${text(view.toArray())}, strides ${view.strides}`);
  console.log(`  ${told.slice(0, 3).join(", ")}\n  ${told.slice(3).join(", ")}`);
  seen.push([text(view.toArray()), ...Object.values(results)]);
}
const wanted = [
  [[[2, 0, 1], [1, 3, 0], [0, 1, 4]], [[2, 1, 0], [0, 3, 1], [1, 0, 4]], [[2, 1, 0], [0, 3, 1], [1, 0, 4]], [[2, 0, 1], [9, 3, 0], [0, 1, 4]],
    [2, 1, 0, 0, 3, 1, 1, 0, 4], [[0.48, -0.16, 0.04], [0.04, 0.32, -0.08], [-0.12, 0.04, 0.24]]],
  [[[2, 0, 1], [1, 3, 0], [0, 1, 4]], [[2, 0, 1], [1, 3, 0], [0, 1, 4]], [[2, 0, 1], [1, 3, 0], [0, 1, 4]], [[2, 9, 1], [1, 3, 0], [0, 1, 4]],
    [2, 0, 1, 1, 3, 0, 0, 1, 4], [[0.48, 0.04, -0.12], [-0.16, 0.32, 0.04], [0.04, -0.08, 0.24]]],
  [[[2, 1], [1, 4]], [[2, 1], [0, 3]], [[2, 1], [1, 4]], [[2, 9], [1, 4]], [2, 1, 0, 3], [[0.5, -0.17], [0, 0.33]]],
].map((results) => results.map(text));
process.exit(text(seen) === text(wanted) ? 0 : 1);
JS
node elements.mjs
