"use strict";
// Pictures: the crate's SVG, with cells that can be pointed at and lit.

class Picture {
  // `onCell` is told the cell that is pointed at: its offset, and its index if it is a cell of the tensor.
  constructor(place, onCell) {
    this.place = place;
    this.byOffset = new Map();
    this.lit = [];
    if (!onCell) return;
    const pick = (event) => {
      const cell = event.target.closest?.("g[data-offset]");
      if (cell) onCell(cell.dataset.offset, cell.dataset.index, cell);
    };
    place.addEventListener("mouseover", pick);
    place.addEventListener("focusin", pick);
    place.addEventListener("keydown", (event) => this.move(event));
    this.canFocus = true;
  }

  // Shows the layout, a large one around the index, or nothing if it has no picture. Returns the error, if there
  // is one.
  show(layout, around = "") {
    const shown = `${layout} ${around}`;
    if (shown === this.shown) return this.error;
    [this.layout, this.shown] = [layout, shown];
    const answer = around === "" ? crate.ask("picture", layout) : crate.ask("picture_around", layout, around);
    this.error = answer.error;
    this.byOffset.clear();
    this.lit = [];
    this.svg = answer.svg;
    // The page has dark colours of its own, which follow its button.
    this.place.innerHTML = (answer.svg ?? "").replace("(prefers-color-scheme:dark)", "not all");
    this.cells = [...this.place.querySelectorAll("g[data-offset]")];
    for (const cell of this.cells) {
      const { offset, index } = cell.dataset;
      if (!this.byOffset.has(offset)) this.byOffset.set(offset, []);
      this.byOffset.get(offset).push(cell);
      if (this.canFocus) {
        const label = cell.querySelector("text").textContent;
        const inMemory = label === "" ? "padding" : `index ${label}`;
        cell.setAttribute("role", "button");
        cell.setAttribute("aria-label", index !== undefined ? `index ${index} at offset ${offset}` : `offset ${offset}: ${inMemory}`);
        cell.tabIndex = -1;
      }
    }
    if (this.canFocus && this.cells.length > 0) this.cells[0].tabIndex = 0;
    const svg = this.place.querySelector("svg");
    if (svg) {
      svg.setAttribute("role", "group");
      svg.setAttribute("aria-label", `Picture of ${layout}`);
      // A picture that is a little too wide shrinks. One that would lose a quarter is scrolled, as its numbers would be too small.
      const width = Number(svg.getAttribute("width"));
      Object.assign(svg.style, { width: "100%", height: "auto", maxWidth: `${width}px`, minWidth: `${0.75 * width}px` });
    }
    return this.error;
  }

  // Lights all cells at these offsets, and no others.
  light(offsets) {
    for (const cell of this.lit) cell.classList.remove("lit");
    this.lit = offsets.flatMap((offset) => this.byOffset.get(String(offset)) ?? []);
    for (const cell of this.lit) cell.classList.add("lit");
  }

  // The arrow keys go to the nearest cell in their direction.
  move(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const from = event.target.closest?.("g[data-offset]");
    if (!step || !from) return;
    event.preventDefault();
    const middle = (cell) => {
      const rect = cell.querySelector("rect");
      return [Number(rect.getAttribute("x")) + Number(rect.getAttribute("width")) / 2, Number(rect.getAttribute("y"))];
    };
    const [x, y] = middle(from);
    let best = null;
    let least = Infinity;
    for (const cell of this.cells) {
      const [dx, dy] = [middle(cell)[0] - x, middle(cell)[1] - y];
      const along = dx * step[0] + dy * step[1];
      const across = Math.abs(dx * step[1]) + Math.abs(dy * step[0]);
      if (along > 1 && along + 4 * across < least) {
        least = along + 4 * across;
        best = cell;
      }
    }
    if (best) {
      from.tabIndex = -1;
      best.tabIndex = 0;
      best.focus();
    }
  }
}
