"use strict";
// The page: the layout that all panels look at, the tabs, the theme.

const PANELS = { layout: layoutPanel, pair: pairPanel, view: viewPanel, upload: uploadPanel, tpu: tpuPanel };

// Shows the state anew: the field, its error, and the panel in front.
function showAll() {
  const { layout, tab } = state.now;
  const field = element("layout");
  if (field.value !== layout) field.value = layout;
  const front = PANELS[tab] ? tab : "layout";
  for (const name of Object.keys(PANELS)) {
    const button = element(`tab-${name}`);
    button.setAttribute("aria-selected", String(name === front));
    button.tabIndex = name === front ? 0 : -1;
    element(`panel-${name}`).hidden = name !== front;
  }
  const { error } = front === "layout" ? { error: layoutPanel.show() } : crate.ask("describe", layout);
  showError("layout-error", layout, error);
  field.setAttribute("aria-invalid", String(Boolean(error)));
  // A panel keeps its last picture while the layout does not read.
  document.title = `${layout} · tensor-layout explorer`;
  document.body.classList.toggle("stale", Boolean(error) && front !== "tpu");
  if (front !== "layout" && (!error || front === "tpu")) PANELS[front].show();
}

function setTheme() {
  const wanted = state.now.theme;
  const dark = wanted ? wanted === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

async function start() {
  state.read();
  setTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", setTheme);
  try {
    await crate.start();
  } catch (fault) {
    showError("layout-error", "", { message: `This browser cannot run the page: ${fault.message}` });
    return;
  }
  for (const panel of Object.values(PANELS)) panel.start();

  element("layout").addEventListener("input", (event) => {
    state.now.cell = "";
    state.set("layout", event.target.value);
    showAll();
  });
  const names = Object.keys(PANELS);
  for (const [place, name] of names.entries()) {
    const button = element(`tab-${name}`);
    const choose = (tab) => {
      state.set("tab", tab);
      showAll();
    };
    button.addEventListener("click", () => choose(name));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const next = names[(place + step + names.length) % names.length];
      choose(next);
      element(`tab-${next}`).focus();
    });
  }
  const examples = element("example");
  EXAMPLES.forEach(([name], number) => {
    const option = make("option", "", name);
    option.value = number;
    examples.append(option);
  });
  examples.addEventListener("change", () => {
    if (examples.value === "") return;
    Object.assign(state.now, state.defaults, { theme: state.now.theme }, EXAMPLES[examples.value][1]);
    examples.value = "";
    state.write();
    showAll();
  });
  element("theme").addEventListener("click", () => {
    state.set("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    setTheme();
  });
  element("link").addEventListener("click", async () => {
    const button = element("link");
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copy the address line";
    }
    setTimeout(() => (button.textContent = "Copy link"), 1500);
  });
  addEventListener("hashchange", () => {
    state.read();
    setTheme();
    showAll();
  });
  showAll();
  document.body.dataset.ready = "true";
}

start();
