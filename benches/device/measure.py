"""Runs the CUDA texts of the kit: checks the bytes of every case, times it beside a plain copy, torch and cupy, and prints
one table. `benches/device/run` calls it.

Without a GPU it says so, and checks that the kit is whole."""
import csv
import ctypes
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUDGET = 150  # seconds
QUICK = "--quick" in sys.argv


def cases(mode):
    with open(os.path.join(HERE, mode, "cases.json")) as file:
        all_cases = json.load(file)
    for case in all_cases:
        with open(os.path.join(HERE, mode, case["file"])) as file:
            case["text"] = file.read()
        for launch in case["passes"]:
            assert launch["entry"] + "(" in case["text"], case["name"]
    return [case for case in all_cases if not QUICK or case["size"] in ("small", "tiny", "planes")]


def wgsl_times():
    times = {}
    path = os.path.join(HERE, "wgpu.csv")
    if os.path.exists(path):
        with open(path) as file:
            lines = [line for line in file if not line.startswith("#")]
        for row in csv.DictReader(lines):
            times[row["size"] + "/" + row["case"]] = float(row["share"])
    return times


def without_device(reason):
    count = {mode: len(cases(mode)) for mode in ("constants", "uniforms")}
    print(f"no device: {reason}. The kit is whole: {count['constants']} cases, and {count['uniforms']} with sizes as uniforms")
    for name, share in sorted(wgsl_times().items()):
        print(f"{name:<40} WGSL {share:.3f} of a copy")
    with open(os.path.join(HERE, "results.json"), "w") as file:
        json.dump({"card": None, "reason": reason, "cases": [], "wgsl": wgsl_times()}, file, indent=1)


def main():
    try:
        import cupy
        cupy.cuda.runtime.getDeviceCount()
        if cupy.cuda.runtime.getDeviceCount() == 0:
            raise RuntimeError("there are no devices")
    except Exception as error:  # noqa: BLE001: whatever is missing is said
        return without_device(str(error).splitlines()[0])
    try:
        import torch
        torch.zeros(1, device="cuda")
    except Exception as error:  # noqa: BLE001
        print(f"without torch: {error}")
        torch = None
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    card = properties["name"].decode()
    print(f"card: {card}; cupy {cupy.__version__}, torch {torch.__version__ if torch else 'missing'}")
    begin, results, wrong, wgsl = time.time(), [], 0, wgsl_times()
    uniforms = {(case["size"], case["name"]): case for case in cases("uniforms")}
    order = {"large": 0, "nvidia": 1, "named": 2, "unaligned": 3}
    for case in sorted(cases("constants"), key=lambda case: order.get(case["size"], 9)):
        if time.time() - begin > BUDGET:
            print("out of time: the rest was left out")
            break
        result = measure(cupy, torch, case, uniforms[case["size"], case["name"]])
        result["wgsl"] = wgsl.get(result["name"])
        wrong += not result["equal"]
        results.append(result)
        print(line(result))
    shares = [result["share"] for result in results if result["name"].startswith("large/")]
    mean = 1.0
    for share in shares:
        mean *= share ** (1 / len(shares))
    print(f"large: geometric mean {mean:.3f} of a copy, {len(shares)} cases; {wrong} cases with other bytes")
    for result in sorted(results, key=lambda result: result["share"])[:3]:
        print("worst: " + line(result))
    with open(os.path.join(HERE, "results.json"), "w") as file:
        json.dump({"card": card, "date": time.strftime("%Y-%m-%d"), "mean_large": mean, "cases": results}, file, indent=1)
    sys.exit(wrong > 0)


def line(result):
    def share(name):
        value = result.get(name)
        return f"{value:7.3f}" if value else "      -"
    own = "equal" if result["equal"] else "WRONG"
    peers = " ".join(f"{name} {share(name)}" for name in ("share", "uniforms", "wgsl", "torch", "cupy", "cutensor"))
    return f"{result['name']:<40} {result['form']:<11} {own} {result['gigabytes']:8.0f} GB/s  {peers}"


