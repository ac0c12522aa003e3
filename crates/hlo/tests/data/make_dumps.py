"""Makes the HLO text dumps beside this script: `python make_dumps.py` with jax and libtpu from PyPI
(0.10.2 and 0.0.51 made these).

The first programs are compiled for eight virtual CPU devices, the ones named tpu_* ahead of time for a TPU v5e,
which needs no TPU. The text is what XLA prints after all its passes. tpu_sizes.tsv holds the bytes
of arguments and results that the TPU compiler itself reports.
"""

import os
import pathlib

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["TPU_SKIP_MDS_QUERY"] = "1"
os.environ["TPU_ACCELERATOR_TYPE"] = "v5litepod-4"
os.environ["TPU_WORKER_HOSTNAMES"] = "localhost"
os.environ["TPU_WORKER_ID"] = "0"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

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
    return compiled


def dump_for_tpu(device, name, function, *arguments):
    placed = SingleDeviceSharding(device)
    arguments = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=placed), arguments)
    memory = dump(f"tpu_{name}", function, *arguments).memory_analysis()
    return f"tpu_{name}\t{memory.argument_size_in_bytes}\t{memory.output_size_in_bytes}\n"


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

    topology = topologies.get_topology_desc(
        platform="tpu", topology_name="v5e:2x2x1", chips_per_host_bounds=(2, 2, 1)
    )
    device, bf16 = topology.devices[0], jnp.bfloat16
    sizes = ["# program, bytes of its arguments, bytes of its results\n"]
    half = (shaped(*size, dtype=bf16) for size in [(60, 130), (130, 250), (250,)])
    sizes.append(dump_for_tpu(device, "dense", dense, *half))
    sizes.append(dump_for_tpu(device, "column", lambda x: jnp.cumsum(x, 0), shaped(5000, 1)))
    sizes.append(dump_for_tpu(device, "int8", lambda x, w: jax.lax.dot(x, w, preferred_element_type=jnp.int32),
                              shaped(50, 100, dtype=jnp.int8), shaped(100, 300, dtype=jnp.int8)))
    sizes.append(dump_for_tpu(device, "transpose", lambda x, y: (x.transpose(2, 0, 1), y[::2]),
                              shaped(5, 33, 7), shaped(9, 3, dtype=jnp.int4)))
    sizes.append(dump_for_tpu(device, "sum", lambda x: {"sum": x.sum(), "any": (x > 0).any(1)}, shaped(40, 200)))
    (HERE / "tpu_sizes.tsv").write_text("".join(sizes))


if __name__ == "__main__":
    main()
