"""Writes mlx.safetensors: MLX's own file of two tensors, with `null` as its metadata.

    pip install mlx[cpu]==0.32.4
    python mlx_file.py
"""

import mlx.core as mx

w = mx.arange(24, dtype=mx.bfloat16).reshape(2, 3, 4)
mx.save_safetensors("mlx.safetensors", {"w": w.T, "q": mx.arange(6, dtype=mx.uint32)})
