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
for data_type, element, block, (N, C, H, W) in [("s8", 1, 16, (20, 3, 3, 3)), ("s8", 1, 16, (32, 3, 1, 2)), ("s8", 1, 16, (5, 2, 3, 1)), ("s16", 2, 8, (20, 3, 2, 3))]:
    whole = N // block * block
    inside = lambda n, c, h, w: ((n // block * H + h) * W + w) * C * block + c * block + n % block
    behind = lambda n, c, h, w: whole * C * H * W + ((n - whole) * H + h) * W * C + w * C + c
    place = lambda n, c, h, w: inside(n, c, h, w) if n < whole else behind(n, c, h, w)
    rows.append(table("esp_dl.filters", data_type, element, (N, C, H, W), place, N * C * H * W))
for data_type, element, (N, C, H, W) in [("f16", 2, (2, 20, 2, 3)), ("s8", 1, (1, 33, 3, 2))]:
    c0 = 32 // element
    c1 = up(C, c0) // c0
    rows.append(table("ascend.NC1HWC0", data_type, element, (N, C, H, W), lambda n, c, h, w: (((n * c1 + c // c0) * H + h) * W + w) * c0 + c % c0, N * c1 * H * W * c0))
for W in [5, 70]:
    # A vector is the first row of its tiles, by ttnn 0.81.1: bf16[70] takes 6144 bytes.
    rows.append(table("tenstorrent.tile", "bf16", 2, (W,), lambda w: w // 32 * 1024 + w % 32 // 16 * 256 + w % 16, up(W, 32) * 32))
write(__file__, "loops after the sources", rows)
