"""The same twelve arrays of every library, compared with what the library itself makes of them.

NumPy and ml_dtypes are always there. PyTorch, JAX, mlx and Paddle take part where they are installed, as under `.ci/run --all`.
"""

import ctypes

import numpy as np
import pytest

import relayout
from relayout import Layout, LayoutError, ascontiguous, copy

ml_dtypes = pytest.importorskip("ml_dtypes")


def of_numpy(dtype):
    return lambda numbers: numbers.astype(dtype), np.ascontiguousarray, lambda a: a.view(f"u{a.dtype.itemsize}")


def of_torch():
    torch = pytest.importorskip("torch")
    return (
        lambda numbers: torch.from_numpy(numbers.copy()).to(torch.bfloat16),
        lambda tensor: tensor.contiguous(),
        lambda tensor: tensor.view(torch.int16).numpy(),
    )


def of_jax():
    pytest.importorskip("jax")
    import jax.numpy as jnp

    return lambda numbers: jnp.asarray(numbers), np.asarray, np.asarray


def of_mlx():
    mx = pytest.importorskip("mlx.core")
    return lambda numbers: mx.array(numbers), mx.contiguous, np.asarray


def of_paddle():
    paddle = pytest.importorskip("paddle")
    return lambda numbers: paddle.to_tensor(numbers), lambda tensor: tensor.contiguous(), np.asarray


LIBRARIES = {
    "numpy": lambda: of_numpy("f4"),
    "numpy f8": lambda: of_numpy("f8"),
    "ml_dtypes bfloat16": lambda: of_numpy(ml_dtypes.bfloat16),
    "ml_dtypes float8": lambda: of_numpy(ml_dtypes.float8_e4m3fn),
    "torch": of_torch,
    "jax": of_jax,
    "mlx": of_mlx,
    "paddle": of_paddle,
}


def twelve(make):
    """Views as every library has them; a library without one of them leaves it out."""
    numbers = np.arange(120, dtype="f4").reshape(4, 5, 6) % 13
    whole = make(numbers)

    def transposed(*axes):
        return whole.transpose(*axes) if isinstance(whole, np.ndarray) else (
            whole.permute(*axes) if hasattr(whole, "permute") else whole.transpose(axes)
        )

    views = {
        "packed": lambda: whole,
        "reversed order": lambda: transposed(2, 1, 0),
        "two axes exchanged": lambda: transposed(1, 0, 2),
        "from an offset": lambda: whole[1:],
        "cut inside": lambda: whole[:, 1:4, 2:5],
        "every second": lambda: whole[:, :, ::2],
        "one index": lambda: whole[:, 2],
        "last index": lambda: whole[..., 5],
        "an axis of size 1": lambda: whole[:, 2:3, :],
        "without elements": lambda: whole[:0],
        "a row": lambda: whole[0, 0],
        "backwards": lambda: whole[::-1],
    }
    assert len(views) == 12
    for name, view in views.items():
        try:
            yield name, view()
        except (ValueError, IndexError, TypeError, NotImplementedError):
            continue


@pytest.mark.parametrize("library", LIBRARIES)
def test_twelve_arrays_are_copied_as_their_own_library_does(library):
    make, contiguous, bits = LIBRARIES[library]()
    seen = 0
    for name, view in twelve(make):
        own = bits(contiguous(view))
        for got in (ascontiguous(view), copy(view)):
            got = bits(got)
            assert np.shape(got) == np.shape(own), (library, name)
            assert np.asarray(got).tobytes() == np.asarray(own).tobytes(), (library, name)
        seen += 1
    assert seen >= 11, (library, seen)


def test_values_that_are_no_bytes_are_resolved_or_refused():
    torch = pytest.importorskip("torch")
    matrix = torch.tensor([[1 + 2j, 3 - 4j], [5 + 6j, 7 + 8j]])
    for tensor in [matrix.conj().imag, matrix.mH.imag, matrix.conj(), matrix.mH, torch._neg_view(torch.arange(4.0))]:
        assert tensor.is_neg() or tensor.is_conj()
        assert torch.equal(ascontiguous(tensor), tensor.contiguous())
        assert torch.equal(copy(tensor), tensor.contiguous())
        out = torch.zeros_like(tensor.contiguous())
        copy(tensor, out=out)
        assert torch.equal(out, tensor.contiguous())
        with pytest.raises(LayoutError) as refused:
            copy(torch.zeros(tensor.shape, dtype=tensor.dtype), out=tensor)
        assert refused.value.code == "bytes_are_not_values"
    with pytest.raises(LayoutError, match="detach") as refused:
        copy(torch.zeros(2, 3, requires_grad=True))
    assert refused.value.code == "requires_grad"


