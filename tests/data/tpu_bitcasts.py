"""Collects how the TPU compiler spells the layouts of views, and writes them to tpu_bitcasts.tsv beside this script:
`python tpu_bitcasts.py` with jax and libtpu from PyPI (0.10.2 and 0.0.52 made the file). No TPU is needed.

A `bitcast` of an optimized program gives the same bytes another shape. Random programs (reshapes, transposes, slices,
attention, convolutions, ..) are compiled ahead of time for each generation. Of every bitcast the script lays out both
shapes with NumPy, tile by tile, and so finds the reshapes and permutations that lead from the operand to the result. Left out
and counted are: the same shape in another memory, the same sizes in other tiles, results with more or less padding than the
operand, and the few that need more than one reshape and one permutation. Of the others, at most 80 for each generation are kept.
"""

import collections
import os
import pathlib
import random
import re
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
GENERATIONS = {  # name -> topology, accelerator type
    "v2": ("v2:2x2x1", "v2-8"),
    "v3": ("v3:2x2x1", "v3-8"),
    "v4": ("v4:2x2x1", "v4-8"),
    "v5e": ("v5e:2x2x1", "v5litepod-4"),
    "v5p": ("v5p:2x2x1", "v5p-8"),
    "v6e": ("v6e:2x2x1", "v6e-4"),
    "v7x": ("tpu7x:2x2x1", "tpu7x-8"),
}
PROGRAMS, KEPT, LARGEST = 100, 80, 1 << 23
SIZES = [1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96, 100, 128, 130, 192, 256, 300, 384, 512]
TYPES = "float32 bfloat16 float32 bfloat16 int8 int32 bool float16 uint8 int4 float8_e4m3fn int16".split()


