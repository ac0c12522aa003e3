"""Layouts, checks, programs and names."""

import copy
import doctest
import pathlib
import pickle
import re

import numpy as np
import pytest

import relayout
from relayout import Layout, LayoutError, hlo, names, validate


def test_the_docstrings_hold():
    tried = 0
    for name in relayout.__all__:
        if name.startswith("_"):
            continue
        for test in doctest.DocTestFinder(recurse=False).find(getattr(relayout, name), name, globs=vars(relayout)):
            result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test)
            assert result.failed == 0, name
            tried += result.attempted
    methods = ["lower", "same", "fingerprint", "view", "offset", "index", "notations", "padding", "planes", "block_fields", "block_bits"]
    for owner, method in [(Layout, method) for method in methods] + [(relayout.Shards, "fused")]:
        for test in doctest.DocTestFinder(recurse=False).find(getattr(owner, method), method, globs=vars(relayout)):
            result = doctest.DocTestRunner().run(test)
            assert result.failed == 0, method
            tried += result.attempted
    assert tried > 20


@pytest.mark.parametrize("page", ["python/README.md", "docs/PYTHON.md"])
def test_the_pages_hold(page):
    result = doctest.testfile(str(pathlib.Path(__file__).parents[2] / page), module_relative=False)
    assert result.failed == 0 and result.attempted > 2


def test_the_stubs_hold():
    stubtest = pytest.importorskip("mypy.stubtest")
    options = stubtest.parse_options(["relayout", "--ignore-missing-stub"])
    assert stubtest.test_stubs(options) == 0


def test_every_offset_is_numpys():
    rng = np.random.default_rng(11)
    for _ in range(200):
        shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5))))
        array = np.zeros(tuple(2 * n for n in shape), "f4").transpose(rng.permutation(len(shape)))
        array = array[tuple(slice(0, None, 2) for _ in shape)]
        layout = Layout(array)
        assert layout.sizes == array.shape and layout.dtype == "float32"
        index = tuple(int(rng.integers(n)) for n in array.shape)
        assert layout.offset(index) * 4 == sum(i * s for i, s in zip(index, array.strides))
        assert layout.index(layout.offset(index)) == index


KINDS = (pathlib.Path(__file__).parents[2] / "crates/cli/tests/answers/kinds.md").read_text()


def test_every_kind_of_layout_answers():
    """The answers are those of the command line, on its page of kinds."""
    offset = r"\$ tensor-layout offset '(.*)' ([\d,]+)\n(?:value |\{0\} )?(\d+)"
    offsets = re.findall(offset, KINDS)
    assert len(offsets) == 12
    for text, index, expected in offsets:
        index, layout = tuple(map(int, index.split(","))), Layout(text)
        described = KINDS.split(f"$ tensor-layout describe '{text}'\n")[1].split("$ ")[0]
        size = re.search(r"(?:memory|buffer) +(\d+) bytes", described)[1]
        assert (layout.offset(index), layout.bytes) == (int(expected), int(size)), text
        assert len(layout.sizes) == len(index) and all(i < size for i, size in zip(index, layout.sizes)), text
        assert layout.same(text) and layout.same(str(layout)) and layout.same(pickle.loads(pickle.dumps(layout))), text
        for found in re.findall(re.escape(f"$ tensor-layout offset --inverse '{text}' 5\n") + r"\[([\d,]+)\]\n", KINDS):
            assert layout.index(5) == tuple(map(int, found.split(","))), text
        view = re.search(re.escape(f"$ tensor-layout view '{text}' --slice ") + r"(\S+)\n(.*)\n", KINDS)
        if view and not view[2].startswith("error: "):
            slices = [[int(end) if end else None for end in part.split(":")] for part in view[1].split(",")]
            assert str(layout.view(slice=tuple(slice(*ends) for ends in slices))) == view[2], text


def test_blocks_have_their_numbers_in_fields():
    # q4_0: a scale of two bytes, then the nibbles of 32 values.
    weights = Layout("q4_0[4,64]")
    assert weights.block_fields == ("values", "scales per 32")
    assert weights.block_bits("scales per 32", (3, 1)) == [(126, 0, 16)]
    assert weights.block_bits("values", (0, 17)) == [(3, 4, 8)]
    with pytest.raises(LayoutError, match='"scales" is no field'):
        weights.block_bits("scales", (0, 0))
    with pytest.raises(LayoutError, match="index 2 on axis 1"):
        weights.block_bits("scales per 32", (0, 2))
    assert Layout("f32[2,3]:[5,1]").block_fields == ()
    assert Layout("iq2_s[1,256]").block_fields == ("scales per 16", "scales per 256")


