"""The arithmetic of the functions in integers without a bound: the checked steps, in their order.

A checked step of 64 bits is the exact step and the question whether its result fits. Each function returns its
answer and whether it has one. `quotient` and `rest` are those of the division that the function makes.
"""

from z3 import And, If

MOST = 2**64 - 1  # of a u64, and of a usize of 64 bits
SIGNED = 2**63 - 1  # of an i64, and of an isize of 64 bits


def fits(number, most=MOST):
    return And(number >= 0, number <= most)


def smaller(a, b):
    return If(a < b, a, b)


def larger(a, b):
    return If(a > b, a, b)


def step(condition):
    """A check that a later one implies: without it a number wraps, and no answer of a model changes."""
    return condition


def round_up(value, multiple, below, rest):
    up = If(rest == 0, value, value + (multiple - rest))
    return up, And(multiple > 0, fits(up))


def bytes_for(bits):
    size = (bits + 7) / 8
    return size, fits(size)


def size_in_bytes(products, bits):
    last, ok = 0, True
    for product in products:
        last = last + product
        ok = And(step(ok), step(fits(product)), step(fits(last)))
    elements = last + 1
    size, fitting = bytes_for(elements * bits)
    rounded = (size + 3) / 4 * 4
    return rounded, And(step(ok), fits(elements), step(fitting), fits(rounded))


def bound_size(end, first):
    size = end - first
    return (size + 3) / 4 * 4


def tiles(quotient, rest):
    return If(rest == 0, quotient, quotient + 1)


def place(used, base, total, allocated, below, rest, alignment):
    # For a unit of one byte: `round_up` has the lemmas of the others.
    earliest = used + base
    start, ok = round_up(earliest, alignment, below, rest)
    end = start + larger(total, allocated - base)
    return start - base, end, And(step(fits(earliest)), step(ok), fits(end))


def share(first, each, size):
    start = smaller(first, size)
    return start, smaller(start + each, size)


def stride_last(distance):
    return distance, And(distance >= -SIGNED - 1, distance <= SIGNED)


def reach(start, distances, span, signed=SIGNED):
    least, most, ok = start, start, step(fits(start))
    for distance in distances:
        least = least + smaller(distance, 0)
        most = most + larger(distance, 0)
        ok = And(ok, distance >= -signed - 1, distance <= signed, fits(least), step(fits(most)))
    end = most + span
    return end, And(ok, fits(end))


def nest_reach(start, lasts, strides, run):
    least, most = start, start + run
    ok = step(fits(most))
    for last, stride in zip(lasts, strides):
        least = If(stride < 0, least - last, least)
        most = If(stride < 0, most, most + last)
        ok = And(step(ok), step(fits(last)), fits(least), fits(most))
    return most, ok


def step_back(offset, last, modulus):
    return (offset - last) % modulus


def split_at(start, length, middle):
    return (start, middle), (start + middle, length - middle), middle <= length


def part(start, length, first, end):
    return start + first, end - first, And(first <= end, end <= length)


def stage_pitch(lines, line=64, least=9 * 64):
    return larger((lines + 1) * line, least)


def stage_fits(lines, at_once, stage=64 * 9 * 64):
    return And(lines >= 1, lines <= 16, at_once * stage_pitch(lines) <= stage)


def joined_fits(runs, all_runs, row, longest=1024):
    return And(runs >= 2, step(row <= longest), all_runs <= longest)
