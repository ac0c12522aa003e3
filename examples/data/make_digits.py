#!/usr/bin/env python3
"""Train a small digit classifier and write it, with its test set, to one file.

Makes `digits.safetensors`, next to this script: the weights of a convolutional
network for 8x8 handwritten digits, and the 360 held-out images it is tested on.

    conv1.weight  f32[16,1,3,3]     conv1.bias  f32[16]
    conv2.weight  f32[32,16,3,3]    conv2.bias  f32[32]
    dense.weight  f32[10,128]       dense.bias  f32[10]
    test.images   u8[360,1,8,8]     test.labels u8[360]

The network, on images in N,C,H,W order with `input = u8 / 16.0`:

    conv1 3x3 pad 1, 1 -> 16    ReLU    max-pool 2x2     [16, 4, 4]
    conv2 3x3 pad 1, 16 -> 32   ReLU    max-pool 2x2     [32, 2, 2]
    flatten in C,H,W order                               [128]
    dense 128 -> 10                                      logits

A convolution is a cross-correlation (the kernel is not flipped), as in most
frameworks. The header's metadata holds `source`, `licence`, `accuracy` and
`correct` (the number of test images, of 360, that the network gets right).

Run, from anywhere:

    pip install numpy scikit-learn safetensors
    python examples/data/make_digits.py

Result: 355 of the 360 test images right, an accuracy of 0.9861, in a file of
48512 bytes (with numpy 2.4.6, scikit-learn 1.9.1, safetensors 0.8.0). The test
images take no part in training. The script ends by reloading the file, running
a plain forward pass written apart from the training code, and checking the
accuracy, the file size, and that no test image has its two largest logits so
close that another order of summation could change the prediction.

Every random choice is seeded and BLAS is held to one thread, so two runs on one
machine give the same bytes; another machine or BLAS may round sums differently
and so end with slightly different weights. The data, 1797 images, come with
scikit-learn: nothing is downloaded.
"""

import json
import os
import struct
from pathlib import Path

# One BLAS thread, so that sums are always taken in the same order. This must be
# set before numpy is imported.
for _name in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{_name}_NUM_THREADS"] = "1"

import numpy as np
from safetensors import safe_open
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

OUT = Path(__file__).resolve().parent / "digits.safetensors"
SEED = 0
TEST_IMAGES = 360
EPOCHS, BATCH, LEARNING_RATE = 60, 32, 2e-3
MIN_ACCURACY, MIN_GAP, MAX_BYTES = 0.975, 1e-4, 200_000


# --- training: forward and backward passes through im2col -------------------


def columns(x):
    """[N,C,H,W] -> [N,H,W,C*9]: the 3x3 neighbourhood of each pixel, zero-padded."""
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    win = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    n, c, h, w = win.shape[:4]
    return win.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def conv(x, weight):
    """3x3 convolution, padding 1. Returns the output and the columns."""
    cols = columns(x)
    return (cols @ weight.reshape(len(weight), -1).T).transpose(0, 3, 1, 2), cols


def relu_pool(z):
    """ReLU, then 2x2 max-pool. Also returns the mask that routes gradients back."""
    n, c, h, w = z.shape
    blocks = z.reshape(n, c, h // 2, 2, w // 2, 2)
    top = blocks.max(axis=(3, 5), keepdims=True)
    mask = (blocks == top) & (blocks > 0)
    return np.maximum(top[:, :, :, 0, :, 0], 0), mask


def forward(p, x):
    """Logits, and what the backward pass needs from the two conv stages."""
    stages = []
    for name in ("conv1", "conv2"):
        z, cols = conv(x, p[f"{name}.weight"])
        x, mask = relu_pool(z + p[f"{name}.bias"][:, None, None])
        stages.append((name, cols, mask, z.shape))
    flat = x.reshape(len(x), -1)
    return flat @ p["dense.weight"].T + p["dense.bias"], stages, flat


def gradients(p, x, y):
    """Gradients of the mean cross-entropy of one batch, by parameter name."""
    logits, stages, flat = forward(p, x)
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    d = e / e.sum(axis=1, keepdims=True)
    d[np.arange(len(y)), y] -= 1
    d /= len(y)
    g = {"dense.weight": d.T @ flat, "dense.bias": d.sum(axis=0)}
    d = (d @ p["dense.weight"]).reshape(len(x), 32, 2, 2)
    for name, cols, mask, shape in reversed(stages):
        weight = p[f"{name}.weight"]
        dz = (d[:, :, :, None, :, None] * mask).reshape(shape)
        rows = dz.transpose(0, 2, 3, 1).reshape(-1, shape[1])
        g[f"{name}.weight"] = (rows.T @ cols.reshape(len(rows), -1)).reshape(weight.shape)
        g[f"{name}.bias"] = rows.sum(axis=0)
        if name == "conv2":  # back through it: the flipped, transposed kernel
            d, _ = conv(dz, weight.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1])
    return g