def test_tiles_are_xlas():
    layout = Layout("bf16[256,512]{1,0:T(8,128)(2,1)}")
    # Row 3, column 130 of a tile of 8 x 128 whose rows are interleaved in pairs.
    assert layout.offset((3, 130)) == 1 * 1024 + 1 * 256 + 2 * 2 + 1
    assert (layout.bytes, layout.padding, layout.kind) == (262144, 0, "split")
    column = Layout("f32[1000000,1]{1,0:T(8,128)}")
    assert column.bytes == 128 * 4 * 1000000 and column.index(1) is None


def test_errors_point_at_the_text():
    with pytest.raises(LayoutError) as refused:
        Layout("f32[3,5]{1,0:T(2,x)}")
    error = refused.value
    assert isinstance(error, ValueError) and (error.code, error.column) == ("parse", 18)
    assert error.pointer.splitlines()[1].index("^") == 17
    with pytest.raises(LayoutError) as refused:
        Layout("f32[3,5]{1,0}").offset((3, 0))
    assert refused.value.code == "index_out_of_range" and refused.value.column is None
    for wrong in [lambda: Layout(), lambda: Layout(sizes=(2,)), lambda: Layout("f32[2]", dtype="f32"),
                  lambda: Layout("f32[2]{0}").view(turn=1)]:
        with pytest.raises(TypeError):
            wrong()


def test_layouts_are_values():
    texts = ["f32[2,3]:[5,1]", "bf16[256,512]{1,0:T(8,128)(2,1)}", "f16[8,64,56,56]:NHWC", "tensorrt.kCHW32:s8[2,33,3,2]"]
    for text in texts:
        layout = Layout(text)
        assert layout == Layout(text) == copy.copy(layout) == pickle.loads(pickle.dumps(layout))
        assert hash(layout) == hash(Layout(text)) and str(layout) == text and eval(repr(layout)) == layout
    rows, tiles = Layout("f32[3,100]:[128,1]"), Layout("f32[3,100]{1,0:T(8,128)}")
    assert rows.fingerprint() != Layout("f32[3,100]{1,0}").fingerprint() and len(rows.fingerprint()) == 32
    assert rows.same(tiles) and not Layout("f32[3,100]{1,0}").same(texts[0])
    assert Layout("tensorrt.kCHW32", sizes=(2, 33, 3, 2), dtype=np.int8) == Layout(texts[3])
    assert Layout("nchw", sizes=(2, 3, 4, 5), dtype="float16").strides == (60, 20, 5, 1)


def random_views(rng, count):
    """Views of random layouts of strides and of tiles."""
    while count:
        rank = int(rng.integers(1, 4))
        sizes = [int(size) for size in rng.integers(1, 13, rank)]
        order = ",".join(map(str, rng.permutation(rank)))
        text = f"f32{sizes}{{{order}}}".replace(" ", "")
        if rng.random() < 0.5:
            tile = ",".join(map(str, rng.integers(1, 5, int(rng.integers(1, rank + 1)))))
            text = text.replace("}", f":T({tile})}}")
        layout = Layout(text)
        try:
            for _ in range(int(rng.integers(1, 4))):
                own = layout.sizes
                kind = ["slice", "permute", "reshape", "broadcast", "number"][int(rng.integers(5))]
                if kind == "slice":
                    starts = [int(rng.integers(0, size)) if size else 0 for size in own]
                    layout = layout.view(slice=tuple(slice(start, int(rng.integers(start, size + 1)), int(rng.integers(1, 3)))
                                                     for start, size in zip(starts, own)))
                elif kind == "permute":
                    layout = layout.view(permute=tuple(int(axis) for axis in rng.permutation(len(own))))
                elif kind == "reshape":
                    layout = layout.view(reshape=(-1,) if rng.random() < 0.5 else (1, *own))
                elif kind == "broadcast":
                    layout = layout.view(broadcast=(int(rng.integers(1, 4)), *own))
                elif own and own[0]:
                    layout = layout.view(slice=(int(rng.integers(own[0])),))
        except LayoutError:
            continue
        count -= 1
        yield layout


def test_views_are_values():
    for layout in random_views(np.random.default_rng(72), 1500):
        for other in (Layout(str(layout)), eval(repr(layout)), pickle.loads(pickle.dumps(layout)), copy.deepcopy(layout),
                      Layout(layout)):
            assert other == layout and hash(other) == hash(layout) and str(other) == str(layout), str(layout)
            assert other.same(layout) and other.bytes == layout.bytes


