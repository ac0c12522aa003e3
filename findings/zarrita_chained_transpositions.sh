#!/usr/bin/env bash
# zarrita 0.7.5: an array of Zarr 3 whose chunks are transposed twice, or transposed and then sharded, comes
# back with elements at wrong indices, without an error. One transposition is right, also inside a shard.
#
# The strides that it gives are those of the first transposition alone; before a shard, they are those of
# none. zarr-python 3.1.6 writes these arrays, and it and TensorStore 0.1.86 read them right. Seen for 0 to 5
# in 2 rows of 3, strides and elements by them:
#   [1, 0]: strides 1,2, [[0,1,2],[3,4,5]]
#   [1, 0], [1, 0]: strides 1,2, [[0,2,4],[1,3,5]]
#   [0, 1], [1, 0]: strides 3,1, [[0,3,1],[4,2,5]]
#   a shard, in it [1, 0]: strides 1,2, [[0,1,2],[3,4,5]]
#   [1, 0], a shard: strides 3,1, [[0,3,1],[4,2,5]]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet zarr==3.1.6 tensorstore==0.1.86 numpy==2.4.6
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts zarrita@0.7.5 @zarrita/storage@0.2.0
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import os

import numpy
import tensorstore
import zarr
from zarr.codecs import BytesCodec, ShardingCodec, TransposeCodec

data = numpy.arange(6, dtype=numpy.int32).reshape(2, 3)
turned, same = TransposeCodec(order=(1, 0)), TransposeCodec(order=(0, 1))
arrays = {
    "turned": ([turned], BytesCodec()),
    "turned twice": ([turned, turned], BytesCodec()),
    "same and turned": ([same, turned], BytesCodec()),
    "turned in a shard": ([], ShardingCodec(chunk_shape=(2, 3), codecs=[turned, BytesCodec()])),
    "turned, then a shard": ([turned], ShardingCodec(chunk_shape=(1, 1), codecs=[BytesCodec()])),
}
for name, (filters, serializer) in arrays.items():
    array = zarr.create_array(name, shape=(2, 3), chunks=(2, 3), dtype="i4", compressors=None, filters=filters, serializer=serializer)
    array[:] = data
    store = {"driver": "zarr3", "kvstore": {"driver": "file", "path": os.path.abspath(name)}}
    assert (array[:] == data).all() and (tensorstore.open(store).result().read().result() == data).all()
PYTHON
cat > read.mjs <<'JS'
import * as zarr from "zarrita";
import { FileSystemStore } from "@zarrita/storage";

let right = true;
for (const [path, title, wanted] of [
  ["turned", "[1, 0]", "strides 1,2, [[0,1,2],[3,4,5]]"],
  ["turned twice", "[1, 0], [1, 0]", "strides 1,2, [[0,2,4],[1,3,5]]"],
  ["same and turned", "[0, 1], [1, 0]", "strides 3,1, [[0,3,1],[4,2,5]]"],
  ["turned in a shard", "a shard, in it [1, 0]", "strides 1,2, [[0,1,2],[3,4,5]]"],
  ["turned, then a shard", "[1, 0], a shard", "strides 3,1, [[0,3,1],[4,2,5]]"],
]) {
  const array = await zarr.open.v3(new FileSystemStore(path), { kind: "array" });
  const { data, stride } = await zarr.get(array);
  const rows = [0, 1].map((row) => [0, 1, 2].map((column) => data[row * stride[0] + column * stride[1]]));
  const seen = `strides ${stride}, ${JSON.stringify(rows)}`;
  console.log(`${title}: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node read.mjs
