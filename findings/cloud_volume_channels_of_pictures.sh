#!/usr/bin/env bash
# CloudVolume 12.15.2: a chunk of three channels that is a PNG, a JPEG or a JPEG XL is written right and read
# with its bytes at other places, without an error. The pixels that come back have other colours.
#
# In the picture the channels of a pixel lie side by side. They are read as if the x axis were innermost and
# the channels outermost, so only pictures of one channel come back. The manual says that images may have RGB
# channels. TensorStore 0.1.86 reads the same files right, and CloudVolume reads the ones that TensorStore
# writes wrong, too. `raw` chunks are right in both. Seen for 4 x 4 pixels, all of the colour 40, 100, 160
# (JPEG and JPEG XL within 8), the first four pixels:
#   raw: CloudVolume (40, 100, 160), (40, 100, 160), (40, 100, 160), (40, 100, 160), TensorStore right
#   png: CloudVolume (40, 100, 160), (100, 160, 40), (160, 40, 100), (40, 100, 160), TensorStore right
#   jpeg: CloudVolume (40, 100, 160), (100, 160, 40), (160, 40, 100), (40, 100, 160), TensorStore right
#   jxl: CloudVolume (40, 100, 160), (100, 160, 40), (160, 40, 100), (40, 100, 160)
#   png of TensorStore: CloudVolume (40, 100, 160), (100, 160, 40), (160, 40, 100), (40, 100, 160)
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet cloud-volume==12.15.2 pyspng-seunglab==1.1.3 imagecodecs==2026.3.6 simplejpeg==1.9.0 \
    tensorstore==0.1.86 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import os
import sys

import numpy
import tensorstore
from cloudvolume import CloudVolume

image = numpy.broadcast_to(numpy.array([40, 100, 160], numpy.uint8), (4, 4, 1, 3)).copy()


def by_tensorstore(folder, **options):
    return tensorstore.open({"driver": "neuroglancer_precomputed", **options,
                             "kvstore": {"driver": "file", "path": os.path.abspath(folder)}}).result()


def by_cloud_volume(folder):
    read = numpy.asarray(CloudVolume(f"file://{os.path.abspath(folder)}", progress=False)[:])
    assert read.shape == image.shape
    nearest = numpy.array([40, 100, 160])[numpy.abs(read[..., None] - [40.0, 100, 160]).argmin(-1)]
    assert (numpy.abs(read.astype(int) - nearest) <= 8).all()
    return ", ".join(str(tuple(pixel)) for pixel in nearest[:, 0, 0].tolist())


seen = []
for encoding in ("raw", "png", "jpeg", "jxl"):
    info = CloudVolume.create_new_info(3, "image", "uint8", encoding, [1, 1, 1], [0, 0, 0], [4, 4, 1], chunk_size=[4, 4, 1])
    volume = CloudVolume(f"file://{os.path.abspath(encoding)}", info=info, compress=False, progress=False)
    volume.commit_info()
    volume[:] = image
    line = f"{encoding}: CloudVolume {by_cloud_volume(encoding)}"
    if encoding != "jxl":
        same = numpy.abs(by_tensorstore(encoding).read().result().astype(int) - image).max() <= 8
        line += f", TensorStore {'right' if same else 'wrong'}"
    seen.append(line)
by_tensorstore("other", create=True, multiscale_metadata={"type": "image", "data_type": "uint8", "num_channels": 3},
               scale_metadata={"size": [4, 4, 1], "encoding": "png", "chunk_size": [4, 4, 1], "resolution": [1, 1, 1]},
               ).write(image).result()
seen.append(f"png of TensorStore: CloudVolume {by_cloud_volume('other')}")
print("\n".join(seen))
sys.exit(seen != """\
raw: CloudVolume (40, 100, 160), (40, 100, 160), (40, 100, 160), (40, 100, 160), TensorStore right
png: CloudVolume (40, 100, 160), (100, 160, 40), (160, 40, 100), (40, 100, 160), TensorStore right
jpeg: CloudVolume (40, 100, 160), (100, 160, 40), (160, 40, 100), (40, 100, 160), TensorStore right
jxl: CloudVolume (40, 100, 160), (100, 160, 40), (160, 40, 100), (40, 100, 160)
png of TensorStore: CloudVolume (40, 100, 160), (100, 160, 40), (160, 40, 100), (40, 100, 160)""".splitlines())
PYTHON
