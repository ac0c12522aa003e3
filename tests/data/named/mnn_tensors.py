"""NC4HW4 tensors of MNN, converted by MNN itself: pip install MNN==3.6.1 numpy==2.4.6"""

import ctypes

import MNN
import numpy

from record import RUNS, numbers, places, row, write

api = ctypes.pythonapi.PyCapsule_GetPointer
api.restype, api.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
express = MNN.expr


def memory(array):
    """The elements of the array in NC4HW4 as they lie in memory."""
    source = express.const(array, list(array.shape), express.NCHW)
    converted = express.convert(source, express.NC4HW4)
    converted.read()
    size = converted.size
    raw = (ctypes.c_float * size).from_address(api(converted.ptr, None))
    return [int(x) if abs(x) < 1e6 else 0 for x in numpy.frombuffer(raw, numpy.float32).astype(numpy.float64)]


rows = []
for sizes in [[3, 5], [2, 8], [2, 5, 3], [1, 7, 4], [1, 6, 3, 2], [2, 5, 3, 2], [3, 4, 1, 2], [2, 9, 2, 3], [2, 3, 2, 2, 3], [1, 6, 3, 1, 2]]:
    count = int(numpy.prod(sizes))
    arrays = [numpy.array(numbers(run, count), dtype=numpy.float32).reshape(sizes) for run in range(RUNS)]
    memories = [memory(array) for array in arrays]
    rows.append(row(f"mnn.C4NHW4:f32{sizes}".replace(" ", ""), places(memories, sizes), 4 * len(memories[0])))
write(__file__, f"MNN {MNN.version()}", rows)
