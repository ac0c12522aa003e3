"""Buffers field by field, and what memory that was never written holds."""

import ctypes
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from relayout import Layout, LayoutError, ascontiguous, copy, transfers, validate


class View(ctypes.Structure):
    """`Py_buffer`."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


class Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(Slot)),
    ]


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(View), ctypes.c_int)
def get_buffer(lender, view, _flags):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(lender))
    view[0] = View(**{**lender.fields, "obj": id(lender)})
    lender.held += 1
    return 0


@ctypes.CFUNCTYPE(None, ctypes.py_object, ctypes.POINTER(View))
def release_buffer(lender, _view):
    lender.held -= 1


def lending_type():
    slots = (Slot * 3)(
        Slot(1, ctypes.cast(get_buffer, ctypes.c_void_p)), Slot(2, ctypes.cast(release_buffer, ctypes.c_void_p))
    )
    new = ctypes.pythonapi.PyType_FromSpec
    new.restype = ctypes.py_object
    return new(ctypes.byref(Spec(b"tests.Lending", object.__basicsize__, 0, 1 << 18 | 1 << 10, slots)))


class Lender(lending_type()):
    """Twelve f32 whose buffer has the fields that a test says."""

    def __init__(self, **fields):
        self.numbers, self.held = (ctypes.c_float * 12)(*range(12)), 0
        self.lists = {name: (ctypes.c_ssize_t * len(value))(*value)
                      for name, value in fields.items() if isinstance(value, tuple)}
        fields |= {name: ctypes.addressof(value) for name, value in self.lists.items()}
        own = {"buf": ctypes.addressof(self.numbers), "len": 48, "itemsize": 4, "readonly": 0, "format": b"f"}
        self.fields = own | fields


@pytest.mark.parametrize("fields, expected", [
    ({"ndim": 1}, np.arange(12)),
    ({"ndim": 1, "shape": (12,)}, np.arange(12)),
    ({"ndim": 2, "shape": (3, 4)}, np.arange(12).reshape(3, 4)),
    ({"ndim": 2, "shape": (3, 4), "strides": (4, 12)}, np.arange(12).reshape(4, 3).T),
    ({"ndim": 2, "shape": (3, 4), "strides": (16, 4), "suboffsets": (-1, -1)}, np.arange(12).reshape(3, 4)),
    ({"ndim": 0}, np.array(0)),
    ({"ndim": 1, "format": None, "itemsize": 1, "len": 4}, np.zeros(4, "u1")),
    ({"ndim": 2, "shape": (0, 4), "buf": None, "len": 0}, np.zeros((0, 4))),
])
def test_what_may_be_null(fields, expected):
    lender = Lender(**fields)
    for made in (copy(lender), copy(lender, out=np.empty(expected.shape, copy(lender).dtype))):
        assert made.shape == expected.shape and (made == expected).all()
    assert Layout(lender).sizes == expected.shape and Layout(lender).same(lender)
    assert lender.held == 0, "every buffer was released"


@pytest.mark.parametrize("fields, word", [
    ({"ndim": 2}, "without sizes"),
    ({"ndim": 2, "shape": (3, 4), "strides": (8, 4), "suboffsets": (0, -1)}, "pointers to its rows"),
    ({"ndim": 65}, "65 axes"),
    ({"ndim": -1}, "-1 axes"),
    ({"ndim": 1, "shape": (-3,)}, "-3 for a size"),
    ({"ndim": 1, "itemsize": -4}, "-4 for the size"),
    ({"ndim": 1, "itemsize": 0}, "0 bytes"),
    ({"ndim": 1, "buf": None}, "no address"),
    ({"ndim": 2, "shape": (1 << 62, 1 << 62)}, "larger than memory"),
    ({"ndim": 1, "format": b">f"}, "type"),
])
def test_what_is_refused_of_a_buffer(fields, word):
    lender = Lender(**fields)
    for call in (copy, Layout, validate, lambda a: transfers(a, "f32[12]:[1]"), lambda a: copy(np.zeros(12, "f4"), out=a)):
        with pytest.raises(LayoutError, match=word) as refused:
            call(lender)
        assert refused.value.code and lender.held == 0


def test_arrays_of_ctypes():
    three = (ctypes.c_float * 3)(1, 2, 3)
    assert copy(three).tolist() == [1, 2, 3] == ascontiguous(three).tolist()
    rows = ((ctypes.c_int16 * 4) * 2)((1, 2, 3, 4), (5, 6, 7, 8))
    assert Layout(rows) == Layout("s16[2,4]:[4,1]") and Layout(rows).same(rows)
    assert copy(rows).tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    out = (ctypes.c_float * 3)()
    assert copy(np.arange(3, dtype="f4"), out=out) is out and list(out) == [0, 1, 2]
    assert validate(rows, "directml")["ok"] in (True, False)
    assert transfers(rows, rows) == [(0, 0, 16, [])]
    assert copy(ctypes.c_double(4.5)).tolist() == 4.5
    for odd in [(ctypes.c_float.__ctype_be__ * 3)(1, 2, 3), (ctypes.py_object * 2)(1, 2)]:
        with pytest.raises(LayoutError):
            copy(odd)


# Layouts of every kind with room that no element takes.
LAYOUTS = [
    "f32[64,64]:[64,1]+64",
    "f32[3,5]:[8,1]",
    "f32[3,5]{1,0:T(8,128)}",
    "bf16[5,7]{1,0:T(8,128)(2,1)}",
    "f32[3,5,7]{0,1,2:T(2,2)}",
    "s4[3,5]:[5,1]",
    "s4[3,5]{1,0:T(2,4)E(4)}",
    "f32[2,3,5,7]:NHWC",
    "f16[2,33,3,2]:nChw16c",
    "tensorrt.kCHW32:s8[2,33,3,2]",
    "sglang.packed_vnni2:bf16[48,32]",
    "kv:LBNHC:u8[L=1,B=[3,0]/5,H=1,N=3,C=2]",
    "ndarray(shape=(3,5), dtype=float32, strides=(-32,4))",
    "f32[4]:[7]",
    "f32[0,4]:[4,1]",
]

IN_FRESH_MEMORY = """
import json, sys
import numpy as np
real = np.empty

