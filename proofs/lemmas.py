#!/usr/bin/env python3
"""Proves what the comments `Proved` beside functions of this repository say, with Z3, for every input.

    proofs/lemmas.py            every lemma is proved, for the tokens of the function that was looked at last
    proofs/lemmas.py --looked   writes those tokens down, after somebody has compared the models with the functions
    proofs/lemmas.py --mutants  each model with one operator or number changed breaks a lemma

A lemma has its statement beside the function, its formula here, and its name in a test that asks the same question
at the edges of the range. A product of two unknowns is an unknown of its own with the facts that a proof needs.
"""

import ast
import hashlib
import inspect
import itertools
import pathlib
import re
import sys
import time
from types import SimpleNamespace

from z3 import And, Implies, Int, IntVal, Not, Or, Solver, Sum, sat, unsat

import models

HOME = pathlib.Path(__file__).parent
ROOT = HOME.parent
LOOKED = HOME / "looked.tsv"
MOST, SIGNED = models.MOST, models.SIGNED


def unknown(*names, least=0, most=MOST):
    numbers = [Int(name) for name in names]
    return numbers, [And(number >= least, number <= most) for number in numbers]


def divided(value, by, name):
    """The quotient, the multiple at or below a number, and the rest: value = below + rest, below = quotient * by."""
    quotient, below, rest = Int(f"quotient_{name}"), Int(f"below_{name}"), Int(f"rest_{name}")
    facts = [quotient >= 0, below >= 0, rest >= 0, rest < by, value == below + rest, below <= value]
    if isinstance(by, int):
        facts.append(below == quotient * by)
    return quotient, below, rest, facts


