"use strict";
// Two layouts: the same or not, and the copy from one to the other, stepped run by run.

const pairPanel = {
  run: 0,
  timer: null,

  start() {
    this.source = new Picture(element("picture-source"));
    this.destination = new Picture(element("picture-destination"));
    element("other").addEventListener("input", (event) => {
      state.set("other", event.target.value);
      // An empty field stays empty as long as somebody types in it.
      this.show(event.target.value);
    });
    element("swap").addEventListener("click", () => {
      const { layout } = state.now;
      const other = element("other").value;
      if (other === "") return;
      state.now.layout = other;
      state.set("other", layout);
      showAll();
    });
    element("run-first").addEventListener("click", () => this.go(0));
    element("run-back").addEventListener("click", () => this.go(this.run - 1));
    element("run-next").addEventListener("click", () => this.go(this.run + 1));
    element("run-slider").addEventListener("input", (event) => this.go(Number(event.target.value)));
    element("run-pass").addEventListener("change", () => this.choosePass());
    element("run-play").addEventListener("click", () => (this.timer ? this.stop() : this.play()));
  },

  // Until somebody types another one, the second layout is proposed.
  show(typed) {
    this.stop();
    const { layout } = state.now;
    const other = typed ?? (state.now.other || this.proposed(layout));
    if (element("other").value !== other) element("other").value = other;
    element("runs").hidden = true;
    element("same").textContent = "";
    showError("other-error", other, null);
    if (other.trim() === "") {
      element("same").textContent = "Type a second layout of the same sizes.";
      return;
    }
    const read = crate.ask("describe", other);
    if (read.error) {
      showError("other-error", other, read.error);
      return;
    }
    const same = crate.ask("compare", layout, other);
    element("same").textContent = same.error ? same.error.message
      : same.same ? "The same: every element is stored at the same offset." : `Not the same: ${same.reason}.`;
    const copy = crate.ask("relayout", layout, other);
    if (copy.error) {
      element("same").textContent += ` No copy: ${copy.error.message}.`;
      return;
    }
    this.copy = copy;
    element("runs").hidden = false;
    element("explain").textContent = copy.explain.trimEnd();
    this.source.show(layout);
    this.destination.show(other);
    const passes = element("run-pass");
    passes.replaceChildren(...copy.passes.map((_, i) => make("option", "", `pass ${i + 1} of ${copy.passes.length}`)));
    passes.hidden = copy.passes.length === 1;
    this.choosePass();
  },

  // A second layout of the same type and sizes: packed rows, or another order of what is packed.
  proposed(layout) {
    const facts = crate.ask("describe", layout);
    if (facts.error) return "";
    const rank = facts.sizes.length;
    const sizes = `${facts.data_type}[${facts.sizes}]`;
    const turned = `${sizes}{${[...Array(rank).keys()]}}`;
    const choices = [sizes, rank === 4 ? `${sizes}:NHWC` : turned];
    return choices.find((other) => crate.ask("compare", layout, other).same === false) ?? sizes;
  },

  choosePass() {
    this.pass = this.copy.passes[Math.max(0, element("run-pass").selectedIndex)];
    const { nests, boxes } = this.pass;
    const shown = nests.map((nest) => nestInWords(nest)).join("\n");
    const more = BigInt(boxes) - BigInt(nests.length);
    element("nests").textContent = shown + (more > 0n ? `\n... and ${more} more boxes` : "");
    element("run-slider").max = Math.max(0, this.pass.runs.length - 1);
    this.go(0);
  },

  // Lights run `run` on both sides. A pass into or out of a buffer in between has a picture on one side only.
  go(run) {
    const runs = this.pass.runs;
    this.run = Math.min(Math.max(run, 0), Math.max(0, runs.length - 1));
    element("run-slider").value = this.run;
    const { first, last } = this.pass;
    if (runs.length === 0) {
      element("run-words").textContent = "There is nothing to copy.";
      return;
    }
    const [source, destination, length] = runs[this.run];
    const span = (start) => (length === "1" ? `element ${start}` : `elements ${start} to ${BigInt(start) + BigInt(length) - 1n}`);
    element("run-words").textContent =
      `run ${this.run + 1}${runs.length === 256 ? " of the first 256" : ` of ${runs.length}`}: ${span(source)} of the source to ${span(destination)} of the destination`;
    const offsets = (start) => {
      const list = [];
      for (let i = 0n; i < BigInt(length) && i < 1024n; i += 1n) list.push(BigInt(start) + i);
      return list;
    };
    this.source.light(first ? offsets(source) : []);
    this.destination.light(last ? offsets(destination) : []);
  },

  play() {
    if (this.run + 1 >= this.pass.runs.length) this.go(0);
    element("run-play").textContent = "⏸ Pause";
    this.timer = setInterval(() => {
      if (this.run + 1 >= this.pass.runs.length) this.stop();
      else this.go(this.run + 1);
    }, 400);
  },

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    element("run-play").textContent = "▶ Play";
  },
};

// `for i in 0..2: source +1600, destination +2048`, one loop inside the other.
function nestInWords(nest) {
  const lines = [`from element ${nest.source} to element ${nest.destination}`];
  nest.loops.forEach((loop, depth) => {
    const strides = loop.table ? "offsets from a table" : `source ${loop.source.startsWith("-") ? "" : "+"}${loop.source}, destination +${loop.destination}`;
    lines.push(`${"  ".repeat(depth + 1)}loop of ${loop.extent}: ${strides}`);
  });
  return lines.join("\n");
}
