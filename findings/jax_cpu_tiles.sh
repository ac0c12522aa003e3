#!/usr/bin/env bash
# JAX 0.10.2 on a CPU: a caller may ask for tiles in the layout of an argument. The text of the compiled program has them, and its buffers do not.
#
# A reader of the text computes 12288 bytes for an argument that takes 2400. Seen:
#   %x.1 = f32[20,30]{1,0:T(8,128)} parameter(0)
#   argument_size_in_bytes: 2400
#
# Exits with 1 if JAX does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet jax==0.10.2 jaxlib==0.10.2
JAX_PLATFORMS=cpu "$folder/env/bin/python" - <<'PYTHON'
import sys

import jax
import jax.numpy as jnp
from jax.experimental.layout import Format, Layout

layout = Layout(major_to_minor=(0, 1), tiling=((8, 128),))
asked = Format(layout, jax.sharding.SingleDeviceSharding(jax.devices("cpu")[0]))
program = jax.jit(lambda x: x * 2, in_shardings=asked).lower(jax.ShapeDtypeStruct((20, 30), jnp.float32)).compile()
argument = [line.strip() for line in program.as_text().splitlines() if "%x.1" in line and "parameter(0)" in line]
text, size = argument[0].split(",  ")[0].split(", sharding")[0], program.memory_analysis().argument_size_in_bytes
print(text)
print("argument_size_in_bytes:", size)
sys.exit((text, size) != ("%x.1 = f32[20,30]{1,0:T(8,128)} parameter(0)", 2400))
PYTHON
