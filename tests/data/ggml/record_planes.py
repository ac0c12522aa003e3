"""What gguf makes of blocks whose fields are planes: pip install gguf==0.19.0 numpy==2.4.6, then python record_planes.py

Writes planes.jsonl beside this script: rows of random blocks with finite scales in hex, and the bits of their values as f32, which
gguf.dequantize returns. For every type that it knows, the values that each bit of a scale or a minimum changes.
"""

import json
import pathlib

import gguf
import numpy

HERE = pathlib.Path(__file__).parent
random = numpy.random.default_rng(71)


def spelled(name):
    return "".join(c if c == "K" else c.lower() for c in name)


def blocks_of(kind, rows, blocks):
    values, size = gguf.GGML_QUANT_SIZES[kind]
    data = random.integers(0, 256, (rows, blocks, size), dtype=numpy.uint8)
    if kind.name in ("Q4_0", "Q8_0", "Q5_0", "IQ4_XS"):
        data[..., :2] = random.uniform(-2, 2, (rows, blocks, 1)).astype(numpy.float16).view(numpy.uint8)
    if kind.name in ("Q4_1", "Q5_1", "Q4_K", "Q5_K"):
        data[..., :4] = random.uniform(-2, 2, (rows, blocks, 2)).astype(numpy.float16).view(numpy.uint8)
    if kind.name == "Q2_K":
        data[..., 80:] = random.uniform(-2, 2, (rows, blocks, 2)).astype(numpy.float16).view(numpy.uint8)
    if kind.name in ("Q3_K", "Q6_K"):
        data[..., -2:] = random.uniform(-2, 2, (rows, blocks, 1)).astype(numpy.float16).view(numpy.uint8)
    if kind.name == "TQ2_0":
        data[..., 64:] = random.uniform(-2, 2, (rows, blocks, 1)).astype(numpy.float16).view(numpy.uint8)
    if kind.name == "MXFP4":
        data[..., 0] = random.integers(100, 150, (rows, blocks))
    if kind.name == "NVFP4":
        data[..., :4] = random.integers(0, 0x7F, (rows, blocks, 4))
    return data.reshape(rows, blocks * size)


def finite_block(kind, size):
    """A random block whose values are finite and not large."""
    # Every pair of bytes is a finite half. Then each byte gets all its bits, unless that is an exponent too many.
    block = random.integers(0, 256, size, dtype=numpy.uint8)
    full, block = block, block & 0xBB
    for byte in range(size):
        other = block.copy()
        other[byte] = full[byte]
        if abs(gguf.dequantize(other[None], kind)).max() < 1e6:
            block = other
    return block


def scale_bits(kind):
    """The bits that change 16 values or more: [bit, first value, last value, weight, 1 if they add and 0 if they multiply].

    A bit of weight 3 changes the values 8 times as much as the least bit of the same values. Bits of exponents have none.
    """
    values, size = gguf.GGML_QUANT_SIZES[kind]
    changes, adds = numpy.zeros((8, size * 8, values)), numpy.ones(size * 8, bool)
    for change in changes:
        with numpy.errstate(all="ignore"):
            block = finite_block(kind, size)
            plain = gguf.dequantize(block[None], kind)[0].astype(float)
            for bit in range(size * 8):
                other = block.copy()
                other[bit // 8] ^= numpy.uint8(1 << bit % 8)
                change[bit] = gguf.dequantize(other[None], kind)[0] - plain
                moved = change[bit][change[bit] != 0]
                rounding = 1e-6 * abs(plain).max()
                adds[bit] &= bool(numpy.allclose(moved, numpy.median(moved) if len(moved) else 0, rtol=1e-3, atol=rounding))
    found = {}
    for bit in range(size * 8):
        at = numpy.flatnonzero(changes[:, bit].any(0))
        if len(at) >= 16 or len(at) and len(at) == values:
            found.setdefault((int(at[0]), int(at[-1]), int(adds[bit])), []).append((bit, abs(changes[:, bit]).sum(1)))
    rows = []
    for (first, last, add), bits in found.items():
        least = numpy.minimum.reduce([change for _, change in bits])
        for bit, change in bits:
            weight = numpy.median(numpy.log2(change[least > 0] / least[least > 0]))
            rows.append([bit, first, last, round(weight) if abs(weight - round(weight)) < 0.02 else None, add])
    return sorted(rows)


lines = [{"about": "gguf 0.19.0, gguf.dequantize; values are the bits of f32, row by row"}]
for name in ("Q4_0", "Q8_0", "MXFP4", "NVFP4", "TQ2_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS"):
    kind = gguf.GGMLQuantizationType[name]
    values, size = gguf.GGML_QUANT_SIZES[kind]
    rows, blocks = (3, 2) if len(lines) < 6 else (1, 1)
    data = blocks_of(kind, rows, blocks)
    result = gguf.dequantize(data, kind).view(numpy.uint32)
    lines.append({"type": spelled(name), "sizes": [rows, blocks * values], "bytes": data.tobytes().hex(), "values": result.ravel().tolist()})
for kind in (kind for kind, (values, _) in gguf.GGML_QUANT_SIZES.items() if values > 1):
    try:
        lines.append({"type": spelled(kind.name), "scale_bits": scale_bits(kind)})
    except (NotImplementedError, KeyError, IndexError) as error:
        print(kind.name, type(error).__name__)
(HERE / "planes.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
