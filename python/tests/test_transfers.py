"""Lists of transfers, executed byte by byte against NumPy."""

from itertools import product

import numpy as np
import pytest

from relayout import Layout, LayoutError, Shards, copy, reshard, transfers


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


def test_block_tables():
    cache = Layout("kv:LBNHC:bf16[L=2,B=[7,8,3]/9,T=40,H=2,N=16,C=8]")
    other = Layout("kv:kvbm.Universal:bf16[L=2,T=40,H=2,N=64,D=4]")
    source, destination = np.random.default_rng(3).integers(0, 256, (2, max(cache.bytes, other.bytes)), dtype="u1")
    if cache.sizes != other.sizes:
        other = Layout(sizes=cache.sizes, dtype=cache.dtype)
    written = execute(transfers(cache, other, limits="nixl"), source, destination)
    assert written.max() == 1 and written.sum() == 2 * np.prod(cache.sizes)
    for index in [(0,) * len(cache.sizes), tuple(size - 1 for size in cache.sizes)]:
        a, b = 2 * cache.offset(index), 2 * other.offset(index)
        assert (source[a : a + 2] == destination[b : b + 2]).all()
    with pytest.raises(LayoutError, match="planes"):
        transfers("f4e2m1fn[128,320] with f8e8m0fnu per 32", "f4e2m1fn[128,320]:[320,1]")


def held_by(shards, sizes, layouts):
    """The memory of every rank when the tensor holds its own indices, by one rank that sends to all."""
    whole = np.arange(np.prod(sizes), dtype="uint32")
    memories = [np.full(layout.bytes, 0xEE, "u1") for layout in layouts]
    for giver, rank, rows in reshard(Shards(sizes), shards, [Layout(sizes=sizes, dtype="uint32")], layouts):
        assert giver == 0
        execute(rows, whole.view("u1"), memories[rank])
    return memories


def test_reshard_moves_what_the_ranks_hold():
    sizes = (12, 10, 6)
    packed = lambda shards: [Layout(sizes=shards.sizes(rank), dtype="uint32") for rank in range(shards.ranks)]  # noqa: E731
    one = Shards(sizes)
    splits = [one.split(0, 4), one.split(1, 3), one.cut(0, (5, 7)).split(2, 2), one.fused(0, [(4, 2), (2, 2)], 2),
              one.split(1, 2).replicated(2), one.split(0, 3).ordered((2, 0, 1))]
    for source in splits:
        before = held_by(source, sizes, packed(source))
        for to in splits:
            expected, found = held_by(to, sizes, packed(to)), [np.zeros(layout.bytes, "u1") for layout in packed(to)]
            written = [np.zeros(layout.bytes, int) for layout in packed(to)]
            for giver, rank, rows in reshard(source, to, "uint32"):
                written[rank] += execute(rows, before[giver], found[rank])
            assert all((a == b).all() for a, b in zip(expected, found)) and all((times == 1).all() for times in written)
    assert reshard(splits[0], splits[1], np.uint32) == reshard(splits[0], splits[1], packed(splits[0]), packed(splits[1]))
    with pytest.raises(LayoutError, match="1 layouts for 4 ranks"):
        reshard(splits[0], splits[1], [Layout(sizes=sizes, dtype="uint32")])


def test_strided_shards_are_pytorchs():
    torch = pytest.importorskip("torch")
    placement = pytest.importorskip("torch.distributed.tensor.placement_types")
    for size, factor, ranks in product(range(1, 14), range(1, 5), range(1, 6)):
        chunks = [len(chunk) for chunk in torch.arange(size).chunk(factor)]
        shards = Shards((size,)).fused(0, [(length, 1) for length in chunks], ranks, repeat=False)
        expected, _ = placement._StridedShard(0, split_factor=factor)._split_tensor(
            torch.arange(size), ranks, with_padding=False)
        layouts = [Layout(sizes=shards.sizes(rank), dtype="uint32") for rank in range(ranks)]
        held = held_by(shards, (size,), layouts)
        assert [memory.view("u4").tolist() for memory in held] == [part.tolist() for part in expected]


def test_long_lists_let_others_in():
    code = """
import signal, threading, time
from relayout import transfers

ticks, done = [], threading.Event()

def tick():
    while not done.is_set():
        ticks.append(time.perf_counter())
        time.sleep(0.001)

thread = threading.Thread(target=tick)
thread.start()
rows = transfers("u8[1000,1000]:[4000,2]", "u8[1000,1000]:[1000,1]", loops=0)
done.set()
thread.join()
assert len(rows) == 1_000_000 and len(ticks) > 2, len(ticks)

signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.005)
try:
    transfers("u8[2000,2000]:[8000,2]", "u8[2000,2000]:[2000,1]", loops=0)
except KeyboardInterrupt:
    print("interrupted")
"""
    import subprocess
    import sys

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "interrupted\n"
