"""Copies against NumPy, on arrays of every library that lends its memory."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import relayout
from relayout import Layout, LayoutError, ascontiguous, copy

ml_dtypes = pytest.importorskip("ml_dtypes")

TYPES = ["u1", "i2", "f2", "f4", "f8", "c8", "c16", "?", "S3", "M8[s]", "V12", ">i4"]
OWN_TYPES = [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.uint4]


def filled(rng, shape, dtype):
    """An array of random bytes; of int4, of numbers."""
    dtype = np.dtype(dtype)
    if dtype.name in ("int4", "uint4"):
        return rng.integers(0, 8, shape).astype(dtype)
    count = int(np.prod(shape)) * dtype.itemsize
    return rng.integers(0, 2 if dtype == bool else 256, count, dtype=np.uint8).view(dtype).reshape(shape)


def random_view(rng, dtype):
    """A view with permuted, reversed, strided, sliced, repeated and empty axes."""
    rank = int(rng.integers(1, 6))
    shape = rng.integers(1, 9 if rank > 2 else 60, rank)
    if rng.random() < 0.05:
        shape[rng.integers(rank)] = 0
    array = filled(rng, shape, dtype)
    steps = [slice(None, None, int(rng.choice([1, 1, 1, 2, 3, -1, -1, -2]))) for _ in shape]
    array = array[tuple(steps)].transpose(rng.permutation(rank))
    if rng.random() < 0.3:
        axis = int(rng.integers(rank + 1))
        array = np.expand_dims(array, axis)
        shape = list(array.shape)
        shape[axis] = int(rng.integers(1, 5))
        array = np.broadcast_to(array, shape)
    return array


def same_bytes(a, b):
    assert a.shape == b.shape and a.dtype == b.dtype
    return a.tobytes() == b.tobytes()


@pytest.mark.parametrize("threads", [1, 2])
def test_random_views_are_copied_as_numpy_does(threads):
    rng = np.random.default_rng(20261126)
    for case in range(1000):
        dtype = (TYPES + OWN_TYPES)[case % (len(TYPES) + len(OWN_TYPES))]
        view = random_view(rng, dtype)
        expected = np.ascontiguousarray(view)
        got = ascontiguous(view, threads=threads)
        assert got.flags.c_contiguous and got.flags.writeable | (got is view), (case, view.shape, view.strides)
        assert same_bytes(got, expected), (case, dtype, view.shape, view.strides)


def test_random_views_are_copied_into_views():
    rng = np.random.default_rng(7)
    for case in range(500):
        dtype = ["u1", "f2", "f4", "f8", ml_dtypes.bfloat16][case % 5]
        source = random_view(rng, dtype)
        order = rng.permutation(source.ndim)
        room = np.zeros([2 * source.shape[axis] for axis in order], dtype)
        out = room.transpose(np.argsort(order))
        out = out[tuple(slice(None, size, 1) if rng.random() < 0.5 else slice(size - 1, None, -1) if size else slice(0)
                        for size in source.shape)]
        expected = room.copy()
        copy(source, out=out)
        assert same_bytes(np.ascontiguousarray(out), np.ascontiguousarray(source)), (case, source.strides, out.strides)
        out[...] = np.zeros((), dtype)
        assert same_bytes(room, expected), "nothing else was written"


def test_large_copies_run_on_threads():
    rng = np.random.default_rng(1)
    planes = filled(rng, (3, 700, 900), "u1")
    for view in [planes.transpose(1, 2, 0), planes[:, ::-1, :], planes.transpose(2, 1, 0)]:
        for threads in [1, 2, 3]:
            assert same_bytes(ascontiguous(view, threads=threads), np.ascontiguousarray(view))


def test_what_numpy_does_besides():
    for odd in [object(), None, relayout.Layout("f32[2]:[1]"), lambda: 0]:
        with pytest.raises(LayoutError) as refused:
            ascontiguous(odd)
        assert refused.value.code == "not_an_array"
    for odd in [3, [1, 2], np.float32(1.5), np.array(7), np.array(["a", None], object)[::-1], (1.0, 2.0)]:
        got, expected = ascontiguous(odd), np.ascontiguousarray(odd)
        assert got.dtype == expected.dtype and got.shape == expected.shape and (got == expected).all()
    a = np.arange(6, dtype="f4").reshape(2, 3)
    assert ascontiguous(a) is a
    assert ascontiguous(a.T, dtype="f8").dtype == np.float64
    assert (ascontiguous(np.ma.masked_array(a.T)) == a.T).all()
    record = np.zeros(4, [("x", "u1"), ("y", "f8")])
    record["y"] = [1, 2, 3, 4]
    assert same_bytes(ascontiguous(record["y"][::-1]), np.ascontiguousarray(record["y"][::-1]))
    assert same_bytes(ascontiguous(record[::-1]), np.ascontiguousarray(record[::-1]))


@pytest.mark.parametrize("dtype", ["u1", "f2", "f4", "f8", *OWN_TYPES])
def test_tiles_there_and_back(dtype):
    rng = np.random.default_rng(3)
    array = filled(rng, (37, 150), dtype)
    layout = Layout("tpu:v5e", sizes=array.shape, dtype=array.dtype)
    tiles = copy(array, layout)
    assert tiles.nbytes == layout.bytes and tiles.ctypes.data % 64 == 0
    for index in [(0, 0), (1, 128), (36, 149)]:
        if tiles.dtype == array.dtype:
            assert tiles[layout.offset(index)] == array[index]
    back = copy(tiles, Layout(array), layout=layout)
    assert same_bytes(back, array)
    turned = copy(array[::-1, ::-1], layout)
    assert same_bytes(copy(turned, Layout(array), layout=layout), array[::-1, ::-1].copy())


def test_int4_is_packed_and_unpacked():
    array = np.arange(-8, 8).astype(ml_dtypes.int4).reshape(2, 8)
    packed = copy(array, "s4[2,8]{1,0:E(4)}")
    assert packed.dtype == np.uint8 and packed[:4].tolist() == [0x98, 0xBA, 0xDC, 0xFE]
    back = copy(packed, "s4[2,8]{1,0}", layout="s4[2,8]{1,0:E(4)}")
    assert (back == array).all() and back.dtype == array.dtype


def test_strided_results_have_the_tensors_sizes():
    array = np.arange(2 * 3 * 4 * 5, dtype="f4").reshape(2, 3, 4, 5)
    nhwc = copy(array, Layout("NHWC", sizes=array.shape, dtype="f32"))
    assert nhwc.shape == array.shape and nhwc.strides == (240, 4, 60, 12) and (nhwc == array).all()
    rows = copy(np.ones((2, 3), "f4"), "f32[2,3]:[5,1]")
    assert rows.strides == (20, 4) and rows.base.sum() == 0 or rows.sum() == 6


def test_out_is_memory_of_any_kind():
    array = np.arange(15, dtype="u1").reshape(3, 5)
    memory = bytearray(b"\xff" * 24)
    assert copy(array, "u8[3,5]{1,0:T(2,2)}", out=memory) is memory
    assert memory[:9] == bytes([0, 1, 5, 6, 2, 3, 7, 8, 4]) and memory[9] == 0xFF, "padding is left alone"
    with pytest.raises(LayoutError) as refused:
        copy(array, "u8[3,5]{1,0:T(2,2)}", out=bytearray(20))
    assert refused.value.code == "buffer_too_short"


def test_what_is_refused():
    array = np.arange(12, dtype="f4").reshape(3, 4)
    frozen = np.zeros(12, "f4")
    frozen.flags.writeable = False
    for code, call in {
        "data_type_mismatch": lambda: copy(array, "f16[3,4]{1,0}"),
        "size_mismatch": lambda: copy(array, "f32[4,4]{1,0}"),
        "parse": lambda: copy(array, "f32[4,4"),
        "overlapping_destination": lambda: copy(array, "f32[3,4]:[0,1]"),
        "shared_memory": lambda: copy(array, out=array[::-1]),
        "out_of_limits": lambda: copy(array, threads=0),
        "not_expressible": lambda: copy(array.T, "f32[3,4]{1,0}", layout="f32[3,4]{1,0}"),
        "unknown_data_type": lambda: copy(np.zeros(3, "V12")),
    }.items():
        with pytest.raises(LayoutError) as refused:
            call()
        assert refused.value.code == code and len(str(refused.value)) > 20, str(refused.value)
    for code, call in {
        "read_only": lambda: copy(array, "f32[3,4]{1,0}", out=frozen),
        "not_an_array": lambda: copy(object()),
        "python_objects": lambda: copy(np.array([None, 1], object), out=np.zeros(2)),
    }.items():
        with pytest.raises(LayoutError) as refused:
            call()
        assert refused.value.code == code, str(refused.value)
    with pytest.raises(LayoutError) as refused:
        copy(array, out=b"0" * 48)
    assert refused.value.code == "read_only"


def test_small_arrays_are_copied_as_large_ones():
    rng = np.random.default_rng(9)
    for case in range(500):
        view = random_view(rng, ["u1", "i2", "f2", "f4", "f8", "c16", "?", "l", "L", "q"][case % 10])
        order = [int(axis) for axis in rng.permutation(view.ndim)]
        pitch, strides = 1, [0] * view.ndim
        for axis in reversed(order):
            strides[axis], pitch = pitch, pitch * max(view.shape[axis], 1) + int(rng.integers(2))
        to = Layout(sizes=view.shape, strides=strides, dtype=view.dtype)
        for made in (copy(view), copy(view, to), copy(view, str(to))):
            assert made.shape == view.shape and made.dtype == view.dtype and made.flags.writeable
            assert same_bytes(np.ascontiguousarray(made), np.ascontiguousarray(view)), (case, view.strides, to)
            assert made.ctypes.data % 64 == 0 or view.size == 0
    assert copy(np.array(7)).shape == () and copy(np.zeros((2, 3), "f4").T[:, ::-1]).flags.c_contiguous


def test_numbers_that_no_layout_has():
    layout, a = Layout("f32[2,3]:[3,1]"), np.zeros((2, 3), "f4")
    for call in [
        lambda: Layout(sizes=(-1, 2), dtype="f32"),
        lambda: Layout(sizes=(1 << 64, 2), dtype="f32"),
        lambda: Layout(sizes=(2,), strides=(-1,), dtype="f32"),
        lambda: layout.offset((-1, 0)),
        lambda: layout.offset((0, 1 << 70)),
        lambda: layout.index(-1),
        lambda: layout.index(1 << 64),
        lambda: layout.view(reshape=(-7, 2)),
        lambda: layout.view(reshape=(1 << 64,)),
        lambda: layout.view(permute=(0, 1 << 64)),
        lambda: layout.view(broadcast=(-2, 2, 3)),
        lambda: layout.view(slice=(2,)),
        lambda: layout.view(slice=(slice(0, 1 << 65),)),
        lambda: copy(a, threads=-1),
        lambda: copy(a, threads=1 << 64),
        lambda: ascontiguous(a, threads=-1),
        lambda: relayout.measure(layout, layout, most_bytes=-1),
        lambda: relayout.transfers(layout, layout, -1),
        lambda: relayout.validate(layout, buffer=-1),
        lambda: relayout.validate(layout, offset=1 << 64),
        lambda: relayout.Shards((-1,)),
        lambda: relayout.Shards((4,)).split(0, -1),
        lambda: relayout.Shards((4,)).split(3, 2),
        lambda: relayout.Shards((4,)).cut(0, (1, 1 << 64)),
        lambda: relayout.Shards((4,)).sizes(1),
    ]:
        with pytest.raises(LayoutError) as refused:
            call()
        assert refused.value.code and len(str(refused.value)) > 15, refused.value
    for call in [lambda: layout.offset("12"), lambda: layout.offset((1.5, 0)), lambda: layout.view(slice=(1.5,)),
                 lambda: Layout(sizes=3, dtype="f32")]:
        with pytest.raises(TypeError):
            call()


def test_threads_of_python_run_beside_each_other():
    arrays = [np.random.default_rng(i).random((256, 300), "f4").T for i in range(8)]
    wrong = []

    def work(array):
        for _ in range(50):
            if not np.array_equal(ascontiguous(array, threads=2), array):
                wrong.append(array)

    workers = [threading.Thread(target=work, args=(array,)) for array in arrays]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_children_of_a_fork_copy_too():
    multiprocessing = pytest.importorskip("multiprocessing")
    array = np.random.default_rng(0).random((512, 600), "f4").T
    expected = ascontiguous(array, threads=2)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert np.array_equal(pool.apply_async(in_child, (array,)).get(timeout=60), expected)


def in_child(array):
    return ascontiguous(array, threads=2)


def test_memory_is_given_back():
    array = np.zeros((4, 5), "f4")
    before = sys.getrefcount(array)
    for _ in range(100):
        copy(array.T)
        copy(array, "f32[4,5]{0,1:T(2,2)}")
        ascontiguous(array.T)
    assert sys.getrefcount(array) == before


def test_pytorch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    for dtype in [torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.bool, torch.uint8, torch.float8_e4m3fn]:
        bits = torch.from_numpy(filled(rng, (6, 7, 5), "u1").copy())
        tensor = (bits > 99) if dtype == torch.bool else bits.to(torch.float32).to(dtype)
        view = tensor.permute(2, 0, 1)
        got = ascontiguous(view)
        assert isinstance(got, torch.Tensor) and got.dtype == dtype and got.is_contiguous()
        assert torch.equal(got.view(torch.uint8), view.contiguous().view(torch.uint8))
        assert ascontiguous(tensor) is tensor
        layout = Layout("T(8,128)", sizes=(5, 6, 7), dtype=dtype)
        tiles = copy(view, layout)
        assert isinstance(tiles, torch.Tensor) and tiles.dtype == dtype
        back = copy(tiles, Layout(tensor.permute(2, 0, 1).contiguous()), layout=layout)
        assert torch.equal(back.view(torch.uint8), view.contiguous().view(torch.uint8))
        out = torch.zeros((7, 6, 5), dtype=dtype).permute(2, 1, 0)
        assert copy(view, out=out) is out and torch.equal(out.contiguous().view(torch.uint8), got.view(torch.uint8))
    with pytest.raises(LayoutError):
        ascontiguous(torch.zeros(2, 3, requires_grad=True).T)


def test_ascontiguous_keeps_the_library():
    jax = pytest.importorskip("jax")
    array = jax.numpy.arange(12.0).reshape(3, 4)
    assert ascontiguous(array) is array
    half = ascontiguous(array, dtype="float16")
    assert isinstance(half, jax.Array) and half.dtype == "float16"


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e8m0fnu"])
def test_types_of_pytorch_need_no_ml_dtypes(dtype):
    torch = pytest.importorskip("torch")
    program = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "import torch, relayout\n"
        f"dtype = torch.{dtype}\n"
        "tensor = torch.arange(24).to(torch.uint8).view(-1)\n"
        "tensor = (tensor if dtype.itemsize == 1 else tensor.repeat(2)).view(dtype).reshape(2, 3, 4)\n"
        "bits = torch.uint8 if dtype.itemsize == 1 else torch.int16\n"
        "for view in (tensor, tensor.permute(2, 0, 1)):\n"
        "    for made in (relayout.copy(view), relayout.ascontiguous(view)):\n"
        "        assert made.dtype == dtype and made.shape == view.shape, (made.dtype, made.shape)\n"
        "        assert torch.equal(made.contiguous().view(bits), view.contiguous().view(bits))\n"
        "tiles = relayout.copy(tensor, relayout.Layout('T(8,128)', sizes=(2, 3, 4), dtype=dtype))\n"
        "assert tiles.dtype == dtype\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_library_without_the_type_gets_words_of_its_sizes():
    pytest.importorskip("paddle")
    program = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "import numpy, paddle, relayout\n"
        "tensor = paddle.arange(24, dtype='float32').reshape([2, 3, 4]).astype('bfloat16')\n"
        "made = relayout.copy(tensor)\n"
        "assert made.shape == (2, 3, 4) and made.dtype == 'uint16' and (made == tensor.numpy()).all(), made\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_dtype_of_another_order_of_bytes_is_refused():
    other = np.dtype("f4").newbyteorder()
    for call in [lambda: Layout(sizes=(2, 3), dtype=other), lambda: Layout("NHWC", sizes=(1, 2, 3, 4), dtype=other),
                 lambda: copy(np.zeros(3, other)), lambda: Layout(np.zeros(3, other))]:
        with pytest.raises(LayoutError) as refused:
            call()
        assert refused.value.code == "unknown_data_type"


def test_layouts_in_parts():
    cache = Layout("kv:LBNHC:u8[L=1,B=[3,0]/5,H=2,N=3,C=4]")
    assert cache.sizes == (1, 2, 2, 3, 4) or len(cache.sizes) == 5
    array = np.arange(np.prod(cache.sizes), dtype="u1").reshape(cache.sizes)
    stored = copy(array, cache)
    assert stored.shape == (cache.bytes,)
    index = tuple(size - 1 for size in cache.sizes)
    assert stored[cache.offset(index)] == array[index] and cache.index(cache.offset(index)) == index
    assert (copy(stored, Layout(array), layout=cache) == array).all()
    with pytest.raises(LayoutError, match="several parts"):
        copy(stored, layout=cache)
    weights = Layout("f4e2m1fn[128,320] with f8e8m0fnu per 32")
    with pytest.raises(LayoutError, match="2 planes"):
        copy(np.zeros((128, 320), "u1"), weights)


def test_repacked_blocks_flip_the_bits_that_they_store_flipped():
    plain, repacked = "q4_0[4,64]", "ggml.q4_0x4<8>:q4_0[4,64]"
    blocks = np.arange(144, dtype=np.uint8).reshape(4, 2, 18)
    # Four rows of blocks: their scales, and then eight bytes of each in turn, with the top bits of values flipped.
    values = blocks[..., 2:].reshape(4, 2, 2, 8).transpose(1, 2, 0, 3).reshape(2, 64) ^ 0x88
    scales = blocks[..., :2].transpose(1, 0, 2).reshape(2, 8)
    expected = np.concatenate([scales, values], axis=1).ravel()
    out, back = np.zeros(144, np.uint8), np.zeros(144, np.uint8)
    copy(blocks, repacked, out=out, layout=plain)
    assert (out == expected).all()
    copy(out, plain, out=back, layout=repacked)
    assert (back == blocks.ravel()).all()
    short = np.zeros(143, np.uint8)
    with pytest.raises(LayoutError, match="the destination holds 143 bytes, but its layout needs 144"):
        copy(blocks, repacked, out=short, layout=plain)
    with pytest.raises(LayoutError, match="this copy flips bits"):
        relayout.transfers(plain, repacked)
    with pytest.raises(LayoutError) as refused:
        copy(blocks, "iq4_nl[4,64]", out=out, layout=plain)
    assert refused.value.code == "data_type_mismatch"
    short = np.zeros(20, np.uint8)
    with pytest.raises(LayoutError, match="the destination holds 20 bytes, but its layout needs 24"):
        copy(np.arange(1, 19, dtype=np.uint8), "kv:LBNHC:u8[L=1,B=[0,3,1]/4,T=9,H=1,N=3,C=2]", out=short,
             layout="u8[1,9,1,2]:[18,2,2,1]")
    assert not short.any()


def test_layouts_that_run_backwards():
    array = np.arange(15, dtype="f4").reshape(3, 5)
    layout = Layout(array[::-1])
    assert layout.strides == (-5, 1) and layout.offset((0, 0)) == 10 and Layout(str(layout)) == layout
    made = copy(array, layout)
    assert made.strides == (-20, 4) and (made == array).all()
    assert (copy(array.copy(), Layout(array), layout=layout) == array[::-1]).all()


def test_jax():
    jax = pytest.importorskip("jax")
    import jax.numpy as jnp

    for dtype in [jnp.float32, jnp.bfloat16, jnp.int8, jnp.float8_e4m3fn]:
        array = jnp.arange(37 * 150, dtype="float32").reshape(37, 150).astype(dtype)
        layout = Layout("tpu:v5e", sizes=array.shape, dtype=dtype)
        tiles = copy(array, layout)
        assert isinstance(tiles, jax.Array) and tiles.dtype == dtype
        back = copy(tiles, Layout(array), layout=layout)
        assert isinstance(back, jax.Array) and np.asarray(back).tobytes() == np.asarray(array).tobytes()
    with pytest.raises(LayoutError) as refused:
        copy(np.zeros(3), out=jnp.zeros(3))
    assert refused.value.code == "read_only"


def test_pytorch_takes_results_over_without_a_copy():
    torch = pytest.importorskip("torch")
    result = copy(np.arange(4096, dtype="f4").reshape(64, 64), "f32[64,64]{0,1}")
    assert torch.from_dlpack(result).data_ptr() == result.ctypes.data


def test_measured_copies_and_choices():
    a = np.arange(640 * 96, dtype=np.float32).reshape(640, 96)
    to = "f32[640,96]{0,1}"
    plain = relayout.copy(a, to)
    choice = relayout.measure("f32[640,96]{1,0}", to)
    assert choice.startswith("v1")
    for how in ({"effort": "measure"}, {"choice": choice}, {"choice": "v1 stores=streaming"}):
        assert (relayout.copy(a, to, **how) == plain).all()
    with pytest.warns(UserWarning, match="the choice is ignored: its version is `v0`"):
        assert (relayout.copy(a, to, choice="v0") == plain).all()
    with pytest.warns(UserWarning, match="the choice is ignored"):
        assert (relayout.copy(a, to, choice="v1 \0") == plain).all()
    with pytest.raises(relayout.LayoutError, match="1 are allowed"):
        relayout.measure("f32[640,96]{1,0}", to, most_bytes=1)
    with pytest.raises(relayout.LayoutError, match="must be `estimate` or `measure`"):
        relayout.copy(a, to, effort="guess")
