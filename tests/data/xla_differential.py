"""Holds the crate's reader of XLA shapes against XLA's own: `python xla_differential.py [COUNT]` with jaxlib from PyPI
(0.10.2 made xla_differential.tsv), from anywhere.

Every text is given to XLA in a child process, as some malformed texts end the process: these are left out. The
outcome, one line a text, goes to xla_differential.tsv beside this script: `ok` and what XLA prints, or `error` and why.
tests/it/tiled/differential.rs then reads the same texts and allows exactly the differences that docs/XLA.md lists.
"""

import json
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
TYPES = ("pred s1 s2 s4 s8 s16 s32 s64 u1 u2 u4 u8 u16 u32 u64 f16 f32 f64 bf16 f4e2m1fn f8e3m4 f8e4m3 f8e4m3fn "
         "f8e4m3b11fnuz f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu c64 c128").split()
BY_HAND = """f32[]
f32[]{}
f32[3,5]
F32[3,5]
f32[3,5]{1,0}
f32[3,5]{0,0}
f32[3,5]{2,0}
f32[3,5]{-1,0}
f32[3,5]{1}
f32[3,5]{:T(8,128)}
f32[3,5]{1,0:T(2,2}
f32[3,5]{1,0:T(2,2)(}
f32[3,5]{1,0:T(2,2)()}
f32[3,5]{1,0:T()}
f32[3,5]{1,0:T(0,2)}
f32[3,5]{1,0:T(2,*)}
f32[3,5]{1,0:T(-9223372036854775808,2)}
f32[3,5]{1,0:T(9223372036854775808,1)}
f32[3,5]{1,0:T(2,2)S(1)L(4)}
f32[3,5]{1,0:L(128)}
f32[3,5]{1,0:E(-4)}
f32[3,5]{1,0:E(4)}
f32[3,5]{1,0:E(0)S(0)M(0)}
f32[3,5]{1,0:S(-1)}
f32[3,5]{1,0:M(-8)}
f32[3,5]{1,0:M(8)}
f32[3,5]{1,0:SC(1:3)}
f32[3,5]{1,0:SC(5:1)}
f32[3,5]{1,0:SC(0:1)(1:2,3)}
f32[3,5]{1,0:SC(1:)}
f32[3,5]{1,0:SC(1:3,2)}
f32[3,5]{1,0:#(u32)*(u8)}
f32[3,5]{1,0:#(f32)}
f32[3,5]{1,0:*(s32)}
f32[3,5]{1,0:D(D,C)}
f32[3,5]{1,0:D(D,C+~)T(2,2)}
f32[3,5]{1,0:D(D)}
f32[3,5]{1,0:P(f32[3]{0})}
f32[3,5]{1,0:T(2,2)}x
f32 [3,5] { 1 , 0 : T ( 2 , 2 ) }
f32[3,/*c*/5]
f32[3,5]//end
f32[<=3,5]
f32[?,5]
f32[<=?,5]
f32[-1]
f32[3,]
f32[3x5]
f32[007]
f32[4294967296,4294967296]
f32[9223372036854775807]
f32[9223372036854775808]
token[]
opaque[]
opaque_type[]
tuple[]
()
( )
(f32[],)
(f32[], (s8[2], token[]), opaque[])
(s8[], s8[], s8[], s8[], s8[], s8[])
(/*index=0*/s8[])
b(f32[2])
b(token[])
b((f32[]))
i32[3]
f8[3]
f6e2m3fn[3]{0}
f6e3m2fn[2,3]{1,0:E(6)}
f32[3]{0:S(127)}
f32[3]{0:S(128)}
f32[3]{0:S(256)}
f32[3]{0:S(300)}
f32[3]{0:S(9223372036854775808)}
f32[3]{0:D(D~+)}
f32[3]{0:D(D++)}
f32[3]{0:D(D~~)}
f32[3]{0:D(D+~)}
f32[3]{0:D(D + ~)}
f32[3]{0:D(D~)}
f32[3]\v{0}
f32[3]\f{0}
f32[3]\u00a0{0}
f32[3]\u2003{0}
f32[3]{0:T(9223372036854775807)}
f32[3]{0:T(9223372036854775808)}
f32[3]{0:L(9223372036854775807)}
f32[3]{0:M(9223372036854775807)}
f32[3]{0:M(9223372036854775808)}
f32[3]{0:SC(9223372036854775808:1)}
f32[3]{0:SC(0:9223372036854775808)}
f32[2305843009213693952]
(f32[2305843009213693951])
(f32[2305843009213693952])
(f32[1152921504606846976], f32[1152921504606846976])
f32[3]{0:#()}
f32[3]{0:*()}
f32[3]{0:#(token)}
""".split("\n")[:-1]


