"""What gguf makes of blocks whose fields are planes: pip install gguf==0.19.0 numpy==2.4.6, then python record_planes.py

Writes planes.jsonl beside this script: rows of random blocks with finite scales in hex, and the bits of their values as f32, which
gguf.dequantize returns. For every type that it knows, the values that each byte of a scale or a minimum changes: [byte, first, last].
"""

import json
import pathlib

import gguf
import numpy

HERE = pathlib.Path(__file__).parent
random = numpy.random.default_rng(71)


def blocks_of(kind, rows, blocks):
    values, size = gguf.GGML_QUANT_SIZES[kind]
    data = random.integers(0, 256, (rows, blocks, size), dtype=numpy.uint8)
    if kind.name in ("Q4_0", "Q8_0", "IQ4_NL"):
        data[..., :2] = random.uniform(-2, 2, (rows, blocks, 1)).astype(numpy.float16).view(numpy.uint8)
    if kind.name == "TQ2_0":
        data[..., 64:] = random.uniform(-2, 2, (rows, blocks, 1)).astype(numpy.float16).view(numpy.uint8)
    if kind.name == "MXFP4":
        data[..., 0] = random.integers(100, 150, (rows, blocks))
    if kind.name == "NVFP4":
        data[..., :4] = random.integers(0, 0x7F, (rows, blocks, 4))
    return data.reshape(rows, blocks * size)


def changed(kind):
    values, size = gguf.GGML_QUANT_SIZES[kind]
    found = {}
    for _ in range(60):
        block = random.integers(0, 256, size, dtype=numpy.uint8)
        # Every pair of bytes is a finite half.
        block &= 0xBB
        with numpy.errstate(all="ignore"):
            plain = gguf.dequantize(block[None], kind)[0].view(numpy.uint32)
            for byte in range(size):
                other = block.copy()
                other[byte] ^= numpy.uint8(random.choice([0x08, 0x10, 0x01, 0x20]))
                value = gguf.dequantize(other[None], kind)[0].view(numpy.uint32)
                at = numpy.flatnonzero(value != plain)
                if len(at):
                    first, last = found.get(byte, (int(at[0]), int(at[-1])))
                    found[byte] = (min(first, int(at[0])), max(last, int(at[-1])))
    return [[byte, first, last] for byte, (first, last) in sorted(found.items())]


lines = [{"about": "gguf 0.19.0, gguf.dequantize; values are the bits of f32, row by row"}]
for name in ("Q4_0", "Q8_0", "MXFP4", "NVFP4", "TQ2_0"):
    kind = gguf.GGMLQuantizationType[name]
    values, size = gguf.GGML_QUANT_SIZES[kind]
    data = blocks_of(kind, 3, 2)
    result = gguf.dequantize(data, kind).view(numpy.uint32)
    lines.append({"type": name.lower(), "sizes": [3, 2 * values], "bytes": data.tobytes().hex(), "values": result.ravel().tolist()})
for kind in gguf.GGMLQuantizationType:
    try:
        name = "".join(c if c == "K" else c.lower() for c in kind.name)
        lines.append({"type": name, "changed": changed(kind)})
    except (NotImplementedError, KeyError, IndexError) as error:
        print(kind.name, type(error).__name__)
(HERE / "planes.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
