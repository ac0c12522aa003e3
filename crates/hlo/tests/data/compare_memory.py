"""What `tensor-layout hlo` says about a program's memory, against the compiler's own memory analysis.

    python compare_memory.py                         makes the memory_*.hlo dumps beside this script and memory.tsv
    python compare_memory.py path/to/tensor-layout   prints the rows of compared.tsv

Needs jax and libtpu from PyPI (0.10.2 and 0.0.51 made what is here), no TPU: programs are compiled ahead of time
for a v5e, and for the CPU. memory.tsv holds, for every dump here, what `compiled.memory_analysis()` returns.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

DUMPS = tempfile.mkdtemp()
import make_dumps  # sets the environment, so it comes before jax

os.environ["XLA_FLAGS"] += f" --xla_dump_to={DUMPS} --xla_dump_hlo_as_text"

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

HERE = pathlib.Path(__file__).parent
F32, BF16, I32 = jnp.float32, jnp.bfloat16, jnp.int32

# The dumps that are kept in the repository, for tests: (platform, program).
KEPT = [("tpu", "mlp_step"), ("tpu", "scan_big"), ("tpu", "cond_big"), ("tpu", "kv_cache"), ("tpu", "attention"),
        ("tpu", "embed"), ("cpu", "mlp_donated"), ("cpu", "scan_grad"), ("cpu", "cond_big"), ("cpu", "sort_big"),
        ("cpu", "kv_cache"), ("cpu", "embed_donated")]
# Those with the compiler's buffer assignment beside them.
WITH_ASSIGNMENT = [("tpu", "cond_big"), ("cpu", "sort_big")]

PROGRAMS = {}


def program(*arguments, **options):
    def enter(function):
        PROGRAMS[function.__name__] = (function, arguments, options)
        return function

    return enter


def s(*sizes, dtype=F32):
    return jax.ShapeDtypeStruct(sizes, dtype)


def layers(*widths):
    return [{"w": s(a, b), "b": s(b)} for a, b in zip(widths, widths[1:])]


def loss(parameters, x, y):
    for layer in parameters:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return jnp.mean((x - y) ** 2)


def descend(parameters, x, y):
    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, jax.grad(loss)(parameters, x, y))


@program(layers(2048, 4096, 4096, 1024), s(8192, 2048), s(8192, 1024))
def mlp_step(parameters, x, y):
    return descend(parameters, x, y)


@program(layers(2048, 4096, 4096, 1024), s(8192, 2048), s(8192, 1024), donate_argnums=0)
def mlp_donated(parameters, x, y):
    return descend(parameters, x, y)


@program((layers(*[1024] * 5),) * 3, s(16384, 1024), s(16384, 1024), donate_argnums=0)
def adam(state, x, y):
    p, m, v = state
    value, g = jax.value_and_grad(loss)(p, x, y)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, g)
    p = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), p, m, v)
    return (p, m, v), value


@program(s(2048, 1024), s(10, 1024, 1024))
def scan_small(state, xs):
    def step(carry, x):
        carry = jnp.tanh(carry @ x)
        return carry, carry.sum(0)

    return jax.lax.scan(step, state, xs)


@program(s(8192, 2048), s(12, 2048, 2048))
def scan_big(state, xs):
    def step(carry, x):
        carry = jnp.tanh(carry @ x)
        return carry, carry

    return jax.lax.scan(step, state, xs)


@program(s(4096, 2048), s(12, 2048, 2048))
def scan_grad(state, xs):
    step = lambda carry, x: (jnp.tanh(carry @ x), None)
    return jax.grad(lambda xs: jnp.sum(jax.lax.scan(step, state, xs)[0]))(xs)


@program(s(4096, 2048), s(12, 2048, 2048))
def scan_remat(state, xs):
    step = jax.checkpoint(lambda carry, x: (jnp.tanh(jnp.sin(carry @ x) @ x.T), None))
    return jax.grad(lambda xs: jnp.sum(jax.lax.scan(step, state, xs)[0]))(xs)


@program(s(), s(8192, 8192))
def cond_big(flag, x):
    return jax.lax.cond(flag > 0, lambda x: jnp.sort(x, axis=0) + x @ x, lambda x: x.T * 2, x)


@program(s(4096, 4096))
def while_norm(x):
    body = lambda state: (state[0] @ state[0] / jnp.linalg.norm(state[0]), state[1] + 1)
    return jax.lax.while_loop(lambda state: jnp.linalg.norm(state[0]) > 1, body, (x, 0))


@program(s(16, 4096, 1024, dtype=BF16), s(1024, 3072, dtype=BF16), s(1024, 1024, dtype=BF16))
def attention(x, wqkv, wo):
    b, t, d = x.shape
    heads = lambda a: a.reshape(b, t, 16, d // 16).transpose(0, 2, 1, 3)
    q, k, v = (heads(a) for a in jnp.split(x @ wqkv, 3, -1))
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8
    p = jax.nn.softmax(scores.astype(F32), -1).astype(BF16)
    return jnp.einsum("bhqk,bhkd->bhqd", p, v).transpose(0, 2, 1, 3).reshape(b, t, d) @ wo


@program(s(2, 1024, 1024, dtype=BF16), s(1024, 3072, dtype=BF16), s(1024, 1024, dtype=BF16),
         s(1024, 4096, dtype=BF16), s(4096, 1024, dtype=BF16))
def transformer_grad(x, *weights):
    def block(weights):
        wqkv, wo, w1, w2 = weights
        y = x + attention(x, wqkv, wo)
        return (y + jax.nn.gelu(y @ w1) @ w2).astype(F32).sum()

    return jax.grad(block)(weights)


@program(*[s(16, 32, 2048, 128, dtype=BF16)] * 2, *[s(16, 32, 1, 128, dtype=BF16)] * 3, s(dtype=I32),
         donate_argnums=(0, 1))
def kv_cache(keys, values, q, k, v, i):
    keys = jax.lax.dynamic_update_slice(keys, k, (0, 0, i, 0))
    values = jax.lax.dynamic_update_slice(values, v, (0, 0, i, 0))
    p = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, keys), -1)
    return keys, values, jnp.einsum("bhqk,bhkd->bhqd", p, values)


@program(s(4096, 4096))
def sort_big(x):
    return jnp.sort(x, axis=-1), jnp.argsort(x, axis=0)


@program(s(50000, 1024), s(16384, dtype=I32), s(16384, 1024))
def embed(table, indices, g):
    return table[indices] * 2, table.at[indices].add(g)


@program(s(50000, 1024), s(16384, dtype=I32), s(16384, 1024), donate_argnums=0)
def embed_donated(table, indices, g):
    return table.at[indices].add(g)


@program([s(3, 3, 64, 64), s(3, 3, 64, 128), s(3, 3, 128, 128)], s(32, 56, 56, 64), s(32, 56, 56, 128))
def conv_step(kernels, x, y):
    def loss(kernels):
        h = x
        for kernel in kernels:
            conv = jax.lax.conv_general_dilated(h, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            h = jax.nn.relu(conv)
        return ((h - y) ** 2).mean()

    return jax.tree.map(lambda p, g: p - 0.1 * g, kernels, jax.grad(loss)(kernels))


@program(s(3000000, 1), s(3, 1000000))
def thin(x, y):
    return x * 2 + x.sum(), (y.T @ y[:, :3]).sum(0), y.T + x[:1000000]


@program(s(1024, 2048), s(2048, 8192), s(8192, 2048))
def loop_fori(x, a, b):
    return jax.lax.fori_loop(0, 100, lambda i, x: jnp.tanh((x @ a) @ b) + x, x)


@program(s(64, 512, 256), s(256, 1024), s(256, 1024))
def lstm(xs, *weights):
    def step(weights, state, x):
        wx, wh = weights
        i, f, g, o = jnp.split(x @ wx + state[0] @ wh, 4, -1)
        c = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = (jnp.zeros((512, 256)),) * 2
    return jax.grad(lambda w: jnp.sum(jax.lax.scan(lambda c, x: step(w, c, x), start, xs)[1]))(weights)


@program(s(4, 4096, 4096))
def big_temps(x):
    a, b, c = jnp.sort(x, axis=1), jnp.flip(jnp.sort(x, axis=2), 2), jnp.cumsum(x, 1)
    return a @ b + b @ c + jnp.sort(c, axis=1)


def sharded(parameters, x, y):
    return descend(parameters, x, y)


def all_programs(devices):
    """(platform, name, compiled) of every program, one at a time."""
    for name, (function, arguments, options) in PROGRAMS.items():
        for platform, device in devices:
            placed = SingleDeviceSharding(device[0])
            place = lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=placed)
            put = jax.tree.map(place, arguments) if platform == "tpu" else arguments
            yield platform, name, jax.jit(function, **options).lower(*put).compile()
    for platform, device in devices:
        mesh = Mesh(np.array(device[:4]).reshape(2, 2), ("data", "model"))
        put = lambda a, *spec: jax.ShapeDtypeStruct(a.shape, F32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))
        parameters = [{"w": put(s(2048, 2048), None, "model"), "b": put(s(2048), "model")}] * 4
        x = put(s(16384, 2048), "data", None)
        yield platform, "sharded", jax.jit(sharded).lower(parameters, x, x).compile()


def without_configurations(text):
    """The dump without the backend's own settings, which are most of it."""
    kept, at = [], 0
    for match in re.finditer(r", backend_config=\{", text):
        if match.start() < at:
            continue
        kept.append(text[at:match.start()])
        depth, at = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
    return "".join(kept) + text[at:]


