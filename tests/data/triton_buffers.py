"""Records how far apart the buffers of a pipeline are, in the shared memory of kernels that Triton compiles.

    pip install triton==3.9.0
    python triton_buffers.py > triton_buffers.tsv

Needs no GPU. Each line is a tensor with one axis more than its encoding, and the bytes from buffer to buffer: the
power of two by which the compiled code multiplies the number of the buffer.
"""

import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def product(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, 64)
    sum = tl.zeros((M, N), tl.float32)
    for step in range(0, K, 64):
        x = tl.load(a + i[:, None] * K + (step + k)[None, :])
        y = tl.load(b + (step + k)[:, None] * N + j[None, :])
        sum = tl.dot(x, y, sum)
    tl.store(c + i[:, None] * N + j[None, :], sum)


print("# triton 3.9.0: text, bytes from buffer to buffer")
for target in [80, 90]:
    types = {"a": "*fp16", "b": "*fp16", "c": "*fp32"}
    aligned = {(number,): [["tt.divisibility", 16]] for number in range(3)}
    source = ASTSource(product, types, {"M": 64, "N": 128, "K": 2048}, attrs=aligned)
    compiled = triton.compile(source, target=GPUTarget("cuda", target, 32), options={"num_stages": 4})
    encoding = re.search(r"#shared = (.*)", compiled.asm["ttgir"])[1]
    texts = re.findall(r"ttg.local_alloc .*-> (!ttg.memdesc<\dx.*mutable>)", compiled.asm["ttgir"])
    shifts = sorted(set(re.findall(r"\.idx\d* = shl i32 %\d+, (\d+)", compiled.asm["llir"])))
    assert len(texts) == len(shifts) == 2
    for text, shift in zip(texts, shifts):
        print(f"{text.replace('#shared', encoding)}\t{1 << int(shift)}")
    numbers = [int(re.search(r"<(\d)x", text)[1]) << int(shift) for text, shift in zip(texts, shifts)]
    assert sum(numbers) == compiled.metadata.shared
