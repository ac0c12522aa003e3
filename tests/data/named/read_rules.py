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
for data_type, element, (N, C, H, W) in [("f16", 2, (2, 20, 2, 3)), ("s8", 1, (1, 33, 3, 2))]:
    c0 = 32 // element
    c1 = up(C, c0) // c0
    rows.append(table("ascend.NC1HWC0", data_type, element, (N, C, H, W), lambda n, c, h, w: (((n * c1 + c // c0) * H + h) * W + w) * c0 + c % c0, N * c1 * H * W * c0))
for W in [5, 70]:
    # A vector is the first row of its tiles, by ttnn 0.81.1: bf16[70] takes 6144 bytes.
    rows.append(table("tenstorrent.tile", "bf16", 2, (W,), lambda w: w // 32 * 1024 + w % 32 // 16 * 256 + w % 16, up(W, 32) * 32))
write(__file__, "loops after the sources", rows)