def assignment(name):
    found = sorted(pathlib.Path(DUMPS).glob(f"*jit_{name}.*buffer-assignment.txt"), key=os.path.getmtime)
    return found[-1].read_text()


def row(name, compiled):
    m = compiled.memory_analysis()
    figures = [m.argument_size_in_bytes, m.output_size_in_bytes, m.alias_size_in_bytes, m.temp_size_in_bytes]
    return "\t".join([name, *map(str, figures)]) + "\n"


def keep(devices):
    rows = ["# dump, bytes of arguments, results, aliased results, temporaries: compiled.memory_analysis()\n"]
    small = {}
    made = make_dumps.dump
    make_dumps.dump = lambda name, *a, **o: small.setdefault(name, made(name, *a, **o))
    make_dumps.HERE = pathlib.Path(DUMPS)  # the dumps themselves are there already; only their figures are wanted
    make_dumps.main()
    rows += [row(name, compiled) for name, compiled in small.items()]
    for platform, name, compiled in all_programs(devices):
        if (platform, name) in KEPT:
            stem = f"memory_{platform}_{name}"
            text = without_configurations(compiled.as_text()).replace(str(HERE), ".")
            (HERE / f"{stem}.hlo").write_text(text)
            rows.append(row(stem, compiled))
            if (platform, name) in WITH_ASSIGNMENT:
                (HERE / f"{stem}-buffer-assignment.txt").write_text(assignment(name))
    (HERE / "memory.tsv").write_text("".join(rows))


