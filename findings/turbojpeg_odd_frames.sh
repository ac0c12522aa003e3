#!/usr/bin/env bash
# libjpeg-turbo 3.0 (in turbojpeg 0.0.2) and FFmpeg's libavutil (in PyAV 18.1.0) disagree about the planes of one frame of odd sizes, rows
# unpadded: to libjpeg-turbo the luma plane is whole groups of subsampled pixels, 6 x 4 for 5 x 3 in 4:2:0 and 8 x 3 in 4:1:1, to FFmpeg it is 5
# x 3.
#
# The chroma planes are of equal sizes, and begin elsewhere. A buffer of FFmpeg's size is too small for libjpeg-turbo. With a row pitch,
# libjpeg-turbo needs no padding behind a plane's last row. Seen for 5 x 3, bytes of the planes:
#   4:2:0: libjpeg-turbo 24, 6, 6 of 36, FFmpeg 15, 6, 6 of 27, luma with a pitch of 16: 54
#   4:2:2: libjpeg-turbo 18, 9, 9 of 36, FFmpeg 15, 9, 9 of 33, luma with a pitch of 16: 38
#   4:4:0: libjpeg-turbo 20, 10, 10 of 40, FFmpeg 15, 10, 10 of 35, luma with a pitch of 16: 53
#   4:1:1: libjpeg-turbo 24, 6, 6 of 36, FFmpeg 15, 6, 6 of 27, luma with a pitch of 16: 40
#   4:4:4: libjpeg-turbo 15, 15, 15 of 45, FFmpeg 15, 15, 15 of 45, luma with a pitch of 16: 37
#
# Exits with 1 if one of them says something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for package in turbojpeg==0.0.2 av==18.1.0; do
    pip download --quiet --no-deps --no-cache-dir --python-version 3.11 --platform manylinux2014_x86_64 --platform manylinux_2_28_x86_64 \
        --only-binary :all: -d wheels "$package"
done
for wheel in wheels/*; do
    python3 -m zipfile -e "$wheel" .
done
LD_LIBRARY_PATH="$folder/av.libs" python3 - <<'PYTHON'
import ctypes
import glob
import sys

turbo = ctypes.CDLL(glob.glob("turbojpeg.libs/libturbojpeg*")[0])
turbo.tjPlaneSizeYUV.restype = turbo.tjBufSizeYUV2.restype = ctypes.c_ulong
util = ctypes.CDLL(glob.glob("av.libs/libavutil*")[0])
width, height = 5, 3


def by_turbo(subsampling):
    planes = [turbo.tjPlaneSizeYUV(plane, width, 0, height, subsampling) for plane in range(3)]
    return planes, turbo.tjBufSizeYUV2(width, 1, height, subsampling), turbo.tjPlaneSizeYUV(0, width, 16, height, subsampling)


def by_ffmpeg(name):
    kind, pitches, planes = util.av_get_pix_fmt(name), (ctypes.c_int * 4)(), (ctypes.c_size_t * 4)()
    util.av_image_fill_linesizes(pitches, kind, width)
    util.av_image_fill_plane_sizes(planes, kind, height, (ctypes.c_ssize_t * 4)(*pitches))
    return list(planes[:3]), util.av_image_get_buffer_size(kind, width, height, 1)


expected = {
    "4:2:0": (2, b"yuv420p", ([24, 6, 6], 36, 54), ([15, 6, 6], 27)),
    "4:2:2": (1, b"yuv422p", ([18, 9, 9], 36, 38), ([15, 9, 9], 33)),
    "4:4:0": (4, b"yuv440p", ([20, 10, 10], 40, 53), ([15, 10, 10], 35)),
    "4:1:1": (5, b"yuv411p", ([24, 6, 6], 36, 40), ([15, 6, 6], 27)),
    "4:4:4": (0, b"yuv444p", ([15, 15, 15], 45, 37), ([15, 15, 15], 45)),
}
right = True
for name, (subsampling, pixels, *sizes) in expected.items():
    seen = [by_turbo(subsampling), by_ffmpeg(pixels)]
    (padded, total, pitched), (plain, whole) = seen
    print(f"{name}: libjpeg-turbo {', '.join(map(str, padded))} of {total}, FFmpeg {', '.join(map(str, plain))} of {whole}, "
          f"luma with a pitch of 16: {pitched}")
    right = right and seen == sizes
sys.exit(not right)
PYTHON
