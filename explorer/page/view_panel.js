"use strict";
// Views: reshape, permute, slice and broadcast, step by step.

const viewPanel = {
  start() {
    this.picture = new Picture(element("picture-view"));
    element("steps").addEventListener("input", (event) => {
      state.set("steps", event.target.value);
      this.show(event.target.value);
    });
    element("view-open").addEventListener("click", () => {
      state.now.layout = this.layout;
      state.now.cell = "";
      state.set("steps", "");
      showAll();
    });
  },

  // Something to begin with: axes in the other order.
  proposed(layout) {
    const facts = crate.ask("describe", layout);
    const rank = facts.error ? 0 : facts.sizes.length;
    return rank === 0 ? "" : rank === 1 ? "reshape 1,-1" : `permute ${[...Array(rank).keys()].reverse()}`;
  },

  show(typed) {
    const { layout } = state.now;
    const steps = typed ?? (state.now.steps || this.proposed(layout));
    if (element("steps").value !== steps) element("steps").value = steps;
    const answer = crate.ask("view", layout, steps);
    const lines = steps.split("\n").map((line) => line.trim()).filter((line) => line !== "");
    element("view-result").textContent = "";
    element("view-open").hidden = true;
    if (answer.error) {
      const line = lines[answer.step] ?? "";
      const [name] = line.split(" ", 1);
      const argument = line.slice(name.length + 1);
      const wrongName = answer.error.message.startsWith("expected a view");
      showError("steps-error", wrongName ? name : argument, answer.error);
      element("picture-view").replaceChildren();
      this.picture.layout = undefined;
      return;
    }
    showError("steps-error", "", null);
    const written = answer.layout ?? `a view of class ${answer.class}, for which there is no text`;
    element("view-result").textContent = `${written}   (${answer.class})`;
    this.layout = answer.layout;
    element("view-open").hidden = !answer.layout || lines.length === 0;
    if (answer.layout) this.picture.show(answer.layout);
    else element("picture-view").replaceChildren();
  },
};