def test_bfloat16_is_bfloat16():
    mx = pytest.importorskip("mlx.core")
    array = mx.arange(12).reshape(3, 4).astype(mx.bfloat16)
    assert Layout(array).dtype == "bfloat16"
    assert copy(array).dtype == ml_dtypes.bfloat16
    for view in (array, array.T, array[::2]):
        made = ascontiguous(view)
        assert made.dtype == ml_dtypes.bfloat16 and made.tolist() == view.tolist() and made.flags.c_contiguous


def test_bfloat16_of_paddle():
    paddle = pytest.importorskip("paddle")
    tensor = paddle.arange(12, dtype="float32").reshape([3, 4]).astype("bfloat16")
    assert ascontiguous(tensor).dtype == copy(tensor).dtype == ml_dtypes.bfloat16


def test_types_that_are_not_lent_come_as_arrays():
    jax = pytest.importorskip("jax")
    array = jax.numpy.arange(6).reshape(2, 3).astype("float4_e2m1fn")
    assert Layout(array).dtype == "float4_e2m1fn"
    low, high = np.asarray(array).view("u1").reshape(3, 2).T
    assert np.asarray(copy(array, "f4e2m1fn[2,3]:[3,1]")).tobytes() == (low | high << 4).tobytes()


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Producer:
    """A tensor by DLPack, field for field."""

    def __init__(self, data, code, bits, lanes, shape, strides, version=(1, 1), flags=0):
        self.data, self.deleted = ctypes.create_string_buffer(data, len(data)), 0
        numbers = lambda list: (ctypes.c_int64 * len(list))(*list)  # noqa: E731
        self.lists = numbers(shape), numbers(strides)
        self.deleter = DELETER(self.delete)
        as_list = [ctypes.cast(list, ctypes.POINTER(ctypes.c_int64)) for list in self.lists]
        tensor = Tensor(ctypes.addressof(self.data), (1, 0), len(shape), code, bits, lanes, *as_list, 0)
        self.managed = Managed(version, None, self.deleter, flags, tensor)

    def delete(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor_versioned", None)


def test_fields_of_dlpack_are_read_by_its_header():
    lanes = Producer(np.arange(12, dtype="f4").tobytes(), 2, 32, 4, [3], [1])
    assert Layout(lanes).sizes == (3, 4) and (copy(lanes) == np.arange(12, dtype="f4").reshape(3, 4)).all()
    floats = Producer(bytes([0x10, 0x32, 0x54]), 17, 4, 2, [3], [1])
    assert Layout(floats) == Layout("f4e2m1fn[3,2]:[2,1]")
    assert copy(floats).view("u1").ravel().tolist() == [0, 1, 2, 3, 4, 5]
    packed = Producer(bytes([0x21, 0x43, 0x05]), 1, 4, 1, [5], [1])
    assert Layout(packed) == Layout("u4[5]:[1]") and copy(packed).view("u1").tolist() == [1, 2, 3, 4, 5]
    bytes_each = Producer(bytes([1, 2, 3]), 1, 4, 1, [3], [1], flags=4)
    assert copy(bytes_each).view("u1").tolist() == [1, 2, 3]
    odd = Producer(bytes(8), 2, 32, 1, [2, 1], [1, 1 << 62])
    assert Layout(odd).sizes == (2, 1)
    for version in [(2, 0), (9, 3)]:
        unknown = Producer(bytes(4), 2, 32, 1, [1], [1], version=version)
        with pytest.raises(LayoutError) as refused:
            copy(unknown)
        assert refused.value.code == "out_of_limits" and unknown.deleted == 1
    assert lanes.deleted == 2 and packed.deleted == 2


def test_every_refusal_of_an_array_is_a_layout_error():
    class Failing:
        def __dlpack__(self, **_):
            raise RuntimeError("the device is asleep")

    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for call in [
        lambda: copy(object()),
        lambda: copy(Failing()),
        lambda: copy(np.array([None, 1], object)),
        lambda: copy(np.zeros(3), out=frozen),
        lambda: copy(np.zeros(3), out=b"0" * 24),
        lambda: copy(np.zeros(3, "V12")),
        lambda: Layout(np.zeros(3, ">f4")),
        lambda: relayout.validate(object()),
    ]:
        with pytest.raises(LayoutError) as refused:
            call()
        assert refused.value.code and len(str(refused.value)) > 15, str(refused.value)