def lemmas(m):
    """Yields a name, what is known, and the claim, for the models `m`. A name may come with several parameters."""
    # --- Rounding and sizes.
    (value, other, multiple), known = unknown("value", "other", "multiple")
    _, below, rest, division = divided(value, multiple, "value")
    up, ok = m.round_up(value, multiple, below, rest)
    known = known + division + [multiple >= 1]
    yield "round_up.least", known + [ok], And(up >= value, up - value < multiple, up <= MOST)
    yield "round_up.multiple", known + [ok], Or(up == below, up == below + multiple)
    yield "round_up.fixed", known + [rest == 0], And(ok, up == value)
    yield "round_up.error", known + [Not(ok)], And(rest > 0, below + multiple > MOST)
    yield "round_up.error", [multiple == 0] + unknown("value", "rest_value")[1], Not(m.round_up(value, multiple, below, rest)[1])
    _, below2, rest2, division2 = divided(other, multiple, "other")
    up2, ok2 = m.round_up(other, multiple, below2, rest2)
    next_one = Or(below2 == below, below2 >= below + multiple)
    yield "round_up.monotonic", known + division2 + [ok, ok2, value <= other, other <= MOST, next_one], up <= up2
    for by in (1, 2, 3, 4, 16, 64, 256, 512, 4096, 65536, 2**31, 2**32):
        _, below, rest, division = divided(value, by, f"by_{by}")
        up, ok = m.round_up(value, IntVal(by), below, rest)
        yield "round_up.least", division + [value >= 0, value <= MOST, ok], And(up % by == 0, up >= value, up < value + by)

    (bits,), known = unknown("bits", most=MOST * (2**32 - 1))
    size, ok = m.bytes_for(bits)
    yield "bytes_for.least", known + [ok, bits > 0], And(size * 8 >= bits, (size - 1) * 8 < bits)
    yield "bytes_for.error", known, ok == (bits <= MOST * 8)
    (elements,), known = unknown("elements")
    for width in (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128):
        size, ok = m.bytes_for(elements * width)
        yield "bytes_for.zero", known + [ok], (size == 0) == (elements == 0)

    for rank, width, element in itertools.product((1, 2, 3, 4, 5, 6, 7, 8), (32, 64), (4, 8, 32)):
        most = (2**32 - 2) * (2**32 - 1) if width == 32 else MOST * MOST
        products, known = unknown(*(f"product_{axis}" for axis in range(rank)), most=most)
        found, ok = m.size_in_bytes(products, element)
        exact = 1 + Sum(products)
        right = ((exact * element + 7) / 8 + 3) / 4 * 4
        yield "calc_buffer_tensor_size.exact", known + [ok], And(found == right, right <= MOST, exact <= MOST)
        yield "calc_buffer_tensor_size.error", known + [Not(ok)], Or(exact > MOST, right > MOST)
    (end, first), known = unknown("end", "first")
    size = m.bound_size(end, first)
    known = known + [first <= end, (end + 3) / 4 * 4 <= MOST]
    yield "bound_size_in_bytes.fits", known, And(models.fits(size), size >= end - first, size < end - first + 4)

    # --- Tiles, rows and arenas.
    (size, tile), known = unknown("size", "tile")
    quotient, below, rest, division = divided(size, tile, "size")
    known = known + division + [tile >= 1]
    count, padded = m.tiles(quotient, rest), Int("padded")
    # The padded size is count * tile, and quotient * tile is `below`.
    product = [Implies(count == quotient, padded == below), Implies(count == quotient + 1, padded == below + tile)]
    product.append(Or(count == quotient, count == quotient + 1))
    yield "tile_levels.padded", known + product, And(padded >= size, padded - size < tile)
    up, _ = models.round_up(size, tile, below, rest)
    yield "tile_levels.round_up", known + product, padded == up
    for by in (2, 8, 16, 128, 1024):
        quotient, below, rest, division = divided(size, by, f"tile_{by}")
        count = m.tiles(quotient, rest)
        facts = division + [size >= 0, size <= MOST]
        yield "tile_levels.count", facts, And(count >= 0, count <= size, (count == 0) == (size == 0))
        yield "tile_levels.padded", facts, And(count * by >= size, count * by - size < by, Implies(size > 0, (count - 1) * by < size))
    for alignment in (1, 4, 16, 32, 256, 65536):
        (used, base, total, allocated), known = unknown("used", "base", "total", "allocated")
        _, below, rest, division = divided(used + base, alignment, f"place_{alignment}")
        offset, end, ok = m.place(used, base, total, allocated, below, rest, IntVal(alignment))
        known = known + division + [ok]
        yield "arena.apart", known, And(offset >= used, end <= MOST)
        yield "arena.holds", known, And(offset + base + total <= end, offset + allocated <= end, Or(offset + base + total == end, offset + allocated == end))
        yield "arena.aligned", known, (offset + base) % alignment == 0

    # --- Ranks.
    (size, each, first), known = unknown("size", "each", "first")
    start, end = m.share(first, each, size)
    yield "share.inside", known, And(start <= end, end <= size, end - start <= each, Implies(first + each <= size, end - start == each))
    yield "share.follows", known, end == m.share(first + each, each, size)[0]
    yield "share.covers", known + [first + each >= size], end == size
    yield "share.starts", known + [first == 0], start == 0

    # --- How far loops reach.
    (count, most), known = unknown("count", "last")
    (stride, at), _ = unknown("stride", "at")
    far = Int("far")
    yield "stride_last.between", [0 <= count, count <= most, stride >= 0], And(0 <= count * stride, count * stride <= most * stride)
    yield "stride_last.between", [0 <= count, count <= most, stride <= 0], And(0 >= count * stride, count * stride >= most * stride)
    distance, ok = m.stride_last(far)
    yield "stride_last.fits", [ok], And(distance == far, far <= SIGNED, far >= -(2**63))
    yield "stride_last.error", [Not(ok)], Or(far > SIGNED, far < -(2**63))
    for loops in (0, 1, 2, 3, 4, 8):
        (start, span), known = unknown("start", "span")
        distances = [Int(f"distance_{place}") for place in range(loops)]
        steps = [Int(f"step_{place}") for place in range(loops)]
        # An iteration is somewhere between the first and the last one of each loop: `stride_last.between`.
        between = [Or(And(0 <= step, step <= all), And(all <= step, step <= 0)) for step, all in zip(steps, distances)]
        end, ok = m.reach(start, distances, span)
        offset = start + Sum(steps) if steps else start
        low = start + (Sum([models.smaller(distance, 0) for distance in distances]) if steps else 0)
        high = start + (Sum([models.larger(distance, 0) for distance in distances]) if steps else 0)
        yield "reach.inside", known + between + [ok], And(offset >= 0, offset + span <= end)
        yield "reach.reached", known + [ok], And(end == high + span, low >= 0, end <= MOST)
        yield "reach.fits", known + [ok], And(True, *(And(distance <= SIGNED, distance >= -SIGNED - 1) for distance in distances))
        far = Or(*(Or(distance > SIGNED, distance < -SIGNED - 1) for distance in distances)) if steps else False
        yield "reach.error", known + [Not(ok)], Or(low < 0, high + span > MOST, far)

        (start, run), known = unknown("start", "run")
        lasts, sizes = unknown(*(f"last_{place}" for place in range(loops)), most=MOST * 2**63)
        signs = [Int(f"sign_{place}") for place in range(loops)]
        known = known + sizes
        end, ok = m.nest_reach(start, lasts, signs, run)
        between = []
        for step, last, sign in zip(steps, lasts, signs):
            between.append(models.If(sign < 0, And(step <= 0, step >= -last), And(step >= 0, step <= last)))
        offset = start + Sum(steps) if steps else start
        high = start + run + (Sum([models.If(sign < 0, 0, last) for sign, last in zip(signs, lasts)]) if steps else 0)
        low = start - (Sum([models.If(sign < 0, last, 0) for sign, last in zip(signs, lasts)]) if steps else 0)
        yield "nest_reach.inside", known + between + [ok], And(offset >= 0, offset + run <= end)
        yield "nest_reach.reached", known + [ok], And(end == high, low >= 0, end <= MOST)
        yield "nest_reach.error", known + [Not(ok)], Or(low < 0, high > MOST, *(last > MOST for last in lasts))
    (offset, last), known = unknown("offset", "walked", least=-SIGNED - 1, most=MOST)
    yield "starts.back", [offset >= 0, offset <= MOST, offset - last >= 0, offset - last <= MOST], m.step_back(offset, last, 2**64) == offset - last

    # --- Destinations and staging buffers.
    (start, length, middle, address), known = unknown("start", "length", "middle", "address")
    (a, a_length), (b, b_length), ok = m.split_at(start, length, middle)
    known = known + [start + length <= MOST]
    yield "split_at.inside", known + [ok], And(a == start, a_length >= 0, b_length >= 0, b + b_length == start + length)
    yield "split_at.apart", known + [ok], a + a_length == b
    one = Or(And(a <= address, address < a + a_length), And(b <= address, address < b + b_length))
    yield "split_at.covers", known + [ok], one == And(start <= address, address < start + length)
    yield "split_at.error", known, Not(ok) == (middle > length)
    (first, end), more = unknown("first", "end")
    at, size, ok = m.part(start, length, first, end)
    yield "part.inside", known + more + [ok], And(size >= 0, at >= start, at + size <= start + length, size == end - first, at == start + first)
    yield "part.error", known + more, Not(ok) == Or(first > end, end > length)

    (lines, column, written), known = unknown("lines", "column", "written")
    for unit, at_once in ((1, 64), (2, 32), (4, 16), (8, 8), (16, 4), (32, 16), (64, 16), (128, 16), (1, 53), (1, 58)):
        ok = m.stage_fits(lines, at_once)
        pitch = m.stage_pitch(lines)
        row = known + [ok, column < at_once, written <= lines * 64]
        yield "panels.stage", row, column * pitch + written <= 64 * 9 * 64
        yield "panels.rows", row, And(pitch >= lines * 64 + 64, lines >= 1, lines <= 16)
    yield "panels.stage", [], And(m.stage_fits(IntVal(1), 64), m.stage_fits(IntVal(8), 64), m.stage_fits(IntVal(16), 32), m.stage_pitch(IntVal(1)) == 576, m.stage_pitch(IntVal(8)) == 576)
    (runs, all_runs, row, run), known = unknown("runs", "all_runs", "row", "run")
    # `all_runs` is runs * row, and run is below runs: (run + 1) * row is at most all_runs.
    ok = m.joined_fits(runs, all_runs, row)
    (begin,), more = unknown("begin")
    yield "joined.stage", known + more + [ok, begin + row <= all_runs], And(begin + row <= 1024, row <= 1024, runs >= 2)
    yield "joined.accepts", known + [runs >= 2, row <= 1024, all_runs <= 1024], ok


