"""The pools of SGLang, by its own functions: pip install msgspec, and pip download --no-deps sglang==0.5.23 and unpack it.

    python sglang_pools.py FOLDER

Writes sglang_pools.jsonl: a cache, indices of L,B,H,N,C (without L for one layer) and the byte where each is. The functions that choose the axes of a
pool are run as they are; what their files import besides (torch, kernels) is replaced by stand-ins, and no memory is taken. Sizes differ
from each other, so that the size of an axis says which one it is.
"""

import ast
import json
import pathlib
import random
import sys
import types

MEM_CACHE = pathlib.Path(sys.argv[1]) / "sglang/srt/mem_cache"
HALF = types.SimpleNamespace(itemsize=2)
SIZES = {"L": 5, "B": 7, "H": 24, "N": 4, "D": 16, "2": 2}
PAGE = {"page_size": 4, "layer_num": 5, "head_num": 24, "head_dim": 16}
random.seed(72)


def source(file, name, method=None, **space):
    """A class of a file, or one of its functions, with what it needs in `space`."""
    of = lambda tree, name: next(node for node in tree.body if getattr(node, "name", "") == name)
    node = of(ast.parse((MEM_CACHE / file).read_text()), name)
    node = of(node, method) if method else node
    exec(compile("from __future__ import annotations\n" + ast.unparse(node), file, "exec"), space)
    return space[node.name]


def module(file, name):
    """A whole file as a module; msgspec's structs look their module up by its name."""
    made = sys.modules[name] = types.ModuleType(name)
    exec(compile((MEM_CACHE / file).read_text(), file, "exec"), made.__dict__)
    return made


sys.modules["torch"] = types.SimpleNamespace(Tensor=object, dtype=object)
unified = module("pool_host/page_unified.py", "page_unified").PageUnifiedLayout
token_major = module("layout/token_major.py", "token_major")
rows = []


def record(cache, place, axes="LBHNC", width=32):
    """Rows of random indices: `place` gives the byte of an index by its letters."""
    for _ in range(5):
        at = {letter: random.randrange(SIZES[letter]) for letter in "LBHN2D"}
        whole = at | {"C": (at["2"] if width == 32 else 0) * 16 + at["D"]}
        index = [whole[letter] for letter in axes]
        rows.append({"cache": cache, "index": index, "byte": place(at if width == 32 else at | {"2": 0})})


def packed(dims):
    """The place of an index in a pool of these dims. Tokens are blocks of 4, and heads are groups where the pool has them."""
    strides = [2]
    for size in dims[:0:-1]:
        strides.insert(0, strides[0] * size)
    of = {size: stride for size, stride in zip(dims, strides)}

    def place(at):
        group = next((size for size in (8, 6) if size in of), 24)
        parts = {5: at["L"], 7: at["B"], 4: at["N"], 16: at["D"], 2: at["2"], 28: at["B"] * 4 + at["N"], 24: at["H"]}
        parts |= {group: at["H"] // (24 // group), 24 // group: at["H"] % (24 // group)} if group < 24 else {}
        return sum(parts[size] * stride for size, stride in of.items() if size > 1)

    return place


# Pools of the host: K and V of all layers.
host = {"ALLOC_MEMORY_FUNCS": {"cpu": lambda dims, **_: dims}, "PageUnifiedLayout": unified}
init = source("pool_host/mha.py", "MHATokenToKVPoolHost", "init_kv_buffer", **host)
for layout, groups, cache in [
    ("layer_first", 1, "kv:sglang.layer_first"),
    ("page_first", 1, "kv:sglang.page_first"),
    ("page_first_direct", 1, "kv:sglang.page_first_direct"),
    ("page_head", 1, "kv:sglang.page_head"),
    ("page_unified", 1, "kv:BL2NHD"),
    ("page_unified", 24, "kv:sglang.page_unified"),
    ("page_unified", 8, "kv:BHL2N3hD"),
]:
    pool = types.SimpleNamespace(**PAGE, layout=layout, page_num=7, size=28, head_group_num=groups, dtype=HALF, device="cpu", pin_memory=False)
    pool._transfer_device, pool.allocator = types.SimpleNamespace(type="cpu"), None
    record(f"{cache}:f16[L=5,B=7,H=24,N=4,D=16]", packed(init(pool)))

# Pools of the device: K of a layer. A page is more than the tokens.
shapes = source("memory_pool.py", "MHATokenToKVPool", "_kv_buffer_shapes")
for is_hnd, cache in [(False, "kv:sglang.NHD"), (True, "kv:sglang.HND")]:
    pool = types.SimpleNamespace(**PAGE, use_hnd=is_hnd, num_pages=7, size=24, v_head_dim=16)
    record(f"{cache}:f16[B=7,H=24,N=4,D=16]", packed(shapes(pool)[0]), "BHNC", 16)

# The pool of all layers of a token.
space = {"dataclass": lambda **_: lambda of: of, "SubPoolSpec": object, "_check_row_alignment": lambda *_, **__: None}
pool = source("unified_memory_pool.py", "MHASubPoolSpec", **space, **vars(token_major))()
for key, value in (PAGE | {"name": "pool", "v_head_dim": 16, "store_dtype": HALF, "draft_region": None}).items():
    setattr(pool, key, value)
layout = pool.layout()


def token(at):
    part = layout.part("kv"[at["2"]])
    row = part.layer_offset_bytes(at["L"]) + (at["H"] * 16 + at["D"]) * 2
    return (at["B"] * 4 + at["N"]) * layout.entry_bytes + row


record("kv:sglang.token_major:f16[L=5,B=7,H=24,N=4,D=16]", token)
head = {"recorded": "pools of sglang 0.5.23, by its own functions"}
pathlib.Path(__file__).with_suffix(".jsonl").write_text("".join(json.dumps(row) + "\n" for row in [head, *rows]))
