// The page in a real browser. Needs dist/ (explorer/build), Chromium, and the command line built (`cargo build -p tensor-layout-cli`).
//
//   CHROMIUM       the browser, /usr/bin/chromium if not given
//   TENSOR_LAYOUT  the command line, ../target/debug/tensor-layout if not given
//   SCREENSHOTS    a folder for a picture of every example in light and dark
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PAGE = new URL("../dist/index.html", import.meta.url).href;
const COMMAND = process.env.TENSOR_LAYOUT ?? here("../../target/debug/tensor-layout");
const EXAMPLES = new Function(`${readFileSync(here("../page/examples.js"), "utf8")}; return EXAMPLES;`)();

let browser;
let page;
const faults = [];

before(async () => {
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on("pageerror", (fault) => faults.push(fault.message));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  // Nothing may be asked of a network.
  page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || faults.push(request.url()));
});

after(async () => {
  await browser?.close();
  assert.deepEqual(faults, [], "the page had errors, or asked for something");
});

async function open(hash = "") {
  await page.goto("about:blank");
  await page.goto(PAGE + hash);
  await page.waitForSelector("body[data-ready]", { timeout: 60000 });
}

// The JSON of the command line, whatever its verdict.
function command(...parts) {
  try {
    return JSON.parse(execFileSync(COMMAND, [...parts, "--json"], { encoding: "utf8" }));
  } catch (refused) {
    return JSON.parse(refused.stdout);
  }
}

const lit = (place) => page.$$eval(`${place} g.lit`, (cells) => cells.map((cell) => cell.dataset.offset));

test("typing redraws the picture", async () => {
  await open();
  assert.match(await page.textContent("#picture .caption"), /f32\[3,5\]\{1,0:T\(2,2\)\}/);
  await page.fill("#layout", "f32[2,3]:[5,1]");
  assert.match(await page.textContent("#picture .caption"), /f32\[2,3\]:\[5,1\]/);
  assert.equal(await page.locator("#picture g[data-index]").count(), 6);
  assert.match(await page.textContent("#facts"), /strides \[5, 1\]/);
});

test("an error has a caret at its column", async () => {
  await open();
  await page.fill("#layout", "f32[3,5]{1,0:T(2,x)}");
  const [text, caret] = (await page.textContent("#layout-error .caret")).split("\n");
  assert.equal(text, "f32[3,5]{1,0:T(2,x)}");
  assert.equal(caret.indexOf("^"), command("describe", text).error?.column - 1 || text.indexOf("x"));
  assert.equal(await page.getAttribute("#layout", "aria-invalid"), "true");
  await page.fill("#layout", "f32[3,5]{1,0:T(2,2)}");
  assert.equal(await page.textContent("#layout-error"), "");
});

test("pointing at a cell lights it on both sides and explains it", async () => {
  await open();
  await page.hover('#picture g[data-index="1,2"]');
  assert.deepEqual(await lit("#picture"), ["6", "6"]);
  const shown = await page.$$eval("#cell li", (steps) => steps.map((step) => step.textContent));
  assert.deepEqual(shown, command("offset", "f32[3,5]{1,0:T(2,2)}", "1,2", "--explain").steps);
  // In the memory: an index, or padding.
  const inMemory = page.locator('#picture g[data-offset="9"]:not([data-index])');
  await inMemory.last().hover();
  assert.match(await page.textContent("#cell"), /Offset 9: padding/);
  assert.deepEqual(await lit("#picture"), ["9", "9"]);
});

test("the arrow keys walk through the cells", async () => {
  await open();
  await page.focus('#picture g[data-index="0,0"]');
  for (const key of ["ArrowRight", "ArrowRight", "ArrowDown"]) await page.keyboard.press(key);
  assert.match(await page.textContent("#cell"), /Index \[1, 2\] at offset 6/);
  const label = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  assert.equal(label, "index 1,2 at offset 6");
});

test("the tabs obey the arrow keys", async () => {
  await open();
  await page.focus("#tab-layout");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.getAttribute("#tab-pair", "aria-selected"), "true");
  assert.ok(await page.isVisible("#panel-pair"));
  assert.ok(!(await page.isVisible("#panel-layout")));
});

