// svg.mjs DIR: what a reader does with the pictures in DIR (drawn by e2e/svg/draw.c), one law a test.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";
import { glance, gap, golden } from "./glance.mjs";

const folder = process.argv[2];
const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const url = (name, hash = "") => `file://${folder}/${name}.svg${hash}`;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const tests = [];
const test = (name, run, options = {}) => tests.push({ name, run, options });

/* Settled: no zoom under way. */
const settle = (page) => page.waitForFunction(() => !document.querySelector(".graph").matches(".moving, [transform]"), null, { timeout: 60000 });
const count = (page, selector) => page.locator(selector).count();
const boxNamed = (page, name) => page.evaluate((wanted) => {
  const all = [...document.querySelectorAll("g.b")];
  return all.findIndex((b) => b.querySelector("title").textContent.split("\n")[0] === wanted);
}, name);
const clickBox = async (page, index) => {
  await page.locator("g.b").nth(index).locator("rect").click({ position: { x: 2, y: 8 } });
  await settle(page);
};
const search = async (page, text) => {
  await page.locator("input").fill(text);
  await page.waitForFunction((t) => document.querySelector("svg").getAttribute("data-query") === t, text);
};

test("a click makes the box as wide as the picture, reset undoes it", async (page) => {
  await page.goto(url("server-flame"));
  const index = await boxNamed(page, "gzip_filter");
  await clickBox(page, index);
  const width = await page.locator("g.b").nth(index).locator("rect").evaluate((r) => r.width.baseVal.value);
  assert.ok(width > 1200, `${width} px`);
  assert.match(page.url(), new RegExp(`#z=${index}$`));
  assert.deepEqual(await page.locator(".crumb:not(.sep)").allTextContents(), ["all", "main", "event_loop", "gzip_filter"]);
  await page.getByRole("button", { name: "reset" }).click();
  await settle(page);
  const again = await page.locator("g.b").nth(index).locator("rect").evaluate((r) => r.width.baseVal.value);
  assert.ok(again < 700, `${again} px`);
});

test("a crumb goes back up, and so does the browser's back button", async (page) => {
  await page.goto(url("server-flame"));
  await clickBox(page, await boxNamed(page, "gzip_filter"));
  await page.locator(".crumb", { hasText: "event_loop" }).click();
  await settle(page);
  assert.equal((await page.locator(".crumb:not(.sep)").allTextContents()).at(-1), "event_loop");
  await page.goBack();
  await settle(page);
  assert.equal((await page.locator(".crumb:not(.sep)").allTextContents()).at(-1), "gzip_filter");
});

test("search counts a recursive stack once, of all and of the zoom", async (page) => {
  await page.goto(url("server-flame"));
  await search(page, "^deflate$");
  const wanted = await page.evaluate(() => {
    const all = [...document.querySelectorAll("g.b")];
    const top = all.find((b) => b.querySelector("title").textContent.startsWith("deflate\n"));
    return (100 * Number(top.dataset.w) / Number(all[0].dataset.w)).toFixed(2);
  });
  assert.equal(await page.locator(".found").textContent(), `matched ${wanted} %`);
  assert.equal(await count(page, ".hit"), 2);
  await page.locator("input").blur();
  await clickBox(page, await boxNamed(page, "gzip_filter"));
  assert.equal(await page.locator(".found").textContent(), `matched ${wanted} %, of the zoom 100.00 %`);
});

test("what is no regular expression is searched as it is", async (page) => {
  await page.goto(url("hostile-flame"));
  await search(page, "<img src=x onerror=(");
  assert.equal(await page.locator(".found").textContent(), "matched 0.00 %");
  assert.equal(await count(page, "input.bad"), 1);
  await search(page, "[\"onload");
  assert.equal(await count(page, ".hit"), 0);
  await search(page, "\"ONLOAD".toLowerCase());
  assert.equal(await count(page, ".hit"), 1);
});

