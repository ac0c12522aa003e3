"use strict";
// Would a device take the layout in this buffer?

const uploadPanel = {
  start() {
    const names = crate.ask("limit_names");
    element("limits").replaceChildren(...names.map((name) => make("option", "", name)));
    for (const key of ["limits", "bytes", "offset", "role"]) {
      element(key).addEventListener("input", (event) => {
        state.set(key, event.target.value);
        this.show();
      });
    }
  },

  show() {
    const { layout, limits, bytes, offset, role } = state.now;
    for (const key of ["limits", "bytes", "offset", "role"]) element(key).value = state.now[key];
    const answer = crate.ask("check", layout, limits, bytes, offset, role === "output");
    element("upload-problems").replaceChildren();
    element("upload-report").textContent = "";
    const faulty = [bytes, offset].find((text) => text !== "" && !/^\d+$/.test(text.trim()));
    showError("upload-error", faulty ?? layout, answer.error);
    const verdict = element("upload-verdict");
    verdict.className = "verdict";
    verdict.textContent = "";
    if (answer.error) return;
    verdict.classList.add(answer.ok ? "good" : "bad");
    verdict.textContent = answer.ok ? `${limits} takes it in a buffer of ${bytesInWords(answer.buffer)}.`
      : `${limits} refuses it in a buffer of ${bytesInWords(answer.buffer)}:`;
    for (const error of answer.errors) element("upload-problems").append(make("li", "", error.message));
    const remark = answer.remark ? `${answer.remark}: ${answer.bound_as}\n` : "";
    element("upload-report").textContent = remark + answer.report.trimEnd();
  },
};
