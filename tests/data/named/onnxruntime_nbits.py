"""Weights and zero points of MatMulNBits, as ONNX Runtime reads them: pip install onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6

The operator multiplies the unit matrix, so that its result is each value (or minus each zero point) of the weights. The memory holds the
bits of its own places, some in each run.
"""

import itertools

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

from record import row, write


def product(K, N, block, weights, zero_points):
    blocks = -(-K // block)
    tensors = [
        helper.make_tensor("B", TensorProto.UINT8, [N, blocks, block // 2], weights.tobytes(), raw=True),
        helper.make_tensor("scales", TensorProto.FLOAT, [N * blocks], numpy.ones(N * blocks, numpy.float32)),
        helper.make_tensor("zero_points", TensorProto.UINT8, [N * -(-blocks // 2)], zero_points.tobytes(), raw=True),
    ]
    node = helper.make_node("MatMulNBits", ["A", "B", "scales", "zero_points"], ["Y"], domain="com.microsoft", K=K, N=N, bits=4, block_size=block)
    value = lambda name, sizes: helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
    graph = helper.make_graph([node], "g", [value("A", [K, K])], [value("Y", [K, N])], tensors)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"A": numpy.eye(K, dtype=numpy.float32)})[0].T


def places(size_in_bytes, read):
    """The place of each element, in elements of 4 bits, low ones first: `read` gives the elements of a memory."""
    found = 0
    for run in range(4):
        parts = (numpy.arange(size_in_bytes * 2) >> (4 * run)) & 15
        memory = (parts[0::2] | parts[1::2] << 4).astype(numpy.uint8)
        found = found + (numpy.rint(read(memory)).astype(int) << (4 * run))
    return {index: int(found[index]) for index in itertools.product(*map(range, found.shape))}


rows = []
for block, sizes in [(16, [3, 48]), (32, [4, 80]), (32, [3, 64]), (64, [2, 100]), (128, [2, 130]), (256, [1, 300])]:
    N, K = sizes
    blocks = -(-K // block)
    size, size_of_zeros = N * blocks * block // 2, N * -(-blocks // 2)
    none = numpy.zeros(size_of_zeros, numpy.uint8)
    offsets = places(size, lambda memory: product(K, N, block, memory, none))
    rows.append(row(f"onnxruntime.MatMulNBits<{block}>:u4[{N},{K}]", offsets, size))
    empty = numpy.zeros(size, numpy.uint8)
    offsets = places(size_of_zeros, lambda memory: -product(K, N, block, empty, memory)[:, ::block])
    rows.append(row(f"onnxruntime.MatMulNBits.zero_points:u4[{N},{blocks}]", offsets, size_of_zeros))
write(__file__, f"onnxruntime {onnxruntime.__version__}", rows)