def table(tool, devices):
    print("# program", "device", "arguments", "results", "aliased", "temporaries", "peak by XLA", "peak from the text", "off, percent", sep="\t")
    for platform, name, compiled in all_programs(devices):
        m = compiled.memory_analysis()
        path = pathlib.Path(DUMPS) / f"{platform}_{name}.hlo"
        path.write_text(compiled.as_text())
        run = subprocess.run([tool, "hlo", "--json", "--rows", "0", path], capture_output=True, text=True, check=True)
        ours = json.loads(run.stdout.splitlines()[-1])["total"]
        exact = lambda ours, theirs: theirs if ours == theirs else f"{theirs} (not {ours})"
        theirs = (m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes + m.temp_size_in_bytes)
        off = 100 * (ours["peak_bytes"] - theirs) / theirs
        print(name, platform, exact(ours["argument_bytes"], m.argument_size_in_bytes),
              exact(ours["output_bytes"], m.output_size_in_bytes), exact(ours["alias_bytes"], m.alias_size_in_bytes),
              m.temp_size_in_bytes, theirs, ours["peak_bytes"], f"{off:+.2f}", sep="\t", flush=True)


def main():
    topology = topologies.get_topology_desc(
        platform="tpu", topology_name="v5e:2x2x1", chips_per_host_bounds=(2, 2, 1)
    )
    devices = [("tpu", topology.devices), ("cpu", jax.devices())]
    table(sys.argv[1], devices) if len(sys.argv) > 1 else keep(devices)


if __name__ == "__main__":
    main()
