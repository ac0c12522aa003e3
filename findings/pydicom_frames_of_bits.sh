#!/usr/bin/env bash
# pydicom 3.0.2: a single frame of an image of one bit a pixel is refused where it lies in more bytes than its
# bits would fill, with a message about a reshape. All frames at once are right, and so is one frame in
# highdicom 0.28.2, which is built on pydicom.
#
# The bits of all frames are one stream, so frames begin and end inside bytes. Of frames of 3 x 5 all but the
# first lie in three bytes, two are read. `iter_pixels` stops at the first of them. Seen for random bits:
#   8 of 1 x 3: right, right, refused, right, right, refused, right, right
#   5 of 2 x 3: right, refused, refused, right, right
#   4 of 3 x 3: right, right, right, right
#   3 of 3 x 4: right, right, right
#   4 of 3 x 5: right, refused, refused, refused
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet pydicom==3.0.2 highdicom==0.28.2 numpy==2.4.6
"$folder/env/bin/python" -W ignore - "$folder/file.dcm" <<'PYTHON'
import sys

import highdicom
import numpy
import pydicom
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.pixels import pixel_array

path = sys.argv[1]


def write(array):
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = pydicom.uid.SegmentationStorage
    meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    file = FileDataset(path, {}, file_meta=meta, preamble=bytes(128))
    file.SOPClassUID, file.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    file.NumberOfFrames, file.Rows, file.Columns = array.shape
    file.BitsAllocated = file.BitsStored = file.SamplesPerPixel = 1
    file.HighBit = file.PixelRepresentation = 0
    file.PhotometricInterpretation = "MONOCHROME2"
    packed = numpy.packbits(array.ravel(), bitorder="little").tobytes()
    file.PixelData = packed + bytes(len(packed) % 2)
    file["PixelData"].VR = "OB"
    file.save_as(path, enforce_file_format=True)


def one(index, array):
    try:
        return "right" if (pixel_array(path, index=index) == array).all() else "wrong"
    except ValueError as error:
        return "refused" if "cannot reshape array" in str(error) else str(error)


seen = []
for sizes in [(8, 1, 3), (5, 2, 3), (4, 3, 3), (3, 3, 4), (4, 3, 5)]:
    array = numpy.random.default_rng(1).integers(0, 2, sizes).astype(numpy.uint8)
    write(array)
    assert (pydicom.dcmread(path).pixel_array == array).all()
    other = highdicom.imread(path)
    assert all((other.get_frame(index + 1) == frame).all() for index, frame in enumerate(array))
    seen.append([one(index, frame) for index, frame in enumerate(array)])
    print("{} of {} x {}: {}".format(*sizes, ", ".join(seen[-1])))
right, refused = "right", "refused"
sys.exit(seen != [
    [right, right, refused, right, right, refused, right, right],
    [right, refused, refused, right, right],
    [right] * 4,
    [right] * 3,
    [right, refused, refused, refused],
])
PYTHON
