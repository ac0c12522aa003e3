"""Makes the HLO text dumps beside this script: `python make_dumps.py` with jax from PyPI (0.10.2 made these).

Every program is compiled for eight virtual CPU devices; the text is what XLA prints after all its passes.
"""

import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

HERE = pathlib.Path(__file__).parent
F32 = jnp.float32


def shaped(*sizes, dtype=F32):
    return jax.ShapeDtypeStruct(sizes, dtype)


def dense(x, w, b):
    return jax.nn.relu(x @ w + b)


def convolution(x, k1, k2):
    def conv(x, k):
        return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    x = jax.nn.relu(conv(x, k1))
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.nn.softmax(conv(x, k2).mean((1, 2)))


def scan(state, xs):
    def step(carry, x):
        carry = jnp.tanh(carry @ x)
        return carry, carry.sum()

    return jax.lax.scan(step, state, xs)


def sort_and_gather(x, indices):
    order = jnp.argsort(x, axis=-1)
    return jnp.take_along_axis(x, order, -1)[indices], x.max(), jnp.cumsum(x, 0)


def train_step(parameters, batch):
    def loss(parameters):
        hidden = batch["x"]
        for layer in parameters:
            hidden = jnp.tanh(hidden @ layer["w"] + layer["b"])
        return jnp.mean((hidden - batch["y"]) ** 2)

    return jax.tree.map(lambda p, g: p - 0.1 * g, parameters, jax.grad(loss)(parameters))


def int4(x, w):
    return x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)


def branches(flag, x):
    return jax.lax.cond(flag > 0, lambda x: jnp.fft.fft(x), lambda x: x * 2j, x)


def dump(name, function, *arguments, **options):
    compiled = jax.jit(function, **options).lower(*arguments).compile()
    text = compiled.as_text().replace(str(HERE), ".")
    (HERE / f"{name}.hlo").write_text(text)
    print(f"{name}: {len(text)} bytes")


def main():
    dump("dense", dense, shaped(64, 128), shaped(128, 256), shaped(256))
    dump("convolution", convolution, shaped(2, 12, 12, 3), shaped(3, 3, 3, 8), shaped(3, 3, 8, 10))
    dump("scan", scan, shaped(4, 16), shaped(10, 16, 16))
    dump("sort_and_gather", sort_and_gather, shaped(8, 100), shaped(5, dtype=jnp.int32))
    layers = [{"w": shaped(a, b), "b": shaped(b)} for a, b in [(16, 32), (32, 32), (32, 4)]]
    dump("train_step", train_step, layers, {"x": shaped(8, 16), "y": shaped(8, 4)})
    dump("int4", int4, shaped(8, 64, dtype=jnp.int4), shaped(64, 32, dtype=jnp.int4))
    dump("branches", branches, shaped(dtype=jnp.int32), shaped(32, dtype=jnp.complex64))
    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("rows", "columns"))
    split = NamedSharding(mesh, PartitionSpec("rows", "columns"))
    dump("sharded", lambda a, b: a @ b, shaped(128, 64), shaped(64, 96), in_shardings=(split, split), out_shardings=split)


if __name__ == "__main__":
    main()