class Programs:
    """Random programs; each method gives a function and the sizes and types of its arguments."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        weights = {"reshape": 4, "reshape_and_back": 4, "transpose_reshape": 4, "transpose": 2, "attention": 2, "einsum": 2, "patches": 2, "dense": 2}
        self.methods = [name for name in vars(Programs) if not name.startswith("_")]
        self.weights = [weights.get(name, 1) for name in self.methods]

    def __iter__(self):
        for _ in range(PROGRAMS):
            name = self.random.choices(self.methods, self.weights)[0]
            yield name, *getattr(self, name)()

    def _pick(self, *choices):
        return self.random.choice(choices)

    def _float(self):
        return self._pick("float32", "bfloat16", "float16")

    def _any(self):
        return self.random.choice(TYPES)

    def _sizes(self, *ranks):
        while True:
            sizes = tuple(self.random.choice(SIZES) for _ in range(self.random.choice(ranks)))
            if np.prod(sizes) <= 1 << 21:
                return sizes

    def _axis(self, sizes):
        return self.random.randrange(len(sizes))

    def _order(self, sizes):
        return self.random.sample(range(len(sizes)), len(sizes))

    def _regrouped(self, sizes):
        parts = []
        for size in sizes:
            divisors = [d for d in (2, 3, 4, 5, 8, 12, 16, 32, 64, 128, 256) if d < size and size % d == 0]
            if divisors and self.random.random() < 0.4:
                divisor = self.random.choice(divisors)
                parts += [size // divisor, divisor] if self.random.random() < 0.7 else [divisor, size // divisor]
            else:
                parts.append(size)
        joined = []
        while parts:
            part = parts.pop(0)
            joined.append(part * parts.pop(0) if parts and self.random.random() < 0.35 else part)
        if self.random.random() < 0.35:
            joined.insert(self.random.randint(0, len(joined)), 1)
        if self.random.random() < 0.2:
            joined = [size for size in joined if size != 1] or [1]
        return tuple(joined)

    def reshape(self):
        sizes = self._sizes(1, 2, 2, 3, 3, 4, 4, 5)
        to = self._regrouped(sizes)
        return lambda x: x.reshape(to), [(sizes, self._any())]

    def reshape_and_back(self):
        sizes, kind = self._sizes(1, 2, 2, 3, 3, 4), self._pick("float32", "bfloat16", "int32", "int8")
        to = self._regrouped(sizes)
        return lambda x, y: jnp.maximum(x.reshape(to), y).reshape(sizes), [(sizes, kind), (to, kind)]

    def transpose(self):
        sizes = self._sizes(2, 3, 3, 4, 4, 5)
        order = self._order(sizes)
        return lambda x: x.transpose(order), [(sizes, self._any())]

    def transpose_reshape(self):
        sizes = self._sizes(2, 3, 3, 4, 4)
        order = self._order(sizes)
        to = self._regrouped([sizes[axis] for axis in order])
        return lambda x: x.transpose(order).reshape(to), [(sizes, self._any())]

    def reduce(self):
        sizes = self._sizes(2, 3, 3, 4)
        axis, keep, function = self._axis(sizes), self._pick(True, False), self._pick(jnp.sum, jnp.max, jnp.mean)
        return lambda x: function(x, axis=axis, keepdims=keep), [(sizes, self._float())]

    def normalize(self):
        sizes, kind = self._sizes(2, 3, 3), self._float()

        def function(x, scale):
            centred = x - x.mean(-1, keepdims=True)
            return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale

        return function, [(sizes, kind), (sizes[-1:], kind)]

    def softmax(self):
        sizes = self._sizes(2, 3, 4)
        axis = self._axis(sizes)
        return lambda x: jax.nn.softmax(x, axis), [(sizes, self._float())]

    def dense(self):
        (a, b, c), lead, kind = self._sizes(3), self._pick((), (3,), (16,), (100,), (2, 8)), self._float()
        return lambda x, w, b: jax.nn.gelu(x @ w + b), [(lead + (a, b), kind), ((b, c), kind), ((c,), kind)]

    def attention(self):
        batch, length = self._pick(1, 2, 3, 8), self._pick(1, 5, 16, 64, 100, 128, 256)
        heads, width, kind = self._pick(1, 2, 4, 8, 12), self._pick(8, 16, 32, 64, 128), self._float()

        def function(x, q, k, v, o):
            q, k, v = ((x @ weight).reshape(batch, length, heads, width) for weight in (q, k, v))
            scores = jax.nn.softmax(jnp.einsum("blhd,bmhd->bhlm", q, k), -1)
            return jnp.einsum("bhlm,bmhd->blhd", scores, v).reshape(batch, length, heads * width) @ o

        model = heads * width
        return function, [((batch, length, model), kind)] + [((model, model), kind)] * 4

    def einsum(self):
        text = self._pick("abc,acd->abd", "abc,cd->bad", "abcd,ce->abed", "ab,cb->ca", "abc,dc->adb", "abcd,abed->abce", "abc,abc->ab", "ab,b->a", "abc,ade->bcde", "a,b->ab")
        size = {letter: self._pick(1, 2, 3, 4, 8, 16, 64) if letter in "ab" else self.random.choice(SIZES) for letter in "abcde"}
        kind = self._float()
        operands = text.split("->")[0].split(",")
        return lambda x, y: jnp.einsum(text, x, y), [(tuple(size[letter] for letter in operand), kind) for operand in operands]

    def convolution(self):
        n, h, w, k = self._pick(1, 2, 4, 8), self._pick(5, 8, 14, 28), self._pick(7, 8, 16, 28), self._pick(1, 3, 5)
        c, o, step, kind = self._pick(1, 3, 8, 16, 64, 128), self._pick(4, 16, 32, 64, 128), self._pick(1, 2), self._float()
        order = self._pick(("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW"))
        last = order[0] == "NHWC"

        def function(x, kernel, bias):
            y = jax.lax.conv_general_dilated(x, kernel, (step, step), "SAME", dimension_numbers=order)
            return jax.nn.relu(y + (bias if last else bias[:, None, None]))

        sizes = [(n, h, w, c), (k, k, c, o)] if last else [(n, c, h, w), (o, c, k, k)]
        return function, [(sizes[0], kind), (sizes[1], kind), ((o,), kind)]

    def embedding(self):
        table, indices = (self._pick(100, 512, 1000), self._pick(16, 64, 100, 128, 256)), (self._pick(1, 2, 8), self._pick(1, 5, 16, 100))
        return lambda table, indices: table[indices], [(table, self._float()), (indices, "int32")]

    def slice(self):
        sizes = self._sizes(2, 3, 4)
        axis = self._axis(sizes)
        start = self.random.randrange(sizes[axis])
        return lambda x: jax.lax.slice_in_dim(x, start, sizes[axis], axis=axis), [(sizes, self._any())]

    def index(self):
        sizes = self._sizes(2, 3, 4)
        axis = self._axis(sizes)
        return lambda x, i: jax.lax.dynamic_index_in_dim(x, i, axis, keepdims=False), [(sizes, self._any()), ((), "int32")]

    def update(self):
        sizes, kind = self._sizes(2, 3, 4), self._any()
        axis = self._axis(sizes)
        part = sizes[:axis] + sizes[axis + 1:]
        return lambda x, y, i: jax.lax.dynamic_update_index_in_dim(x, y, i, axis), [(sizes, kind), (part, kind), ((), "int32")]

    def concatenate(self):
        sizes, kind = self._sizes(2, 3, 4), self._any()
        axis = self._axis(sizes)
        return lambda x, y: jnp.concatenate([x, y], axis), [(sizes, kind), (sizes, kind)]

    def stack(self):
        sizes, kind = self._sizes(1, 2, 3), self._any()
        axis = self.random.randint(0, len(sizes))
        return lambda x, y: jnp.stack([x, y], axis), [(sizes, kind), (sizes, kind)]

    def broadcast(self):
        sizes, times = self._sizes(1, 2, 3), self._pick(2, 3, 8)
        to = (times * sizes[0],) + sizes[1:]
        return lambda x: jnp.broadcast_to(x[None], (times,) + sizes).reshape(to), [(sizes, self._any())]

    def repeat(self):
        sizes, times = self._sizes(1, 2, 3), self._pick(2, 3, 4)
        axis = self._axis(sizes)
        return lambda x: jnp.repeat(x, times, axis), [(sizes, self._any())]

    def cumulate(self):
        sizes = self._sizes(1, 2, 3)
        axis = self._axis(sizes)
        return lambda x: jnp.cumsum(x, axis), [(sizes, self._pick("float32", "int32", "bfloat16"))]

    def sort(self):
        sizes = (self._pick(1, 4, 16), self._pick(64, 100, 300))
        return lambda x: (jnp.sort(x, -1), jnp.argmax(x, 0), jax.lax.top_k(x, 5)), [(sizes, self._pick("float32", "int32"))]

    def scan(self):
        steps, a, b, kind = self._pick(3, 8, 10), self._pick(1, 4, 8, 16), self._pick(16, 64, 128), self._float()

        def step(carry, x):
            carry = jnp.tanh(carry @ x)
            return carry, carry.sum(-1)

        return lambda carry, xs: jax.lax.scan(step, carry, xs), [((a, b), kind), ((steps, b, b), kind)]

    def train(self):
        (a, b, c), n, kind = self._sizes(3), self._pick(8, 16, 64), self._float()

        def loss(w, bias, v, x, y):
            return jnp.mean((jnp.tanh(x @ w + bias) @ v - y) ** 2)

        return jax.grad(loss, (0, 1, 2)), [((a, b), kind), ((b,), kind), ((b, c), kind), ((n, a), kind), ((n, c), kind)]

    def quantized(self):
        (a, b, c), kind = self._sizes(3), self._pick("int8", "int4", "float8_e4m3fn")
        return lambda x, w, scale: (x @ w.astype(x.dtype)) * scale[None], [((a, b), "bfloat16"), ((b, c), kind), ((c,), "bfloat16")]

    def pool(self):
        n, h, w, c = self._pick(1, 2), self._pick(8, 14), self._pick(8, 16), self._pick(3, 16, 128)
        window = (1, 2, 2, 1)
        return lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID").reshape(n, -1), [((n, h, w, c), self._float())]

    def rotate(self):
        length, width, kind = self._pick(16, 64, 100), self._pick(32, 64, 128), self._float()

        def function(x, cosine, sine):
            a, b = jnp.split(x, 2, -1)
            cosine, sine = cosine[None, :, None], sine[None, :, None]
            return jnp.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)

        return function, [((self._pick(1, 2), length, self._pick(2, 8), width), kind)] + [((length, width // 2), kind)] * 2

    def patches(self):
        n, g, p, c = self._pick(1, 2, 4), self._pick(4, 7, 8, 14), self._pick(2, 4, 8, 16), self._pick(1, 3, 4)
        kind, width = self._float(), self._pick(64, 128, 192)

        def function(x, w):
            return x.reshape(n, g, p, g, p, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, g * g, p * p * c) @ w

        return function, [((n, g * p, g * p, c), kind), ((p * p * c, width), kind)]


class Shape:
    """An array shape of the text, and its elements in the order of memory."""

    TEXT = re.compile(r"([a-z]\w*)\[([\d,]*)\](?:\{([\d,]*)(?::(?:T((?:\([\d,]+\))+))?([^{}]*))?\})?")

    def __init__(self, text):
        self.text = text
        self.kind, sizes, order, tiles, self.rest = self.TEXT.fullmatch(text).groups(default="")
        numbers = lambda text: [int(number) for number in text.split(",") if number]
        self.sizes, self.tiles = numbers(sizes), [numbers(tile) for tile in re.findall(r"\(([^)]*)\)", tiles)]
        self.order = numbers(order)[::-1]

    def but_memory_space(self):
        return re.sub(r"S\(\d+\)", "", self.text).replace(":}", "}")

    def is_small(self):
        if 0 in self.sizes:
            return False
        padded = np.prod(self.sizes, dtype=float)
        for tile in self.tiles[:1]:
            padded *= np.prod([-(-size // entry) * entry / size for size, entry in zip(self.in_memory_order()[::-1], tile[::-1])])
        return 0 < padded <= LARGEST

    def in_memory_order(self):
        return [self.sizes[axis] for axis in self.order]

    def memory(self):
        """The row-major number of the element at each place, -1 for padding."""
        array = np.arange(np.prod(self.sizes, dtype=int)).reshape(self.sizes).transpose(self.order)
        for tile in self.tiles:
            array = array.reshape([1] * (len(tile) - array.ndim) + list(array.shape))
            outer = array.ndim - len(tile)
            array = np.pad(array, [(0, 0)] * outer + [(0, -size % entry) for size, entry in zip(array.shape[outer:], tile)], constant_values=-1)
            split = [part for size, entry in zip(array.shape[outer:], tile) for part in (size // entry, entry)]
            array = array.reshape(list(array.shape[:outer]) + split)
            inner = range(outer, array.ndim)
            array = array.transpose([*range(outer), *inner[::2], *inner[1::2]])
        return array.reshape(-1)


def strides(numbers):
    """The strides of an array of numbers, if it is a grid that begins at 0."""
    found = [int(numbers.take(1, axis).flat[0]) if size > 1 else 0 for axis, size in enumerate(numbers.shape)]
    grid = sum((index * stride for index, stride in zip(np.indices(numbers.shape, sparse=True), found)), np.int64(0))
    return found if (numbers == grid).all() else None


def falling(sizes, strides):
    """The axes in the order of their strides, those of size 1 in front."""
    return sorted(range(len(sizes)), key=lambda axis: (sizes[axis] > 1, -strides[axis], axis))


def listed(numbers):
    return ",".join(map(str, numbers)) or "[]"


def steps(operand, result):
    """What leads from the operand to the result: `reshape 2,3; permute 1,0`. Or why that cannot be said, in brackets."""
    if operand.kind != result.kind or "SC" in operand.rest + result.rest:
        return "(another type)"
    if not operand.is_small() or not result.is_small():
        return "(empty or too large)"
    first, second = operand.memory(), result.memory()
    if first.shape != second.shape or ((first < 0) != (second < 0)).any():
        return "(other padding)"
    numbers = np.empty(np.prod(result.sizes, dtype=int), int)
    numbers[second[second >= 0]] = first[first >= 0]
    if (numbers == np.arange(numbers.size)).all():
        return "(other tiles)" if operand.sizes == result.sizes else f"reshape {listed(result.sizes)}"
    numbers = numbers.reshape(result.sizes)
    if (found := strides(numbers)) is not None:
        axes = falling(result.sizes, found)
        live = [axis for axis in axes if result.sizes[axis] > 1]
        ones = [axis for axis in axes if result.sizes[axis] == 1]
        if len(operand.sizes) == len(axes) and [size for size in operand.sizes if size > 1] == [result.sizes[axis] for axis in live]:
            # The dimensions of the operand itself: those of size 1 stay in their order.
            axes = [(live if size > 1 else ones).pop(0) for size in operand.sizes]
        between = [result.sizes[axis] for axis in axes]
        permute = f"permute {listed(axes.index(axis) for axis in range(len(axes)))}"
        return permute if between == operand.sizes else f"reshape {listed(between)}; {permute}"
    places = np.empty(numbers.size, int)
    places[numbers.reshape(-1)] = np.arange(numbers.size)
    if (found := strides(places.reshape(operand.sizes))) is not None:
        return f"permute {listed(falling(operand.sizes, found))}; reshape {listed(result.sizes)}"
    return "(more than two steps)"


def bitcasts(text):
    """Operand and result of every bitcast between arrays in a program."""
    instruction = re.compile(r"\s*(?:ROOT )?%?([\w.-]+) = ([a-z]\w*\[[^\]]*\](?:\{[^}]*\})?) ([\w-]+)\(([^)]*)\)")
    shapes = {}
    for line in text.splitlines():
        if line.endswith("{") and "->" in line:
            shapes = {}
        if found := instruction.match(line):
            name, shape, opcode, operand = found.groups()
            shapes[name] = shape
            operand = operand.split(" ")[-1].lstrip("%")
            if opcode == "bitcast" and operand in shapes:
                yield shapes[operand], shape


def child(generation, start):
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    topology = topologies.get_topology_desc(
        platform="tpu", topology_name=GENERATIONS[generation][0], chips_per_host_bounds=(2, 2, 1))
    placed = SingleDeviceSharding(topology.devices[0])
    for number, (name, function, arguments) in enumerate(Programs(generation)):
        if number < start:
            continue
        print(f"@{number}", flush=True)
        arguments = [jax.ShapeDtypeStruct(sizes, kind, sharding=placed) for sizes, kind in arguments]
        try:
            text = jax.jit(function).lower(*arguments).compile().as_text()
        except Exception as error:
            print(f"{name}: {str(error).splitlines()[0][:150]}", file=sys.stderr)
            continue
        for operand, result in bitcasts(text):
            print(name, operand, result, sep="\t", flush=True)


def pairs_of(generation):
    """The distinct pairs of a generation, each with the program it is from. Goes on in a new process where the compiler aborts."""
    environment = dict(
        os.environ, JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE=GENERATIONS[generation][1],
        TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0", ALLOW_MULTIPLE_LIBTPU_LOAD="1")
    found, start = {}, 0
    while start < PROGRAMS:
        command = [sys.executable, __file__, generation, str(start)]
        output = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE).stdout.splitlines()
        for line in output:
            if "\t" in line:
                name, operand, result = line.split("\t")
                found.setdefault((operand, result), name)
        start = int(next(line for line in reversed(output) if line.startswith("@"))[1:]) + 1
    return found


def main():
    rows, left_out, seen = [], collections.Counter(), set()
    for generation in GENERATIONS:
        own = []
        for (operand, result), name in pairs_of(generation).items():
            operand, result = Shape(operand), Shape(result)
            key = (operand.but_memory_space(), result.but_memory_space())
            if key in seen:
                continue
            seen.add(key)
            found = "(another memory)" if key[0] == key[1] else steps(operand, result)
            if found.startswith("("):
                left_out[found] += 1
            else:
                own.append(f"{generation}\t{name}\t{found}\t{operand.text}\t{result.text}")
        print(f"{generation}: {len(own)} pairs")
        rows += sorted(random.Random(generation).sample(own, min(KEPT, len(own))))
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items()))
    head = ["# generation, program, what leads from the operand to the result, operand, result: bitcasts of libtpu 0.0.52", f"# left out: {counts}"]
    (HERE / "tpu_bitcasts.tsv").write_text("\n".join(head + rows) + "\n")
    print(head[1])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        import jax
        import jax.numpy as jnp

        child(sys.argv[1], int(sys.argv[2]))
    else:
        main()
