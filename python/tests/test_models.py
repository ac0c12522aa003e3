"""Models in parts, laid out by jobs that do not know each other."""

import json
import os
import pathlib
import random
import signal
import threading
import time

import numpy as np
import pytest

import relayout
from relayout import LayoutError, convert_model

safetensors = pytest.importorskip("safetensors.numpy")

PARTS = 12


def make_model(folder):
    """A model of 12 parts of 4 tensors each, 1 MB a part."""
    folder.mkdir()
    rng, places = np.random.default_rng(12), {}
    for part in range(1, PARTS + 1):
        name = f"model-{part:05}-of-{PARTS:05}.safetensors"
        tensors = {f"layer{part}.{i}.weight": rng.random((101 + part, 600 + i), dtype="f4") for i in range(4)}
        safetensors.save_file(tensors, folder / name)
        places |= {tensor: name for tensor in tensors}
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": places}))
    return index


def contents(folder):
    """The files by name, without those whose name is not their last one."""
    found = {}
    for path in folder.iterdir():
        try:
            found |= {} if path.name.startswith(".") else {path.name: path.read_bytes()}
        except FileNotFoundError:
            continue
    return found


def is_writing(folder):
    """Whether this process has a file of the folder open that has no name, or the first one."""
    for number in os.listdir("/proc/self/fd"):
        try:
            name = os.readlink(f"/proc/self/fd/{number}")
        except FileNotFoundError:
            continue
        if name.startswith((f"{os.path.realpath(folder)}/#", f"{os.path.realpath(folder)}/.")):
            return True
    return False


def test_one_file(tmp_path):
    array = np.arange(300 * 7, dtype="f4").reshape(300, 7)
    safetensors.save_file({"w": array, "b": array[0].copy()}, tmp_path / "m.safetensors")
    summary = convert_model(tmp_path / "m.safetensors", "packed", tmp_path / "t.safetensors", rules={"w": "T(8,128)"})
    assert summary["written"] == str(tmp_path / "t.safetensors")
    tiles = safetensors.load_file(tmp_path / "t.safetensors")["w"]
    layout = "f32[300,7]{1,0:T(8,128)}"
    assert (relayout.copy(tiles, "f32[300,7]{1,0}", layout=layout) == array).all()
    with pytest.raises(OSError, match="cannot be"):
        convert_model(tmp_path / "none.safetensors", "packed", tmp_path / "t.safetensors")
    for code, word, arguments in [
        ("not_converted", "for rule: column 1", {"rule": "tpu:v9000"}),
        ("not_converted", "for jobs", {"rule": "packed", "jobs": 0}),
        ("not_converted", "no parts: part is for", {"rule": "packed", "part": (1, 2)}),
        ("not_converted", "matches the pattern `x` of rules", {"rule": "packed", "rules": {"x": "nhwc"}}),
        ("not_converted", "toaster", {"rule": "packed", "limits": "toaster"}),
        ("out_of_limits", "-1", {"rule": "packed", "jobs": -1}),
    ]:
        with pytest.raises(LayoutError, match=word) as refused:
            convert_model(tmp_path / "m.safetensors", out=tmp_path / "t.safetensors", **arguments)
        assert refused.value.code == code and "--" not in str(refused.value)