def is_proved(known, claim, limit=10_000):
    solver = Solver()
    solver.set("timeout", limit)
    solver.add(*known, Not(claim))
    answer = solver.check()
    return answer == unsat, solver.model() if answer == sat else answer


# --- What the functions say.


def tokens(text):
    """The text of Rust code without comments, with one space between words."""
    out, at = [], 0
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\s+|.', re.S)
    while at < len(text):
        found = pattern.match(text, at)
        piece = found[0]
        out.append("" if piece.startswith(("//", "/*")) else " " if piece.isspace() else piece)
        at = found.end()
    return " ".join("".join(out).split())


def functions():
    """Every function with a comment `Proved`: its file, its name, the hash of its tokens, and its lemmas."""
    for path in sorted([*ROOT.glob("src/**/*.rs"), *ROOT.glob("crates/*/src/**/*.rs")]):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if line.strip() != "// Proved for every input (proofs/lemmas.py):":
                continue
            names, at = {}, number + 1
            while lines[at].strip().startswith(("// *", "//  ")):
                if found := re.match(r"\s*// \* ([a-z_.]+): (.*)", lines[at]):
                    names[found[1]] = found[2]
                at += 1
            while not re.search(r"\bfn (\w+)", lines[at]):
                at += 1
            name = re.search(r"\bfn (\w+)", lines[at])[1]
            text, depth = "\n".join(lines[at:]), 0
            body = tokens(text)
            for end, letter in enumerate(body):
                depth += {"{": 1, "}": -1}.get(letter, 0)
                if letter == "}" and depth == 0:
                    break
            digest = hashlib.sha256(body[: end + 1].encode()).hexdigest()[:16]
            yield path.relative_to(ROOT).as_posix(), name, digest, names