test("two layouts: where they differ, and the copy run by run", async () => {
  const [first, second] = ["f32[5,7]{1,0}", "f32[5,7]{1,0:T(2,4)}"];
  await open(`#tab=pair&layout=${first}&other=${second}`);
  const answer = command("same", first, second);
  assert.ok((await page.textContent("#same")).includes(answer.reason));
  assert.match(await page.textContent("#run-words"), /run 1 of 10: elements 0 to 3 .* to elements 0 to 3 /);
  await page.click("#run-next");
  assert.match(await page.textContent("#run-words"), /elements 7 to 10 of the source to elements 4 to 7 of the destination/);
  assert.deepEqual([...new Set(await lit("#picture-source"))], ["7", "8", "9", "10"]);
  assert.deepEqual([...new Set(await lit("#picture-destination"))], ["4", "5", "6", "7"]);
  assert.match(await page.textContent("#nests"), /loop of 2: source \+14, destination \+16/);
  assert.match(await page.textContent("#explain"), /4 boxes/);
  // All runs together bring every element to where the second layout has it.
  const copy = await page.evaluate(([a, b]) => crate.ask("relayout", a, b), [first, second]);
  const moved = new Map(copy.passes[0].runs.flatMap(([from, to, length]) =>
    Array.from({ length: Number(length) }, (_, i) => [Number(from) + i, Number(to) + i])));
  for (let i = 0; i < 35; i += 1) {
    const place = await page.evaluate(([b, index]) => crate.ask("place", b, index), [second, `${Math.floor(i / 7)},${i % 7}`]);
    assert.equal(moved.get(i), Number(place.offset));
  }
  await page.fill("#other", "f32[1,35]");
  assert.match(await page.textContent("#same"), /the sizes are \[5,7\] and \[1,35\]/);
  await page.fill("#other", first);
  assert.match(await page.textContent("#same"), /The same/);
});

test("views, and the step that is none", async () => {
  await open("#tab=view&layout=f32[16,256]{1,0:T(8,128)}");
  await page.fill("#steps", "permute 1,0\nslice 0:128,:");
  const expected = command("view", "f32[16,256]{1,0:T(8,128)}", "--permute", "1,0", "--slice", "0:128,:");
  assert.equal(await page.textContent("#view-result"), `${expected.layout}   (${expected.class})`);
  await page.fill("#steps", "permute 1,0\nreshape 5");
  assert.ok((await page.textContent("#steps-error")).length > 10);
  await page.fill("#steps", "permute 1,0");
  await page.click("#view-open");
  assert.equal(await page.inputValue("#layout"), "f32[256,16]{0,1:T(8,128)}");
});

test("upload: the problems are those of the command line", async () => {
  await open("#tab=upload&layout=f32[2,3]:[5,1]&limits=directml&bytes=16&offset=8");
  const answer = command("check", "f32[2,3]:[5,1]", "--limits", "directml", "--buffer", "16", "--offset", "8");
  const shown = await page.$$eval("#upload-problems li", (items) => items.map((item) => item.textContent));
  assert.ok(shown.length > 1);
  assert.deepEqual(shown, answer.errors.map((error) => error.message));
  await page.fill("#bytes", "64");
  await page.fill("#offset", "16");
  assert.match(await page.textContent("#upload-verdict"), /directml takes it/);
});

test("what a TPU makes of bare sizes", async () => {
  await open("#tab=tpu&sizes=f32[100000,1]&tpu=v5e");
  const answer = command("describe", "f32[100000,1]", "--tpu", "v5e");
  const text = await page.textContent("#tpu-table");
  assert.ok(text.includes(answer.canonical) && text.includes("row-major"), text);
  assert.match(text, new RegExp(String(answer.physical_size_in_bytes).replace(/\B(?=(\d{3})+$)/g, ",")));
});

test("a link brings the page back", async () => {
  await open("#layout=f32[6,10]{0,1:T(2,4)}&cell=[3,7]&theme=dark");
  const first = [await page.textContent("#cell"), await page.innerHTML("#picture"), await page.textContent("#facts")];
  const link = await page.evaluate(() => location.href);
  await open();
  await open(new URL(link).hash);
  assert.deepEqual([await page.textContent("#cell"), await page.innerHTML("#picture"), await page.textContent("#facts")], first);
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  // And what is typed comes into the address line.
  await page.fill("#layout", "f32[4]{0}");
  const typed = await page.evaluate(() => decodeURIComponent(location.href));
  assert.ok(typed.endsWith("#layout=f32[4]{0}&theme=dark"), typed);
});

