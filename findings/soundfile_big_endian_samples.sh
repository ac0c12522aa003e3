#!/usr/bin/env bash
# soundfile 0.14.0 for Python (libsndfile 1.2.2): samples in a big-endian array are written with their bytes
# exchanged, without an error, whatever byte order the file has. Samples of float32 and float64 become silence.
#
# The manual names the types float64, float32, int32 and int16 and no byte order; the check goes by the name
# of the type, which is the same. A big-endian `out` is filled with numbers in the order of the machine, so
# what was written wrong from one such array looks right in another. SciPy 1.17.1 reads the samples of a
# big-endian file (RIFX) into a big-endian array: passed on to soundfile, they are noise. Seen for 1 to 4 (of
# floats, eighths), read back:
#   int16 to WAV: [1, 2, 3, 4], big-endian [256, 512, 768, 1024]
#   int16 to AIFF: [1, 2, 3, 4], big-endian [256, 512, 768, 1024]
#   int32 to WAV: [1, 2, 3, 4], big-endian [16777216, 33554432, 50331648, 67108864]
#   float32 to WAV: [0.125, 0.25, 0.375, 0.5], big-endian [0.0, 0.0, 0.0, 0.0]
#   from SciPy: samples >i2 [1, 2, 3, 4], written and read [256, 512, 768, 1024]
#   into a big-endian `out`: [256, 512, 768, 1024]
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet soundfile==0.14.0 scipy==1.17.1 numpy==2.4.6
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import scipy.io.wavfile
import soundfile

seen = []
for type, form, subtype in [("i2", "WAV", "PCM_16"), ("i2", "AIFF", "PCM_16"), ("i4", "WAV", "PCM_32"),
                            ("f4", "WAV", "PCM_16")]:
    samples = numpy.arange(1, 5).astype("f8") / (8 if type == "f4" else 1)
    name, read = numpy.dtype(type).name, []
    for order in "<>":
        soundfile.write("samples", samples.astype(order + type), 8000, format=form, subtype=subtype)
        read.append(soundfile.read("samples", dtype=name)[0].tolist())
    seen.append(f"{name} to {form}: {read[0]}, big-endian {read[1]}")
numbers = numpy.arange(1, 5, dtype="i2")
soundfile.write("rifx", numbers, 8000, format="WAV", subtype="PCM_16", endian="BIG")
samples = scipy.io.wavfile.read("rifx")[1]
soundfile.write("samples", samples, 8000, format="WAV")
written = soundfile.read("samples", dtype="int16")[0]
seen.append(f"from SciPy: samples {samples.dtype.str} {samples.tolist()}, written and read {written.tolist()}")
out = numpy.zeros(4, ">i2")
soundfile.read("rifx", out=out)
seen.append(f"into a big-endian `out`: {out.tolist()}")
print("\n".join(seen))
sys.exit(seen != """\
int16 to WAV: [1, 2, 3, 4], big-endian [256, 512, 768, 1024]
int16 to AIFF: [1, 2, 3, 4], big-endian [256, 512, 768, 1024]
int32 to WAV: [1, 2, 3, 4], big-endian [16777216, 33554432, 50331648, 67108864]
float32 to WAV: [0.125, 0.25, 0.375, 0.5], big-endian [0.0, 0.0, 0.0, 0.0]
from SciPy: samples >i2 [1, 2, 3, 4], written and read [256, 512, 768, 1024]
into a big-endian `out`: [256, 512, 768, 1024]""".splitlines())
PYTHON
