"""Layouts that no package here computes, by loops after their sources: the names whose rule is `read`.

Rockchip: NC1HWC2 with 16 bytes of channels, H*W rounded up to 4, an even
number of blocks for results (sizes by rknn-toolkit2 2.5.0: f16 (1,20,7,5) 2304 bytes as a result; int8 (1,33,3,3) 576 bytes as input and 768
as result; int8 (1,8,5,5) 896 and 448). Ascend: FRACTAL_NZ and NC1HWC0 of the CANN manual.
"""

import itertools

from record import row, write


def up(value, multiple):
    return -(-value // multiple) * multiple


def table(name, data_type, element, sizes, place, elements):
    offsets = {index: place(*index) for index in itertools.product(*map(range, sizes))}
    assert len(set(offsets.values())) == len(offsets) and max(offsets.values()) < elements, name
    return row(f"{name}:{data_type}{list(sizes)}".replace(" ", ""), offsets, elements * element)


rows = []
for data_type, element, (N, C, H, W), inputs, results in [("f16", 2, (1, 20, 7, 5), None, 2304), ("s8", 1, (1, 33, 3, 3), 576, 768), ("s8", 1, (1, 8, 5, 5), 448, 896), ("s8", 1, (2, 20, 2, 3), None, None)]:
    c2 = 16 // element
    plane = up(H * W, 4) * c2
    for name, blocks, known in [("NC1HWC2", up(C, c2) // c2, inputs), ("NC1HWC2_result", up(up(C, c2) // c2, 2), results)]:
        assert known in (None, N * blocks * plane * element)
        rows.append(table(f"rknn.{name}", data_type, element, (N, C, H, W), lambda n, c, h, w: n * blocks * plane + c // c2 * plane + (h * W + w) * c2 + c % c2, N * blocks * plane))
for data_type, element, (M, N) in [("f16", 2, (5, 20)), ("f16", 2, (33, 16)), ("s8", 1, (17, 40))]:
    c0 = 32 // element
    rows.append(table("ascend.FRACTAL_NZ", data_type, element, (M, N), lambda m, n: (n // c0 * up(M, 16) + m) * c0 + n % c0, up(M, 16) * up(N, c0)))
for M, K in [(130, 56), (5, 6)]:
    rows.append(table("deep_gemm.packed_ue8m0", "f8e8m0fnu", 1, (M, K), lambda m, k: (k // 4 * up(M, 4) + m) * 4 + k % 4, up(M, 4) * up(K, 4)))
for M, N in [(5, 70), (17, 64), (64, 128)]:
    rows.append(table("ascend.FRACTAL_NZ", "f4e2m1fn", 1, (M, N), lambda m, n: (n // 64 * up(M, 16) + m) * 64 + n % 64, up(M, 16) * up(N, 64)))
    rows[-1]["bytes"] //= 2
for data_type, element, (N, C, H, W) in [("f16", 2, (2, 20, 2, 3)), ("s8", 1, (1, 33, 3, 2))]:
    c0 = 32 // element
    c1 = up(C, c0) // c0
    rows.append(table("ascend.NC1HWC0", data_type, element, (N, C, H, W), lambda n, c, h, w: (((n * c1 + c // c0) * H + h) * W + w) * c0 + c % c0, N * c1 * H * W * c0))
for W in [5, 70]:
    # A vector is the first row of its tiles, by ttnn 0.81.1: bf16[70] takes 6144 bytes.
    rows.append(table("tenstorrent.tile", "bf16", 2, (W,), lambda w: w // 32 * 1024 + w % 32 // 16 * 256 + w % 16, up(W, 32) * 32))


def flipped(offset, bits, by):
    """The offset with `bits` bits from bit 4 on flipped by those from bit `by` on."""
    return offset ^ (offset >> by & (1 << bits) - 1) << 4



for R, C in [(40, 10), (64, 8)]:
    # PyTorch's SWIZZLE_32_8: view(R/32, 2, 16, C/8, 2, 4), permuted by 0, 3, 5, 2, 4, 1.
    place = lambda r, c: ((((r // 32 * (up(C, 8) // 8) + c // 8) * 4 + c % 4) * 16 + r % 16) * 2 + c % 8 // 4) * 2 + r % 32 // 16
    rows.append(table("hipblaslt.BLK32_UE8M0_32_8", "f8e8m0fnu", 1, (R, C), place, up(R, 32) * up(C, 8)))
for warps, (M, K) in [(4, (130, 3)), (8, (320, 90)), (8, (256, 2))]:
    # Triton's kernels: view(M/(32w), 2, w, 2, 8, K/2, 2), permuted by 0, 2, 5, 1, 4, 6, 3.
    def place(m, k):
        outer, (second, warp, pair, row) = m // (32 * warps), (m // (16 * warps) % 2, m // 16 % warps, m // 8 % 2, m % 8)
        return (((((outer * warps + warp) * (up(K, 2) // 2) + k // 2) * 2 + second) * 8 + row) * 2 + k % 2) * 2 + pair
    rows.append(table(f"triton_kernels.hopper_scale<{warps}>", "f8e8m0fnu", 1, (M, K), place, up(M, 32 * warps) * up(K, 2)))
for element, (H, W) in [(1, (33, 40)), (2, (64, 32))]:
    # tt-metal: tiles of 32 scales and 1024 values, a scale for each 2 rows of a face of 16 x 16.
    face = lambda h, w, rows: ((h % (2 * rows) // rows * 2 + w % 32 // 16) * rows + h % rows) * 16 + w % 16
    tiles = up(W, 32) // 32
    for name, data_type, values in [("mx8", "f8e4m3fn", 1), ("mx4", "f4e2m1fn", 2)]:
        stored = 32 * values + 1024
        rows.append(table(f"tenstorrent.{name}.values", data_type, 1, (H, W), lambda h, w: (h // 32 * tiles + w // 32) * stored + 32 * values + face(h, w, 16), up(H, 32) // 32 * tiles * stored))
        rows[-1]["bytes"] //= values
        G, C = -(-H // 2), -(-W // 16)
        tile = 32 + 1024 // values
        rows.append(table(f"tenstorrent.{name}.scales", "f8e8m0fnu", 1, (G, C), lambda g, c: (g // 16 * (up(C, 2) // 2) + c // 2) * tile + (g % 16 // 8 * 2 + c % 2) * 8 + g % 8, up(G, 16) // 16 * (up(C, 2) // 2) * tile))
for span, bits in [(32, 1), (64, 2), (128, 3)]:
    for data_type, element in [("f16", 2), ("f32", 4), ("u8", 1)]:
        C = span // element
        place = lambda r, c: flipped((r * C + c) * element, bits, 7) // element
        rows.append(table(f"cuda.tma_swizzle<{span}>", data_type, element, (20, C), place, 20 * C))
for width in [4, 8, 16]:
    for data_type, element in [("s8", 1), ("f16", 2), ("f32", 4)]:
        H, W, narrow = 19, 21, 64 // width // element
        place = lambda h, w: (h // width * (up(W, narrow) // narrow) + w // narrow) * width * narrow + h % width * narrow + w % narrow
        rows.append(table(f"vulkan.BRICK_WIDE<{width}>", data_type, element, (H, W), place, up(H, width) * up(W, narrow)))
for data_type, element, (H, W, C) in [("u8", 1, (20, 33, 1)), ("s16", 2, (16, 16, 2)), ("u8", 1, (5, 40, 4))]:
    # Mesa: y3 (x3 ^ y3) y2 (x2 ^ y2) y1 (x1 ^ y1) y0 (x0 ^ y0).
    def place(h, w, c):
        inside = sum((h >> bit & 1) << 2 * bit + 1 | ((h ^ w) >> bit & 1) << 2 * bit for bit in range(4))
        return ((h // 16 * (up(W, 16) // 16) + w // 16) * 256 + inside) * C + c
    rows.append(table("vulkan.BLOCK_U_INTERLEAVED", data_type, element, (H, W, C), place, up(H, 16) * up(W, 16) * C))
write(__file__, "loops after the sources", rows)
