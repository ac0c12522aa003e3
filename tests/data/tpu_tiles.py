"""Asks the TPU compiler for the layouts it gives arrays by default, and writes them to tpu_tiles.tsv beside this
script: `python tpu_tiles.py` with jax and libtpu from PyPI (0.10.2 and 0.0.51 made the file). No TPU is needed.

One program for each array returns its argument, whose layout is that of its entry computation. Each generation
is compiled in a process of its own, as libtpu is set up by environment variables; where the compiler aborts,
the array is left out and a new process goes on behind it.
"""

import os
import pathlib
import random
import re
import subprocess
import sys

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
TYPES = "float32 bfloat16 int8 int4 bool uint32 int16 float8_e4m3fn uint4 float16 int32 uint8 int2 uint2 float4_e2m1fn float8_e5m2 uint16".split()
FIXED = [
    ("float32", ()), ("bfloat16", ()), ("int8", ()), ("bool", ()), ("float32", (1,)), ("float32", (300,)),
    ("bfloat16", (2048,)), ("bfloat16", (128,)), ("int8", (5000,)), ("int4", (100,)), ("float32", (1, 500)),
    ("float32", (2, 500)), ("float32", (3, 100)), ("float32", (9, 100)), ("bfloat16", (1, 500)), ("bfloat16", (300, 500)),
    ("int8", (32, 128)), ("int8", (33, 128)), ("int8", (64, 300)), ("int4", (64, 300)), ("int4", (63, 300)),
    ("bool", (4, 128)), ("float32", (0, 3)), ("int4", (0,)), ("float32", (2, 3, 4)), ("float32", (4, 2)),
    ("float32", (2, 7, 8, 11, 10)), ("int2", (128, 256)), ("int2", (5, 7)), ("uint4", (20, 300)), ("complex64", (20, 300)), ("uint2", (9, 300)), ("float4_e2m1fn", (9, 300)), ("float4_e2m1fn", (128, 300)),
    ("float4_e2m1fn", (700,)), ("uint2", (700,)), ("int2", (700,)), ("int2", ()), ("int4", ()), ("uint2", (1, 300)),
]


def arrays(generation):
    source = random.Random(generation)
    chosen = list(FIXED)
    for _ in range(90):
        sizes = tuple(source.choice([1, 2, 3, 5, 7, 8, 12, 16, 31, 32, 64, 100, 128, 200, 256, 300])
                      for _ in range(source.choice([1, 2, 2, 2, 3, 3, 4])))
        chosen.append((source.choice(TYPES), sizes))
    return chosen


def child(generation, start):
    import jax
    from jax.experimental import topologies
    from jax.sharding import SingleDeviceSharding

    topology = topologies.get_topology_desc(
        platform="tpu", topology_name=GENERATIONS[generation][0], chips_per_host_bounds=(2, 2, 1))
    placed = SingleDeviceSharding(topology.devices[0])
    for number, (data_type, sizes) in list(enumerate(arrays(generation)))[start:]:
        print(f"@{number}", flush=True)
        argument = jax.ShapeDtypeStruct(sizes, data_type, sharding=placed)
        try:
            text = jax.jit(lambda x: x).lower(argument).compile().as_text()
        except Exception as error:
            print(f"{data_type}{list(sizes)}: {str(error).splitlines()[0][:150]}", file=sys.stderr)
            continue
        print(re.search(r"entry_computation_layout=\{\((.*?)\)->", text)[1].replace("/*index=5*/", ""), flush=True)


def main():
    lines = ["# generation and the array with the layout libtpu 0.0.51 gave it"]
    for generation, (_, accelerator) in GENERATIONS.items():
        environment = dict(
            os.environ, JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE=accelerator,
            TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0", JAX_ENABLE_X64="1")
        found, start = [], 0
        while start < len(arrays(generation)):
            command = [sys.executable, __file__, generation, str(start)]
            output = subprocess.run(command, env=environment, text=True, capture_output=True).stdout.splitlines()
            found += [line for line in output if "[" in line]
            start = int(next(line for line in reversed(output) if line.startswith("@"))[1:]) + 1
        print(f"{generation}: {len(found)} of {len(arrays(generation))} arrays")
        lines += [f"{generation}\t{line}" for line in found]
    (HERE / "tpu_tiles.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    child(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else main()
