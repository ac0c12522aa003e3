"""Layouts as PyTorch, JAX and MLIR print them, and where these libraries say that their elements are.

Prints the lines of printed_layouts.tsv: the printed text, the library, the sizes, and either the strides and the
offset in elements, or XLA's text of the layout. Run with torch 2.15.0, jax 0.10.2 and numpy.
"""

import re

import numpy as np
import torch
from jax.experimental.layout import Layout
from jaxlib.mlir import ir
from torch._dynamo.testing import rand_strided
from torch._inductor import ir as inductor
from torch._inductor.utils import run_and_get_code
from torch.fx.experimental.proxy_tensor import make_fx

DTYPES = [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.uint8, torch.float8_e4m3fn, torch.complex64]


def line(library, text, sizes, place):
    print("\t".join([library, text, str(list(sizes)), place]))


def torch_lines():
    made = [((8, 64), (64, 1)), ((2, 3), (5, 1)), ((1, 3, 4, 5), (60, 1, 15, 3)), ((4,), (2,)), ((), ()), ((2, 3), (0, 1))]
    for (size, stride), dtype in [(made[0], dtype) for dtype in DTYPES] + [(pair, torch.float32) for pair in made]:
        x = torch.empty_strided(size, stride, dtype=dtype)
        graph = make_fx(lambda x: x.view(dtype), tracing_mode="fake")(x)
        printed = graph.print_readable(print_output=False, include_stride=True, include_device=True)
        text = printed.split('x_1: "')[1].split('"')[0]
        line("torch", text, x.shape, f"{list(x.stride())} {x.storage_offset()}")
        line("torch", f"{str(dtype).split('.')[1]} {x.size()} stride={x.stride()}", x.shape, f"{list(x.stride())} 0")


def program_lines():
    """Lines of programs as PyTorch writes them. Where a line is a call, the call is made, and its result asked."""

    def program(a, b):
        return torch.nn.functional.conv2d(a, b).relu().transpose(1, 3).contiguous() + 1

    inputs = torch.randn(2, 8, 6, 6).to(memory_format=torch.channels_last), torch.randn(4, 8, 3, 3)
    graph = make_fx(program, tracing_mode="fake")(*inputs)
    printed = graph.print_readable(print_output=False, include_stride=True, include_device=True)
    for node in graph.graph.nodes:
        for text in re.findall(rf"\b{node.name}: \"[^\"]*\" = torch.ops.*", printed):
            x = node.meta["val"]
            line("torch", text, x.shape, f"{list(x.stride())} {x.storage_offset()}")
    calls = {
        "empty_strided_cpu": torch._C._dynamo.guards._empty_strided_cpu,
        "rand_strided": rand_strided,
        "assert_tensor_metadata": lambda _, size, stride, dtype, name: torch.empty_strided(size, stride, dtype=dtype),
        "reinterpret_tensor": torch.ops.inductor._reinterpret_tensor,
    }
    code = run_and_get_code(torch.compile(program), *inputs)[1][0]
    pattern = rf"\w+ = (?:{'|'.join(calls)})\(.*\)|assert_tensor_metadata\(.*\)"
    texts = [text for text in re.findall(pattern, code) if "= async" not in text and "torch.ops.inductor" not in text]
    for text in texts + ["f32 reinterpret_tensor(buf1, (16, 8), (1, 16), 5)"]:
        call = re.sub(r"^(\w+ = |f32 )", "", text)
        x = eval(call, {"torch": torch, "buf1": torch.empty(140), **calls})
        line("torch", text, x.shape, f"{list(x.stride())} {x.storage_offset()}")
    for layout in [
        inductor.FlexibleLayout(torch.device("cuda", 0), torch.bfloat16, [8, 64]),
        inductor.FixedLayout(torch.device("cpu"), torch.float32, [7, 20], [1, 14], 7),
    ]:
        line("torch", f"buf0.layout = {layout}", layout.size, f"{list(layout.stride)} {layout.offset}")


def mlir_lines():
    types = ["f32", "bf16", "i8", "i64", "i1", "ui8", "f8E4M3FN", "complex<f32>"]
    texts = [f"memref<4x6x{name}>" for name in types]
    texts += [
        "memref<4x6xf32, strided<[10, 1], offset: 3>>",
        "memref<4x6xf32, strided<[10, 1]>>",
        "memref<4x6xf32, strided<[10, 1], offset: 3>, 1>",
        "memref<f32>",
        "memref<f32, strided<[], offset: 3>>",
        "memref<1x3x4x5xf16, strided<[60, 1, 15, 3]>>",
        "memref<4x6xf32, strided<[-10, 1], offset: 30>>",
        "memref<4x6xf32, 1 : i32>",
    ]
    with ir.Context():
        for text in texts:
            memref = ir.MemRefType(ir.Type.parse(text))
            strides, offset = memref.get_strides_and_offset()
            line("mlir", str(memref), memref.shape, f"{list(strides)} {offset}")


def jax_lines():
    for name, sizes, layout in [
        ("f32", (2, 3), Layout(major_to_minor=(0, 1))),
        ("bf16", (16, 256), Layout(major_to_minor=(0, 1), tiling=((8, 128), (2, 1)))),
        ("bf16", (16, 256), Layout(major_to_minor=(1, 0), tiling=((8, 128), (2, 1)))),
        ("f16", (1, 3, 4, 5), Layout(major_to_minor=(0, 2, 3, 1), tiling=())),
        ("s4", (16, 256), Layout(major_to_minor=(0, 1), tiling=((32, 128),), sub_byte_element_size_in_bits=4)),
        ("f32", (100,), Layout(major_to_minor=(0,), tiling=((128,),))),
    ]:
        dtype = np.dtype({"f32": np.float32, "f16": np.float16}.get(name, np.float32))
        xla = layout._to_xla_layout(dtype)
        line("jax", f"{name}[{','.join(map(str, sizes))}] {layout}", sizes, str(xla))


torch_lines()
program_lines()
mlir_lines()
jax_lines()
