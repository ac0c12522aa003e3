"""Makes small models of six families with torch and safetensors, and their shares for eight ranks with torch's own
cat, stack and chunk: `python families.py` writes families.tsv beside this script (torch 2.15.0 and safetensors 0.8.0
made the file). Names and ranks of the tensors are those of the published checkpoints, sizes are small.

Byte k of tensor t of a family, counted in the order of the names, is (31 k + 97 t + k // 251) % 256, so that the
models need not be stored. The hashes are FNV-1a of 64 bits.
"""

import json
import pathlib
import struct
import tempfile

import torch
from safetensors.torch import load_file, save_file

BF16, F8, U8, F32 = torch.bfloat16, torch.float8_e4m3fn, torch.uint8, torch.float32
H, HEADS, KV, D, I, E, VOCAB, LAYERS, RANKS = 16, 16, 8, 4, 24, 8, 40, 2, 8


def attention(p, bias=False, norms=()):
    rows = {"q": HEADS * D, "k": KV * D, "v": KV * D}
    out = {f"{p}.{n}_proj.weight": (BF16, (r, H)) for n, r in rows.items()}
    if bias:
        out |= {f"{p}.{n}_proj.bias": (BF16, (r,)) for n, r in rows.items()}
        out |= {f"{p}.o_proj.bias": (BF16, (H,)), f"{p}.sinks": (BF16, (HEADS,))}
    return out | {f"{p}.o_proj.weight": (BF16, (H, HEADS * D))} | {f"{p}.{n}.weight": (BF16, (D,)) for n in norms}


