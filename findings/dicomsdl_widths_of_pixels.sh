#!/usr/bin/env bash
# dicomsdl 0.109.4: `pixelData` of a DICOM file takes every pixel of more than 8 bits for 16 bits, so an image
# of 32 bits comes back as its low and high halves, half the pixels only, without an error.
#
# Signed pixels of 12 bits in 16, and of 8 bits, come back positive. Unsigned pixels of 8, 12 and 16 bits are
# right, and so are signed ones of 16. pydicom 3.0.2 and GDCM (SimpleITK 2.5.6) read all of these files alike.
# Seen, pydicom and then dicomsdl:
#   8 bits: [1, 200, 3, 4]; [1, 200, 3, 4]
#   8 bits, signed: [1, -2, 3, 4]; [1, 254, 3, 4]
#   12 in 16 bits: [1, 4000, 3, 4]; [1, 4000, 3, 4]
#   12 in 16 bits, signed: [1, -2, 3, 4]; [1, 4094, 3, 4]
#   16 bits: [1, 40000, 3, 4]; [1, 40000, 3, 4]
#   16 bits, signed: [1, -2, 3, 4]; [1, -2, 3, 4]
#   32 bits: [1, 70000, 3, 4]; [1, 0, 4464, 1]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet dicomsdl==0.109.4 pydicom==3.0.2 SimpleITK==2.5.6 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import sys

import dicomsdl
import numpy
import pydicom
import SimpleITK

SimpleITK.ProcessObject.SetGlobalWarningDisplay(False)


def write(pixels, bits):
    file = pydicom.Dataset()
    file.file_meta = pydicom.dataset.FileMetaDataset()
    file.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    file.SOPClassUID = file.file_meta.MediaStorageSOPClassUID = pydicom.uid.SecondaryCaptureImageStorage
    file.SOPInstanceUID = file.file_meta.MediaStorageSOPInstanceUID = "1.2.3"
    file.Rows, file.Columns, file.SamplesPerPixel = 1, len(pixels), 1
    file.PhotometricInterpretation, file.PixelRepresentation = "MONOCHROME2", int(pixels.dtype.kind == "i")
    file.BitsAllocated, file.BitsStored, file.HighBit = 8 * pixels.itemsize, bits, bits - 1
    file.add_new("PixelData", "OB" if pixels.itemsize == 1 else "OW", pixels.tobytes())
    file.save_as("a.dcm", enforce_file_format=True)


seen = []
for name, pixels, type, bits in [
    ("8 bits", [1, 200, 3, 4], "u1", 8),
    ("8 bits, signed", [1, -2, 3, 4], "i1", 8),
    ("12 in 16 bits", [1, 4000, 3, 4], "<u2", 12),
    ("12 in 16 bits, signed", [1, -2 & 0xFFF, 3, 4], "<i2", 12),
    ("16 bits", [1, 40000, 3, 4], "<u2", 16),
    ("16 bits, signed", [1, -2, 3, 4], "<i2", 16),
    ("32 bits", [1, 70000, 3, 4], "<u4", 32),
]:
    write(numpy.array(pixels, type), bits)
    by_pydicom = pydicom.dcmread("a.dcm").pixel_array.ravel().tolist()
    assert SimpleITK.GetArrayFromImage(SimpleITK.ReadImage("a.dcm")).ravel().tolist() == by_pydicom
    by_dicomsdl = dicomsdl.open("a.dcm").pixelData().ravel().astype(int).tolist()
    seen.append(f"{name}: {by_pydicom}; {by_dicomsdl}")
print("\n".join(seen))
sys.exit(seen != """\
8 bits: [1, 200, 3, 4]; [1, 200, 3, 4]
8 bits, signed: [1, -2, 3, 4]; [1, 254, 3, 4]
12 in 16 bits: [1, 4000, 3, 4]; [1, 4000, 3, 4]
12 in 16 bits, signed: [1, -2, 3, 4]; [1, 4094, 3, 4]
16 bits: [1, 40000, 3, 4]; [1, 40000, 3, 4]
16 bits, signed: [1, -2, 3, 4]; [1, -2, 3, 4]
32 bits: [1, 70000, 3, 4]; [1, 0, 4464, 1]""".splitlines())
PYTHON