test("the keyboard walks, zooms, searches and resets", async (page) => {
  await page.goto(url("server-flame"));
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  const at = await page.locator(".at title").textContent();
  assert.match(at, /^event_loop\n/);
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(page.url(), /#z=2$/);
  await page.keyboard.press("/");
  await page.keyboard.type("memcpy");
  await page.waitForFunction(() => document.querySelector("svg").getAttribute("data-query") === "memcpy");
  assert.ok(await count(page, ".hit") > 0);
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal(await count(page, ".hit"), 0);
  await page.keyboard.press("Control+f");
  assert.equal(await page.evaluate(() => document.activeElement.localName), "input");
});

test("the legend keeps the boxes of one layer", async (page) => {
  await page.goto(url("server-flame"));
  await page.locator(".k", { hasText: "codec" }).click();
  const chip = await page.locator(".k", { hasText: "codec" }).getAttribute("data-c");
  const left = await page.locator("g.b:not(.out)").evaluateAll((all) => all.map((b) => b.getAttribute("class")));
  assert.ok(left.length >= 2);
  for (const classes of left) assert.match(classes, new RegExp(`\\bl${chip}\\b`));
  await page.locator(".k", { hasText: "codec" }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await count(page, ".out"), 0);
});

test("the address restores zoom, search, filter and mode", async (page) => {
  await page.goto(url("server-diff"));
  const index = await boxNamed(page, "event_loop");
  await page.goto("about:blank");
  await page.goto(url("server-diff", `#z=${index}&s=deflate&l=10&m=self`));
  await settle(page);
  assert.equal(await page.locator("input").evaluate((e) => e.value), "deflate");
  assert.equal((await page.locator(".crumb:not(.sep)").allTextContents()).at(-1), "event_loop");
  assert.equal(await page.getByRole("button", { name: "self" }).getAttribute("aria-pressed"), "true");
  assert.equal(await page.locator(".k.on").textContent(), "new");
});

test("self mode colours and labels by self time", async (page) => {
  await page.goto(url("server-diff"));
  const box = page.locator("g.b").nth(await boxNamed(page, "gzip_filter"));
  const fill = () => box.locator("rect").evaluate((r) => getComputedStyle(r).fill);
  const before = await fill();
  assert.match(await box.locator("text").textContent(), / new$/);
  await page.getByRole("button", { name: "self" }).click();
  assert.notEqual(await fill(), before);
  assert.equal(await box.locator("text").textContent(), "gzip_filter");
});

test("a hover shows both arms and marks the same frame everywhere", async (page) => {
  await page.goto(url("server-diff"));
  await page.locator("g.b").nth(await boxNamed(page, "plain_filter")).locator("rect").hover();
  assert.equal(await page.locator(".bar:not(.pinned) .name").textContent(), "plain_filter");
  assert.match(await page.locator(".bar:not(.pinned)").textContent(), /control .* ms\) → variant 0 % .*gone/);
  const wide = await page.evaluate(() => [...document.querySelectorAll("g.b")].findIndex((b) =>
    b.querySelector("title").textContent.startsWith("writev\n") && b.querySelector("rect").width.baseVal.value > 3));
  await page.locator("g.b").nth(wide).locator("rect").hover();
  assert.ok(await count(page, ".same") > 1);
});

test("hostile names run nothing and are shown as they are", async (page) => {
  for (const kind of ["flame", "diff"]) {
    await page.goto(url(`hostile-${kind}`));
    assert.equal(await page.evaluate(() => window.broken), undefined);
    assert.ok(await boxNamed(page, "</title><script>window.broken=1</script>") > 0);
    assert.ok(await boxNamed(page, "byte ␀") > 0);
    await clickBox(page, await boxNamed(page, "<img src=x onerror=window.broken=1>"));
    assert.equal(await page.evaluate(() => window.broken), undefined);
    assert.equal(await page.evaluate(() => document.getElementsByTagName("img").length), 0);
    assert.equal(await page.evaluate(() => document.getElementsByTagName("script").length), 1);
  }
});

test("an address from elsewhere cannot break the picture", async (page) => {
  await page.goto(url("server-flame", "#z=999999&s=%E0%A4%A&l=..x.7&m=self&constructor=1"));
  await settle(page);
  assert.deepEqual(await page.locator(".crumb:not(.sep)").allTextContents(), ["all"]);
});

test("without a script every label is inside its box", async (page) => {
  for (const name of ["server-flame", "server-diff", "cut-diff", "hostile-flame"]) {
    await page.goto(url(name));
    const outside = await page.locator("g.b:has(text)").evaluateAll((all) => all.filter((b) => {
      const r = b.querySelector("rect").getBBox(), t = b.querySelector("text").getBBox();
      return t.x + t.width > r.x + r.width + 0.5;
    }).map((b) => b.textContent));
    assert.deepEqual(outside, []);
  }
}, { bare: true });

test("as an image it is drawn, in both themes", async (page, context) => {
  const html = `${folder}/img.html`;
  fs.writeFileSync(html, "<!doctype html><meta name=color-scheme content='light dark'><img src=server-flame.svg>");
  await page.goto(`file://${html}`);
  assert.ok(await page.evaluate(() => document.images[0].naturalWidth) === 1200);
  assert.ok((await page.screenshot()).length > 20000);
}, { colorScheme: "dark" });