test("large tensors show their corner, and limits are sentences", async () => {
  await open("#layout=f32[100000,100000]");
  assert.match(await page.textContent("#picture .note"), /shown: \[0:16,0:16\], and the physical elements 0 to 255/);
  assert.match(await page.textContent("#facts"), /40,000,000,000 bytes \(37.3 GiB\)/);
  for (const layout of [
    "f32[1000000000,0,3]",
    "f32[100,100,100]:[10007,10009,10037]",
    `f32[${Array(36).fill(2)}]:[${Array(36).fill(1)}]`,
    `f32[${Array(18).fill(3)}]{${[...Array(18).keys()].reverse()}:T(${Array(18).fill(2)})}`,
    "f32[1000000007]{0:T(500000003)(250000013)(125000003)}",
  ]) {
    await page.fill("#layout", layout);
    const shown = `${await page.textContent("#layout-error")}${await page.textContent("#picture")}`;
    assert.ok(shown.length > 20, layout);
  }
  const slowest = await page.evaluate(() => crate.slowest);
  console.log(`the slowest answer: ${slowest.time.toFixed(1)} ms, ${slowest.question.slice(0, 60)}`);
});

test("a large picture goes to an index, and moves", async () => {
  await open("#layout=f32[100000,100000]{1,0:T(8,128)}");
  await page.fill("#go", "[500,70000]");
  await page.press("#go", "Enter");
  assert.match(await page.textContent("#picture .note"), /shown: \[496:512,70000:70016\]/);
  assert.match(await page.textContent("#cell"), /Index \[500, 70000\]/);
  await page.click('[data-pan="1,0"]');
  assert.match(await page.textContent("#picture .note"), /shown: \[512:528,70000:70016\]/);
  await page.fill("#go", "[5,x]");
  await page.press("#go", "Enter");
  assert.ok((await page.textContent("#go-error")).length > 10);
});

test("the other tabs follow the layout", async () => {
  await open("#layout=f32[3,5]{1,0:T(2,2)}&tab=pair");
  assert.equal(await page.inputValue("#other"), "f32[3,5]");
  await page.fill("#layout", "f32[1,3,4,4]");
  assert.equal(await page.inputValue("#other"), "f32[1,3,4,4]:NHWC");
  await page.click("#tab-view");
  assert.equal(await page.inputValue("#steps"), "permute 3,2,1,0");
  await page.click("#tab-tpu");
  assert.equal(await page.inputValue("#tpu-sizes"), "f32[1,3,4,4]");
});

test("a reason is given once, and pictures are files", async () => {
  await open();
  const reasons = await page.$$eval("#notations .quiet", (cells) => cells.map((cell) => cell.textContent));
  assert.equal(new Set(reasons).size, reasons.length);
  for (const [button, name] of [["#save-svg", "f32_3_5_1_0_T_2_2.svg"], ["#save-png", "f32_3_5_1_0_T_2_2.png"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
    assert.equal(download.suggestedFilename(), name);
  }
});

test("every example agrees with the command line", async () => {
  assert.ok(EXAMPLES.length >= 12);
  await open();
  for (const [place, [name, part]] of EXAMPLES.entries()) {
    await page.selectOption("#example", String(place));
    const layout = part.layout ?? (await page.inputValue("#layout"));
    const expected = command("describe", layout);
    const answer = await page.evaluate((text) => crate.ask("describe", text), layout);
    for (const key of ["canonical", "notation", "data_type", "class"]) assert.equal(answer[key], expected[key], name);
    for (const key of ["logical_elements", "physical_elements", "min_size_in_bytes", "physical_size_in_bytes", "element_bits", "base_offset"]) {
      assert.equal(String(answer[key]), String(expected[key]), `${name}: ${key}`);
    }
    assert.deepEqual(answer.sizes, expected.sizes.map(String), name);
    assert.equal(answer.lowering.name, expected.lowering, name);
    // The command line gives names by `known_as`, and only when asked; of several axis orders the first is the text.
    const isFirst = (line, place) => answer.notations.findIndex(({ notation }) => notation === line.notation) === place;
    for (const line of answer.notations.filter(isFirst).filter(({ notation }) => notation !== "named")) {
      assert.equal(line.text, expected.notations[line.notation]?.text, `${name}: ${line.notation}`);
    }
    for (const id of ["layout", "other", "steps", "upload", "tpu"]) {
      assert.equal(await page.textContent(`#${id}-error`), "", `${name}: ${id}`);
    }
    if (process.env.SCREENSHOTS) {
      for (const theme of ["light", "dark"]) {
        await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), theme);
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/${String(place + 1).padStart(2, "0")}-${theme}.png`, fullPage: true });
      }
    }
  }
});

test("a narrow screen needs no sideways scrolling", async () => {
  await page.setViewportSize({ width: 380, height: 800 });
  await open();
  const [wide, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(wide <= window, `${wide} > ${window}`);
  await page.setViewportSize({ width: 1280, height: 900 });
});
