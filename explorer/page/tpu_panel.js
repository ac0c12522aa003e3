"use strict";
// What a TPU compiler picks for bare sizes, and what it costs.

const tpuPanel = {
  start() {
    for (const [id, key] of [["tpu-sizes", "sizes"], ["tpu-generation", "tpu"]]) {
      element(id).addEventListener("input", (event) => {
        state.set(key, event.target.value);
        this.show();
      });
    }
    element("tpu-open").addEventListener("click", () => {
      state.now.layout = this.layout;
      state.now.cell = "";
      state.set("tab", "layout");
      showAll();
    });
  },

  show() {
    const { tpu } = state.now;
    // Until somebody types others, the type and sizes are those of the layout.
    const facts = crate.ask("describe", state.now.layout);
    const own = facts.error ? "f32[8,8,3]" : `${facts.data_type}[${facts.sizes}]`;
    const sizes = state.now.sizes || own;
    if (element("tpu-sizes").value !== sizes) element("tpu-sizes").value = sizes;
    element("tpu-generation").value = tpu;
    const answer = crate.ask("tpu", sizes, tpu);
    showError("tpu-error", sizes, answer.error);
    const body = element("tpu-table").tBodies[0];
    body.replaceChildren();
    element("tpu-words").textContent = "";
    element("tpu-open").hidden = Boolean(answer.error);
    if (answer.error) return;
    this.layout = answer.layout;
    const [rows, tiles] = [BigInt(answer.row_major_bytes), BigInt(answer.bytes)];
    const most = rows > tiles ? rows : tiles;
    for (const [name, layout, bytes] of [["row-major", answer.row_major, answer.row_major_bytes], [`TPU ${tpu}`, answer.layout, answer.bytes]]) {
      const row = make("tr");
      const head = make("th", "", name);
      head.scope = "row";
      const bar = make("td");
      const fill = make("div", "bar");
      fill.style.width = most === 0n ? "0" : `${Math.max(0.5, Number((BigInt(bytes) * 1000n) / most) / 10)}%`;
      bar.append(fill, make("span", "", bytesInWords(bytes)));
      row.append(head, make("td", "code", layout), bar);
      body.append(row);
    }
    const times = rows === 0n ? 1 : Number((tiles * 100n) / rows) / 100;
    element("tpu-words").textContent = tiles === rows ? "No byte is lost to padding."
      : `${times} times its size: the tiles are padded.`;
  },
};
