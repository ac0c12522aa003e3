#!/usr/bin/env bash
# ros2-numpy 0.0.5, of a cloud of points of ROS: x, y and z are taken from the first 12 bytes of a point as
# float32, whatever the fields say, and colour and intensity from the byte whose number is the field's place in
# the list: the fourth field, number 3, begins at byte 3, the last one of x. There is no error.
#
# The message names offset and type of each field. The messages are those of rosbags 0.11.9, through which
# ros2-numpy is run without ROS. Seen for a point of x, y, z = 1, 3, 5, colour 0x0a6ec8 and intensity 7:
#   x, y, z, rgb, intensity: xyz [1.0, 3.0, 5.0], rgb [0, 0, 63], intensity [0]
#   x, y, z as float64: xyz [0.0, 1.875, 0.0]
#   intensity, x, y, z: xyz [9.809e-45, 2.278e-41, 2.305e-41], intensity [7]
#   x, y, z, intensity as float32: xyz [1.0, 3.0, 5.0], intensity [63]
#
# Exits with 1 if ros2-numpy does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet rosbags==0.11.9 numpy==2.4.6
venv/bin/pip install --quiet --no-deps ros2-numpy==0.0.5
cat > messages.py <<'PYTHON'
import sys
import types

import numpy
from rosbags.typesys import Stores, get_typestore

# The modules of ROS that ros2-numpy imports, made of the types that rosbags knows. One of them is for poses.
types_of_ros = get_typestore(Stores.ROS2_JAZZY).types
for package in ["sensor_msgs", "geometry_msgs", "nav_msgs"]:
    module = types.ModuleType(f"{package}.msg")
    for name, kind in types_of_ros.items():
        if name.startswith(f"{package}/msg/"):
            setattr(module, name.split("/")[-1], kind)
    sys.modules |= {package: types.ModuleType(package), f"{package}.msg": module}
sys.modules["transformations"] = types.ModuleType("transformations")

import ros2_numpy
from sensor_msgs.msg import PointCloud2, PointField

header = types_of_ros["std_msgs/msg/Header"](stamp=types_of_ros["builtin_interfaces/msg/Time"](0, 0), frame_id="")
CODES = {"u2": 4, "u4": 6, "f4": 7, "f8": 8}
VALUES = {"x": 1, "y": 3, "z": 5, "rgb": 0x0a6ec8, "intensity": 7}


def cloud(fields):
    point = numpy.zeros(1, [(name, f"<{kind}") for name, kind in fields])
    for name, _ in fields:
        point[name] = VALUES[name]
    described = [PointField(name=name, offset=point.dtype.fields[name][1], datatype=CODES[kind], count=1) for name, kind in fields]
    size = point.dtype.itemsize
    message = PointCloud2(header=header, height=1, width=1, fields=described, is_bigendian=False, point_step=size, row_step=size,
                          data=numpy.frombuffer(point.tobytes(), "u1"), is_dense=True)
    return ros2_numpy.numpify(message)


def rounded(values):
    return [float(f"{value:.4g}") if isinstance(value, float) else value for value in values.tolist()]


seen = []
for text, fields in [("x, y, z, rgb, intensity", [("x", "f4"), ("y", "f4"), ("z", "f4"), ("rgb", "u4"), ("intensity", "u2")]),
                     ("x, y, z as float64", [("x", "f8"), ("y", "f8"), ("z", "f8")]),
                     ("intensity, x, y, z", [("intensity", "u2"), ("x", "f4"), ("y", "f4"), ("z", "f4")]),
                     ("x, y, z, intensity as float32", [("x", "f4"), ("y", "f4"), ("z", "f4"), ("intensity", "f4")])]:
    read = ", ".join(f"{name} {rounded(values[0])}" for name, values in cloud(fields).items())
    seen.append(f"{text}: {read}")
print("\n".join(seen))
sys.exit(seen != [
    "x, y, z, rgb, intensity: xyz [1.0, 3.0, 5.0], rgb [0, 0, 63], intensity [0]",
    "x, y, z as float64: xyz [0.0, 1.875, 0.0]",
    "intensity, x, y, z: xyz [9.809e-45, 2.278e-41, 2.305e-41], intensity [7]",
    "x, y, z, intensity as float32: xyz [1.0, 3.0, 5.0], intensity [63]",
])
PYTHON
venv/bin/python messages.py
