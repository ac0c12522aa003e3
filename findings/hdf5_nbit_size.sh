#!/usr/bin/env bash
# HDF5 2.0.0 (h5py 3.16.0): a chunk that the N-bit filter packs takes a byte more than its bits need where the bits are whole bytes: 2 bytes for 8
# bits, 5 for 32. The byte is 0. Where the bits end inside a byte, there is none more. At full precision nothing is packed or added.
#
# A size that is rounded up to bytes is one too small for most chunks. Seen for 1, 2, 3 and so on in little-endian types:
#   8 of 1 bit: aa00
#   8 of 3 bits: 29cbb800
#   8 of 4 bits: 1234567800
#   4 of 8 bits in 16: 0102030400
#   3 of 12 bits in 16: 0010020030
#   4 of 12 bits in 16: 00100200300400
#   4 of 16 bits in 16: 0100020003000400
#
# Exits with 1 if HDF5 does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet h5py==3.16.0 numpy==2.4.6
"$folder/env/bin/python" - "$folder/file.h5" <<'PYTHON'
import sys

import h5py
import numpy
from h5py import h5d, h5p, h5s, h5t, h5z

expected = [(8, 1, "aa00"), (8, 3, "29cbb800"), (8, 4, "1234567800"), (4, 8, "0102030400"),
            (3, 12, "0010020030"), (4, 12, "00100200300400"), (4, 16, "0100020003000400")]
seen = []
with h5py.File(sys.argv[1], "w") as file:
    for count, bits, _ in expected:
        kind = (h5t.STD_U8LE if bits < 8 else h5t.STD_U16LE).copy()
        kind.set_precision(bits)
        chunked = h5p.create(h5p.DATASET_CREATE)
        chunked.set_chunk((count,))
        chunked.set_filter(h5z.FILTER_NBIT)
        dataset = h5d.create(file.id, f"{count}x{bits}".encode(), kind, h5s.create_simple((count,)), chunked)
        values = (numpy.arange(1, count + 1) % 2**bits).astype(numpy.uint16)
        dataset.write(h5s.ALL, h5s.ALL, values)
        file.flush()
        back = numpy.zeros_like(values)
        dataset.read(h5s.ALL, h5s.ALL, back)
        assert (back == values).all()
        seen.append((count, bits, dataset.read_direct_chunk((0,))[1].hex()))
        print(f"{count} of {bits} bit{'s' * (bits > 1)}{' in 16' * (bits >= 8)}: {seen[-1][2]}")
sys.exit(h5py.version.hdf5_version != "2.0.0" or seen != expected)
PYTHON
