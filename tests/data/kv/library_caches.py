"""The caches of mlx-lm and Transformers, run by themselves on a CPU: pip install 'mlx[cpu]==0.32.4' torch==2.15.0 transformers==5.24.0, and
pip install --no-deps mlx-lm==0.32.2, whose module of caches needs mlx alone.

Writes library_caches.jsonl: the sizes of K of a layer, the strides in bytes that the array says, and the bytes of all of it.
"""

import importlib.util
import json
import pathlib
import sys
import types

import mlx.core as mx
import torch
import transformers

# The package of mlx-lm imports readers of models; the module of caches does not.
root = pathlib.Path(importlib.util.find_spec("mlx_lm").submodule_search_locations[0])
for name, folder in [("mlx_lm", root), ("mlx_lm.models", root / "models")]:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(folder)]
from mlx_lm.models.cache import KVCache

rows = [{"recorded": f"mlx-lm 0.32.2 with mlx {mx.__version__}, transformers {transformers.__version__} with torch {torch.__version__.split('+')[0]}: K of a layer"}]


def record(cache, sizes, width, strides):
    named = dict(zip(["B", "H", "N", "D"], sizes))
    total = sum((size - 1) * stride for size, stride in zip(sizes, strides)) + width
    rows.append({"cache": cache, **named, "width": width, "strides_bytes": strides, "bytes": total})


for batch, heads, tokens, size, data_type in [(1, 2, 5, 4, mx.float16), (2, 3, 300, 8, mx.float32), (1, 8, 256, 128, mx.float16)]:
    cache = KVCache()
    cache.update_and_fetch(mx.zeros((batch, heads, tokens, size), data_type), mx.zeros((batch, heads, tokens, size), data_type))
    keys = memoryview(cache.keys)
    record("mlx_lm.KVCache", list(keys.shape), keys.itemsize, list(keys.strides))
for batch, heads, most, size, data_type in [(1, 8, 512, 64, torch.float16), (2, 3, 40, 16, torch.float32)]:
    config = transformers.LlamaConfig(num_hidden_layers=1, num_attention_heads=heads, num_key_value_heads=heads, hidden_size=heads * size, head_dim=size)
    cache = transformers.StaticCache(config=config, max_cache_len=most)
    states = torch.zeros(batch, heads, 1, size, dtype=data_type)
    keys, _ = cache.update(states, states, 0)
    keys = cache.layers[0].keys
    record("transformers.StaticCache", list(keys.shape), keys.element_size(), [stride * keys.element_size() for stride in keys.stride()])
pathlib.Path(__file__).with_suffix(".jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
