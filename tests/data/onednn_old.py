"""Records how oneDNN until 3.2 prints a tensor in its verbose lines, and the bytes that it takes.

    LIBDNNL=libdnnl.so.2 python onednn_old.py > onednn_old.tsv     # of onednn-cpu-gomp 2021.4.0: oneDNN 2.4
    LIBDNNL=libdnnl.so.3 python onednn_old.py >> onednn_old.tsv    # of onednn-cpu-gomp 2023.2.0: oneDNN 3.2
"""

import ctypes
import os
import tempfile

os.environ["DNNL_VERBOSE"] = os.environ["ONEDNN_VERBOSE"] = "2"
library = ctypes.CDLL(os.environ["LIBDNNL"])
is_old = not hasattr(library, "dnnl_memory_desc_create_with_tag")
library.dnnl_memory_desc_get_size.restype = ctypes.c_size_t


def dims(*numbers):
    return (ctypes.c_int64 * 12)(*numbers)


def made(name, *arguments):
    value = ctypes.c_void_p()
    status = library[name](ctypes.byref(value), *arguments)
    assert status == 0, (name, status)
    return value


def described(sizes, type_, tag):
    if not is_old:
        return made("dnnl_memory_desc_create_with_tag", len(sizes), dims(*sizes), type_, tag)
    memory = ctypes.create_string_buffer(4096)
    assert library.dnnl_memory_desc_init_by_tag(memory, len(sizes), dims(*sizes), type_, tag) == 0
    return memory


def reorders():
    """Makes reorders to every format of a range of numbers, which differ from version to version."""
    engine, made_sizes = made("dnnl_engine_create", 1, ctypes.c_size_t(0)), []
    for sizes, type_, tags in [((20, 30), 3, [3, 4]), ((2, 35, 5, 7), 2, [5, 6]), ((2, 35, 5, 7), 3, range(60, 180, 9))]:
        for tag in tags:
            try:
                target = described(sizes, type_, tag)
                source = described(sizes, type_, len(sizes) + 1)
                made("dnnl_primitive_create", made("dnnl_reorder_primitive_desc_create", source, engine, target, engine, None))
            except AssertionError:
                continue
            made_sizes.append((sizes, library.dnnl_memory_desc_get_size(target)))
    return made_sizes


kept = os.dup(1)
with tempfile.TemporaryFile() as log:
    os.dup2(log.fileno(), 1)
    made_sizes = reorders()
    ctypes.CDLL(None).fflush(None)
    os.dup2(kept, 1)
    log.seek(0)
    lines = [entry for entry in log.read().decode().splitlines() if ",create" in entry and "reorder" in entry]
assert len(lines) == len(made_sizes)
for entry, (sizes, size) in zip(lines, made_sizes):
    field = next(field for field in entry.replace(",", " ").split() if field.startswith("dst"))
    print(f"{field} {'x'.join(map(str, sizes))}\t{size}")