def test_numbers_drop_their_axis_as_in_numpy():
    layout, array = Layout("u8[4,6,5]:[30,5,1]"), np.arange(120, dtype="u1").reshape(4, 6, 5)
    tiles = Layout("u8[4,6,5]{2,1,0:T(2,4)}")
    for key in [1, -1, (1, 2), (..., -2), (slice(1, 3), 4), (2, ..., 3), (0, slice(None), slice(0, 5, 2)), (1, 2, 3), ...,
                (slice(-3, -1),), np.int64(2),
                slice(None, None, -1), (1, slice(4, 0, -2)), (slice(None, None, -1), 2, slice(None, None, -2))]:
        view = layout.view(slice=key)
        assert view.sizes == array[key].shape, key
        for index in np.ndindex(view.sizes):
            assert view.offset(index) == array[key][index], (key, index)
    assert tiles.view(slice=(0, slice(0, 6))).sizes == (6, 5)
    with pytest.raises(LayoutError) as refused:
        layout.view(slice=(0, 6))
    assert refused.value.code == "index_out_of_range"
    with pytest.raises(LayoutError, match="4 axes"):
        layout.view(slice=(0, 0, 0, 0))


def test_every_kind_of_layout():
    cache = Layout("kv:LBNHC:bf16[L=2,B=[3,0]/4,H=2,N=4,C=8]")
    assert cache.same(str(cache)) and cache == pickle.loads(pickle.dumps(cache)) and cache.strides is None
    with pytest.raises(LayoutError, match="2 parts"):
        cache.fingerprint()
    second = cache.view(slice=(slice(None), slice(1, 2)))
    assert second.sizes == (2, 1, 2, 4, 8) and second.offset((1, 0, 1, 3, 7)) == cache.offset((1, 1, 1, 3, 7))
    weights = Layout("f4e2m1fn[128,320] with f8e8m0fnu per 32")
    values, scales = weights.planes
    assert weights.sizes == (128, 320) == values.sizes and scales.sizes == (128, 10) and scales.dtype == "float8_e8m0fnu"
    assert weights.bytes == values.bytes + scales.bytes and weights == Layout(str(weights)) != values
    assert [plane.sizes for plane in weights.view(slice=(slice(64, None), slice(32, 96))).planes] == [(64, 64), (64, 2)]
    pair = Layout("(f32[2]{0}, s8[3]{0})")
    assert len(pair.planes) == 2 and pair == Layout(str(pair)) and pair.bytes == 11
    pages = Layout("kv page B=4 { conv: bf16[3,5], ssm: f32[2,3] } to 64")
    assert pages.plane_names == ("conv", "ssm") and (pages.bytes, pages.padding) == (256, 40)
    assert pages.planes[1].offset((3, 1, 2)) == 61 and pages == Layout(str(pages))
    assert pages.view(slice=(slice(1, 3),)).planes[0].offset((0, 0, 0)) == 32
    frame = Layout("frame.nv12:u8[4,6]")
    assert frame.plane_names == ("y", "u", "v") and frame.bytes == 36
    blocks = Layout("q4_0[2,64]:[36,18]")
    assert blocks.dtype == "q4_0" and blocks.sizes == (2, 64) and blocks.bytes == 72 and blocks == Layout(str(blocks))
    assert blocks.view(slice=(1,)).sizes == (64,)
    assert blocks != Layout("u8[2,2,18]:[36,18,1]")
    backwards = Layout("ndarray(shape=(2,3), dtype=float32, strides=(-12,4))")
    assert backwards.strides == (-3, 1) and backwards != Layout("f32[2,3]:[3,1]")


