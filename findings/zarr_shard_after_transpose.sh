#!/usr/bin/env bash
# zarr-python 3.1.6: where a transposition stands before a shard, the sizes of the shard's inner chunks count transposed axes, and zarr-python
# checks them against the axes before the transposition. It refuses arrays that TensorStore 0.1.86 writes, and takes some that nobody can
# write: of those, elements are not stored, and a read gives others in their place.
#
# Seen for 1 to 24 in a chunk of 6 rows of 4, [4, 6] after the transposition:
#   inner [2, 3]: TensorStore writes it and reads it back, zarr-python refuses it
#   inner [3, 2]: TensorStore refuses it, zarr-python stores 18 elements, first row read [1, 2, 3, 1]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet zarr==3.1.6 tensorstore==0.1.86 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import os
import sys

import numpy
import tensorstore
import zarr
from zarr.codecs import BytesCodec, ShardingCodec, TransposeCodec

data = numpy.arange(1, 25, dtype=numpy.uint8).reshape(6, 4)


def by_tensorstore(inner, path):
    index = [{"name": "bytes", "configuration": {"endian": "little"}}]
    shard = {"chunk_shape": inner, "codecs": [{"name": "bytes"}], "index_codecs": index}
    metadata = {
        "shape": [6, 4],
        "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [6, 4]}},
        "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}},
                   {"name": "sharding_indexed", "configuration": shard}],
    }
    store = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}, "metadata": metadata, "create": True}
    try:
        array = tensorstore.open(store).result()
    except ValueError:
        return "refuses"
    array[...] = data
    assert (array.read().result() == data).all()
    try:
        zarr.open_array(path)
    except ValueError as error:
        assert "needs to be divisible" in str(error)
        return "writes and reads"
    return "writes, and zarr-python opens"


def by_zarr(inner, path):
    shard = ShardingCodec(chunk_shape=inner, codecs=[BytesCodec()], index_codecs=[BytesCodec()])
    try:
        array = zarr.create_array(path, shape=(6, 4), chunks=(6, 4), dtype="u1", compressors=None,
                                  filters=[TransposeCodec(order=(1, 0))], serializer=shard)
    except ValueError:
        return "refuses"
    array[:] = data
    stored = os.path.getsize(f"{path}/c/0/0") - 3 * 16
    return f"stores {stored} elements, first row read {array[0].tolist()}"


seen = []
for inner in ([2, 3], [3, 2]):
    seen.append((by_tensorstore(inner, f"t{inner[0]}"), by_zarr(inner, f"z{inner[0]}")))
    print(f"inner {inner}: TensorStore {seen[-1][0]}, zarr-python {seen[-1][1]}")
sys.exit(seen != [("writes and reads", "refuses"), ("refuses", "stores 18 elements, first row read [1, 2, 3, 1]")])
PYTHON
