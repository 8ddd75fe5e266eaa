// firefox.mjs DIR: the same pictures in another engine: they open, zoom, search, take keys, and
// complain of nothing.  Over WebDriver BiDi, which Debian's firefox-esr speaks by itself.
import assert from "node:assert/strict";
import puppeteer from "puppeteer-core";

const folder = process.argv[2];
const browser = await puppeteer.launch({ browser: "firefox", executablePath: process.env.FIREFOX, headless: true });
const page = await browser.newPage();
const complaints = [];
page.on("pageerror", (e) => complaints.push(`error: ${e.message}`));
page.on("console", (m) => m.type() === "error" && complaints.push(`console: ${m.text()}`));
await page.setViewport({ width: 1280, height: 800 });

const settled = () => page.waitForFunction(() => !document.querySelector(".graph").matches(".moving, [transform]"), { timeout: 120000 });
const indexOf = (name) => page.evaluate((wanted) => [...document.querySelectorAll("g.b")].findIndex((b) =>
  b.querySelector("title").textContent.split("\n")[0] === wanted), name);
const widthOf = (index) => page.evaluate((i) => document.querySelectorAll("g.b")[i].querySelector("rect").getBoundingClientRect().width, index);
async function click(index) {
  const at = await page.evaluate((i) => {
    const r = document.querySelectorAll("g.b")[i].querySelector("rect").getBoundingClientRect();
    return { x: r.x + 3, y: r.y + 8 };
  }, index);
  await page.mouse.click(at.x, at.y);
  await settled();
}
const found = () => page.evaluate(() => document.querySelector(".found").textContent);

for (const [name, frame] of [["server-flame", "gzip_filter"], ["server-diff", "gzip_filter"], ["hostile-flame", "]]>"]]) {
  await page.goto(`file://${folder}/${name}.svg`);
  const index = await indexOf(frame);
  assert.ok(index > 0, `${frame} is in ${name}`);
  const before = await widthOf(index);
  await click(index);
  const after = await widthOf(index);
  assert.ok(after > 1150 && after > 2 * before, `${name}: ${before} px became ${after} px`);
  await page.keyboard.press("Backspace");
  await settled();
  assert.ok(await widthOf(index) < after);
  await page.keyboard.press("/");
  await page.keyboard.type("e");
  await page.waitForFunction(() => document.querySelector(".found").textContent.startsWith("matched "), { timeout: 120000 });
  assert.match(await found(), /^matched \d+\.\d\d %/);
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.querySelectorAll(".at.hit").length), 1);
  await page.keyboard.press("Escape");
  await settled();
  assert.equal(await found(), "");
  assert.equal(await page.evaluate(() => window.broken), undefined);
  const labels = await page.evaluate(() => [...document.querySelectorAll("g.b")].filter((b) => b.querySelector("text") && b.querySelector("text").textContent)
    .filter((b) => { const r = b.querySelector("rect").getBBox(), t = b.querySelector("text").getBBox(); return t.x + t.width > r.x + r.width + 1; }).length);
  assert.equal(labels, 0, `${name}: labels that leave their box`);
  console.log(`ok      ${name} in Firefox`);
}
assert.deepEqual(complaints, []);
await browser.close();
