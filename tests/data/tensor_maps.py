#!/usr/bin/env python3
"""Writes tensor_maps.tsv: boxes of tensor maps, and the rules that each breaks.

The rules are those of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col in cuda.h of nvidia-cuda-runtime 13.5.37, and of
make_tma_descriptor in nvidia-cuda-cccl 13.3.5, read on 28 November 2026 and repeated here in our words. Each case is made
around one rule, so what it breaks is known without computing it from the library.
"""
import pathlib

rows = []


def case(source, codes, limits, layout, box="", **options):
    rows.append([limits, layout, box, ";".join(f"{k}={v}" for k, v in options.items()).replace("im2col=", "im2col:"), codes, source])


M = "cuda-tensor-map"
SIZE = "cuda.h, boxDim: not 0, and at most 256"
INNER = "cuda.h, boxDim: without interleaving, boxDim[0] times the element's bytes is a multiple of 16"
SPAN = "cuda.h, swizzle: without interleaving, the inner row of the box has at most the bytes of the span"
STEP = "cuda.h, elementStrides: not 0, and at most 8"
FIRST = "cuda.h, elementStrides: without interleaving, the first is ignored"
RANK = "cuda.h, tensorRank: 1 to 5, and at least 3 with interleaving"
I32 = "cuda.h, swizzle: blocks of 32 bytes require the swizzle of 32 bytes"
A32 = "cuda.h, globalStrides: blocks of 32 bytes require multiples of 32"
SIX = "cuda.h, boxDim: 16U6_ALIGN16B requires 128 values in a row"
SIXS = "cuda.h, swizzle: 16U6_ALIGN16B takes no swizzle, or one of 128 bytes"
SIXI = "cuda.h, interleave: 16U6_ALIGN16B is not interleaved"
FOUR = "CCCL, U4x16: a row of the box is counted in packed values"
IR = "cuda.h, im2col, tensorRank: 3, 4 or 5"
CORNER = "cuda.h, im2col, corners: 16 bits for one axis, 8 for two, 5 for three"
AREA = "cuda.h, im2col: the box between the corners has an area"
CHANNELS = "cuda.h, im2col, channelsPerPixel: at most 256"
PIXELS = "cuda.h, im2col, pixelsPerColumn: at most 1024"
COUNT = "cuda.h: each list has tensorRank numbers"

for size in (0, 1, 2, 255, 256, 257, 512, 4294967296):
    good = 1 <= size <= 256
    case(SIZE, "ok" if good else "box_size", M, "f32[4096,64]:[64,1]", f"{size},64")
    case(SIZE, "ok" if good else "box_size", M, "bf16[4,4096,64]:[262144,64,1]", f"1,{size},64")
    case(SIZE, "ok" if good else "box_size", M, "u8[9,9,9,9,64]:[46656,5184,576,64,1]", f"{size},1,1,1,64")
