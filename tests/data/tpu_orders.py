"""Asks the TPU compiler in which order it lays out arrays nobody asked a layout for, and writes the answers to
tpu_orders.tsv beside this script: `python tpu_orders.py` with jax and libtpu from PyPI (0.10.2 and 0.0.51 made the
file). No TPU is needed.

One program for each array returns its argument; the table holds the layout of that argument in the entry computation,
and the bytes the compiler says the argument takes. Each generation is compiled in a process of its own, as libtpu is
set up by environment variables; where the compiler aborts, the array is left out and a new process goes on behind it.
"""

import math
import os
import pathlib
import random
import re
import subprocess
import sys

from tpu_tiles import GENERATIONS

HERE = pathlib.Path(__file__).parent
ARRAYS = 125  # of each generation, of any type
TWO_BITS = 40  # and these of 2-bit types, whose tiles are not those the orders are compared by
ALIGNED = 40  # and these of 2-bit types in sizes that need little padding or none
COUNT = ARRAYS + TWO_BITS + ALIGNED
BYTES = 1 << 30  # of the numbers of one array, at most
WORDS = "float32 int32 uint32 bfloat16 float16 int16 uint16 int8 uint8 bool float8_e4m3fn float8_e5m2".split()
RARE = "int4 uint4 int2 uint2 float4_e2m1fn float64 int64 uint64 complex64".split()
SIZES = {  # what the sizes of one array are drawn from
    "any": [1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 256, 300, 512],
    "small": [1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9],
    "tiles": [8, 16, 32, 64, 128, 256, 384, 512],
    "near": [7, 8, 9, 15, 16, 17, 31, 33, 127, 129, 255, 257],
    "aligned": [1, 4, 8, 8, 16, 16, 32, 100, 128, 128, 129, 256],
    "zero": [0, 1, 3, 8, 128],
    "equal": None,  # one size for all dimensions
}


def arrays(generation):
    return (draw(random.Random(f"orders of {generation}"), WORDS + RARE, ARRAYS)
            + draw(random.Random(f"2-bit orders of {generation}"), ["int2", "uint2"], TWO_BITS)
            + draw(random.Random(f"aligned orders of {generation}"), ["int2", "uint2"], ALIGNED, ["aligned"]))


def draw(source, types, count, kinds="any any any any small small tiles near near zero equal".split()):
    chosen = []
    while len(chosen) < count:
        rank = source.choice([0, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 8])
        sizes = SIZES[source.choice(kinds)] or [source.choice([2, 3, 5, 8, 12, 16, 31, 128, 130])]
        array = (source.choice(types), tuple(source.choice(sizes) for _ in range(rank)))
        if math.prod(array[1]) * 8 <= BYTES and array not in chosen:
            chosen.append(array)
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
            compiled = jax.jit(lambda x: x).lower(argument).compile()
        except Exception as error:
            print(f"{generation} {data_type}{list(sizes)}: {str(error).splitlines()[0][:150]}", file=sys.stderr)
            continue
        layout = re.search(r"entry_computation_layout=\{\((.*?)\)->", compiled.as_text())[1]
        print(f"{layout}\t{compiled.memory_analysis().argument_size_in_bytes}", flush=True)


def main():
    lines = ["# generation, the array with the layout libtpu 0.0.51 gave it, the bytes it takes"]
    for generation, (_, accelerator) in GENERATIONS.items():
        environment = dict(
            os.environ, JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE=accelerator,
            TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0", JAX_ENABLE_X64="1")
        found, start = [], 0
        while start < COUNT:
            command = [sys.executable, __file__, generation, str(start)]
            done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE)
            output = done.stdout.splitlines()
            found += [line for line in output if "[" in line]
            start = int(next(line for line in reversed(output) if line.startswith("@"))[1:]) + 1
        print(f"{generation}: {len(found)} of {COUNT} arrays", flush=True)
        lines += [f"{generation}\t{line}" for line in found]
    (HERE / "tpu_orders.tsv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    child(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 1 else main()
