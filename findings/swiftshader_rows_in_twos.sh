#!/usr/bin/env bash
# SwiftShader 5.0.0 (of Chromium 147, in @sparticuz/chromium 147.0.0): the rows of a linear Vulkan image are
# rounded up to two texels, and so is their number. An image of one texel has two in a row and two rows.
#
# A row pitch is thus no multiple of 4 or 64 bytes as on other devices, and not the texels' bytes either. Seen,
# row pitch and bytes required, where sizes are rounded up to 16 bytes:
#   R8_UNORM, 1 x 1: pitch 2, 16 bytes
#   R8_UNORM, 5 x 3: pitch 6, 32 bytes
#   R8_UNORM, 17 x 9: pitch 18, 192 bytes
#   R8G8B8A8_UNORM, 17 x 9: pitch 72, 720 bytes
#   R32G32B32A32_SFLOAT, 1 x 1: pitch 32, 64 bytes
#
# Exits with 1 if SwiftShader does something else. Needs Linux on x86-64, Python 3.8 and Node 20.11 or later. No
# GPU is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet vulkan==1.3.275.1
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts @sparticuz/chromium@147.0.0
node -e 'const file = require("fs").readFileSync("node_modules/@sparticuz/chromium/bin/swiftshader.tar.br");
process.stdout.write(require("zlib").brotliDecompressSync(file))' | tar x
LD_LIBRARY_PATH="$folder" VK_ICD_FILENAMES="$folder/vk_swiftshader_icd.json" "$folder/env/bin/python" - <<'PYTHON'
import sys

import vulkan

instance = vulkan.vkCreateInstance(vulkan.VkInstanceCreateInfo(), None)
card = vulkan.vkEnumeratePhysicalDevices(instance)[0]
found = vulkan.vkGetPhysicalDeviceProperties(card)
assert found.deviceName.startswith("SwiftShader") and found.driverVersion == 5 << 22
queue = vulkan.VkDeviceQueueCreateInfo(queueFamilyIndex=0, pQueuePriorities=[1.0])
device = vulkan.vkCreateDevice(card, vulkan.VkDeviceCreateInfo(pQueueCreateInfos=[queue]), None)
usage = vulkan.VK_IMAGE_USAGE_TRANSFER_DST_BIT | vulkan.VK_IMAGE_USAGE_SAMPLED_BIT


tiling, kind = vulkan.VK_IMAGE_TILING_LINEAR, vulkan.VK_IMAGE_TYPE_2D
part = vulkan.VkImageSubresource(aspectMask=vulkan.VK_IMAGE_ASPECT_COLOR_BIT, mipLevel=0, arrayLayer=0)
seen = []
for name, *sizes in [("R8_UNORM", 1, 1), ("R8_UNORM", 5, 3), ("R8_UNORM", 17, 9), ("R8G8B8A8_UNORM", 17, 9),
                     ("R32G32B32A32_SFLOAT", 1, 1)]:
    format = getattr(vulkan, f"VK_FORMAT_{name}")
    vulkan.vkGetPhysicalDeviceImageFormatProperties(card, format, kind, tiling, usage, 0)
    image = vulkan.vkCreateImage(device, vulkan.VkImageCreateInfo(
        imageType=kind, format=format, extent=vulkan.VkExtent3D(*sizes, 1), mipLevels=1, arrayLayers=1, samples=1,
        tiling=tiling, usage=usage), None)
    pitch = vulkan.vkGetImageSubresourceLayout(device, image, part).rowPitch
    seen.append((pitch, vulkan.vkGetImageMemoryRequirements(device, image).size))
    print("{}, {} x {}: pitch {}, {} bytes".format(name, *sizes, *seen[-1]))
sys.exit(seen != [(2, 16), (6, 32), (18, 192), (72, 720), (32, 64)])
PYTHON