test("a narrow window scales the picture and cuts nothing off", async (page) => {
  await page.setViewportSize({ width: 700, height: 500 });
  await page.goto(url("server-diff"));
  const right = await page.evaluate(() => Math.max(...[...document.querySelectorAll(".k, .note")].map((e) => e.getBoundingClientRect().right)));
  assert.ok(right <= 700, `${right} px`);
  const bar = await page.locator(".bar:not(.pinned)").boundingBox();
  assert.ok(bar.y + bar.height <= 500);
});

test("inside a page it keeps to its place and still zooms", async (page) => {
  const html = `${folder}/inline.html`;
  const svg = fs.readFileSync(`${folder}/server-flame.svg`, "utf8").replace(/^<\?xml.*\?>/, "");
  fs.writeFileSync(html, `<!doctype html><meta charset=utf-8><div style="width:800px">${svg}</div>`);
  await page.goto(`file://${html}`);
  await clickBox(page, await boxNamed(page, "gzip_filter"));
  const box = await page.locator("g.b").nth(await boxNamed(page, "gzip_filter")).locator("rect").boundingBox();
  assert.ok(box.width > 750 && box.width < 800, `${box.width} px`);
});

test("dark pages get a dark picture", async (page) => {
  await page.goto(url("server-diff"));
  assert.equal(await page.locator(".bg").evaluate((r) => getComputedStyle(r).fill), "rgb(21, 24, 28)");
}, { colorScheme: "dark" });

test("stacks of 10,000 and no samples at all open too", async (page) => {
  for (const name of ["deep-flame", "deep-diff", "empty-flame", "empty-diff"]) {
    await page.goto(url(name));
    assert.ok(await page.locator(".bar:not(.pinned) .name").textContent() === "all");
    const y = await page.locator("g.b rect").first().evaluate((r) => r.getBoundingClientRect().y);
    assert.ok(y >= 0 && y < 800, `the root of ${name} is in sight, at ${y}`);
  }
});

test("frames that are not drawn are said in the search", async (page) => {
  await page.goto(url("cut-flame"));
  await search(page, "writev");
  assert.match(await page.locator(".found").textContent(), /^matched .* %; .* % is not drawn$/);
});

test("next and previous go round the matches", async (page) => {
  await page.goto(url("server-flame"));
  await search(page, "^writev$");
  const at = () => page.locator(".at title").textContent();
  await page.locator("input").press("Enter");
  const first = await page.evaluate(() => document.querySelector(".at").fbIndex);
  assert.match(await at(), /^writev\n/);
  await page.keyboard.press("n");
  assert.match(await at(), /^writev\n/);
  const second = await page.evaluate(() => document.querySelector(".at").fbIndex);
  assert.ok(second > first);
  await page.getByRole("button", { name: "previous match" }).click();
  assert.equal(await page.evaluate(() => document.querySelector(".at").fbIndex), first);
  await page.getByRole("button", { name: "next match" }).click();
  assert.equal(await page.evaluate(() => document.querySelector(".at").fbIndex), second);
});

test("plain search takes a pattern as text, and the address keeps it", async (page) => {
  await page.goto(url("server-flame"));
  await search(page, "^memcpy$");
  const hits = await count(page, ".hit");
  assert.ok(hits > 1);
  await page.getByRole("button", { name: "search by regular expression" }).click();
  assert.equal(await count(page, ".hit"), 0);
  const kept = page.url();
  assert.match(kept, /r=0/);
  await page.goto("about:blank");
  await page.goto(kept);
  assert.equal(await count(page, ".hit"), 0);
  assert.equal(await page.getByRole("button", { name: "search by regular expression" }).getAttribute("aria-pressed"), "false");
});

test("pinned details stay while others are shown", async (page) => {
  await page.goto(url("server-flame"));
  await page.locator("g.b").nth(await boxNamed(page, "gzip_filter")).locator("rect").click({ modifiers: ["Shift"], position: { x: 2, y: 8 } });
  assert.equal(await page.locator(".pinned .name").textContent(), "gzip_filter");
  await page.locator("g.b").nth(await boxNamed(page, "copy_filter")).locator("rect").hover();
  assert.equal(await page.locator(".bar:not(.pinned) .name").textContent(), "copy_filter");
  assert.equal(await page.locator(".pinned .name").textContent(), "gzip_filter");
  assert.ok(await page.locator(".bar.pinned").isVisible());
  const kept = page.url();
  await page.goto("about:blank");
  await page.goto(kept);
  assert.equal(await page.locator(".pinned .name").textContent(), "gzip_filter");
  await page.keyboard.press("Escape");
  assert.ok(!await page.locator(".bar.pinned").isVisible());
});

