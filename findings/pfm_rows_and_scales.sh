#!/usr/bin/env bash
# A PFM file has its lowest row first, and a scale whose sign is the byte order. Five readers make four
# pictures of one valid file, without an error: OpenImageIO 3.2.2.0 and netpbmfile 2026.1.29 put the lowest
# row on top, OpenImageIO multiplies by the scale, OpenCV 5.0.0.93 and FFmpeg 8.1.2 (PyAV 18.1.0) divide by
# it, and Pillow 13.0.0 and netpbmfile leave it out.
#
# OpenImageIO turns the rows if it is opened with a configuration, an empty one is enough, and it always turns
# them when it writes: a picture that it has written comes back upside down. FFmpeg has the same format with
# half precision (PHM), whose rows it turns when it reads and not when it writes, so that one comes back
# upside down, too. Seen for the rows (0, 0.25), (0.5, 0.75), (1, 1.25):
#   scale 1: Pillow 0, 0.25, 0.5, 0.75, 1, 1.25
#   scale 1: netpbmfile 1, 1.25, 0.5, 0.75, 0, 0.25
#   scale 1: OpenCV 0, 0.25, 0.5, 0.75, 1, 1.25
#   scale 1: FFmpeg 0, 0.25, 0.5, 0.75, 1, 1.25
#   scale 1: OpenImageIO 1, 1.25, 0.5, 0.75, 0, 0.25
#   scale 1: OpenImageIO, empty configuration 0, 0.25, 0.5, 0.75, 1, 1.25
#   scale 2: Pillow 0, 0.25, 0.5, 0.75, 1, 1.25
#   scale 2: netpbmfile 1, 1.25, 0.5, 0.75, 0, 0.25
#   scale 2: OpenCV 0, 0.125, 0.25, 0.375, 0.5, 0.625
#   scale 2: FFmpeg 0, 0.125, 0.25, 0.375, 0.5, 0.625
#   scale 2: OpenImageIO 2, 2.5, 1, 1.5, 0, 0.5
#   scale 2: OpenImageIO, empty configuration 0, 0.5, 1, 1.5, 2, 2.5
#   written and read: PFM by OpenImageIO 1, 1.25, 0.5, 0.75, 0, 0.25
#   written and read: PFM by FFmpeg 0, 0.25, 0.5, 0.75, 1, 1.25
#   written and read: PHM by FFmpeg 1, 1.25, 0.5, 0.75, 0, 0.25
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pillow==13.0.0 netpbmfile==2026.1.29 opencv-python-headless==5.0.0.93 OpenImageIO==3.2.2.0 av==18.1.0 \
    numpy==2.4.6
cat > rows.py <<'PYTHON'
import sys
from fractions import Fraction

import av
import cv2
import netpbmfile
import numpy
import OpenImageIO
import PIL.Image

rows = numpy.arange(6, dtype="<f4").reshape(3, 2) / 4


def text(pixels):
    return ", ".join(f"{value:g}" for value in numpy.asarray(pixels).ravel())


def ffmpeg(codec, data):
    decoder = av.CodecContext.create(codec, "r")
    frames = [*decoder.decode(av.Packet(data)), *decoder.decode(None)]
    return frames[0].to_ndarray()


def ffmpeg_twice(codec):
    encoder = av.CodecContext.create(codec, "w")
    encoder.height, encoder.width = rows.shape
    encoder.pix_fmt = "grayf32le"
    encoder.time_base = Fraction(1, 25)
    frame = av.VideoFrame.from_ndarray(rows, format="grayf32le")
    frame.pts = 0
    return ffmpeg(codec, b"".join(bytes(packet) for packet in [*encoder.encode(frame), *encoder.encode(None)]))


def openimageio(name, *configuration):
    return OpenImageIO.ImageInput.open(name, *configuration).read_image("float")


def openimageio_twice():
    file = OpenImageIO.ImageOutput.create("b.pfm")
    file.open("b.pfm", OpenImageIO.ImageSpec(2, 3, 1, "float"))
    file.write_image(rows.reshape(3, 2, 1))
    file.close()
    return openimageio("b.pfm")


seen = []
for scale in [1, 2]:
    data = f"Pf\n2 3\n-{scale}.0\n".encode() + rows[::-1].tobytes()
    with open("a.pfm", "wb") as file:
        file.write(data)
    for reader, pixels in [("Pillow", PIL.Image.open("a.pfm")), ("netpbmfile", netpbmfile.imread("a.pfm")),
                           ("OpenCV", cv2.imread("a.pfm", cv2.IMREAD_UNCHANGED)), ("FFmpeg", ffmpeg("pfm", data)),
                           ("OpenImageIO", openimageio("a.pfm")),
                           ("OpenImageIO, empty configuration", openimageio("a.pfm", OpenImageIO.ImageSpec()))]:
        seen.append(f"scale {scale}: {reader} {text(pixels)}")
for name, pixels in [("PFM by OpenImageIO", openimageio_twice()), ("PFM by FFmpeg", ffmpeg_twice("pfm")),
                     ("PHM by FFmpeg", ffmpeg_twice("phm"))]:
    seen.append(f"written and read: {name} {text(pixels)}")
print("\n".join(seen))
plain, turned = "0, 0.25, 0.5, 0.75, 1, 1.25", "1, 1.25, 0.5, 0.75, 0, 0.25"
sys.exit(seen != [
    f"scale 1: Pillow {plain}",
    f"scale 1: netpbmfile {turned}",
    f"scale 1: OpenCV {plain}",
    f"scale 1: FFmpeg {plain}",
    f"scale 1: OpenImageIO {turned}",
    f"scale 1: OpenImageIO, empty configuration {plain}",
    f"scale 2: Pillow {plain}",
    f"scale 2: netpbmfile {turned}",
    "scale 2: OpenCV 0, 0.125, 0.25, 0.375, 0.5, 0.625",
    "scale 2: FFmpeg 0, 0.125, 0.25, 0.375, 0.5, 0.625",
    "scale 2: OpenImageIO 2, 2.5, 1, 1.5, 0, 0.5",
    "scale 2: OpenImageIO, empty configuration 0, 0.5, 1, 1.5, 2, 2.5",
    f"written and read: PFM by OpenImageIO {turned}",
    f"written and read: PFM by FFmpeg {plain}",
    f"written and read: PHM by FFmpeg {turned}",
])
PYTHON
venv/bin/python rows.py
