"use strict";
// What is looked at. It stands in the address line, so that a link brings the page back.

const state = {
  defaults: {
    layout: "f32[3,5]{1,0:T(2,2)}",
    tab: "layout",
    cell: "",
    around: "",
    other: "",
    steps: "",
    limits: "directml",
    bytes: "",
    offset: "",
    role: "input",
    sizes: "",
    tpu: "v5e",
    theme: "",
  },
  now: {},

  read() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const [key, value] of Object.entries(state.defaults)) {
      state.now[key] = given.has(key) ? given.get(key) : value;
    }
  },

  set(key, value) {
    if (state.now[key] === value) return;
    state.now[key] = value;
    state.write();
  },

  // What differs from the defaults, readable: brackets, braces and commas stay as they are.
  write() {
    const parts = [];
    for (const [key, value] of Object.entries(state.now)) {
      if (value !== state.defaults[key]) {
        const readable = encodeURIComponent(value).replace(/%(5B|5D|7B|7D|2C|3A|28|29|2F|20)/gi, (c) =>
          c.toUpperCase() === "%20" ? "+" : decodeURIComponent(c));
        parts.push(`${key}=${readable}`);
      }
    }
    history.replaceState(null, "", parts.length ? `#${parts.join("&")}` : location.pathname + location.search);
  },
};