def check_functions(proved):
    """Whether lemmas, statements, tests and tokens belong together. Returns what is wrong."""
    found, wrong = list(functions()), []
    looked = [tuple(line.split("\t")) for line in LOOKED.read_text().splitlines()] if LOOKED.exists() else []
    for path, name, digest, _ in found:
        if (path, name, digest) not in looked:
            wrong.append(f"{path}: `{name}` has changed: compare its model in proofs/models.py, then run proofs/lemmas.py --looked")
    for path, name, _ in {row for row in looked if row not in {(path, name, digest) for path, name, digest, _ in found}}:
        if not any((path, name) == (other, fn) for other, fn, _, _ in found):
            wrong.append(f"{path}: `{name}` is no longer a function with a comment `Proved`")
    stated = {lemma for *_, names in found for lemma in names}
    wrong += [f"{lemma} is stated beside a function, and no formula" for lemma in sorted(stated - proved)]
    wrong += [f"{lemma} is a formula, and stated beside no function" for lemma in sorted(proved - stated)]
    tests = "".join(path.read_text() for path in ROOT.glob("**/tests/it/lemmas.rs"))
    wrong += [f"{lemma} is in no test (tests/it/lemmas.rs)" for lemma in sorted(proved) if f'"{lemma}"' not in tests]
    return found, wrong


# --- Mutants.


class Mutation(ast.NodeTransformer):
    """Changes the place with one number, and counts the places."""

    SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.LtE: ast.Lt, ast.Lt: ast.LtE, ast.GtE: ast.Gt, ast.Gt: ast.GtE, ast.Eq: ast.NotEq}

    def __init__(self, chosen):
        self.chosen, self.places, self.said = chosen, 0, ""

    def here(self, node, what):
        self.places += 1
        if self.places - 1 == self.chosen:
            self.said = f"line {node.lineno}: {what}"
            return True
        return False

    def visit_BinOp(self, node):
        self.generic_visit(node)
        swap = self.SWAPS.get(type(node.op))
        if swap and self.here(node, f"{type(node.op).__name__} to {swap.__name__}"):
            node.op = swap()
        return node

    def visit_Compare(self, node):
        self.generic_visit(node)
        swap = self.SWAPS.get(type(node.ops[0]))
        if swap and self.here(node, f"{type(node.ops[0]).__name__} to {swap.__name__}"):
            node.ops[0] = swap()
        return node

    def visit_Constant(self, node):
        if type(node.value) is int and self.here(node, f"{node.value} plus 1"):
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        name = getattr(node.func, "id", "")
        if name == "If" and self.here(node, "the two values of If"):
            node.args[1:] = node.args[:0:-1]
        if name == "And":
            for place, condition in enumerate(node.args):
                if getattr(getattr(condition, "func", None), "id", "") != "step" and self.here(node, f"without condition {place + 1} of And"):
                    return ast.copy_location(ast.Call(node.func, node.args[:place] + node.args[place + 1 :] or [ast.Constant(True)], []), node)
        return node


def mutants():
    """Yields each mutant of the models: what was changed, and the models."""
    source = inspect.getsource(models)
    for chosen in itertools.count():
        tree, mutation = ast.parse(source), Mutation(chosen)
        tree.body = [mutation.visit(node) if isinstance(node, ast.FunctionDef) and node.name not in ("fits", "smaller", "larger", "step") else node for node in tree.body]
        if not mutation.said:
            return
        space = {}
        exec(compile(ast.fix_missing_locations(tree), "mutant", "exec"), space)
        yield mutation.said, SimpleNamespace(**space)


def main():
    if sys.argv[1:] == ["--looked"]:
        LOOKED.write_text("".join(f"{path}\t{name}\t{digest}\n" for path, name, digest, _ in functions()))
        return 0
    begin = time.time()
    if sys.argv[1:] == ["--mutants"]:
        alive, count = [], 0
        for said, mutant in mutants():
            count += 1
            if all(is_proved(known, claim, 2000)[0] for _, known, claim in lemmas(mutant)):
                alive.append(said)
        print("".join(f"proofs/models.py, {said}: no lemma is broken\n" for said in alive), end="")
        print(f"{count - len(alive)} of {count} mutants of the models break a lemma, {time.time() - begin:.1f} s")
        return 1 if alive else 0
    proved, names, count = set(), set(), 0
    wrong = []
    for name, known, claim in lemmas(models):
        good, why = is_proved(known, claim)
        names.add(name)
        count += 1
        if not good:
            wrong.append(f"{name} is not proved: {why}")
    found, more = check_functions(names)
    wrong += more
    print("".join(f"{line}\n" for line in wrong), end="")
    print(f"{count} lemmas of {len(names)} names and {len(found)} functions, {time.time() - begin:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