def layer(family, l):
    p = f"model.layers.{l}"
    a, m = f"{p}.self_attn", f"{p}.mlp"
    out = {f"{p}.input_layernorm.weight": (BF16, (H,)), f"{p}.post_attention_layernorm.weight": (BF16, (H,))}
    mlp = {f"{m}.{n}_proj.weight": (BF16, (H, I) if n == "down" else (I, H)) for n in ("gate", "up", "down")}
    if family == "llama":
        return out | attention(a) | mlp
    if family == "gemma":
        more = {f"{p}.{n}_feedforward_layernorm.weight": (BF16, (H,)) for n in ("pre", "post")}
        return out | attention(a, norms=("q_norm", "k_norm")) | mlp | more
    if family == "qwen3_moe":
        out |= attention(a, norms=("q_norm", "k_norm")) | {f"{m}.gate.weight": (BF16, (E, H))}
        for e in range(E):
            for n in ("gate", "up", "down"):
                out[f"{m}.experts.{e}.{n}_proj.weight"] = (BF16, (H, I) if n == "down" else (I, H))
        return out
    if family == "mixtral":
        b = f"{p}.block_sparse_moe"
        out |= attention(a) | {f"{b}.gate.weight": (BF16, (E, H))}
        return out | {f"{b}.experts.{e}.w{n}.weight": (BF16, (H, I) if n == 2 else (I, H)) for e in range(E) for n in (1, 2, 3)}
    if family == "gpt_oss":
        x = f"{m}.experts"
        out |= attention(a, bias=True) | {f"{m}.router.weight": (BF16, (E, H)), f"{m}.router.bias": (BF16, (E,))}
        for n, r in (("gate_up", 32), ("down", 16)):
            out |= {f"{x}.{n}_proj_blocks": (U8, (E, r, 2, 16)), f"{x}.{n}_proj_scales": (U8, (E, r, 2))}
            out[f"{x}.{n}_proj_bias"] = (BF16, (E, r))
        return out
    for n, r, c in (("q_a_proj", 128, 256), ("q_b_proj", 1024, 128), ("kv_a_proj_with_mqa", 72, 256), ("o_proj", 256, 1024)):
        out[f"{a}.{n}.weight"] = (F8, (r, c))
        out[f"{a}.{n}.weight_scale_inv"] = (F32, (-(-r // 128), -(-c // 128)))
    for e in range(E if l else 0):
        for n in ("gate", "up", "down"):
            r, c = (256, 128) if n == "down" else (128, 256)
            out[f"{m}.experts.{e}.{n}_proj.weight"] = (F8, (r, c))
            out[f"{m}.experts.{e}.{n}_proj.weight_scale_inv"] = (F32, (r // 128, c // 128))
    return out


def tensors(family):
    out = {"model.embed_tokens.weight": (BF16, (VOCAB, H)), "model.norm.weight": (BF16, (H,))}
    if family != "gemma":  # whose head is the embedding
        out["lm_head.weight"] = (BF16, (VOCAB, H))
    for l in range(LAYERS):
        out |= layer(family, l)
    return out


def made(number, dtype, shape):
    count = torch.Size(shape).numel() * dtype.itemsize
    data = bytearray((31 * k + 97 * number + k // 251) % 256 for k in range(count))
    return torch.frombuffer(data, dtype=torch.uint8).view(dtype).reshape(shape)


QKV = "l.{i}.qkv = cat 0 (model.layers.{i}.self_attn.{q,k,v}_proj.weight | shard 0)\n"
O = "l.{i}.o = model.layers.{i}.self_attn.o_proj.weight | shard 1\n"
DENSE = (
    "l.{i}.w13 = cat 0 (model.layers.{i}.mlp.{gate,up}_proj.weight | shard 0) | permute 1,0\n"
    "l.{i}.down = model.layers.{i}.mlp.down_proj.weight | shard 1\n"
)
TIED = "embed = model.embed_tokens.weight | shard 0\nhead = model.embed_tokens.weight | shard 0\n* = *"
HEAD = "embed = model.embed_tokens.weight | shard 0\nhead = lm_head.weight | shard 0\n* = *"
X = "model.layers.{i}.mlp.experts."
B = "model.layers.{i}.block_sparse_moe.experts."
FP8 = "".join(f"l.{{i}}.{n}{s} = model.layers.{{i}}.self_attn.{n}_proj.weight{t} | shard {a}\n"
              for n, a in (("q_b", 0), ("o", 1)) for s, t in (("", ""), (".scale", "_scale_inv")))
RECIPES = {
    ("llama", "tp"): QKV + O + DENSE + HEAD,
    ("gemma", "tp"): QKV + O + DENSE + TIED,
    ("qwen3_moe", "tp"): QKV + O + f"l.{{i}}.w13 = stack 0 over {{e}} (cat 0 ({X}{{e}}.{{gate,up}}_proj.weight | shard 0)) | permute 0,2,1\n"
    f"l.{{i}}.down = stack 0 over {{e}} ({X}{{e}}.down_proj.weight | shard 1)\n" + HEAD,
    ("qwen3_moe", "ep"): f"l.{{i}}.w13 = stack 0 over {{e}} (cat 0 ({X}{{e}}.{{gate,up}}_proj.weight)) | shard 0\n"
    f"l.{{i}}.down = stack 0 over {{e}} ({X}{{e}}.down_proj.weight) | shard 0\n* = *",
    ("mixtral", "tp"): QKV + O + f"l.{{i}}.w13 = stack 0 over {{e}} (cat 0 ({B}{{e}}.{{w1,w3}}.weight | shard 0))\n"
    f"l.{{i}}.w2 = stack 0 over {{e}} ({B}{{e}}.w2.weight | shard 1)\n" + HEAD,
    ("mixtral", "ep"): f"l.{{i}}.w13 = stack 0 over {{e}} (cat 0 ({B}{{e}}.{{w1,w3}}.weight)) | shard 0\n"
    f"l.{{i}}.w2 = stack 0 over {{e}} ({B}{{e}}.w2.weight) | shard 0\n* = *",
    ("gpt_oss", "tp"): QKV + "l.{i}.bias = cat 0 (model.layers.{i}.self_attn.{q,k,v}_proj.bias | shard 0)\n" + O
    + "".join(f"l.{{i}}.gate_up_{n} = {X}gate_up_proj_{n} | shard 1\n" for n in ("blocks", "scales", "bias")) + HEAD,
    ("gpt_oss", "ep"): "".join(f"l.{{i}}.{p}_{n} = {X}{p}_proj_{n} | shard 0\n" for p in ("gate_up", "down") for n in ("blocks", "scales", "bias")) + "* = *",
    ("deepseek", "tp"): FP8 + HEAD,
    ("deepseek", "ep"): "".join(
        f"l.{{i}}.w13{s} = stack 0 over {{e}} (cat 0 ({X}{{e}}.{{gate,up}}_proj.weight{t})) | shard 0\n"
        f"l.{{i}}.down{s} = stack 0 over {{e}} ({X}{{e}}.down_proj.weight{t}) | shard 0\n" for s, t in (("", ""), (".scale", "_scale_inv"))) + "* = *",
}


def expected(family, kind, m, rank):
    """The outputs of a rank, by torch alone."""
    out, used = {}, set()

    def of(name):
        used.add(name)
        return m[name]

    def chunk(t, axis):
        parts = torch.chunk(t.view(torch.uint8) if t.dtype == F8 else t, RANKS, axis)
        return parts[rank].view(t.dtype) if t.dtype == F8 else parts[rank]

    def joined(f, parts, axis=0):
        if parts[0].dtype == F8:  # which torch joins as bytes
            return f([p.view(torch.uint8) for p in parts], axis).view(F8)
        return f(parts, axis)

    for l in range(LAYERS):
        p, a = f"model.layers.{l}", f"model.layers.{l}.self_attn"
        x, b = f"{p}.mlp.experts", f"{p}.block_sparse_moe.experts"
        if kind == "tp" and family != "deepseek":
            out[f"l.{l}.qkv"] = torch.cat([chunk(of(f"{a}.{n}_proj.weight"), 0) for n in "qkv"], 0)
            out[f"l.{l}.o"] = chunk(of(f"{a}.o_proj.weight"), 1)
        if family in ("llama", "gemma"):
            out[f"l.{l}.w13"] = torch.cat([chunk(of(f"{p}.mlp.{n}_proj.weight"), 0) for n in ("gate", "up")], 0).T
            out[f"l.{l}.down"] = chunk(of(f"{p}.mlp.down_proj.weight"), 1)
        if family in ("qwen3_moe", "mixtral"):
            one, two, down, name = ("gate_proj", "up_proj", "down_proj", "down") if family == "qwen3_moe" else ("w1", "w3", "w2", "w2")
            e_ = x if family == "qwen3_moe" else b
            cut = (lambda t, axis: chunk(t, axis)) if kind == "tp" else (lambda t, axis: t)
            w13 = torch.stack([torch.cat([cut(of(f"{e_}.{e}.{n}.weight"), 0) for n in (one, two)], 0) for e in range(E)], 0)
            w2 = torch.stack([cut(of(f"{e_}.{e}.{down}.weight"), 1) for e in range(E)], 0)
            if kind == "ep":
                w13, w2 = chunk(w13, 0), chunk(w2, 0)
            elif family == "qwen3_moe":
                w13 = w13.permute(0, 2, 1)
            out |= {f"l.{l}.w13": w13, f"l.{l}.{name}": w2}
        if family == "gpt_oss":
            if kind == "tp":
                out[f"l.{l}.bias"] = torch.cat([chunk(of(f"{a}.{n}_proj.bias"), 0) for n in "qkv"], 0)
            for part in ("gate_up", "down") if kind == "ep" else ("gate_up",):
                for n in ("blocks", "scales", "bias"):
                    out[f"l.{l}.{part}_{n}"] = chunk(of(f"{x}.{part}_proj_{n}"), 0 if kind == "ep" else 1)
        if family == "deepseek":
            for s, t in (("", ""), (".scale", "_scale_inv")):
                if kind == "tp":
                    out[f"l.{l}.q_b{s}"] = chunk(of(f"{a}.q_b_proj.weight{t}"), 0)
                    out[f"l.{l}.o{s}"] = chunk(of(f"{a}.o_proj.weight{t}"), 1)
                elif l:
                    w = [joined(torch.cat, [of(f"{x}.{e}.{n}_proj.weight{t}") for n in ("gate", "up")]) for e in range(E)]
                    out[f"l.{l}.w13{s}"] = chunk(joined(torch.stack, w), 0)
                    out[f"l.{l}.down{s}"] = chunk(joined(torch.stack, [of(f"{x}.{e}.down_proj.weight{t}") for e in range(E)]), 0)
    if kind == "tp":
        out["embed"] = chunk(of("model.embed_tokens.weight"), 0)
        out["head"] = chunk(of("model.embed_tokens.weight" if family == "gemma" else "lm_head.weight"), 0)
    return out | {name: t for name, t in m.items() if name not in used}


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{value:016x}"


def main():
    rows = []
    families = list(dict.fromkeys(family for family, _ in RECIPES))
    for family in families:
        specs = sorted(tensors(family).items())
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.safetensors"
            save_file({name: made(number, *spec) for number, (name, spec) in enumerate(specs)}, path)
            raw = path.read_bytes()
            header = json.loads(raw[8 : 8 + struct.unpack("<Q", raw[:8])[0]])
            m = load_file(path)
        for name, _ in specs:
            rows.append(("source", family, name, header[name]["dtype"], ",".join(map(str, header[name]["shape"]))))
        for kind in ("tp", "ep"):
            if (family, kind) not in RECIPES:
                continue
            rows.append(("recipe", family, kind, RECIPES[family, kind].replace("\n", "\\n")))
            for rank in range(RANKS):
                for name, t in sorted(expected(family, kind, m, rank).items()):
                    if name in m and rank:
                        continue  # the same on every rank
                    data = t.contiguous().view(torch.uint8).reshape(-1).numpy().tobytes()
                    rows.append(("output", family, kind, rank, name, ",".join(map(str, t.shape)), fnv(data)))
    text = "\n".join("\t".join(map(str, row)) for row in rows) + "\n"
    pathlib.Path(__file__).with_suffix(".tsv").write_text(text)


main()
