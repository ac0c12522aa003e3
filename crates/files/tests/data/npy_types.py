"""Texts of numpy.dtype as headers of .npy files have them: what NumPy makes of each, or that it refuses it.

Writes npy_types.tsv: the text, the type as NumPy writes it (`-` if it refuses the text), the bytes of an element, and
whether np.load reads a file with this header (an array of 2 x 3 zeros).
"""
import io

import numpy as np

TEXTS = """
<f2 <f4 <f8 =f4 |f4 f4 f8 >f4 >f8 f d e half single double float float16 float32 float64
<i1 |i1 i1 <i2 <i4 <i8 >i4 =i8 b h i l q int8 int16 int32 int64 int byte short intc intp longlong
|u1 u1 >u1 <u2 <u4 <u8 B H I L Q P uint8 uint16 uint32 uint64 uint ubyte ushort uintc uintp ulonglong
|b1 ? bool <c8 <c16 F D complex64 complex128 csingle complex
|V1 V1 <V2 |V2 V4 V8 V3 <f1 f1 <U5 |S3 |O O <M8[ns] m8 <f16 g bfloat16 float8_e4m3fn f3 <<f4 < nothing
""".split()

print(f"# numpy {np.__version__}: text, type, bytes, read")
for text in TEXTS:
    try:
        dtype = np.dtype(text)
    except TypeError:
        print(text, "-", 0, "no", sep="\t")
        continue
    header = f"{{'descr': '{text}', 'fortran_order': False, 'shape': (2, 3), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    file = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(6 * dtype.itemsize)
    try:
        read = np.load(io.BytesIO(file)).shape == (2, 3)
    except ValueError:
        read = False
    print(text, dtype.str, dtype.itemsize, "yes" if read else "no", sep="\t")
