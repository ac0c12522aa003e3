#!/usr/bin/env python3
"""Records 1,000 random layouts of CuTe with a swizzle: offsets of CuTe DSL, and a hash of all offsets.

    pip install nvidia-cutlass-dsl==4.8.1 tensor-layouts==0.3.2
    python composed_layouts.py > composed_layouts.tsv

Needs no GPU. Both libraries count elements. CuTe DSL gives eight offsets of each layout, with which tensor-layouts agrees (or this
fails); tensor-layouts gives all of them, for the hash: FNV-1a over the offsets in row-major order, each as 8 bytes, the lowest first.
"""

import itertools
import random

import cutlass.cute as cute
import tensor_layouts as tl

random.seed(20261122)


def layout():
    """A shape and strides: modes of one or two numbers, packed in any order with gaps, so that no offset is there twice."""
    modes = [[random.choice([1, 2, 3, 4, 5, 8, 16]) for _ in range(random.choice([1, 1, 2]))] for _ in range(random.choice([1, 2, 2, 3]))]
    numbers = [(mode, digit) for mode, digits in enumerate(modes) for digit in range(len(digits))]
    random.shuffle(numbers)
    strides, next_stride = [[0] * len(digits) for digits in modes], 1
    for mode, digit in numbers:
        strides[mode][digit] = next_stride
        next_stride = next_stride * modes[mode][digit] + random.choice([0, 0, 0, 1, 4, 8])
    nested = lambda lists: tuple(digits[0] if len(digits) == 1 else tuple(digits) for digits in lists)
    return modes, nested(modes), nested(strides)


def coordinate(modes, index):
    """The coordinate of an index: the first digit of a mode is its fastest."""
    found = []
    for digits, number in zip(modes, index):
        parts = []
        for digit in digits:
            parts.append(number % digit)
            number //= digit
        found.append(parts[0] if len(parts) == 1 else tuple(parts))
    return tuple(found)


def fnv(numbers):
    value = 0xCBF29CE484222325
    for number in numbers:
        for byte in number.to_bytes(8, "little"):
            value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value


def rows():
    print("# nvidia-cutlass-dsl 4.8.1, tensor-layouts 0.3.2: text, eight offsets (index:offset), hash of all offsets")
    for _ in range(1000):
        modes, shape, strides = layout()
        bits = random.randrange(4)
        lowest, distance = random.randrange(5), bits + random.randrange(4)
        offset = random.choice([0, 0, 0, 1, 7, 64, 512])
        swizzled = cute.make_composed_layout(
            cute.make_swizzle(bits, lowest, distance), offset, cute.make_layout(shape, stride=strides)
        )
        other = tl.ComposedLayout(tl.Swizzle(bits, lowest, distance), tl.Layout(shape, strides), offset=offset)
        sizes = [1] * len(modes)
        for mode, digits in enumerate(modes):
            for digit in digits:
                sizes[mode] *= digit
        indices = list(itertools.product(*map(range, sizes)))
        chosen = [indices[0], indices[-1]] + [random.choice(indices) for _ in range(6)]
        pairs = []
        for index in chosen:
            at = coordinate(modes, index)
            found = int(swizzled(at))
            assert found == other(at), (str(swizzled), at, found, other(at))
            pairs.append(f"{','.join(map(str, index))}:{found}")
        everything = fnv(other(coordinate(modes, index)) for index in indices)
        print(f"{swizzled}\t{' '.join(pairs)}\t{everything:016x}")


@cute.jit
def record():
    """Layouts exist inside of a compiled function only; a loop in it would be compiled, so it is in `rows`."""
    rows()


record()
