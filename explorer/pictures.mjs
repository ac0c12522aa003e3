// Draws the two pictures of the README: node pictures.mjs (needs dist/ and Chromium). The files in docs/pictures were reduced to 96 colours.
import { chromium } from "playwright-core";

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1180, height: 820 } });
for (const [name, link] of [
  ["explorer-light", "#layout=bf16[8,8]{1,0:T(4,4)(2,1)}&cell=[3,2]&theme=light"],
  ["explorer-dark", "#layout=f32[5,7]{1,0}&tab=pair&other=f32[5,7]{1,0:T(2,4)}&theme=dark"],
]) {
  await page.goto("about:blank");
  await page.goto(new URL("dist/index.html", import.meta.url).href + link);
  await page.waitForSelector("body[data-ready]");
  for (let i = 0; i < 2 && name.endsWith("dark"); i += 1) await page.click("#run-next");
  await page.screenshot({ path: new URL(`../docs/pictures/${name}.png`, import.meta.url).pathname });
}
await browser.close();