case(SIZE, "box_size box_size", M, "f32[4096,1024]:[1024,1]", "257,260")
for t, bits in (("u8", 8), ("s8", 8), ("f16", 16), ("bf16", 16), ("s16", 16), ("f32", 32), ("s32", 32), ("f64", 64), ("s64", 64), ("u4", 4), ("f4e2m1fn", 4)):
    source = FOUR if bits == 4 else INNER
    for n in sorted({128 // bits, 128 // bits - 1, 128 // bits * 2, 128 // bits * 3, 1}):
        if not 1 <= n <= 256:
            continue
        case(source, "ok" if n * bits % 128 == 0 else "box_inner_bytes", M, f"{t}[512,512]:[512,1]", f"8,{n}")
for span in (32, 64, 128):
    for t, bits in (("u8", 8), ("f16", 16), ("f32", 32), ("f64", 64), ("u4", 4)):
        for row in (span // 2, span, span + 16, span * 2):
            n = row * 8 // bits
            if n > 256:
                continue
            good = "ok" if row <= span else "box_span"
            case(SPAN, good if row % 16 == 0 else "box_inner_bytes", f"{M}:{span}", f"{t}[512,512]:[512,1]", f"8,{n}")
case(SPAN, "box_size box_span", f"{M}:128", "f16[512,72]:[72,1]", "512,72")
for step in (0, 1, 2, 7, 8, 9, 100):
    good = 1 <= step <= 8
    case(STEP, "ok" if good else "element_stride", M, "f32[512,64]:[64,1]", "16,64", steps=f"{step},1")
    case(FIRST, "ok", M, "f32[512,64]:[64,1]", "16,64", steps=f"1,{step}")
    case(STEP, "ok" if good else "element_stride", M, "f16[8,64,64,8]:[32768,512,8,1]", "1,8,8,8", steps=f"1,1,1,{step}", interleave=16)
case(COUNT, "rank_mismatch", M, "f32[512,64]:[64,1]", "16,64", steps="1,1,1")
case(COUNT, "rank_mismatch", M, "f32[512,64]:[64,1]", "16")
case(COUNT, "rank_mismatch", M, "f32[512,64]:[64,1]", "1,16,64")
for rank in (1, 2, 3, 4, 5):
    sizes = [8] * rank
    strides = [8 ** (rank - 1 - axis) for axis in range(rank)]
    text = f"f16[{','.join(map(str, sizes))}]:[{','.join(map(str, strides))}]"
    box = ",".join(["8"] * rank)
    case(RANK, "ok", M, text, box)
    case(RANK, "ok" if rank >= 3 else "rank_limit", M, text, box, interleave=16)
for span in (0, 32, 64, 128):
    limits = M if span == 0 else f"{M}:{span}"
    case(I32, "ok" if span == 32 else "interleave", limits, "f16[8,64,64,16]:[65536,1024,16,1]", "1,8,8,16", interleave=32)
    case("cuda.h, swizzle: other interleave modes take any swizzle", "ok", limits, "f16[8,64,64,8]:[32768,512,8,1]", "1,8,8,8", interleave=16)
case(A32, "stride_unaligned", f"{M}:32", "f16[8,64,64,8]:[32768,512,8,1]", "1,8,8,8", interleave=32)
case("cuda.h, boxDim: the rule of 16 bytes is for tensors that are not interleaved", "ok", M, "f16[8,64,64,8]:[32768,512,8,1]", "1,8,8,4", interleave=16)
for n in (16, 64, 127, 128, 129, 256):
    case(SIX, "ok" if n == 128 else "box_row", M, "f6e2m3fn[64,256]:[256,1]", f"8,{n}")
    case(SIX, "ok" if n == 128 else "box_row", f"{M}:128", "f6e3m2fn[64,256]:[256,1]", f"8,{n}")
for span in (32, 64):
    case(SIXS, "swizzle_type", f"{M}:{span}", "f6e2m3fn[64,256]:[256,1]", "8,128")
case(SIXI, "interleave", M, "f6e2m3fn[8,8,64,256]:[131072,16384,256,1]", "1,1,8,128", interleave=16)

NHWC = "f16[8,56,56,64]:[200704,3584,64,1]"
NWC = "f16[8,4096,64]:[262144,64,1]"
NDHWC = "f16[2,16,16,16,64]:[262144,16384,1024,64,1]"


def im2col(lower, upper, channels=64, pixels=128):
    return f"lower={lower},upper={upper},channels={channels},pixels={pixels}".replace(",upper", "|upper").replace(",channels", "|channels").replace(",pixels", "|pixels")


for low, high, layout, axes in ((-32768, 32767, NWC, 1), (-128, 127, NHWC, 2), (-16, 15, NDHWC, 3)):
    tail = ",0" * (axes - 1)
    for value in (low - 1, low, -1, 0):
        case(CORNER, "ok" if value >= low else "im2col_corner", M, layout, im2col=im2col(f"{value}{tail}", f"0{tail}"))
    for value in (high + 1, high, 1):
        case(CORNER, "ok" if value <= high else "im2col_corner", M, layout, im2col=im2col(f"0{tail}", f"{value}{tail}"))
case(AREA, "ok", M, NHWC, im2col=im2col("55,0", "0,0"))
case(AREA, "im2col_corner", M, NHWC, im2col=im2col("56,0", "0,0"))
case(AREA, "im2col_corner", M, NHWC, im2col=im2col("0,28", "0,-28"))
case(AREA, "ok", M, NHWC, im2col=im2col("0,28", "0,-27"))
case(IR, "rank_limit rank_limit", M, "f16[8,64]:[64,1]", im2col=im2col("0", "0"))
case(COUNT, "rank_mismatch", M, NHWC, im2col=im2col("0", "0,0"))
case(COUNT, "rank_mismatch", M, NHWC, im2col=im2col("0,0", "0,0,0"))
for n in (0, 1, 8, 256, 257):
    case(CHANNELS, "ok" if 1 <= n <= 256 else "im2col_channels", M, NHWC, im2col=im2col("-1,-1", "-1,-1", channels=n))
    case(PIXELS, "ok" if n else "im2col_pixels", M, NHWC, im2col=im2col("-1,-1", "-1,-1", pixels=n))
for n in (1023, 1024, 1025, 100000):
    case(PIXELS, "ok" if n <= 1024 else "im2col_pixels", M, NHWC, im2col=im2col("-1,-1", "-1,-1", pixels=n))
for span in (32, 64, 128):
    for row in (span, span + 2):
        case(SPAN, "ok" if row <= span else "box_span", f"{M}:{span}", NHWC, im2col=im2col("-1,-1", "-1,-1", channels=row // 2))
case("cuda.h, globalDim: at most 2^31 in CUDA 13.5", "ok", M, "u8[2147483648,16]:[16,1]", "8,16")
case("cuda.h, globalDim: at most 2^31 in CUDA 13.5", "size_limit", M, "u8[2147483649,16]:[16,1]", "8,16")
case("cuda.h, globalStrides: below 2^40 bytes", "stride_limit", M, "u8[2,16]:[1099511627776,1]", "1,16")
case("cuda.h, globalStrides: multiples of 16", "stride_unaligned", M, "f16[64,60]:[60,1]", "8,56")

path = pathlib.Path(__file__).with_suffix(".tsv")
path.write_text("limits\tlayout\tbox\toptions\tcodes\tsource\n" + "".join("\t".join(row) + "\n" for row in rows))
print(len(rows), "cases")
