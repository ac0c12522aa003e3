"""Replaces functions of an engine's source by those of the file of the same name here, and adds the dependency.

    replace.py ENGINE FOLDER_OF_ITS_SOURCE

Everything goes to target/ours/ENGINE; the source stays as it is.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Where the functions are, and what becomes of each: removed, or kept under another name.
ENGINES = {
    "candle-core": ("src/cpu_backend/mod.rs", {"copy2d_": None, "copy_strided_src_": None}),
    "rten-tensor": ("src/copy.rs", {"copy_into_slice": "cloned_into_slice", "copy_into_uninit": "cloned_into_uninit"}),
}


def function(text, name):
    """The place of a function: its attributes, its head, and its body up to the brace in the first column."""
    found = re.search(rf"^(?:#\[[^\n]*\]\n)*(?:pub )?fn {name}<.*?^}}\n", text, re.M | re.S)
    if found is None:
        sys.exit(f"no function {name}")
    return found


def write(path, text):
    # What did not change is not built again.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    engine, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    file, functions = ENGINES[engine]
    target = HERE / "target" / "ours" / engine
    text = (folder / file).read_text()
    for name, other in functions.items():
        found = function(text, name)
        kept = "" if other is None else re.sub(rf"(?:pub )?fn {name}<", f"fn {other}<", found.group(), count=1)
        text = text[: found.start()] + kept + text[found.end() :]
    write(target / file, text + (HERE / f"{engine}.rs").read_text())
    manifest = (folder / "Cargo.toml").read_text()
    library = HERE.parent.parent
    manifest += f'\n[dependencies.tensor-layout]\npath = "{library}"\ndefault-features = false\nfeatures = ["relayout"]\n'
    if engine == "rten-tensor":
        for name in ("rten-testing", "rten-bench"):
            manifest += f'\n[dev-dependencies.{name}]\npath = "{HERE / name}"\n'
    write(target / "Cargo.toml", manifest)


main()