def train(x, y):
    """Adam with a cosine learning rate and weight decay; He-normal start."""
    rng = np.random.default_rng(SEED)
    shapes = {"conv1": (16, 1, 3, 3), "conv2": (32, 16, 3, 3), "dense": (10, 128)}
    p = {}
    for name, shape in shapes.items():
        scale = np.sqrt(2 / np.prod(shape[1:]))
        p[f"{name}.weight"] = (rng.standard_normal(shape) * scale).astype(np.float32)
        p[f"{name}.bias"] = np.zeros(shape[0], np.float32)
    m = {k: np.zeros_like(v) for k, v in p.items()}
    v = {k: np.zeros_like(v) for k, v in p.items()}
    step, total = 0, EPOCHS * -(-len(x) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for batch in np.split(order, range(BATCH, len(order), BATCH)):
            rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * step / total))
            step += 1
            for k, g in gradients(p, x[batch], y[batch]).items():
                m[k] += np.float32(0.1) * (g - m[k])
                v[k] += np.float32(0.001) * (g * g - v[k])
                hat_m, hat_v = m[k] / (1 - 0.9**step), v[k] / (1 - 0.999**step)
                decay = 1e-2 * p[k] if k.endswith("weight") else 0
                p[k] -= (rate * (hat_m / (np.sqrt(hat_v) + 1e-8) + decay)).astype(np.float32)
    return p


# --- the file, and the check on it ------------------------------------------


def plain_forward(p, images):
    """Logits, written apart from the training code: one kernel tap at a time."""
    x = images.astype(np.float32) / np.float32(16)
    for name in ("conv1", "conv2"):
        weight, (n, _, h, w) = p[f"{name}.weight"], x.shape
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        z = np.zeros((n, len(weight), h, w), np.float32) + p[f"{name}.bias"][:, None, None]
        for i in range(3):
            for j in range(3):
                tap = padded[:, :, i : i + h, j : j + w]
                z += np.einsum("nchw,oc->nohw", tap, weight[:, :, i, j])
        z = np.maximum(z, 0)
        rows = np.maximum(z[:, :, 0::2], z[:, :, 1::2])
        x = np.maximum(rows[..., 0::2], rows[..., 1::2])
    return x.reshape(len(x), -1) @ p["dense.weight"].T + p["dense.bias"]


def save(path, tensors, metadata):
    """Write a safetensors file: header length, JSON header, data.

    By hand, because the library writes the metadata keys in no fixed order.
    """
    header, offset = {"__metadata__": metadata}, 0
    for name, t in tensors.items():
        dtype = {"float32": "F32", "uint8": "U8"}[t.dtype.name]
        span = [offset, offset + t.nbytes]
        header[name] = {"dtype": dtype, "shape": list(t.shape), "data_offsets": span}
        offset += t.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # keeps the data 8-byte aligned
    data = b"".join(t.astype(t.dtype.newbyteorder("<")).tobytes() for t in tensors.values())
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def check(path):
    """Reload the file, run the network on its images, and print what is in it."""
    with safe_open(path, framework="numpy") as f:
        metadata = f.metadata()
        tensors = {name: f.get_tensor(name) for name in f.keys()}
    logits = plain_forward(tensors, tensors["test.images"])
    labels, size = tensors["test.labels"], path.stat().st_size
    correct = int((logits.argmax(axis=1) == labels).sum())
    ranked = np.sort(logits, axis=1)
    gap = float((ranked[:, -1] - ranked[:, -2]).min())

    print(f"{path.name}: {size} bytes")
    for name, t in sorted(tensors.items()):
        print(f"  {name:<13} {t.dtype.name:<8} {list(t.shape)}")
    for key, value in sorted(metadata.items()):
        print(f"  {key}: {value}")
    print(f"accuracy {correct / len(labels):.4f} ({correct} of {len(labels)})")
    print(f"smallest gap between the top two logits: {gap:.6f}")

    assert correct == int(metadata["correct"]), "the two forward passes disagree"
    assert correct >= MIN_ACCURACY * len(labels), "accuracy is too low"
    assert gap >= MIN_GAP, "a prediction could change with the order of a sum"
    assert size < MAX_BYTES, "the file is too large"


def main():
    digits = load_digits()
    images = digits.images.astype(np.uint8)[:, None]
    labels = digits.target.astype(np.uint8)
    train_x, test_x, train_y, test_y = train_test_split(
        images, labels, test_size=TEST_IMAGES, random_state=SEED, stratify=labels
    )
    params = train(train_x.astype(np.float32) / np.float32(16), train_y)

    logits = forward(params, test_x.astype(np.float32) / np.float32(16))[0]
    correct = int((logits.argmax(axis=1) == test_y).sum())
    metadata = {
        "source": "UCI Optical Recognition of Handwritten Digits, via scikit-learn",
        "licence": "CC BY 4.0",
        "accuracy": f"{correct / len(test_y):.4f}",
        "correct": str(correct),
    }
    save(OUT, params | {"test.images": test_x, "test.labels": test_y}, metadata)
    check(OUT)


if __name__ == "__main__":
    main()
