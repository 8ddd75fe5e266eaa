// pictures.mjs SVG: how long Chromium takes to show it, and to zoom: from the click to the frame in which
// the boxes move, and what the script takes of it.  The least of three runs: this is wall time.
import { chromium } from "playwright-core";

const file = process.argv[2];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
const shown = [], first = [], script = [], settled = [];
for (let run = 0; run < 3; run++) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  const began = performance.now();
  await page.goto(`file://${file}`);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  shown.push(performance.now() - began);
  const boxes = await page.evaluate(() => document.querySelectorAll("g.b").length);
  for (const pick of [0.1, 0.5, 0.9]) {
    const took = await page.evaluate(async (where) => {
      const wide = [...document.querySelectorAll("g.b:not(.off)")].filter((b) => b.querySelector("text"));
      const box = wide[Math.floor(where * wide.length)] || document.querySelectorAll("g.b")[1];
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const clicked = performance.now();
      box.querySelector("rect").dispatchEvent(new MouseEvent("click", { bubbles: true }));
      const script = performance.now() - clicked;
      await frame();
      await frame();
      const first = performance.now() - clicked;
      while (document.querySelector(".graph").matches(".moving, [transform]")) await frame();
      const settled = performance.now() - clicked;
      document.querySelector(".crumb").dispatchEvent(new MouseEvent("click", { bubbles: true }));
      while (document.querySelector(".graph").matches(".moving, [transform]")) await frame();
      return { first, script, settled };
    }, pick);
    first.push(took.first);
    script.push(took.script);
    settled.push(took.settled);
  }
  await page.close();
  if (run === 2) {
    const least = (list) => Math.min(...list).toFixed(0);
    console.log(`${boxes} boxes: shown after ${least(shown)} ms; a zoom moves after ${least(first)} ms (script ${least(script)} ms), and stands after ${least(settled)} ms (240 of them are the way there)`);
  }
}
await browser.close();
