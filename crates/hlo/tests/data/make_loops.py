"""Programs with loops and branches, compiled for the CPU: `python make_loops.py` writes loops/*.hlo and loops.tsv.

Needs jax 0.10.2 from PyPI. loops.tsv has what `compiled.memory_analysis()` says about each program. Its last rows are programs of others, whose dumps
were kept.
"""

import os
import pathlib
import re

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
from jax import lax

HERE = pathlib.Path(__file__).parent
PROGRAMS = {}


def s(*sizes, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(sizes, dtype)


V, M = s(16384), s(128, 128)


def program(*arguments, donate=()):
    def enter(function):
        PROGRAMS[function.__name__] = (function, arguments, donate)
        return function

    return enter


@program(V)
def read_in_loop(x):
    y = jnp.exp(x)
    return y * lax.fori_loop(0, 8, lambda i, t: t + y[i * 8], 0.0)


@program(V, donate=(0,))
def read_in_loop_donated(x):
    y = jnp.exp(x)
    return y * lax.fori_loop(0, 8, lambda i, t: t + y[i * 8], 0.0)


@program(V)
def carried(x):
    return lax.fori_loop(0, 9, lambda i, t: jnp.sin(t) + 1, x)


@program(V, donate=(0,))
def carried_donated(x):
    return lax.fori_loop(0, 9, lambda i, t: jnp.sin(t) + 1, x)


@program(V)
def carried_and_used(x):
    y = jnp.exp(x)
    return lax.fori_loop(0, 9, lambda i, t: jnp.sin(t) + 1, y) + y


@program(M, M)
def matmul_loop(x, w):
    return lax.fori_loop(0, 5, lambda i, t: jnp.tanh(t @ w), x)


@program(M, M)
def weights_used_after(x, w):
    v = jnp.cos(w)
    return lax.fori_loop(0, 5, lambda i, t: jnp.tanh(t @ v), x) + v


@program(s(32, 4096))
def scan_stack(x):
    return lax.scan(lambda c, r: (c + r, jnp.tanh(c)), jnp.zeros(4096), x)


@program(s(32, 4096))
def scan_sum(x):
    return lax.scan(lambda c, r: (c + r * 2, None), jnp.ones(4096), x)[0]


@program(s(32, 4096), donate=(0,))
def scan_donated(x):
    return lax.scan(lambda c, r: (c + r, c * 2), jnp.zeros(4096), x)


@program(s(32, 4096), s(4096))
def scan_grad(x, w):
    def loss(w):
        return lax.scan(lambda c, r: (jnp.tanh(c * w + r), None), w, x)[0].sum()

    return jax.grad(loss)(w)


@program(V, s(dtype=jnp.bool_))
def branches(x, p):
    return lax.cond(p, lambda t: jnp.sin(t), lambda t: t * 2, x)


@program(V, s(dtype=jnp.bool_))
def branch_and_used(x, p):
    y = jnp.exp(x)
    return lax.cond(p, lambda t: jnp.sin(t)[:4].sum(), lambda t: t[0], y) * y


@program(V, s(dtype=jnp.bool_))
def branch_big(x, p):
    y = jnp.exp(x)
    return lax.cond(p, lambda t: jnp.sort(t), lambda t: jnp.flip(t), y) + y


@program(V, s(dtype=jnp.int32))
def switch_four(x, i):
    return lax.switch(i, [jnp.sin, jnp.cos, jnp.sort, lambda t: t[::-1]], x)


@program(V, s(dtype=jnp.int32))
def switch_used(x, i):
    y = jnp.exp(x)
    return lax.switch(i, [jnp.sum, jnp.max, lambda t: t[3]], y) + y


@program(V)
def while_until(x):
    return lax.while_loop(lambda t: t.sum() < 1e6, lambda t: t * 1.5 + 1, x)


@program(V)
def while_two(x):
    return lax.while_loop(lambda t: t[0] < 9, lambda t: (t[0] + 1, t[1] * 2, t[2] + t[1]), (0, x, x + 1))[2]


@program(V)
def nested(x):
    return lax.fori_loop(0, 3, lambda i, t: lax.fori_loop(0, 4, lambda j, u: jnp.sin(u), t) + t, x)


@program(V, s(dtype=jnp.bool_))
def branch_in_loop(x, p):
    return lax.fori_loop(0, 3, lambda i, t: lax.cond(p, jnp.sin, jnp.cos, t) + 1, x)


@program(V, s(dtype=jnp.bool_))
def loop_in_branch(x, p):
    return lax.cond(p, lambda t: lax.fori_loop(0, 3, lambda i, u: jnp.sin(u) * 2, t), lambda t: t + 1, x)


@program(s(64, 512))
def update_rows(x):
    return lax.fori_loop(0, 64, lambda i, t: t.at[i].set(jnp.sin(t[i])), x)


@program(s(64, 512), donate=(0,))
def update_rows_donated(x):
    return lax.fori_loop(0, 64, lambda i, t: t.at[i].set(jnp.sin(t[i])), x)


@program(s(64, 512))
def update_from_another(x):
    y = jnp.exp(x)
    return lax.fori_loop(0, 64, lambda i, t: t.at[i].add(y[63 - i]), jnp.zeros((64, 512))) + y


@program(V)
def cumulative(x):
    y = jnp.exp(x)
    return jnp.cumsum(y) + y


@program(V)
def two_loops(x):
    a = lax.fori_loop(0, 5, lambda i, t: jnp.sin(t), x)
    return lax.fori_loop(0, 5, lambda i, t: jnp.cos(t), a + 1) * a


@program(s(128, 128))
def power(x):
    return lax.fori_loop(0, 6, lambda i, t: t @ t, x)


@program(s(16, 64, 64))
def map_rows(x):
    return lax.map(lambda r: jnp.tanh(r @ r), x)


@program(V)
def three_results(x):
    y = jnp.exp(x)
    return y, lax.fori_loop(0, 8, lambda i, t: t + y[i], 0.0), y * 2


@program(M, M, M, donate=(0,))
def matmuls_donated(x, w, v):
    return jnp.tanh(jnp.tanh(jnp.tanh(x @ w) @ v) @ w)


@program(M, M)
def matmuls(x, w):
    return jnp.tanh(jnp.tanh(jnp.tanh(x @ w) @ w) @ w)


@program(V, s(dtype=jnp.bool_))
def branch_pair(x, p):
    y, z = jnp.exp(x), jnp.sin(x)
    a, b = lax.cond(p, lambda y, z: (y, z), lambda y, z: (z, y), y, z)
    return a * z + b


# Dumps of others, with what memory_analysis() of jaxlib 0.10.2 says.
OF_OTHERS = {"reported_cond_invariant": 786572, "reported_don_loopread": 524420, "reported_don_mm": 786432,
             "reported_reuse": 1066052, "reported_scan_invariant": 786596}


def main():
    (HERE / "loops").mkdir(exist_ok=True)
    rows = ["# program, bytes of arguments + results - aliased + temporaries: memory_analysis() of JAX "
            f"{jax.__version__} on the CPU"]
    for name, (function, arguments, donate) in PROGRAMS.items():
        compiled = jax.jit(function, donate_argnums=donate).lower(*arguments).compile()
        m = compiled.memory_analysis()
        text = compiled.as_text()
        # Places in the source, and what only the code generator reads, are left out.
        text = re.sub(r", metadata=\{[^}]*\}", "", text)
        text = re.sub(r", backend_config=\{.*\}$", "", text, flags=re.M)
        text = re.sub(r"\n(FileNames|FunctionNames|FileLocations|StackFrames)\n(\d.*\n)*", "\n", text)
        text = re.sub(r"\n{3,}", "\n\n", text)
        (HERE / "loops" / f"{name}.hlo").write_text(text)
        outside = m.argument_size_in_bytes + m.output_size_in_bytes - m.alias_size_in_bytes
        rows.append(f"{name}\t{outside + m.temp_size_in_bytes}")
    rows += [f"{name}\t{bytes}" for name, bytes in OF_OTHERS.items()]
    (HERE / "loops.tsv").write_text("\n".join(rows) + "\n")


main()