def layout(source, rank):
    order = source.sample(range(rank), rank)
    parts = ""
    if source.random() < 0.7:
        entry = lambda: source.choice(["1", "2", "4", "8", "128", "3", "*"])
        tiles = [[entry() for _ in range(source.randint(0, 3))] + [source.choice(["1", "2", "8", "128"])]
                 for _ in range(source.randint(1, 3))]
        parts += "T" + "".join(f"({','.join(tile)})" for tile in tiles)
    for letter, values in [("L", [1, 8, 1024]), ("#", ["u8", "u32"]), ("*", ["u64", "u16"]), ("E", [0, 4, 2, 32]), ("S", [0, 1, 5])]:
        if source.random() < 0.2:
            parts += f"{letter}({source.choice(values)})"
    if rank and source.random() < 0.1:
        parts += f"SC({source.randrange(rank)}:{source.randint(1, 9)},{source.randint(10, 99)})"
    if source.random() < 0.1:
        parts += f"M({source.choice([0, 4, 64])})"
    return "{" + ",".join(map(str, order)) + (":" + parts if parts else "") + "}"


def array(source):
    rank = source.randint(0, 4)
    size = lambda: source.choice(["", "", "", "<="]) + str(source.choice([0, 1, 2, 3, 7, 100, 4096]))
    sizes = [size() if source.random() < 0.95 else "?" for _ in range(rank)]
    text = f"{source.choice(TYPES)}[{','.join(sizes)}]"
    return text + (layout(source, rank) if source.random() < 0.85 else "")


def shape(source, depth=0):
    if depth < 3 and source.random() < 0.15:
        return "(" + ", ".join(shape(source, depth + 1) for _ in range(source.randint(0, 7))) + ")"
    return source.choice(["token[]", "opaque[]"]) if source.random() < 0.03 else array(source)


def damaged(source):
    text = shape(source)
    for _ in range(source.randint(1, 2)):
        at = source.randrange(len(text) + 1)
        change = source.random()
        if change < 0.4 and text:
            text = text[:at] + text[at + 1:]
        elif change < 0.8:
            text = text[:at] + source.choice("()[]{}:,*TLESMCD#0129-<=?fsub ") + text[at:]
        else:
            text = text[:at]
    return text


def child():
    from jaxlib.xla_client import Shape  # where jaxlib keeps its reader

    for line in sys.stdin:
        try:
            outcome = ["ok", str(Shape(json.loads(line)))]
        except Exception as error:
            sentence = re.search("error: (.*)", str(error))
            outcome = ["error", sentence[1].replace("\t", " ")[:160] if sentence else ""]
        print(json.dumps(outcome), flush=True)


def ask(texts):
    """Children read texts one after the other; where one ends, the next goes on behind the text, which has no outcome."""
    outcomes = []
    while len(outcomes) < len(texts):
        left = texts[len(outcomes):]
        given = "".join(json.dumps(text) + "\n" for text in left)
        run = subprocess.run([sys.executable, __file__, "--child"], input=given, text=True, capture_output=True)
        outcomes += [json.loads(line) for line in run.stdout.splitlines()]
        if run.returncode != 0:
            outcomes.append(None)
        elif len(run.stdout.splitlines()) != len(left):
            sys.exit(run.stderr)
    return outcomes


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    source = random.Random(5)
    texts = BY_HAND + [shape(source) for _ in range(count)] + [damaged(source) for _ in range(count)]
    texts = [text for text in dict.fromkeys(texts) if "\t" not in text]
    lines = ["# what XLA (jaxlib 0.10.2) makes of a text: ok or error; the text; what XLA prints, or why not"]
    for text, answer in zip(texts, ask(texts)):
        if answer:
            lines.append(f"{answer[0]}\t{text}\t{answer[1]}")
    (HERE / "xla_differential.tsv").write_text("\n".join(lines) + "\n")
    kinds = [line.split("\t")[0] for line in lines[1:]]
    print({kind: kinds.count(kind) for kind in ("ok", "error")})


if __name__ == "__main__":
    child() if sys.argv[1:] == ["--child"] else main()
