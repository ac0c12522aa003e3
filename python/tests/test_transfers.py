"""Lists of transfers, executed byte by byte against NumPy."""

from itertools import product

import numpy as np
import pytest

from relayout import Layout, LayoutError, copy, transfers


def execute(listed, source, destination):
    """Moves the bytes of a list, and returns how often each byte of the destination is written."""
    written = np.zeros(len(destination), int)
    for at, to, count, loops in listed:
        for steps in product(*(range(steps) for steps, _, _ in loops)):
            a = at + sum(step * stride for step, (_, stride, _) in zip(steps, loops))
            b = to + sum(step * stride for step, (_, _, stride) in zip(steps, loops))
            destination[b : b + count] = source[a : a + count]
            written[b : b + count] += 1
    return written


@pytest.mark.parametrize("loops", [0, 1, 2, None])
def test_lists_move_what_numpy_moves(loops):
    array = np.arange(4 * 6 * 10, dtype=np.uint16).reshape(4, 6, 10)
    turned = np.zeros((10, 4, 6), np.uint16).transpose(1, 2, 0)
    destination = np.zeros(array.nbytes, np.uint8)
    written = execute(transfers(array, turned, loops), array.view(np.uint8).ravel(), destination)
    assert (written == 1).all()
    assert (destination.view(np.uint16) == array.transpose(2, 0, 1).ravel()).all()


def test_padding_is_left_out():
    tiles = Layout("u8[3,5]{1,0:T(2,4)}")
    array = np.arange(15, dtype=np.uint8).reshape(3, 5)
    destination = np.full(tiles.bytes, 0xEE, np.uint8)
    expected = copy(array, tiles)
    written = execute(transfers(array, tiles, loops=0), array.ravel(), destination)
    assert written.sum() == 15 and (destination[written == 1] == expected.ravel()[written == 1]).all()


def test_what_is_refused():
    with pytest.raises(LayoutError, match="multiple of 4") as refused:
        transfers("u8[2,6]:[6,1]", "u8[2,6]:[8,1]", limits="webgpu")
    assert refused.value.code == "run_unaligned"
    with pytest.raises(LayoutError, match="names no executor"):
        transfers("u8[2]:[1]", "u8[2]:[1]", limits="opengl")
