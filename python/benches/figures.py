"""`ascontiguous` against NumPy and PyTorch: ratios of times in one process, minimum and median.

    python benches/figures.py            # a table for docs/PYTHON.md; seconds of rounds: --seconds 2

Each round measures every library once, in turn, so that a busy machine slows all of them. All allocate their result;
`out` is `copy(a, out=..)` into memory that was written before. The reference libraries get one thread, then two. With
--cpu the seconds of CPU of this process count, on one thread only: what is left on a machine that others use too.
"""

import argparse
import math
import statistics
import time

import numpy as np

import relayout

try:
    import torch
except ImportError:
    torch = None


def shapes():
    """Name, and the view that is made contiguous."""
    rng = np.random.default_rng(0)

    def random(shape, dtype):
        return rng.integers(0, 256, math.prod(shape) * np.dtype(dtype).itemsize, dtype="u1").view(dtype).reshape(shape)

    yield "heads [8,512,16,64] f32, 0213", random((8, 512, 16, 64), "f4").transpose(0, 2, 1, 3)
    yield "heads [8,512,16,64] f16, 0213", random((8, 512, 16, 64), "f2").transpose(0, 2, 1, 3)
    yield "keys [8,16,512,64] f16, 0132", random((8, 16, 512, 64), "f2").transpose(0, 1, 3, 2)
    for dtype in ["f4", "f2", "u1"]:
        yield f"NCHW to NHWC [8,64,112,112] {dtype}", random((8, 64, 112, 112), dtype).transpose(0, 2, 3, 1)
    yield "NHWC to NCHW [8,112,112,64] f32", random((8, 112, 112, 64), "f4").transpose(0, 3, 1, 2)
    yield "NHWC to NCHW [8,112,112,64] u8", random((8, 112, 112, 64), "u1").transpose(0, 3, 1, 2)
    yield "a.T [4096,4096] f32", random((4096, 4096), "f4").T
    yield "a[::-1] [4096,4096] f32", random((4096, 4096), "f4")[::-1]
    yield "RGB to planes [2160,3840,3] u8", random((2160, 3840, 3), "u1").transpose(2, 0, 1)
    yield "planes to RGB [3,2160,3840] u8", random((3, 2160, 3840), "u1").transpose(1, 2, 0)


def measure(calls, seconds, clock=time.perf_counter):
    """The times of every call, in rounds."""
    times = {name: [] for name in calls}
    for call in calls.values():
        call()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, call in calls.items():
            start = clock()
            call()
            times[name].append(clock() - start)
    return times


def ratio(times, other, ours):
    """How many times as long the other takes: of the minima, and of the medians."""
    return [f(times[other]) / f(times[ours]) for f in (min, statistics.median)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--cpu", action="store_true")
    options = parser.parse_args()
    clock, gains = time.process_time if options.cpu else time.perf_counter, {}
    print("| copy | ms | NumPy takes | PyTorch takes | on two threads: ms | PyTorch on two takes | `out=`: ms |")
    print("|---|---|---|---|---|---|---|")
    for name, view in shapes():
        assert relayout.ascontiguous(view).tobytes() == np.ascontiguousarray(view).tobytes()
        into = np.zeros(view.shape, view.dtype)
        calls = {
            "ours": lambda: relayout.ascontiguous(view),
            "numpy": lambda: np.ascontiguousarray(view),
            "ours 2": lambda: relayout.ascontiguous(view, threads=2),
            "out": lambda: relayout.copy(view, out=into),
        }
        if torch is not None:
            # PyTorch has no negative strides: its `flip` is what makes the same result.
            reverse = any(stride < 0 for stride in view.strides)
            tensor = torch.from_numpy(view[::-1] if reverse else view)

            def contiguous(threads):
                torch.set_num_threads(threads)
                return tensor.flip(0) if reverse else tensor.contiguous()

            calls |= {"torch": lambda: contiguous(1), "torch 2": lambda: contiguous(2)}
        if options.cpu:
            calls = {name: call for name, call in calls.items() if not name.endswith("2")}
        times = measure(calls, options.seconds, clock)
        row = [f"| {name} | {min(times['ours']) * 1e3:.2f} "]
        for other, ours in [("numpy", "ours"), ("torch", "ours"), ("ours 2", None), ("torch 2", "ours 2"), ("out", None)]:
            if other not in times:
                row.append("| - ")
            elif ours is None:
                row.append(f"| {min(times[other]) * 1e3:.2f} ")
            else:
                both = ratio(times, other, ours)
                gains.setdefault(other, []).append(both)
                row.append(f"| {both[0]:.1f}, {both[1]:.1f} ")
        print("".join(row) + "|", flush=True)
    for other, both in gains.items():
        means = [math.exp(statistics.fmean(math.log(pair[i]) for pair in both)) for i in (0, 1)]
        worst = [min(pair[i] for pair in both) for i in (0, 1)]
        print(f"{other}: geometric mean {means[0]:.2f} (minima), {means[1]:.2f} (medians); "
              f"worst {worst[0]:.2f}, {worst[1]:.2f}")
    tiny = np.zeros((4, 5), "f4").T
    times = measure({"ours": lambda: [relayout.ascontiguous(tiny) for _ in range(1000)],
                     "numpy": lambda: [np.ascontiguousarray(tiny) for _ in range(1000)]}, options.seconds, clock)
    print(f"a tiny array: {min(times['ours']) * 1e6:.0f} ns, NumPy {min(times['numpy']) * 1e6:.0f} ns")


if __name__ == "__main__":
    main()
