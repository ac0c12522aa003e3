#!/usr/bin/env bash
# JAX 0.10.2 on a CPU: an array of float4_e2m1fn says that it takes a byte an element, also on its device. The program that takes it has it as
# two elements a byte, and so is the memory that the array lends by DLPack, the first element in the low half.
#
# A buffer of the size that the array names is twice the one that holds it. JAX refuses to take the tensor back that it lends, and lends no
# array of int4, whose sizes are the same. Seen for 0, 1, 0, 1, 0, 1, 0 and 1:
#   float4_e2m1fn: nbytes 8, on its device 8, argument of a program 4, lent: 20202020 as 4 bits, taken back: refused
#   int4: nbytes 8, on its device 8, argument of a program 4, lent: refused
#
# Exits with 1 if JAX does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
JAX_PLATFORMS=cpu "$folder/env/bin/python" - <<'PYTHON'
import ctypes
import sys

import jax
import jax.numpy as jnp


class Tensor(ctypes.Structure):
    """A DLTensor, its data type as code, bits and lanes."""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]


def lent(array):
    try:
        capsule = array.__dlpack__()
    except jax.errors.JaxRuntimeError as error:
        return "refused" if "has no DLPack equivalent" in str(error) else str(error)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = Tensor.from_address(pointer(capsule, b"dltensor"))
    bits = tensor.bits * tensor.lanes
    text = ctypes.string_at(tensor.data + tensor.offset, bits * array.size // 8).hex() + f" as {bits} bits"
    try:
        jnp.from_dlpack(array)
        return f"{text}, taken back"
    except jax.errors.JaxRuntimeError as error:
        return f"{text}, taken back: refused" if "only support default layout" in str(error) else str(error)


expected = {"float4_e2m1fn": (8, 8, 4, "20202020 as 4 bits, taken back: refused"), "int4": (8, 8, 4, "refused")}
seen = {}
for name in expected:
    array = jnp.asarray([0, 1] * 4, dtype=getattr(jnp, name))
    program = jax.jit(lambda elements: elements).lower(array).compile().memory_analysis()
    seen[name] = (array.nbytes, array.on_device_size_in_bytes(), program.argument_size_in_bytes, lent(array))
    print("{}: nbytes {}, on its device {}, argument of a program {}, lent: {}".format(name, *seen[name]))
sys.exit(seen != expected)
PYTHON
