"""Strided and tiled tensor layouts: describe, check, convert and copy."""

import os
from collections.abc import Callable, Iterable, Sequence
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypeVar, final

from typing_extensions import Buffer

__all__ = [
    "Layout",
    "LayoutError",
    "Lowered",
    "Program",
    "Shards",
    "__version__",
    "ascontiguous",
    "convert_model",
    "copy",
    "explain",
    "hlo",
    "main",
    "measure",
    "names",
    "reshard",
    "transfers",
    "validate",
]

__version__: str

class _Dlpack(Protocol):
    def __dlpack__(self, *, stream: None = None) -> Any: ...

class _ArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

# An array on the CPU: of NumPy, PyTorch, JAX, mlx or Paddle, of ctypes or array, bytes, bytearray, mmap.
_AnyArray: TypeAlias = Buffer | _Dlpack | _ArrayInterface
# A layout, its text, or an array whose layout is meant.
_AnyLayout: TypeAlias = Layout | str | _AnyArray
# The name of a type ("f32", "float32"), or a dtype or scalar type of NumPy, ml_dtypes, PyTorch or JAX.
_Dtype: TypeAlias = str | Any
# Numbers from 0 to 2**64 - 1.
_Numbers: TypeAlias = Iterable[SupportsIndex]
_Index: TypeAlias = SupportsIndex | slice | EllipsisType
_Transfer: TypeAlias = tuple[int, int, int, list[tuple[int, int, int]]]

_Array = TypeVar("_Array")

class LayoutError(ValueError):
    """A layout, a size or a buffer that was refused. The text is a sentence."""

    code: str
    column: int | None
    pointer: str | None