def test_lowering_and_views():
    split = Layout("f32[16,256]{1,0:T(8,128)}").lower()
    assert (split.kind, split.layout.strides, split.dims) == ("split", (2048, 128, 1024, 1), (0, 0, 1, 1))
    hard = Layout("f32[12,4]{1,0:T(6,2)(4,1)}").lower()
    assert hard.kind == "index_map" and hard.layout is None and "does not divide" in hard.reason
    view = Layout("f32[4,6]{1,0}").view(permute=(1, 0), slice=(slice(0, 6, 2), slice(1, 3)), broadcast=(5, 3, 2))
    array = np.zeros((4, 6), "f4").T[0:6:2, 1:3]
    assert view.strides == (0,) + tuple(s // 4 for s in array.strides) and view.offset((4, 0, 0)) == 6
    with pytest.raises(LayoutError) as refused:
        Layout("f32[4,6]:[8,1]").view(reshape=(24,))
    assert refused.value.code == "not_a_view"


def test_pictures():
    assert Layout("f32[3,5]{1,0:T(2,2)}")._repr_svg_().startswith("<svg")
    assert Layout("f32[4096,4096]{1,0:T(8,128)}")._repr_svg_().startswith("<svg"), "the corner of a large one"


def test_checks_of_devices():
    answer = validate(Layout("f32[4,100]:[100,1]"), "webgpu", buffer=4096, offset=256)
    assert answer["ok"] and answer["bound"] == [256, 1856] and answer["errors"] == []
    answer = validate("f32[4,100]:[100,1]", buffer=1600, offset=4)
    assert not answer["ok"] and {error["code"] for error in answer["errors"]} >= {"binding_outside_buffer"}
    assert validate("f32[4,100]:[100,1]", "directml")["needed_buffer_bytes"] == 1600
    with pytest.raises(LayoutError, match="toaster") as refused:
        validate("f32[4]", "toaster")
    assert refused.value.code == "unknown_limits"
    with pytest.raises(LayoutError, match="layout.planes"):
        validate("f4e2m1fn[128,320] with f8e8m0fnu per 32")
    with pytest.raises(LayoutError, match="`input` or `output`"):
        validate("f32[4]:[1]", role="reader")


def test_boxes_of_tensor_maps():
    answer = validate("f16[512,64]:[64,1]", "cuda-tensor-map:128", box=[64, 64])
    assert answer["ok"] and answer["box"] == {
        "sizes": [64, 64], "cuda_sizes": [64, 64], "layout": "f16[64,64]:[64,1] xor<bytes 4-6 ^= 7-9>", "bytes": 8192,
        "alignment": 1024,
    }
    assert validate("f16[512,64]:[64,1]", "cuda-tensor-map:128")["box"] is None
    answer = validate("f16[512,72]:[72,1]", "cuda-tensor-map:128", box=(512, 72))
    assert [error["code"] for error in answer["errors"]] == ["box_size", "box_span"] and answer["box"] is None
    answer = validate("f16[512,64]:[64,1]", "cuda-tensor-map:64", box={"sizes": (64, 32), "element_strides": [2, 1]})
    assert answer["box"]["layout"] == "f16[32,32]:[32,1] xor<bytes 4-5 ^= 7-8>"
    pixels = {"lower": [-1, -1], "upper": [-1, -1], "channels": 64, "pixels": 128}
    answer = validate("f16[8,56,56,64]:[200704,3584,64,1]", "cuda-tensor-map", box={"im2col": pixels})
    assert answer["ok"] and answer["box"]["sizes"] == [128, 64]
    answer = validate("f16[8,64]:[64,1]", "cuda-tensor-map:32", box={"sizes": [8, 16], "interleave": 32})
    assert [error["code"] for error in answer["errors"]] == ["rank_limit"]
    for box, sentence in [
        ({}, "neither `sizes` nor `im2col`"),
        ({"size": [1]}, "no key 'size'"),
        ({"im2col": {"lower": [-1]}}, "im2col has no `upper`"),
        ({"sizes": [8], "interleave": 64}, "interleave is 64"),
        ([-1, 8], "between 0 and"),
    ]:
        with pytest.raises(LayoutError, match=sentence):
            validate("f16[8,64]:[64,1]", "cuda-tensor-map", box=box)
    for wrong in ["8,8", 8, {"im2col": [1]}]:
        with pytest.raises(TypeError):
            validate("f16[8,64]:[64,1]", "cuda-tensor-map", box=wrong)
    with pytest.raises(LayoutError, match="cuda-tensor-map"):
        validate("f16[8,64]:[64,1]", "webgpu", box=[8, 64])


def test_checks_are_those_of_the_command_line(capfd):
    import json
    import sys

    for text, limits, options in [
        ("f32[4,100]:[100,1]", "webgpu", {"buffer": 1024}),
        ("f32[4,100]:[128,1]", "directml", {"role": "output"}),
        ("f32[3,5]{1,0:T(2,2)}", "cuda-tensor-map", {"offset": 4}),
        ("u4[3,5]:[5,1]", "directml:5.0", {"buffer": 1 << 40}),
        ("q4_0[4,64]", "vulkan", {}),
        ("sglang.packed_vnni2:bf16[48,32]", "webgpu:max_binding=1KiB", {}),
        ("f32[70000,70000]:[70000,1]", "webgpu", {}),
    ]:
        words = ["tensor-layout", "--json", "check", text, f"--limits={limits}"]
        sys.argv, before = words + [f"--{name}={value}" for name, value in options.items()], sys.argv
        try:
            relayout.main()
        finally:
            sys.argv = before
        printed = json.loads(capfd.readouterr().out)
        own = validate(text, limits, **options)
        assert own | {"input": text} == printed | {"input": text}, text


def test_the_version_is_the_packages():
    import importlib.metadata

    assert relayout.__version__ == importlib.metadata.version("relayout")


def test_names_of_devices():
    assert len(names()) > 40
    (row,) = names("kCHW32")
    assert row["name"] == "tensorrt.kCHW32" and row["source"]
    assert names("no such name") == []


DUMP = """HloModule twice, is_scheduled=true

ENTRY main {
  x = f32[1024,1]{1,0:T(8,128)} parameter(0)
  ROOT sum = f32[1024,1]{1,0:T(8,128)} add(x, x), metadata={op_name="jit(f)/add"}
}
"""


def test_programs():
    program = hlo(DUMP)
    assert (program.argument_bytes, program.output_bytes, program.peak_bytes) == (524288, 524288, 1048576)
    assert program.padding_bytes == 2 * (524288 - 4096) and program.is_scheduled
    assert {array["instruction"] for array in program.arrays} == {"x", "sum"}
    assert program.padded[0]["shape"] == "f32[1024,1]{1,0:T(8,128)}" and program.svg.startswith("<svg")
    with pytest.raises(LayoutError, match="as_text"):
        hlo("no program")


def test_programs_of_jax():
    jax = pytest.importorskip("jax")
    compiled = jax.jit(lambda x: (x @ x.T).sum(0)).lower(jax.numpy.zeros((256, 64))).compile()
    program, counted = hlo(compiled), compiled.memory_analysis()
    assert program.argument_bytes == counted.argument_size_in_bytes == 65536
    assert program.output_bytes == counted.output_size_in_bytes and program.unreadable_lines == 0


# Reports of both kinds of devices, shortened.
TPU = """RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 41.74G of 16.00G hbm.
  Largest program allocations in hbm:

  1. Size: 32.00G
     Operator: op_type="FloorMod" op_name="update/FloorMod"
     Shape: s32[8388608,8,4]{2,1,0:T(8,128)}
     Unpadded size: 1.00G
     Extra memory due to padding: 31.00G (32.0x expansion)
     Allocation type: HLO temp
     ==========================

2020-05-04 09:05:40.7: E xla_util.cc:76]   2. Size: 8.00G
2020-05-04 09:05:40.7: E xla_util.cc:76]      Shape: f32[256,512,128,2]{3,2,1,0}
2020-05-04 09:05:40.7: E xla_util.cc:76]      Unpadded size: 128.00M
"""
GPU = """RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.
Peak buffers:
\tBuffer 1:
\t\tSize: 6.00MiB
\t\tOperator: op_name="jit(concatenate)/concatenate" source_file="models.py" source_line=689
\t\tShape: f32[4096,128,3]
\t\t==========================

\tBuffer 2:
\t\tSize: 384.0KiB
\t\tEntry Parameter Subshape: f32[256,128,3]
"""


def test_reports_of_full_memory_are_explained():
    first, second = relayout.explain(RuntimeError(TPU))["arrays"]
    assert (first["bytes"], first["logical_bytes"], first["expansion"]) == (32 << 30, 1 << 30, 32.0)
    assert first["operator"] == "update/FloorMod" and first["better_bytes"] == 1 << 30
    assert Layout(first["better"]).padding == 0
    assert (second["bytes"], second["padding"], second["expansion"]) == (8 << 30, (8 << 30) - (128 << 20), 64.0)
    arrays = relayout.explain(GPU)["arrays"]
    assert [array["bytes"] for array in arrays] == [6 << 20, 384 << 10] and arrays[0]["padding"] == 0
    assert arrays[1]["shape"] == "f32[256,128,3]"
    line = relayout.explain("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 6291456 bytes.")
    assert line["arrays"] == [] and line["asked_bytes"] == 6291456 and "6291456" in line["text"]
    line = relayout.explain("RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 2.00G. That was not "
                            "possible. There are 1.25G free.; (0x0x0_HBM0)")
    assert (line["asked_bytes"], line["free_bytes"]) == (2 << 30, 5 << 28)
    with pytest.raises(LayoutError, match="RESOURCE_EXHAUSTED"):
        relayout.explain("segmentation fault")
