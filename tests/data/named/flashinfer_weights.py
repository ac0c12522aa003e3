"""Weights and scales in FlashInfer's layouts, by the functions of its package that run without a GPU.

pip install torch==2.15.0 numpy==2.4.6; pip install --no-deps --target DIR flashinfer-python==0.7.2.post1; python flashinfer_weights.py DIR
"""

import pathlib
import sys

import torch

from record import RUNS, numbers, places, row, write


def functions(path, names):
    """Functions and constants of a module by name, compiled without the module's imports of CUDA."""
    import ast

    source = pathlib.Path(sys.argv[1], path).read_text()
    tree = ast.parse(source)

    def name(node):
        if isinstance(node, ast.Assign):
            return getattr(node.targets[0], "id", None)
        return getattr(node, "name", None)

    kept = [node for node in tree.body if name(node) in names]
    for node in kept:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    space = {"torch": torch}
    exec(compile(ast.Module(kept, []), path, "exec"), space)
    return space


utils = functions(
    "flashinfer/utils.py",
    {"get_shuffle_matrix_a_row_indices", "get_shuffle_block_size", "srcToDstBlk16RowMap", "srcToDstBlk32RowMap", "shuffle_matrix_a"},
)
blocks = functions("flashinfer/fused_moe/core.py", {"convert_to_block_layout"})


def memories(sizes, function):
    count = sizes[0] * sizes[1]
    return [function(torch.tensor(numbers(run, count), dtype=torch.int32).reshape(sizes)).flatten().tolist() for run in range(RUNS)]


rows = []
for block in [16, 32, 64, 128, 256]:
    for sizes in [[3, block], [5, 3 * block]]:
        found = places(memories(sizes, lambda matrix: blocks["convert_to_block_layout"](matrix, block)), sizes)
        rows.append(row(f"flashinfer.block_major_k<{block}>:u8{sizes}".replace(" ", ""), found, sizes[0] * sizes[1]))
for epilogue in [16, 32, 64, 128]:
    block = utils["get_shuffle_block_size"](epilogue)
    for sizes in [[block, 3], [3 * block, 8]]:

        def shuffled(matrix):
            return matrix[utils["get_shuffle_matrix_a_row_indices"](matrix, epilogue)].contiguous()

        layout = f"flashinfer.shuffle_matrix_a<{block}>:bf16{sizes}".replace(" ", "")
        if all(row["layout"] != layout for row in rows):
            rows.append(row(layout, places(memories(sizes, shuffled), sizes), 2 * sizes[0] * sizes[1]))
write(__file__, "FlashInfer 0.7.2.post1", rows)
