"use strict";
// One layout: its picture, the cell that is pointed at, its facts and its spellings.

const layoutPanel = {
  start() {
    this.picture = new Picture(element("picture"), (offset, index) => this.pick(offset, index));
    element("go").addEventListener("change", (event) => this.go(event.target.value.trim()));
    for (const button of document.querySelectorAll("[data-pan]")) {
      button.addEventListener("click", () => this.pan(button.dataset.pan.split(",").map(BigInt)));
    }
    element("save-svg").addEventListener("click", () => save.svg(this.picture.svg, state.now.layout));
    element("save-png").addEventListener("click", () => save.png(this.picture.svg, state.now.layout));
  },

  // Shows an index in brackets, or an offset: the picture of a large layout moves there.
  go(cell) {
    const { layout } = state.now;
    const answer = cell.startsWith("[") || cell.includes(",") ? crate.ask("place", layout, cell) : crate.ask("inverse", layout, cell);
    showError("go-error", cell, answer.error);
    if (answer.error) return;
    if (answer.index) this.moveTo(answer.index);
    this.showCell(answer.index ? `[${answer.index}]` : answer.offset);
    state.set("cell", answer.index ? `[${answer.index}]` : answer.offset);
  },

  moveTo(index) {
    state.set("around", index.join(","));
    this.picture.show(state.now.layout, state.now.around);
  },

  // Moves by 16 rows or columns, and stays inside.
  pan([rows, columns]) {
    const sizes = this.sizes.map(BigInt);
    const index = state.now.around === "" ? sizes.map(() => 0n) : state.now.around.split(",").map(BigInt);
    for (const [back, step] of [[2, rows], [1, columns]]) {
      const axis = sizes.length - back;
      if (axis < 0) continue;
      const to = index[axis] + 16n * step;
      index[axis] = to < 0n ? 0n : to >= sizes[axis] ? index[axis] : to;
    }
    this.moveTo(index);
  },

  // Returns the error of the layout, if it has one.
  show() {
    const layout = state.now.layout;
    const facts = crate.ask("describe", layout);
    if (facts.error) return facts.error;
    this.sizes = facts.sizes;
    if (layout !== this.picture.layout && this.picture.layout !== undefined) state.set("around", "");
    const error = this.picture.show(layout, state.now.around);
    // Only a picture of a part says what it shows.
    element("pan").hidden = !(this.picture.svg ?? "").includes("; shown: [");
    element("picture").querySelector(".refused")?.remove();
    if (error) element("picture").append(make("p", "refused", `No picture: ${error.message}`));
    this.facts(facts);
    this.notations(facts);
    this.showCell(state.now.cell);
    return null;
  },

  facts(facts) {
    const list = element("facts");
    list.replaceChildren();
    const add = (name, value) => list.append(make("dt", "", name), make("dd", "", value));
    const bits = `${facts.element_bits} ${facts.element_bits === 1 ? "bit" : "bits"} an element`;
    add("Sizes", `[${facts.sizes.join(", ")}], ${facts.data_type} in ${bits}`);
    const [logical, physical] = [BigInt(facts.logical_elements), BigInt(facts.physical_elements)];
    add("Elements", `${facts.logical_elements} logical, ${facts.physical_elements} physical`);
    add("Padding", physical > logical ? `${physical - logical} elements, ${percent(physical - logical, physical)} of the buffer`
      : physical < logical ? "none: elements share memory" : "none");
    add("The elements alone", bytesInWords(facts.logical_size_in_bytes));
    add("The whole buffer", bytesInWords(facts.physical_size_in_bytes));
    add("DirectML's minimum", bytesInWords(facts.min_size_in_bytes));
    if (facts.base_offset !== "0") add("Begins at element", facts.base_offset);
    add("Class", `${facts.class}: ${facts.class_words}`);
    const lowering = facts.lowering;
    if (lowering.strides) {
      const dims = lowering.dims ? `, dimensions [${lowering.dims.join(", ")}]` : "";
      add("Lowers to", `sizes [${lowering.sizes.join(", ")}], strides [${lowering.strides.join(", ")}]${dims}`);
    } else {
      add("Lowers to", "no strides: the index map says where elements are stored");
    }
    if (lowering.reason) add("Because", lowering.reason);
  },

  notations(facts) {
    const body = element("notations").tBodies[0];
    body.replaceChildren();
    // Notations that are refused for one reason share a row.
    const rows = [];
    for (const line of facts.notations) {
      const same = line.text === null && rows.find((row) => row.text === null && row.reason === line.reason);
      if (same) same.title += `, ${line.title}`;
      else rows.push({ ...line });
    }
    for (const line of rows) {
      const row = make("tr");
      const head = make("th", "", line.title);
      head.scope = "row";
      const known = line.text === null && line.reason === facts.lowering.reason;
      const cell = make("td", line.text === null ? "quiet" : "code", line.text ?? (known ? "not possible, for the reason above" : line.reason));
      row.append(head, cell);
      body.append(row);
    }
  },

  pick(offset, index) {
    const cell = index !== undefined ? `[${index}]` : offset;
    this.showCell(cell);
    state.set("cell", cell);
  },

  // A cell is an index in brackets, or an offset; nothing clears it.
  showCell(cell) {
    const place = element("cell");
    place.replaceChildren();
    this.picture.light([]);
    element("cell-hint").hidden = cell !== "";
    if (cell === "") return;
    const isIndex = cell.startsWith("[");
    const answer = isIndex ? crate.ask("place", state.now.layout, cell) : crate.ask("inverse", state.now.layout, cell);
    if (answer.error) {
      element("cell-hint").hidden = false;
      return;
    }
    this.picture.light([answer.offset]);
    const title = answer.padding ? `Offset ${answer.offset}: padding` : `Index [${answer.index.join(", ")}] at offset ${answer.offset}`;
    place.append(make("p", "cell-title", title));
    const steps = make("ol", "steps code");
    for (const step of answer.steps) steps.append(make("li", "", step));
    place.append(steps);
  },
};

function percent(part, whole) {
  const tenths = Number((part * 1000n) / whole) / 10;
  return `${tenths} %`;
}