test("a name is copied whole", async (page, context) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(url("hostile-flame"));
  const name = "</title><script>window.broken=1</script>";
  await clickBox(page, await boxNamed(page, name));
  await page.getByRole("button", { name: "copy name" }).click();
  await page.waitForFunction(() => document.querySelector(".found").textContent !== "");
  assert.equal(await page.locator(".found").textContent(), "copied");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), name);
});

test("boxes take the width of one arm, and what it lacks is not there", async (page) => {
  await page.goto(url("server-diff"));
  const gone = page.locator("g.b").nth(await boxNamed(page, "plain_filter"));
  await page.locator("select").selectOption("v");
  await settle(page);
  assert.ok(!await gone.isVisible());
  const wrong = await page.evaluate(() => {
    const all = [...document.querySelectorAll("g.b")], root = all[0];
    const inner = root.querySelector("rect").width.baseVal.value + 0.8;
    return all.filter((b) => !b.classList.contains("off")).filter((b) => {
      const w = b.querySelector("rect").width.baseVal.value, wanted = inner * Number(b.dataset.v) / Number(root.dataset.v);
      return Math.abs(w - wanted) > 1.3;
    }).length;
  });
  assert.equal(wrong, 0);
  assert.match(page.url(), /w=v/);
  await page.locator("select").selectOption("w");
  await settle(page);
  assert.ok(await gone.isVisible());
});

test("keys that a button or a list takes do nothing else", async (page) => {
  await page.goto(url("server-diff"));
  await page.keyboard.press("Home");
  await page.locator("select").focus();
  await page.keyboard.press("c");
  await page.keyboard.press("p");
  assert.equal(await page.locator(".found").textContent(), "");
  assert.ok(!await page.locator(".bar.pinned").isVisible());
  await page.getByRole("button", { name: "self" }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await page.getByRole("button", { name: "self" }).getAttribute("aria-pressed"), "true");
  assert.deepEqual(await page.locator(".crumb:not(.sep)").allTextContents(), ["all"]);
});

test("dragging over the boxes selects no text and zooms nothing by itself", async (page) => {
  await page.goto(url("server-flame"));
  const box = await page.locator("g.b").nth(await boxNamed(page, "gzip_filter")).locator("rect").boundingBox();
  await page.mouse.move(box.x + 5, box.y + 5);
  await page.mouse.down();
  await page.mouse.move(box.x + 250, box.y - 30, { steps: 5 });
  await page.mouse.up();
  assert.equal(await page.evaluate(() => String(getSelection())), "");
  assert.deepEqual(await page.locator(".crumb:not(.sep)").allTextContents(), ["all"]);
});

test("without a script widths are shares to half a pixel, and self and other are all", async (page) => {
  for (const name of ["server-flame", "cut-flame", "hostile-flame"]) {
    await page.goto(url(name));
    const facts = await page.evaluate(() => {
      const all = [...document.querySelectorAll("g.b")], total = Number(all[0].dataset.w);
      const inner = 1200 - 2 * 16;
      let worst = 0, sum = 0;
      for (const b of all) {
        const rect = b.querySelector("rect"), w = inner * Number(b.dataset.w) / total;
        const gap = w > 4 ? 0.8 : w * 0.2; /* between neighbours */
        worst = Math.max(worst, Math.abs(rect.width.baseVal.value + gap - w));
        sum += b.classList.contains("o") ? Number(b.dataset.w) : Number(b.dataset.f || 0);
      }
      return { worst, sum, total };
    });
    assert.ok(facts.worst <= 0.5, `${facts.worst} px`);
    assert.equal(facts.sum, facts.total);
  }
}, { bare: true });

test("the search says what the table says", async (page) => {
  const table = JSON.parse(fs.readFileSync(`${folder}/table.json`, "utf8"));
  const rows = table.tables[0].rows;
  assert.ok(rows.length >= 3);
  for (const row of rows) {
    await page.goto(url("real"));
    await search(page, row.pattern);
    assert.equal(await page.locator(".found").textContent(), `matched ${Number(row.inclusive_percent).toFixed(2)} %`);
  }
});

test("boxes that were narrow say as much as the others once they are zoomed", async (page) => {
  await page.goto(url("server-flame"));
  const index = await page.evaluate(() => [...document.querySelectorAll("g.b:not(.o)")].findIndex((b) =>
    b.querySelector("title").textContent.split("\n").length === 2));
  assert.ok(index > 0);
  await page.goto(url("server-flame", `#z=${index}`));
  await page.reload();
  await settle(page);
  const bar = await page.locator(".bar:not(.pinned)").textContent();
  assert.match(bar, /total [\d,]+ samples?, [\d.]+ %, .* ms per request, .* cores/);
  assert.match(bar, /layer \S+ · native · module server/);
});

