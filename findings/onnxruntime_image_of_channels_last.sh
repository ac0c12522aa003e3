#!/usr/bin/env bash
# onnxruntime-common 1.30.0: `toImageData` and `toDataURL` of a `Tensor` take `tensorLayout: "NHWC"` for the sizes
# alone and read the elements as planes, without an error. The first gives mixed pixels, the second a picture that
# is black all over and as wide as there are channels.
#
# `fromImage` refuses that layout. The format BGR, which `fromImage` gives, is taken by both and read as RGB, so
# red and blue are exchanged on the way back. Seen for 2 rows of 4 pixels 0, 10, 20 and 30, 40, 50 and so on,
# columns x rows and the first two pixels:
#   toImageData NCHW: 4 x 2, [0,10,20], [30,40,50]
#   toImageData NHWC: 4 x 2, [0,80,160], [10,90,170]
#   toDataURL NCHW: 4 x 2, [0,10,20], [30,40,50]
#   toDataURL NHWC: 3 x 4, all black
#   fromImage NHWC: NHWC Tensor layout is not supported yet
#   fromImage BGR, toImageData BGR: 4 x 2, [20,10,0], [50,40,30]
#   fromImage BGR, toDataURL BGR: 4 x 2, [20,10,0], [50,40,30]
#
# Exits with 1 if onnxruntime-common does something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --no-save --ignore-scripts onnxruntime-common@1.30.0 @napi-rs/canvas@1.1.1
cat > image.mjs <<'JS'
import { createCanvas, ImageData, loadImage } from "@napi-rs/canvas";
import { Tensor } from "onnxruntime-common";

globalThis.ImageData = ImageData;
globalThis.document = { createElement: () => createCanvas(1, 1) };
globalThis.HTMLCanvasElement = createCanvas(1, 1).constructor;
globalThis.OffscreenCanvas = class {
  static [Symbol.hasInstance]() {
    return true;
  }
};

const [rows, columns] = [2, 4];
const samples = Array.from({ length: rows * columns * 3 }, (_, sample) => 10 * sample);
const planes = [0, 1, 2].flatMap((channel) => samples.filter((_, sample) => sample % 3 === channel));
const floats = (values) => Float32Array.from(values, (value) => value / 255);
const nchw = new Tensor("float32", floats(planes), [1, 3, rows, columns]);
const nhwc = new Tensor("float32", floats(samples), [1, rows, columns, 3]);
const pixels = samples.flatMap((sample, at) => (at % 3 === 2 ? [sample, 255] : [sample]));
const picture = new ImageData(Uint8ClampedArray.from(pixels), columns, rows);

const told = ({ data, width, height }) => {
  const [first, second] = [0, 4].map((at) => JSON.stringify(Array.from(data.slice(at, at + 3))));
  const black = data.every((sample, at) => at % 4 === 3 || sample === 0);
  return `${width} x ${height}, ${black ? "all black" : `${first}, ${second}`}`;
};
const imageData = (tensor, options) => told(tensor.toImageData(options));
const dataUrl = async (tensor, options) => {
  const image = await loadImage(tensor.toDataURL(options));
  const context = createCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  return told(context.getImageData(0, 0, image.width, image.height));
};
const fromImage = (options) => Tensor.fromImage(picture, options);

const plain = "4 x 2, [0,10,20], [30,40,50]";
const exchanged = "4 x 2, [20,10,0], [50,40,30]";
let right = true;
for (const [title, wanted, make] of [
  ["toImageData NCHW", plain, () => imageData(nchw)],
  ["toImageData NHWC", "4 x 2, [0,80,160], [10,90,170]", () => imageData(nhwc, { tensorLayout: "NHWC", format: "RGB" })],
  ["toDataURL NCHW", plain, () => dataUrl(nchw)],
  ["toDataURL NHWC", "3 x 4, all black", () => dataUrl(nhwc, { tensorLayout: "NHWC" })],
  ["fromImage NHWC", "NHWC Tensor layout is not supported yet", () => fromImage({ tensorLayout: "NHWC" })],
  ["fromImage BGR, toImageData BGR", exchanged, async () => imageData(await fromImage({ tensorFormat: "BGR" }), { format: "BGR" })],
  ["fromImage BGR, toDataURL BGR", exchanged, async () => dataUrl(await fromImage({ tensorFormat: "BGR" }), { format: "BGR" })],
]) {
  const seen = await Promise.resolve().then(make).catch((error) => error.message);
  console.log(`${title}: ${seen}`);
  right &&= seen === wanted;
}
process.exit(right ? 0 : 1);
JS
node image.mjs
