#!/usr/bin/env bash
# NIXL 1.5.1 (nixl-cu13): a strided descriptor is (address, length, device, stride, count). With a count of 1 the stride is never used, and yet a
# stride below the length is refused, 0 too, by an error that names neither the row nor the rule.
#
# A list of descriptors that is made from loops has such rows, because the stride of a loop of one is free. Seen, for runs of 512 bytes:
#   stride 1024, count 10: taken
#   stride 512, count 10: taken
#   stride 512, count 1: taken
#   stride 256, count 1: nixlNotFoundError
#   stride 0, count 1: nixlNotFoundError
#
# Exits with 1 if NIXL answers something else. Needs Python 3.10 to 3.13 on Linux; no GPU, no RDMA.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet nixl-cu13==1.5.1 numpy==2.4.6
"$folder/env/bin/python" - 2> "$folder/log" <<'PYTHON' || { cat "$folder/log" >&2; exit 1; }
import sys

import numpy
from nixl_cu13._api import nixl_agent, nixl_agent_config

agent = nixl_agent("one", nixl_agent_config(backends=["UCX"]))
memory = numpy.zeros(1 << 16, dtype=numpy.uint8)
address = memory.ctypes.data
agent.register_memory([(address, memory.nbytes, 0, "")], "DRAM")
seen = []
for stride, count in [(1024, 10), (512, 10), (512, 1), (256, 1), (0, 1)]:
    rows = numpy.array([(address, 512, 0, stride, count)], dtype=numpy.uint64)
    try:
        agent.prep_xfer_dlist("NIXL_INIT_AGENT", rows, "DRAM")
        answer = "taken"
    except Exception as error:
        answer = type(error).__name__
    print(f"stride {stride}, count {count}: {answer}")
    seen.append(answer)
sys.exit(seen != ["taken", "taken", "taken", "nixlNotFoundError", "nixlNotFoundError"])
PYTHON
