"""Strided and tiled tensor layouts: describe, check, convert and copy."""

import os
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, final

__all__ = [
    "Layout",
    "LayoutError",
    "Lowered",
    "Program",
    "ascontiguous",
    "convert_model",
    "copy",
    "explain",
    "hlo",
    "main",
    "measure",
    "names",
    "transfers",
    "validate",
]

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
        source: Any = None,
        *,
        sizes: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        dtype: Any = None,
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
    def lower(self) -> Lowered: ...
    def same(self, other: Layout | str) -> bool: ...
    def fingerprint(self) -> str: ...
    def view(self, **steps: Any) -> Layout: ...
    def offset(self, index: Sequence[int]) -> int: ...
    def index(self, offset: int) -> tuple[int, ...] | None: ...
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
    array: Any,
    to: Layout | str | None = None,
    out: Any = None,
    threads: int = 1,
    *,
    layout: Layout | str | None = None,
    effort: Literal["estimate", "measure"] = "estimate",
    choice: str | None = None,
) -> Any:
    """Copies an array into another layout."""

def measure(layout: Layout | str, to: Layout | str, *, most_bytes: int = 4294967296) -> str:
    """Times several plans of a copy and returns the choice of the fastest, for `copy(choice=...)`."""

def ascontiguous(a: _Array, dtype: Any = None, *, threads: int = 1) -> _Array:
    """A drop-in for numpy.ascontiguousarray, and for contiguous() of PyTorch tensors."""

def validate(
    layout: Any,
    limits: str = "webgpu",
    *,
    buffer: int | None = None,
    offset: int = 0,
    role: Literal["input", "output"] = "input",
) -> dict[str, Any]:
    """Checks whether a device takes this tensor at this offset of a buffer."""

def transfers(
    layout: Any,
    to: Any,
    loops: int | None = None,
    *,
    limits: str = "any",
) -> list[tuple[int, int, int, list[tuple[int, int, int]]]]:
    """Lists a copy as the fewest transfers: (source, destination, bytes, loops), in bytes."""

def names(word: str = "") -> list[dict[str, Any]]:
    """The layouts that devices and libraries have names for."""

def hlo(text_or_compiled: Any) -> Program:
    """Reads the text of an HLO module, or a compiled JAX function."""

def explain(error: str | BaseException) -> dict[str, Any]:
    """Says what took the memory, from the text of an XLA out-of-memory error."""

def convert_model(
    path: str | os.PathLike[str],
    rule: str,
    out: str | os.PathLike[str],
    part: tuple[int, int] | None = None,
    *,
    rules: dict[str, str] | None = None,
    limits: str = "none",
    jobs: int | None = None,
) -> dict[str, Any]:
    """Lays out a safetensors model, or some parts of a sharded one."""

def main() -> int:
    """The command line tensor-layout; returns the exit status."""