def timed(cupy, run, rounds=15):
    """The median of the seconds that it takes on the device."""
    run()
    seconds = []
    for _ in range(rounds):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        run()
        end.record()
        end.synchronize()
        seconds.append(cupy.cuda.get_elapsed_time(start, end) / 1000)
    return sorted(seconds)[len(seconds) // 2]


def launcher(cupy, case, source, destination):
    import numpy
    module = cupy.RawModule(code=case["text"], backend="nvrtc")
    launches = []
    for launch in case["passes"]:
        kernel = module.get_function(launch["entry"])
        pointers = []
        if launch["source"]:
            pointers.append(source.data.ptr + launch["source"][0])
        pointers.append(destination.data.ptr + launch["destination"][0])
        # By value: one element of a structured type, as cupy's own examples of structs pass it.
        struct_type = numpy.dtype([(f"word{i}", numpy.uint32) for i in range(len(launch["uniforms"]))])
        uniforms = numpy.array(launch["uniforms"], dtype=numpy.uint32).view(struct_type)
        arguments = tuple(numpy.uint64(pointer) for pointer in pointers) + (uniforms,)
        launches.append((kernel, tuple(launch["blocks"]), tuple(launch["threads"]), arguments))

    def run():
        for kernel, blocks, threads, arguments in launches:
            kernel(blocks, threads, arguments)
    return run


def measure(cupy, torch, case, uniform_case):
    words = lambda size: -(-size // 4)  # noqa: E731
    source = cupy.arange(words(case["source_bytes"]), dtype=cupy.uint32) * cupy.uint32(2654435761)
    destination = cupy.zeros(words(case["destination_bytes"]), dtype=cupy.uint32)
    half = (min(case["source_bytes"], case["moved_bytes"]) + case["moved_bytes"]) // 2
    copied, copy = cupy.zeros(half, dtype=cupy.uint8), cupy.empty(half, dtype=cupy.uint8)
    plain = timed(cupy, lambda: copy.data.copy_from_device_async(copied.data, half, cupy.cuda.Stream.null))
    result = {"name": case["size"] + "/" + case["name"], "form": case["form"], "equal": True}
    for name, of in (("share", case), ("uniforms", uniform_case)):
        destination.fill(0)
        run = launcher(cupy, of, source, destination)
        run()
        weights = cupy.arange(destination.size, dtype=cupy.uint64) * cupy.uint64(2) + cupy.uint64(1)
        total = int((destination.astype(cupy.uint64) * weights).sum(dtype=cupy.uint64))
        del weights
        result["equal"] &= f"{total:016x}" == case["checksum"]
        seconds = timed(cupy, run)
        result[name] = plain / seconds
        if name == "share":
            result["seconds"], result["gigabytes"] = seconds, 2 * half / seconds / 1e9
    box = case["box"]
    if box and box["bytes"] <= 8:
        peers(cupy, torch, box, source, destination, plain, result)
    return result


def peers(cupy, torch, box, source, destination, plain, result):
    """The same copy by others, as one strided copy. Whatever they refuse is left out."""
    kind = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}[box["bytes"]]
    size = box["bytes"]
    try:
        def view(array, strides, offset):
            memory = cupy.ndarray(array.nbytes // size, dtype=kind, memptr=array.data)
            pointer = memory.data + offset * size
            return cupy.ndarray(tuple(box["sizes"]), dtype=kind, memptr=pointer, strides=tuple(s * size for s in strides))
        from_view = view(source, box["source"], box["source_offset"])
        to_view = view(destination, box["destination"], box["destination_offset"])
        packed = list(box["destination"]) == packed_strides(box["sizes"])
        ask = (lambda: cupy.ascontiguousarray(from_view)) if packed else (lambda: cupy.copyto(to_view, from_view))
        result["cupy"] = plain / timed(cupy, ask)
    except Exception as error:  # noqa: BLE001
        result["cupy_refuses"] = str(error).splitlines()[0]
    if size == 4 and min(box["source"] + box["destination"], default=0) >= 0:
        try:
            result["cutensor"] = plain / timed(cupy, cutensor_copy(cupy, box, source, destination))
        except Exception as error:  # noqa: BLE001
            result["cutensor_refuses"] = str(error).splitlines()[0]
    if torch is None or min(box["source"], default=0) < 0:
        return
    try:
        kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        def tensor(array, strides, offset):
            flat = torch.as_tensor(array.view(cupy.uint8), device="cuda")[: array.nbytes // size * size].view(kinds[size])
            return flat.as_strided(box["sizes"], strides, offset)
        from_tensor = tensor(source, box["source"], box["source_offset"])
        to_tensor = tensor(destination, box["destination"], box["destination_offset"])
        stream = torch.cuda.ExternalStream(cupy.cuda.get_current_stream().ptr)
        with torch.cuda.stream(stream):
            result["torch"] = plain / timed(cupy, lambda: to_tensor.copy_(from_tensor))
    except Exception as error:  # noqa: BLE001
        result["torch_refuses"] = str(error).splitlines()[0]


def cutensor_copy(cupy, box, source, destination):
    """The permutation of words by cuTENSOR 2, called through its C interface."""
    library = ctypes.CDLL("libcutensor.so.2")
    compute = ctypes.c_void_p.in_dll(library, "CUTENSOR_COMPUTE_DESC_32F")
    float32, identity, default, no_just_in_time = 0, 1, -1, 0
    rank = len(box["sizes"])

    def call(name, *arguments):
        status = getattr(library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} says {status}")

    def created(name, *arguments):
        handle = ctypes.c_void_p()
        call(name, *arguments[:1], ctypes.byref(handle), *arguments[1:])
        return handle

    cutensor, modes = created("cutensorCreate"), (ctypes.c_int32 * rank)(*range(rank))
    extents = (ctypes.c_int64 * rank)(*box["sizes"])
    sides = []
    for strides in (box["source"], box["destination"]):
        steps = (ctypes.c_int64 * rank)(*strides)
        sides.append(created("cutensorCreateTensorDescriptor", cutensor, ctypes.c_uint32(rank), extents, steps, float32, ctypes.c_uint32(4)))
    operation = created("cutensorCreatePermutation", cutensor, sides[0], modes, identity, sides[1], modes, compute)
    preference = created("cutensorCreatePlanPreference", cutensor, default, no_just_in_time)
    plan = created("cutensorCreatePlan", cutensor, operation, preference, ctypes.c_uint64(0))
    one = ctypes.c_float(1)
    buffers = [ctypes.c_void_p(array.data.ptr + 4 * box[offset])
               for array, offset in ((source, "source_offset"), (destination, "destination_offset"))]
    stream = ctypes.c_void_p(cupy.cuda.get_current_stream().ptr)
    return lambda: call("cutensorPermute", cutensor, plan, ctypes.byref(one), *buffers, stream)


def packed_strides(sizes):
    strides, step = [], 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    return strides


if __name__ == "__main__":
    main()
