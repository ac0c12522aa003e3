# pip install av==18.1.0 numpy; writes ffmpeg.jsonl: frames of FFmpeg 8.1 that swscale made of planar frames, without a change of a value.
# A record has the rows of a frame with FFmpeg's line sizes (`stored`), and the same planes packed, in the order y, u, v, a or r, g, b, a.
import json
import random

import av
from av.video.frame import VideoFrame

PAIRS = [
    ("nv12", "yuv420p", "yuv"), ("nv21", "yuv420p", "yuv"), ("nv16", "yuv422p", "yuv"), ("nv24", "yuv444p", "yuv"),
    ("yuv420p", "yuv420p", "yuv"), ("p010le", "yuv420p10le", "yuv"), ("p016le", "yuv420p16le", "yuv"), ("uyvy422", "yuv422p", "yuv"),
    ("yuyv422", "yuv422p", "yuv"), ("y210le", "yuv422p10le", "yuv"), ("vuya", "yuva444p", "yuva"), ("gray8", "gray8", "y"),
    ("bgr24", "rgb24", "rgb"), ("rgb24", "rgb24", "rgb"), ("rgba", "rgba", "rgba"), ("bgra", "rgba", "rgba"),
    ("yuv422p", "yuv422p", "yuv"), ("yuv444p", "yuv444p", "yuv"), ("nv42", "yuv444p", "yuv"), ("yvyu422", "yuv422p", "yuv"),
    ("p012le", "yuv420p12le", "yuv"), ("p210le", "yuv422p10le", "yuv"), ("p410le", "yuv444p10le", "yuv"),
    ("yuv420p10le", "yuv420p10le", "yuv"), ("gray16le", "gray16le", "y"), ("yuva420p", "yuva420p", "yuva"),
]
W, H = 24, 6
random.seed(3)
with open("ffmpeg.jsonl", "w") as out:
    for name, planar, names in PAIRS:
        # The rows of all planes are in proportion at this width.
        width = 32 if name == "yuv420p10le" else W
        frame = VideoFrame(width, H, planar)
        bits, packed = frame.format.components[0].bits, b""
        wide = 2 if bits > 8 else 1
        # Ten bits are the upper ones of sixteen in p010 and y210, and the lower ones in planar frames.
        shift = 16 - bits if wide == 2 and name != planar else 0
        for plane in frame.planes:
            row = plane.width * wide * (len(names) if names[0] == "r" else 1)
            rows = b""
            for _ in range(plane.height):
                numbers = [random.randrange(1 << bits) for _ in range(row // wide)]
                stored = b"".join(number.to_bytes(wide, "little") for number in numbers)
                packed += b"".join((number << shift).to_bytes(wide, "little") for number in numbers)
                rows += stored.ljust(plane.line_size, b"\0")
            plane.update(rows)
        made = frame if name == planar else frame.reformat(format=name)
        stored, pitches = b"".join(bytes(plane) for plane in made.planes), [plane.line_size for plane in made.planes]
        record = {"frame": name, "sizes": [H, width], "line_sizes": pitches, "rows": [plane.height for plane in made.planes],
                  "stored": stored.hex(), "planes": packed.hex(), "library": "FFmpeg of PyAV " + av.__version__}
        out.write(json.dumps(record) + "\n")
