// page.mjs HTML: how long Chromium takes to show a page of one picture, to zoom in it (the script,
// and from the click to the frame that shows it) and to search all of its frames.  The least of three runs: this is
// wall time.
import fs from "node:fs";
import { chromium } from "playwright-core";

const file = process.argv[2];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
const shown = [], script = [], zoomed = [], searched = [];
for (let run = 0; run < 3; run++) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const began = performance.now();
  await page.goto(`file://${file}`);
  await page.waitForSelector("body[data-ready]");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  shown.push(performance.now() - began);
  const took = await page.evaluate(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    const boxes = [...document.querySelectorAll(".graph .b:not(.thin):not(.o)")];
    const clicked = performance.now();
    boxes[Math.floor(boxes.length / 2)].click();
    const script = performance.now() - clicked;
    await frame();
    await frame();
    const zoomed = performance.now() - clicked;
    const input = document.querySelector("#flame input"), found = document.querySelector("#flame .found");
    const asked = performance.now();
    input.value = "[13579]$";
    input.dispatchEvent(new Event("input"));
    while (found.getAttribute("data-query") !== input.value) await frame();
    return { script, zoomed, searched: performance.now() - asked };
  });
  script.push(took.script);
  zoomed.push(took.zoomed);
  searched.push(took.searched);
  await page.close();
}
const least = (list) => Math.min(...list).toFixed(0);
console.log(`page of ${(fs.statSync(file).size / 1e6).toFixed(1)} MB: shown after ${least(shown)} ms; a zoom stands after ` +
  `${least(zoomed)} ms (script ${least(script)} ms); all frames are searched after ${least(searched)} ms (90 of them wait for the next key)`);
await browser.close();