def test_a_recipe(tmp_path):
    """500 random lines against NumPy, and what is refused."""
    model, recipe, out = (tmp_path / name for name in ["m.safetensors", "recipe", "out.safetensors"])
    draw = random.Random(7)
    arrays, lines, expected = {}, [], {}

    def source(shape):
        name = f"t{len(arrays)}"
        arrays[name] = np.arange(np.prod(shape), dtype="u2").reshape(shape) + np.uint16(draw.randrange(60000))
        return name, arrays[name]

    for number in range(500):
        shape = [draw.randint(1, 6) for _ in range(draw.randint(1, 3))]
        axis = draw.randrange(len(shape))
        join = draw.choice(["cat", "stack"])
        parts = [source(shape) for _ in range(draw.randint(1, 4))]
        text = f"{join} {axis} ({', '.join(name for name, _ in parts)})"
        value = (np.concatenate if join == "cat" else np.stack)([part for _, part in parts], axis)
        # What was reshaped out of its order is not cut any more, so a reshape is the last step.
        steps = draw.sample(["permute", "slice", "shard", "reshape", "broadcast"], draw.randint(0, 3))
        for step in sorted(steps, key=lambda step: step == "reshape"):
            axis = draw.randrange(value.ndim)
            if step == "permute":
                axes = draw.sample(range(value.ndim), value.ndim)
                text, value = f"{text} | permute {','.join(map(str, axes))}", value.transpose(axes)
            elif step == "slice":
                pairs = [sorted((draw.randint(0, size), draw.randint(0, size))) for size in value.shape]
                text += f" | slice {','.join(f'{start}:{end}' for start, end in pairs)}"
                value = value[tuple(slice(start, end) for start, end in pairs)]
            elif step == "shard":
                share = -(-value.shape[axis] // 3)
                held = np.arange(value.shape[axis])[share : 2 * share]
                text, value = f"{text} | shard {axis}", value.take(held, axis)
            elif step == "reshape" and value.shape[axis] % 2 == 0 and value.size:
                sizes = (*value.shape[:axis], 2, value.shape[axis] // 2, *value.shape[axis + 1 :])
                text, value = f"{text} | reshape {','.join(map(str, sizes))}", value.reshape(sizes)
            elif step == "broadcast":
                sizes = (2, *value.shape)
                text, value = f"{text} | broadcast {','.join(map(str, sizes))}", np.broadcast_to(value, sizes)
        lines.append(f"out{number} = {text}")
        expected[f"out{number}"] = value
    safetensors.save_file(arrays, model)
    recipe.write_text("\n".join(lines))
    summary = convert_model(model, "packed", out, recipe=recipe, rank=(1, 3), align=256)
    assert (summary["outputs"], summary["written"]) == (500, str(out))
    found = safetensors.load_file(out)
    assert all((found[name] == value).all() and found[name].shape == value.shape for name, value in expected.items())
    recipe.write_text("x = cat 0 (t0, none)")
    with pytest.raises(LayoutError, match="the recipe, line 1, column 16: `x`: there is `t0`, and no source") as refused:
        convert_model(model, "packed", out, recipe=recipe)
    assert refused.value.code == "source_missing"
    recipe.write_text("x = t0 | reshape 60000")
    with pytest.raises(LayoutError, match="column 10") as refused:
        convert_model(model, "packed", out, recipe=recipe)
    assert refused.value.code == "element_count_mismatch"


def test_the_model_itself_is_not_overwritten(tmp_path):
    path = tmp_path / "m.safetensors"
    safetensors.save_file({"w": np.ones((3, 4), "f4")}, path)
    (tmp_path / "link").symlink_to(path)
    before = path.read_bytes()
    for out in [path, tmp_path / "link", tmp_path / "." / "m.safetensors"]:
        with pytest.raises(LayoutError, match="another name") as refused:
            convert_model(path, "tpu:v5e", out)
        assert refused.value.code == "same_file" and path.read_bytes() == before


def test_a_path_is_no_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    safetensors.save_file({"w": np.ones((3, 4), "f4")}, "-a.safetensors")
    assert convert_model("-a.safetensors", "packed", "-b.safetensors")["tensors"] == 1
    assert pathlib.Path("-b.safetensors").exists()


def test_what_limits_refuse_is_said(tmp_path):
    safetensors.save_file({"w": np.ones((0, 4), "f4")}, tmp_path / "m.safetensors")
    with pytest.raises(LayoutError, match="nothing was written, because WebGPU.*`w`"):
        convert_model(tmp_path / "m.safetensors", "packed", tmp_path / "t.safetensors", limits="webgpu")
    assert not (tmp_path / "t.safetensors").exists()


def test_parts_in_any_order(tmp_path):
    index = make_model(tmp_path / "model")
    convert_model(index, "tpu:v5e", tmp_path / "whole")
    assert convert_model(index, "tpu:v5e", tmp_path / "parts", part=(3, 3))["written"] is None
    assert convert_model(index, "tpu:v5e", tmp_path / "parts", part=(1, 3))["written"] is None
    assert convert_model(index, "tpu:v5e", tmp_path / "parts", part=(2, 3))["written"].endswith("index.json")
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def job(index, out, number, killed):
    """One part. The first run of job 5 is killed while its file is being written."""
    if number == 5 and not os.path.exists(killed):
        pathlib.Path(killed).touch()

        def kill():
            while not is_writing(out):
                time.sleep(0.0001)
            os.kill(os.getpid(), signal.SIGKILL)

        threading.Thread(target=kill, daemon=True).start()
        convert_model(index, "tpu:v5e", out, part=(number, PARTS))
        os.kill(os.getpid(), signal.SIGKILL)
    return convert_model(index, "tpu:v5e", out, part=(number, PARTS))["written"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the files that a process has open are listed on Linux")
def test_dask_converts_what_one_process_does(tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    index = make_model(tmp_path / "model")
    convert_model(index, "tpu:v5e", tmp_path / "whole")
    expected, out, killed = contents(tmp_path / "whole"), tmp_path / "dask", tmp_path / "killed"
    with (
        distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        futures = [client.submit(job, str(index), str(out), number, str(killed), retries=3, pure=False)
                   for number in range(1, PARTS + 1)]
        while not all(future.done() for future in futures):
            for name, data in contents(out).items() if out.exists() else ():
                assert data == expected[name], f"{name} has its name and is not complete"
            time.sleep(0.01)
        written = client.gather(futures)
    assert killed.exists() and any(written), "a worker was killed, and some job wrote the index"
    assert contents(out) == expected