def filled(*arguments, **keywords):
    array = real(*arguments, **keywords)
    array.reshape(-1).view("u1")[...] = 0xA5
    return array

np.empty = filled
import ml_dtypes, relayout

found = []
for text in json.loads(sys.argv[1]):
    for slices in (None, (slice(1, 3),)):
        layout = relayout.Layout(text)
        if slices:
            try:
                layout = layout.view(slice=slices)
            except relayout.LayoutError:
                continue
        source = np.ones(layout.sizes, layout.dtype if layout.dtype != "int4" else ml_dtypes.int4)
        result = relayout.copy(source, layout)
        whole = result if result.base is None else result.base
        start = 0 if result.base is None else (-whole.ctypes.data) % 64
        bytes_of = whole.reshape(-1).view("u1")[start : start + layout.bytes]
        found.append((text, str(layout), bytes_of.size == layout.bytes, int((bytes_of == 0xA5).sum())))
for a in (np.ones((5, 7), "f4").T, np.ones((50, 70), "f4")[:, ::-1], np.ones((3, 4), ml_dtypes.bfloat16).T):
    for made in (relayout.ascontiguous(a), relayout.copy(a)):
        found.append((str(a.dtype), str(a.strides), True, int((np.ascontiguousarray(made).view("u1") == 0xA5).sum())))
print(json.dumps(found))
"""


def test_memory_that_was_never_written_is_zero():
    pytest.importorskip("ml_dtypes")
    # glibc fills what malloc gives with this byte.
    environment = dict(os.environ, MALLOC_PERTURB_=str(0xA5 ^ 0xFF))
    words = [sys.executable, "-c", IN_FRESH_MEMORY, json.dumps(LAYOUTS)]
    printed = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
    found = json.loads(printed)
    assert len(found) > 25 and [row for row in found if not row[2] or row[3]] == []


def test_a_slice_of_a_layout_leaves_zeros_before_it():
    layout = Layout("f32[64,64]:[64,1]").view(slice=(slice(1, 3), slice(None)))
    for _ in range(40):
        made = copy(np.ones((2, 64), np.float32), layout)
        assert made.shape == (192,) and (made[:64] == 0).all() and (made[64:] == 1).all()


def test_nothing_is_left_behind():
    array = np.ones((16, 32), "f4")
    for call in (
        lambda: copy(array, "f32[16,32]{0,1}"),
        lambda: copy(array.T),
        lambda: ascontiguous(array.T),
        lambda: copy(array, out=np.empty((16, 32), "f4")),
        lambda: Layout(array).view(slice=(0,)),
    ):
        call()
        before = sys.getallocatedblocks()
        for _ in range(2000):
            call()
        assert sys.getallocatedblocks() - before < 200
