#!/usr/bin/env bash
# rosbags-image 0.10.4 and pypcd4 1.5.1 take the rows of a ROS message for packed, without an error. The
# message says how many bytes a row has, padding included: `step` of an image, `row_step` of a point cloud.
#
# Of an image the pixels are shifted by the padding of all rows above, and the last ones are missing. Of a
# cloud the padding becomes points at the origin, and there are more points than width times height; padding
# that is no whole points is refused. Padding inside points (`point_step`) is right. Seen for gray pixels 1 to
# 6 in 2 rows of 3, padded with 255, and for x of points 1 to 4 in 2 rows of 2, padded with zeros:
#   image, rows of 3 bytes: [[1, 2, 3], [4, 5, 6]]
#   image, rows of 4 bytes: [[1, 2, 3], [255, 4, 5]]
#   image, rows of 8 bytes: [[1, 2, 3], [255, 255, 255]]
#   cloud, points of 12 bytes, rows of 24: width 2, height 2, [1, 2, 3, 4]
#   cloud, points of 16 bytes, rows of 32: width 2, height 2, [1, 2, 3, 4]
#   cloud, points of 16 bytes, rows of 48: width 2, height 2, [1, 2, 0, 3, 4, 0]
#   cloud, points of 12 bytes, rows of 32: refused
#
# Exits with 1 if one of them does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet "rosbags-image[opencv-headless]==0.10.4" rosbags==0.11.9 pypcd4==1.5.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import sys

import numpy
import pypcd4
import rosbags.image
import rosbags.typesys.stores.latest as messages

header = messages.std_msgs__msg__Header(stamp=messages.builtin_interfaces__msg__Time(sec=0, nanosec=0), frame_id="")
right = True
for step, wanted in [(3, [[1, 2, 3], [4, 5, 6]]), (4, [[1, 2, 3], [255, 4, 5]]), (8, [[1, 2, 3], [255, 255, 255]])]:
    rows = numpy.full((2, step), 255, numpy.uint8)
    rows[:, :3] = [[1, 2, 3], [4, 5, 6]]
    seen = rosbags.image.image_to_cvimage(messages.sensor_msgs__msg__Image(
        header=header, height=2, width=3, encoding="mono8", is_bigendian=0, step=step, data=rows.ravel())).tolist()
    print(f"image, rows of {step} bytes: {seen}")
    right = right and seen == wanted

fields = [messages.sensor_msgs__msg__PointField(name=name, offset=4 * i, datatype=7, count=1) for i, name in enumerate("xyz")]
for point_step, row_step, wanted in [(12, 24, [1, 2, 3, 4]), (16, 32, [1, 2, 3, 4]), (16, 48, [1, 2, 0, 3, 4, 0]), (12, 32, None)]:
    rows = numpy.zeros((2, row_step), numpy.uint8)
    for i in range(4):
        column = i % 2 * point_step
        rows[i // 2, column:column + 12] = numpy.array([i + 1, 0, 0], numpy.float32).view(numpy.uint8)
    message = messages.sensor_msgs__msg__PointCloud2(
        header=header, height=2, width=2, fields=fields, is_bigendian=False, point_step=point_step, row_step=row_step,
        data=rows.ravel(), is_dense=True)
    try:
        cloud = pypcd4.PointCloud.from_msg(message)
        seen = cloud.numpy(["x"])[:, 0].astype(int).tolist()
        answer = f"width {cloud.metadata.width}, height {cloud.metadata.height}, {seen}"
    except ValueError:
        seen, answer = None, "refused"
    print(f"cloud, points of {point_step} bytes, rows of {row_step}: {answer}")
    right = right and seen == wanted
sys.exit(not right)
PYTHON
