"""TensorRT's formats as the Python module of 11.4 says them: pip download --no-deps tensorrt-cu13-bindings==11.4.0.106, and unpack it

    python tensorrt_formats.py FOLDER

The module needs a driver to be imported, so its text is read from the file: of each format the types, the dimensions of an array and the
subscripts of an element, which are evaluated. kDLA_HWC4 is left out (rows of 32 bytes there, of 64 in the header); the text of kCHW32 names no types.
"""

import itertools
import math
import pathlib
import re
import sys

from record import row, write

[module] = pathlib.Path(sys.argv[1]).glob("**/tensorrt.so")
text = re.sub(r"\s+", " ", " ".join(found.decode() for found in re.findall(rb"[\x20-\x7e\n]{8,}", module.read_bytes())))
text = text[text.index("Two wide channel vectorized row major format. This") :]
NAMES = ["kCHW2", "kHWC8", "kCHW4", "kCHW16", "kCHW32", "kDHWC8", "kCDHW32", "kDLA_LINEAR", "kHWC16"]
TYPES = {"FP16": "f16", "BF16": "bf16", "INT8": "s8", "Int8": "s8", "FP8": "f8e4m3fn", "FP32": "f32"}
stated = re.findall(r"This format is ([^{]*?)For a tensor with dimensions \{([NCDHW, ]+)\}, the memory layout is equivalent to (?:a C|the|an) array with dimensions (\S+(?: 64/elementSize\)\])?)(?: where .*?)?, with the tensor coordinates \(.*?\) mapping to array subscript (\S+)\.", text)
assert len(stated) == len(NAMES), len(stated)


def lists(brackets, values):
    """The numbers of `[N][(C+1)/2][H][W][2]`."""
    rounded = lambda size, multiple: -(-size // int(multiple)) * int(multiple)
    return [int(eval(part.replace("/", "//"), {"roundUp": rounded, **values})) for part in re.findall(r"\[([^\]]+)\]", brackets)]


rows = []
for name, (about, axes, dims, subscripts) in zip(NAMES, stated):
    axes = axes.split(", ")
    about = about.rsplit("This format is", 1)[-1]
    for word in [word for word in TYPES if re.search(rf"\b{word}\b", about)] or ["FP32"]:
        element = 2 if "16" in word else 4 if word == "FP32" else 1
        sizes = dict(zip("NCDHW", [2, 21, 3, 4, 5]))
        shape = lists(dims, sizes | {"elementSize": element})
        offsets = {}
        for index in itertools.product(*(range(sizes[axis]) for axis in axes)):
            places = lists(subscripts, {axis.lower(): at for axis, at in zip(axes, index)})
            offsets[index] = sum(at * math.prod(shape[axis + 1 :]) for axis, at in enumerate(places))
        layout = f"tensorrt.{name}:{TYPES[word]}{[sizes[axis] for axis in axes]}".replace(" ", "")
        rows.append(row(layout, offsets, math.prod(shape) * element))
write(__file__, "the text of tensorrt-cu13-bindings 11.4.0.106", rows)