@final
class Layout:
    """Where every element of a tensor is stored."""

    def __new__(
        cls,
        source: _AnyLayout | None = None,
        *,
        sizes: _Numbers | None = None,
        strides: _Numbers | None = None,
        dtype: _Dtype | None = None,
    ) -> Layout: ...
    @property
    def sizes(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...] | None: ...
    @property
    def dtype(self) -> str: ...
    @property
    def bytes(self) -> int: ...
    @property
    def padding(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def planes(self) -> tuple[Layout, ...]: ...
    @property
    def plane_names(self) -> tuple[str, ...]: ...
    @property
    def block_fields(self) -> tuple[str, ...]: ...
    def block_bits(self, field: str, index: _Numbers) -> list[tuple[int, int, int]]: ...
    def lower(self) -> Lowered: ...
    def same(self, other: _AnyLayout) -> bool: ...
    def fingerprint(self) -> str: ...
    def view(self, **steps: _Index | Iterable[_Index] | str) -> Layout: ...
    def offset(self, index: _Numbers) -> int: ...
    def index(self, offset: SupportsIndex) -> tuple[int, ...] | None: ...
    def notations(self) -> dict[str, str]: ...
    def _repr_svg_(self) -> str: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Lowered:
    """A layout in the model of sizes and strides."""

    @property
    def kind(self) -> str: ...
    @property
    def layout(self) -> Layout | None: ...
    @property
    def dims(self) -> tuple[int, ...] | None: ...
    @property
    def reason(self) -> str | None: ...

@final
class Program:
    """The memory of a compiled program, in bytes."""

    @property
    def peak_bytes(self) -> int: ...
    @property
    def argument_bytes(self) -> int: ...
    @property
    def output_bytes(self) -> int: ...
    @property
    def alias_bytes(self) -> int: ...
    @property
    def temp_bytes(self) -> int: ...
    @property
    def constant_bytes(self) -> int: ...
    @property
    def padding_bytes(self) -> int: ...
    @property
    def is_scheduled(self) -> bool: ...
    @property
    def unreadable_lines(self) -> int: ...
    @property
    def arrays(self) -> list[dict[str, Any]]: ...
    @property
    def padded(self) -> list[dict[str, Any]]: ...
    @property
    def svg(self) -> str: ...
    def _repr_svg_(self) -> str: ...

def copy(
    array: _AnyArray,
    to: _AnyLayout | None = None,
    out: _AnyArray | None = None,
    threads: SupportsIndex = 1,
    *,
    layout: _AnyLayout | None = None,
    effort: Literal["estimate", "measure"] = "estimate",
    choice: str | None = None,
) -> Any:
    """Copies an array into another layout. The result is of the array's library: NumPy, PyTorch or JAX."""

def measure(layout: _AnyLayout, to: _AnyLayout, *, most_bytes: SupportsIndex = 4294967296) -> str:
    """Times several plans of a copy and returns the choice of the fastest, for `copy(choice=...)`."""

def ascontiguous(a: _Array, dtype: _Dtype | None = None, *, threads: SupportsIndex = 1) -> _Array:
    """A drop-in for numpy.ascontiguousarray, and for contiguous() of PyTorch tensors."""

def validate(
    layout: _AnyLayout,
    limits: str = "webgpu",
    *,
    buffer: SupportsIndex | None = None,
    offset: SupportsIndex = 0,
    role: Literal["input", "output"] = "input",
    box: _Numbers | dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Checks whether a device takes this tensor at this offset of a buffer."""

def transfers(
    layout: _AnyLayout,
    to: _AnyLayout,
    loops: SupportsIndex | None = None,
    *,
    limits: str = "any",
) -> list[_Transfer]:
    """Lists a copy as the fewest transfers: (source, destination, bytes, loops), in bytes."""

@final
class Shards:
    """Which part of a tensor each rank holds."""

    def __new__(cls, sizes: _Numbers) -> Shards: ...
    @property
    def ranks(self) -> int: ...
    def sizes(self, rank: SupportsIndex) -> tuple[int, ...]: ...
    def split(self, axis: SupportsIndex, ranks: SupportsIndex) -> Shards: ...
    def cut(self, axis: SupportsIndex, lengths: _Numbers) -> Shards: ...
    def fused(
        self, axis: SupportsIndex, parts: Sequence[_Numbers], ranks: SupportsIndex, *, repeat: bool = True
    ) -> Shards: ...
    def replicated(self, ranks: SupportsIndex) -> Shards: ...
    def ordered(self, ranks: Sequence[SupportsIndex]) -> Shards: ...
    def __eq__(self, value: object, /) -> bool: ...

def reshard(
    source: Shards,
    to: Shards,
    layouts: _Dtype | Iterable[_AnyLayout],
    to_layouts: _Dtype | Iterable[_AnyLayout] | None = None,
    loops: SupportsIndex | None = None,
    *,
    limits: str = "any",
) -> list[tuple[int, int, list[_Transfer]]]:
    """Lists what each rank of one split sends to each rank of another one: (from, to, transfers)."""

def names(word: str = "") -> list[dict[str, Any]]:
    """The layouts that devices and libraries have names for."""

class _Compiled(Protocol):
    @property
    def as_text(self) -> Callable[[], str | None]: ...

def hlo(text_or_compiled: str | _Compiled) -> Program:
    """Reads the text of an HLO module, or a compiled JAX function."""

def explain(error: str | BaseException) -> dict[str, Any]:
    """Says what took the memory, from the text of an XLA out-of-memory error."""

def convert_model(
    path: str | os.PathLike[str],
    rule: str,
    out: str | os.PathLike[str],
    part: tuple[SupportsIndex, SupportsIndex] | None = None,
    *,
    rules: dict[str, str] | None = None,
    words: dict[str, str] | None = None,
    limits: str = "none",
    jobs: SupportsIndex | None = None,
    recipe: str | os.PathLike[str] | None = None,
    rank: tuple[SupportsIndex, SupportsIndex] | None = None,
    align: SupportsIndex | None = None,
) -> dict[str, Any]:
    """Lays out a safetensors model, or some parts of a sharded one, or makes the outputs of a recipe."""

def main() -> int:
    """The command line tensor-layout; returns the exit status."""
