"use strict";
// Pictures as files.

const save = {
  // A name that every file system takes: f32_3_5_1_0_T_2_2.svg.
  name(layout, ending) {
    return `${layout.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_|_$/g, "").slice(0, 80)}.${ending}`;
  },

  file(blob, name) {
    const link = make("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  },

  svg(svg, layout) {
    if (svg) save.file(new Blob([svg], { type: "image/svg+xml" }), save.name(layout, "svg"));
  },

  // Twice as many pixels as the picture has units, so that small numbers can be read.
  async png(svg, layout) {
    if (!svg) return;
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = make("canvas");
    [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    pen.drawImage(image, 0, 0);
    canvas.toBlob((blob) => save.file(blob, save.name(layout, "png")), "image/png");
  },
};