test("axe finds nothing that is serious", async (page) => {
  for (const name of ["server-flame", "server-diff", "hostile-flame"]) {
    await page.goto(url(name));
    await page.evaluate(axe);
    const found = await page.evaluate(async () => (await window.axe.run(document)).violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 200)}`));
    assert.deepEqual(found, []);
  }
});

test("axe finds nothing that is serious in the dark", async (page) => {
  await page.goto(url("server-diff"));
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await window.axe.run(document)).violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => v.id));
  assert.deepEqual(found, []);
}, { colorScheme: "dark" });

test("a screen reader meets a tree of frames with their shares", async (page) => {
  await page.goto(url("server-flame"));
  assert.equal(await page.getByRole("tree", { name: "frames" }).count(), 1);
  const item = page.getByRole("treeitem", { name: /^gzip_filter total 4,000 samples/ });
  assert.equal(await item.count(), 1);
  assert.equal(await item.getAttribute("aria-level"), "4");
});

/* Pictures of the pictures: a glance is the mean colour of each of 50 x 32 cells, which fonts and
 * versions of the browser hardly move. */
const looks = [
  ["flame", "server-flame", "", {}],
  ["flame-dark", "server-flame", "", { colorScheme: "dark" }],
  ["flame-search", "server-flame", "#s=write&z=2", {}],
  ["diff", "server-diff", "", {}],
  ["diff-dark", "server-diff", "", { colorScheme: "dark" }],
  ["diff-self", "server-diff", "#m=self", {}],
];
for (const [name, file, hash, options] of looks)
  test(`${name} looks as it did`, async (page, context) => {
    await page.goto(url(file, hash));
    await page.mouse.move(2, 2);
    await settle(page);
    await golden(name, await page.screenshot(), context);
  }, options);

test("on paper it looks as it did, and in grey the text stays readable", async (page, context) => {
  await page.emulateMedia({ media: "print" });
  await page.goto(url("server-diff"));
  assert.ok(!await page.locator("input").isVisible());
  await golden("diff-print", await page.screenshot(), context);
  /* The fills in grey keep 4.5 : 1 against their text. */
  const least = await page.evaluate(() => {
    const grey = (c) => { const [r, g, b] = c.match(/[\d.]+/g).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    return Math.min(...[...document.querySelectorAll("g.b:has(text)")].map((b) => {
      const x = grey(getComputedStyle(b.querySelector("rect")).fill), y = grey(getComputedStyle(b.querySelector("text")).fill);
      return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
    }));
  });
  assert.ok(least >= 4.5, `${least}`);
});

test("a glance sees what has changed", async (page, context) => {
  await page.goto(url("server-flame"));
  const before = await glance(await page.screenshot(), context);
  await clickBox(page, await boxNamed(page, "gzip_filter"));
  const after = await glance(await page.screenshot(), context);
  assert.ok(gap(before, before).mean === 0);
  assert.ok(gap(before, after).mean > 2, JSON.stringify(gap(before, after)));
});

let failed = 0;
for (const { name, run, options } of tests) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "no-preference", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(120000); /* a loaded machine is no fault */
  const complaints = [];
  page.on("pageerror", (e) => complaints.push(`error: ${e.message}`));
  page.on("console", (m) => m.type() === "error" && complaints.push(`console: ${m.text()}`));
  page.on("request", (r) => !/^(file|data|about):/.test(r.url()) && complaints.push(`request: ${r.url()}`));
  if (options.bare) /* the picture as it was written: its script is cut out on the way */
    await page.route(/\.svg$/, (route) => {
      const text = fs.readFileSync(decodeURI(new URL(route.request().url()).pathname), "utf8");
      return route.fulfill({ contentType: "image/svg+xml", body: text.replace(/<script>[^]*<\/script>/, "") });
    });
  try {
    await run(page, context);
    assert.deepEqual(complaints, []);
    console.log(`ok      ${name}`);
  } catch (e) {
    failed++;
    console.log(`FAILED  ${name}\n        ${String(e.message).replace(/\n/g, "\n        ")}\n        ${complaints.join("; ")}`);
  }
  await context.close();
}
await browser.close();
console.log(`${tests.length - failed} of ${tests.length} browser tests passed`);
process.exit(failed > 0 ? 1 : 0);
