#!/usr/bin/env bash
# tinygrad 0.14.0: `torch_load` takes a tensor of a PyTorch file whose elements are not packed, as some columns
# of a matrix or its diagonal are, from as many neighbouring elements, without an error.
#
# Such a file has the offset and the strides of a view and all of the memory that it is a view of; the files are
# written here without PyTorch. Where the strides fall from axis to axis, gaps are not seen; where they rise, a
# transpose is right, and the transpose of the same columns is refused. Seen for views of 0 to 23 in 4 rows of 6:
#   packed: offset 0, strides [6, 1]: right
#   transposed: offset 0, strides [1, 6]: right
#   columns 2 and 3: offset 2, strides [6, 1]: [[2, 3], [4, 5], [6, 7], [8, 9]]
#   every second row: offset 0, strides [12, 1]: [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
#   diagonal: offset 0, strides [7]: [0, 1, 2, 3]
#   columns 2 and 3, transposed: offset 2, strides [1, 6]: nonpermutable strides
#
# Exits with 1 if tinygrad does something else. Needs x86-64; tinygrad's compiler is Zig's clang.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet tinygrad==0.14.0 ziglang==0.17.1 numpy==2.4.6
cat > "$folder/clang" <<SH
#!/usr/bin/env bash
flags=(-g0 -fno-asynchronous-unwind-tables -fno-sanitize=all -fno-stack-protector)
exec "$folder/env/bin/python" -m ziglang cc "\${@/--target=x86_64-none-unknown-elf/--target=x86_64-linux-musl}" "\${flags[@]}"
SH
chmod +x "$folder/clang"
export CC="$folder/clang" CACHELEVEL=0 ZIG_GLOBAL_CACHE_DIR="$folder/zig"
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import collections
import pickle
import sys
import types
import zipfile

import numpy
from tinygrad.nn.state import torch_load

rebuild = types.FunctionType((lambda *_: None).__code__, {}, "_rebuild_tensor_v2")
rebuild.__module__, rebuild.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
FloatStorage = type("FloatStorage", (), {"__module__": "torch"})
modules = {"torch": types.SimpleNamespace(FloatStorage=FloatStorage), "torch._utils": types.SimpleNamespace(_rebuild_tensor_v2=rebuild)}


class Storage:
    pass


class View:
    def __init__(self, offset, sizes, strides):
        self.arguments = (Storage(), offset, sizes, strides, False, collections.OrderedDict())

    def __reduce__(self):
        return rebuild, self.arguments


class Pickler(pickle.Pickler):
    def persistent_id(self, value):
        return ("storage", FloatStorage, "0", "cpu", 24) if isinstance(value, Storage) else None


def save(path, **views):
    with zipfile.ZipFile(path, "w") as file:
        with file.open("archive/data.pkl", "w") as text:
            sys.modules.update(modules)
            Pickler(text, 2).dump({name: View(*view) for name, view in views.items()})
            for module in modules:
                del sys.modules[module]
        file.writestr("archive/data/0", memory.tobytes())
        file.writestr("archive/version", "3\n")


memory = numpy.arange(24, dtype=numpy.float32)
seen = []
for name, (offset, sizes, strides) in {
    "packed": (0, (4, 6), (6, 1)),
    "transposed": (0, (6, 4), (1, 6)),
    "columns 2 and 3": (2, (4, 2), (6, 1)),
    "every second row": (0, (2, 6), (12, 1)),
    "diagonal": (0, (4,), (7,)),
    "columns 2 and 3, transposed": (2, (2, 4), (1, 6)),
}.items():
    path = f"{name}.pt"
    save(path, view=(offset, sizes, strides))
    try:
        read = torch_load(path)["view"].numpy()
        view = numpy.lib.stride_tricks.as_strided(memory[offset:], sizes, [4 * stride for stride in strides])
        seen.append("right" if (read == view).all() else str(read.astype(int).tolist()))
    except AssertionError as error:
        seen.append(str(error))
    print(f"{name}: offset {offset}, strides {list(strides)}: {seen[-1]}")
sys.exit(seen != [
    "right",
    "right",
    "[[2, 3], [4, 5], [6, 7], [8, 9]]",
    "[[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]",
    "[0, 1, 2, 3]",
    "nonpermutable strides",
])
PYTHON
