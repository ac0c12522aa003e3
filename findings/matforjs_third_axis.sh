#!/usr/bin/env bash
# mat-for-js 1.1.0: an array of three or more axes in a MATLAB file comes back in its sizes with elements of
# wrong places, without an error. Matrices are right.
#
# MATLAB stores the first axis innermost, so the stride of an axis is the product of all sizes before it. The
# reader takes the size of the one axis before it: some elements are in several places, others in none. It is
# no matter where all axes but the last two have one index. The README says nothing of a limit. SciPy 1.17.1
# writes the files. Seen for 0, 1, 2 and so on, counted along the last axis first:
#   [2, 3]: 6 of 6 elements, first [[0,1,2],[3,4,5]]
#   [1, 3, 4]: 12 of 12 elements, first [[0,1,2,3],[4,5,6,7],[8,9,10,11]]
#   [2, 3, 4]: 15 of 24 elements, first [[0,16,1,17],[4,20,5,21],[8,13,9,14]]
#   [2, 3, 2, 3]: 13 of 36 elements, first [[[0,6,12],[24,30,21]],[[6,12,3],[30,21,27]],[[12,3,9],[21,27,33]]]
#
# Exits with 1 if mat-for-js does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet scipy==1.17.1 numpy==2.4.6
npm install --silent --no-audit --no-fund --no-save --ignore-scripts mat-for-js@1.1.0
env/bin/python - <<'PYTHON'
import numpy
import scipy.io

arrays = {"a": (2, 3), "b": (1, 3, 4), "c": (2, 3, 4), "d": (2, 3, 2, 3)}
arrays = {name: numpy.arange(numpy.prod(sizes)).reshape(sizes).astype(float) for name, sizes in arrays.items()}
scipy.io.savemat("arrays.mat", arrays)
assert all((scipy.io.loadmat("arrays.mat")[name] == array).all() for name, array in arrays.items())
PYTHON
cat > arrays.mjs <<'JS'
import { readFileSync } from "fs";
import { read } from "mat-for-js";

const file = readFileSync("arrays.mat");
const { data } = read(file.buffer.slice(file.byteOffset, file.byteOffset + file.length));
let right = true;
for (const [name, sizes, elements, first] of [
  ["a", [2, 3], 6, "[[0,1,2],[3,4,5]]"],
  ["b", [1, 3, 4], 12, "[[0,1,2,3],[4,5,6,7],[8,9,10,11]]"],
  ["c", [2, 3, 4], 15, "[[0,16,1,17],[4,20,5,21],[8,13,9,14]]"],
  ["d", [2, 3, 2, 3], 13, "[[[0,6,12],[24,30,21]],[[6,12,3],[30,21,27]],[[12,3,9],[21,27,33]]]"],
]) {
  const all = data[name].flat(sizes.length - 1);
  const seen = [new Set(all).size, JSON.stringify(sizes.length === 2 ? data[name] : data[name][0])];
  console.log(`[${sizes.join(", ")}]: ${seen[0]} of ${all.length} elements, first ${seen[1]}`);
  right &&= seen[0] === elements && seen[1] === first;
}
process.exit(right ? 0 : 1);
JS
node arrays.mjs
