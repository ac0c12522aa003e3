#!/usr/bin/env bash
# SwiftShader 5.0.0 (of Chromium 147, in @sparticuz/chromium 147.0.0): a compressed Vulkan image needs memory
# for its blocks and for all its texels beside them, 1 byte a texel for BC4, 2 for BC5, EAC R11 takes 2 and
# EAC RG11 4, BC6H 8, all others 4. The formats are reported as supported like any other.
#
# `vkGetImageSubresourceLayout` knows the blocks only, and its row pitch is one of blocks. A budget that adds
# up blocks is up to 17 times too small here. Seen for linear images of 16 x 16, bytes required, bytes of the
# subresource and its row pitch; images of optimal tiling require the same:
#   R8G8B8A8_UNORM: 1024, 1024, 64
#   BC1_RGB_UNORM_BLOCK: 1152, 128, 32
#   BC4_UNORM_BLOCK: 384, 128, 32
#   BC5_UNORM_BLOCK: 768, 256, 64
#   BC6H_UFLOAT_BLOCK: 2304, 256, 64
#   BC7_UNORM_BLOCK: 1280, 256, 64
#   EAC_R11_UNORM_BLOCK: 640, 128, 32
#   EAC_R11G11_UNORM_BLOCK: 1280, 256, 64
#   ETC2_R8G8B8_UNORM_BLOCK: 1152, 128, 32
#   ASTC_12x12_UNORM_BLOCK: 1088, 64, 32
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
usage = vulkan.VK_IMAGE_USAGE_TRANSFER_DST_BIT


def image(format, tiling):
    vulkan.vkGetPhysicalDeviceImageFormatProperties(card, format, vulkan.VK_IMAGE_TYPE_2D, tiling, usage, 0)
    made = vulkan.vkCreateImage(device, vulkan.VkImageCreateInfo(
        imageType=vulkan.VK_IMAGE_TYPE_2D, format=format, extent=vulkan.VkExtent3D(16, 16, 1), mipLevels=1, arrayLayers=1,
        samples=1, tiling=tiling, usage=usage), None)
    return made, vulkan.vkGetImageMemoryRequirements(device, made).size


expected = {
    "R8G8B8A8_UNORM": (1024, 1024, 64),
    "BC1_RGB_UNORM_BLOCK": (1152, 128, 32),
    "BC4_UNORM_BLOCK": (384, 128, 32),
    "BC5_UNORM_BLOCK": (768, 256, 64),
    "BC6H_UFLOAT_BLOCK": (2304, 256, 64),
    "BC7_UNORM_BLOCK": (1280, 256, 64),
    "EAC_R11_UNORM_BLOCK": (640, 128, 32),
    "EAC_R11G11_UNORM_BLOCK": (1280, 256, 64),
    "ETC2_R8G8B8_UNORM_BLOCK": (1152, 128, 32),
    "ASTC_12x12_UNORM_BLOCK": (1088, 64, 32),
}
seen = {}
for name in expected:
    format = getattr(vulkan, f"VK_FORMAT_{name}")
    linear, required = image(format, vulkan.VK_IMAGE_TILING_LINEAR)
    assert image(format, vulkan.VK_IMAGE_TILING_OPTIMAL)[1] == required
    part = vulkan.VkImageSubresource(aspectMask=vulkan.VK_IMAGE_ASPECT_COLOR_BIT, mipLevel=0, arrayLayer=0)
    layout = vulkan.vkGetImageSubresourceLayout(device, linear, part)
    seen[name] = (required, layout.size, layout.rowPitch)
    print("{}: {}, {}, {}".format(name, *seen[name]))
sys.exit(seen != expected)
PYTHON
