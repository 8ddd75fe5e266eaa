// report.mjs DIR: what a reader does with the reports in DIR (made by run.sh), one law a test.
import assert from "node:assert/strict";
import fs from "node:fs";
import zlib from "node:zlib";
import { chromium } from "playwright-core";

const folder = process.argv[2];
const url = (name, hash = "") => `file://${folder}/${name}.html${hash}`;
const axe = fs.readFileSync(`${folder}/node_modules/axe-core/axe.min.js`, "utf8");
const read = (name) => fs.readFileSync(`${folder}/${name}`, "utf8");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const tests = [];
const test = (name, run, options = {}) => tests.push({ name, run, options });

/* What is embedded under an id, unpacked outside the page. */
const embedded = (name, id) => {
  const found = read(`${name}.html`).match(new RegExp(`id="${id}">([^<]*)</script>`));
  return zlib.gunzipSync(Buffer.from(found[1], "base64"));
};
const open = async (page, name, hash) => {
  await page.goto(url(name, hash));
  await page.waitForSelector("body[data-ready]");
};
const settle = (page) => page.waitForTimeout(300); /* the move of the boxes */
const box = (page, name) => page.locator(".graph .b", { has: page.locator(`.n:text-is("${name}")`) }).first();
const crumbs = (page) => page.locator(".crumbs button").allTextContents();
const total = (folded) => folded.trim().split("\n").reduce((s, line) => s + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
const number = (text) => Number((text.replace(/,/g, "").replace(/−/g, "-").match(/-?[\d.]+/) || [NaN])[0]);
const search = async (page, text) => {
  await page.locator("#flame input[type=search]").fill(text);
  await page.waitForFunction((t) => document.querySelector("#flame .found").getAttribute("data-query") === t, text);
};
const downloaded = async (page, button) => {
  const [d] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button, exact: true }).click()]);
  return fs.readFileSync(await d.path(), "utf8");
};

test("without scripts the answer and every step's tables are there", async (page) => {
  await page.goto(url("pair"));
  assert.match(await page.locator(".verdict").innerText(), /CPU per request (rose by|stayed|carries)|Whether CPU/);
  const steps = await page.locator(".step").count();
  assert.equal(steps, 4);
  for (let i = 0; i < steps; i++) {
    assert.ok(await page.locator(".step").nth(i).isVisible());
    assert.ok(await page.locator(".step").nth(i).locator("tr", { hasText: "codec" }).first().isVisible());
  }
  assert.equal(await page.locator("canvas").count(), 0);
}, { javaScriptEnabled: false });

test("the embedded tables are those of diff, byte by byte", async () => {
  assert.equal(embedded("pair", "d-json").toString(), read("pair.json"));
  assert.equal(embedded("pair", "d-csv").toString(), read("pair.csv"));
});

test("every number of the verdict is a cell of a table", async (page) => {
  await open(page, "pair");
  const cells = new Set((await page.locator("table").allInnerTexts()).join(" ").match(/[\d.]+/g));
  const spoken = (await page.locator(".verdict p").first().innerText()).match(/\d+\.\d+/g);
  assert.ok(spoken.length >= 4);
  for (const n of spoken) assert.ok(cells.has(n), `${n} is in no table`);
});

test("what is shown in a layer's row is what the JSON says", async (page) => {
  await open(page, "pair");
  const tables = JSON.parse(read("pair.json")).tables;
  const layers = tables.find((t) => /^Layers by self time, step 3000/.test(t.title));
  for (const row of layers.rows) {
    const shown = await page.locator(".step.shown tr", { has: page.locator(`th:text-is("${row.layer}")`) }).first().locator("td").allInnerTexts();
    if (shown.length === 0) continue;
    assert.ok(Math.abs(number(shown[0]) - row.control_share_percent) < 0.051, `${row.layer}: ${shown[0]}`);
  }
});

test("the step switch shows one step, and the pictures follow", async (page) => {
  await open(page, "pair");
  assert.equal(await page.locator(".step.shown").count(), 1);
  assert.match(await page.locator(".step.shown h2").innerText(), /Step 3000/);
  await page.locator("#switch").getByRole("button", { name: "2000", exact: true }).click();
  assert.match(await page.locator(".step.shown h2").innerText(), /Step 2000/);
  assert.match(await page.locator("#flame > .note").first().innerText(), /step 2000/);
  await page.locator("#switch").getByRole("button", { name: "all healthy steps" }).click();
  assert.match(await page.locator("#flame > .note").first().innerText(), /all healthy steps/);
});

test("a click zooms, crumbs and reset go back", async (page) => {
  await open(page, "pair");
  await box(page, "encode").click();
  await settle(page);
  const wide = await box(page, "encode").boundingBox(), graph = await page.locator(".graph").boundingBox();
  assert.ok(wide.width > graph.width - 4, `${wide.width} of ${graph.width} px`);
  assert.deepEqual(await crumbs(page), ["all", "main", "event_loop", "encode"]);
  await page.locator(".crumbs button", { hasText: "main" }).click();
  assert.deepEqual(await crumbs(page), ["all", "main"]);
  await page.getByRole("button", { name: "reset" }).click();
  assert.deepEqual(await crumbs(page), ["all"]);
});

test("boxes are as wide as their shares", async (page) => {
  await open(page, "pair", "#step=3&mode=control");
  await settle(page);
  const lines = read("control.folded").trim().split("\n");
  const px = (await page.locator(".sheet").boundingBox()).width;
  for (const name of ["event_loop", "encode", "handle"]) {
    const sum = total(lines.filter((l) => new RegExp(`(^|;)${name}(;| )`).test(l)).join("\n"));
    const wanted = px * sum / total(lines.join("\n")), is = (await box(page, name).boundingBox()).width;
    assert.ok(Math.abs(is - wanted) < 1.3, `${name}: ${is} px, ${wanted} expected`);
  }
});

test("search counts a stack once, of both arms, of all and of the zoom", async (page) => {
  await open(page, "pair");
  await search(page, "^(deflate|crc32_z)$");
  const part = (name) => {
    const lines = read(name).trim().split("\n");
    return (100 * total(lines.filter((l) => /deflate/.test(l)).join("\n")) / total(lines.join("\n"))).toFixed(2);
  };
  assert.equal(await page.locator("#flame .found").textContent(), `matched ${part("control.folded")} % → ${part("variant.folded")} %`);
  await box(page, "encode").click();
  assert.match(await page.locator("#flame .found").textContent(), /of the zoom 100\.00 % → 100\.00 %$/);
  await search(page, "<img(");
  assert.match(await page.locator("#flame .found").textContent(), /^matched 0 %/);
});

test("the keyboard walks, zooms, searches, pins and resets", async (page) => {
  await open(page, "pair");
  await page.locator(".sheet").focus();
  for (const key of ["ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  assert.equal(await page.locator(".panel b").first().textContent(), "event_loop");
  await page.keyboard.press("Enter");
  assert.deepEqual(await crumbs(page), ["all", "main", "event_loop"]);
  await page.keyboard.press("Backspace");
  assert.deepEqual(await crumbs(page), ["all", "main"]);
  await page.keyboard.press("p");
  assert.equal(await page.locator(".panel.pinned b").textContent(), "main");
  await page.keyboard.press("/");
  await page.keyboard.type("crc32");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator(".panel b").first().textContent(), "crc32_z");
  await page.keyboard.press("Escape");
  assert.deepEqual(await crumbs(page), ["all"]);
  assert.equal(await page.locator("#flame .found").textContent(), "");
});

test("the legend keeps one colour", async (page) => {
  await open(page, "pair", "#step=3&mode=control");
  await page.locator("#flame .legend button", { hasText: "codec" }).click();
  const left = await page.locator(".graph .b:not(.out)").allInnerTexts();
  assert.ok(left.length >= 1 && left.every((t) => /deflate|crc32_z/.test(t)), left.join());
});

test("the difference says new, gone, points and ms", async (page) => {
  await open(page, "pair");
  await box(page, "encode").hover();
  assert.match(await page.locator(".panel").first().innerText(),
    /inclusive: control [\d.]+ % \([\d.]+ ms\) → variant [\d.]+ % \([\d.]+ ms\): \+[\d.]+ %, \+[\d.]+ points, \+[\d.]+ ms per request/);
  assert.match(await page.locator(".panel").first().innerText(), /(inside|outside) the noise/);
  const said = await page.locator(".panel").first().innerText();
  const [, lo, hi] = said.match(/95 % interval of the change: inclusive ([−+][\d.]+) % to ([−+][\d.]+) %/).map((t) => Number(t.replace("−", "-")));
  const change = number(said.match(/inclusive: .*?\): ([−+][\d.]+ %)/)[1]);
  assert.ok(lo < change && change < hi, said);
  const svg = read("flame-diff.svg").match(/<title>encode\n[^<]*/)[0];
  assert.ok(svg.includes(said.match(/95 % interval of the change: [^\n]*/)[0]), svg);
});

test("a window dragged over the strip is what the flamegraph shows", async (page) => {
  await open(page, "pair");
  const strip = page.locator(".time canvas").first();
  await strip.scrollIntoViewIfNeeded();
  const r = await strip.boundingBox(), x = (s) => r.x + r.width * s / 60;
  await page.mouse.move(x(20) + 0.2, r.y + 30);
  await page.mouse.down();
  await page.mouse.move(x(22), r.y + 30, { steps: 3 });
  await page.mouse.move(x(24) - 0.2, r.y + 30, { steps: 3 });
  await page.mouse.up();
  const say = await page.locator("#flame > .note").first().innerText();
  const [, from, to, ticks] = say.match(/window ([\d.]+) to ([\d.]+) s of .*, ([\d,]+) ticks/);
  assert.ok(Math.abs(from - 20) < 0.11 && Math.abs(to - 24) < 0.11, say);
  assert.ok(number(ticks) > 0.9 * total(read("window.folded")), say);
  await page.locator(".time input").nth(0).fill("20");
  await page.locator(".time input").nth(1).fill("24");
  await page.getByRole("button", { name: "show this window" }).click();
  const exact = (await page.locator("#flame > .note").first().innerText()).match(/, ([\d,]+) ticks/)[1];
  assert.equal(number(exact), total(read("window.folded")));
  assert.ok((await box(page, "compile_method").boundingBox()).width > 300, "the compiler has most of these seconds");
  await page.getByRole("button", { name: "whole run" }).click();
  assert.match(await page.locator("#flame > .note").first().innerText(), /variant against control/);
});

test("a window of parts of a second is chosen on the heat map", async (page) => {
  await open(page, "one");
  const map = page.getByRole("img", { name: /heat map/ });
  await map.scrollIntoViewIfNeeded();
  const r = await map.boundingBox();
  const at = (second, part) => [r.x + r.width * (second + 0.5) / 60, r.y + r.height * (part + 0.5) / 50];
  await page.mouse.move(...at(10, 10));
  await page.mouse.down();
  await page.mouse.move(...at(11, 4), { steps: 4 });
  await page.mouse.up();
  assert.match(await page.locator("#flame > .note").first().innerText(), /^window 10\.20 to 11\.10 s/);
});

test("throttling, GC, marks, steps and threads stand over the same time", async (page) => {
  await open(page, "pair");
  const text = await page.locator("#time").innerText();
  for (const wanted of ["throttled", "GC, young", "▾ deploy", "step 2000", "compiler 13", "worker-1 11"])
    assert.ok(text.includes(wanted), `${wanted} is missing`);
  await page.locator(".time .steps button", { hasText: "step 2000" }).click();
  assert.match(await page.locator("#flame > .note").first().innerText(), /^window 25\.00 to 42\.00 s/);
});

test("tables sort and frames are filtered", async (page) => {
  await open(page, "pair");
  const region = page.locator(".step.shown .frames"), first = () => region.locator("tbody tr:not([hidden])").first().locator("th").innerText();
  await region.getByRole("button", { name: "frame", exact: true }).click();
  const names = await region.locator("tbody th").allInnerTexts();
  assert.deepEqual(names, [...names].sort());
  await region.getByRole("button", { name: "frame", exact: true }).click();
  assert.deepEqual(await region.locator("tbody th").allInnerTexts(), [...names].reverse());
  await region.getByRole("button", { name: "points", exact: true }).click();
  const points = (await region.locator("tbody tr").evaluateAll((rows) => rows.map((r) => r.cells[r.cells.length - 2].textContent))).map(number);
  assert.deepEqual(points, [...points].sort((a, b) => b - a));
  await page.locator(".step.shown").getByRole("searchbox").fill("^deflate");
  assert.equal(await first(), "deflate");
  assert.equal(await region.locator("tbody tr:not([hidden])").count(), 1);
  await page.locator(".step.shown").getByRole("searchbox").fill("");
  await page.locator(".step.shown").getByRole("combobox").selectOption("absent, new or gone");
  const few = await region.locator("tbody tr:not([hidden])").count();
  assert.ok(few < names.length);
});

test("downloads are the tables of diff and the stacks of fold", async (page) => {
  await open(page, "pair");
  assert.equal(await downloaded(page, "tables as JSON"), read("pair.json"));
  assert.equal(await downloaded(page, "tables as CSV"), read("pair.csv"));
  assert.equal(await downloaded(page, "folded stacks of the control, this step"), read("control.folded"));
  assert.equal(await downloaded(page, "folded stacks of the variant, this step"), read("variant.folded"));
});

test("Σ of what is drawn and of what is not is the arm, on both sides", async (page) => {
  await open(page, "cut");
  assert.match(await page.locator("#flame").innerText(), /frames are in this file, the lightest are summed up as “other”/);
  for (const arm of ["control", "variant"]) {
    const folded = await downloaded(page, `folded stacks of the ${arm}, this step`);
    const whole = await downloaded(page, "tables as JSON");
    const layers = JSON.parse(whole).tables.find((t) => /^Layers/.test(t.title));
    const all = layers.rows.find((r) => r.layer === "total")[`${arm}_samples`];
    assert.equal(total(folded), all);
    assert.match(folded, /other \(\d+ frames?\)/);
  }
});

test("the address restores step, mode, zoom and search; one from elsewhere breaks nothing", async (page) => {
  await open(page, "pair");
  await box(page, "encode").click();
  await search(page, "crc");
  await settle(page);
  const hash = new URL(page.url()).hash;
  await page.goto("about:blank");
  await open(page, "pair", hash);
  assert.equal((await crumbs(page)).at(-1), "encode");
  assert.match(await page.locator("#flame .found").textContent(), /^matched/);
  for (const bad of ["#step=__proto__&z=1e9&mode=constructor&s=%E0%A4%A", "#z=-1&step=99", "#<script>"]) {
    await page.goto("about:blank");
    await open(page, "pair", bad);
    assert.deepEqual(await crumbs(page), ["all"]);
  }
});

test("hostile names run nothing and are shown as they are", async (page) => {
  await open(page, "hostile");
  assert.equal(await page.title(), "</title><script>window.broken=1</script>");
  for (const mode of ["control", "variant", "difference"]) {
    await page.getByRole("group", { name: "what is drawn" }).getByRole("button", { name: mode, exact: true }).click();
    await settle(page);
    const labels = (await page.locator(".graph .b .n").allTextContents()).join("\n");
    assert.ok(labels.includes("<img src=x onerror=window.broken=1>"));
    assert.ok(labels.includes("␛[31mred"));
    assert.ok(!/[\u0000-\u0009\u000b-\u001f\u202a-\u202e\u2066-\u2069]/.test(labels), "no control of text remains");
  }
  const all = await page.evaluate(() => document.body.innerText);
  assert.ok(!/[\u202a-\u202e\u2066-\u2069\u0007\u001b]/.test(all));
  await page.evaluate(() => [...document.querySelectorAll(".graph .b")].forEach((b) =>
    ["pointerover", "click"].forEach((kind) => b.dispatchEvent(new Event(kind, { bubbles: true })))));
  await search(page, "constructor");
  assert.deepEqual(await page.evaluate(() => [window.broken, document.images.length - document.querySelectorAll("img.ramp").length,
    document.querySelectorAll("script:not([type]), style").length]), [undefined, 0, 2]);
  assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll("*")].filter((e) =>
    [...e.attributes].some((a) => a.name.startsWith("on") || /^javascript:/.test(a.value))).map((e) => e.outerHTML.slice(0, 100))), []);
  assert.equal(await downloaded(page, "tables as JSON").then((t) => typeof JSON.parse(t)), "object");
});

/* ---- one picture as a page ---- */

test("a page of one picture searches frames that an SVG has no box for", async (page) => {
  const name = "leaf_29994_of_many", lines = read("many.folded").trim().split("\n");
  const drawn = new Set(read("flame.svg").match(/leaf_\d+_of_many/g));
  const absent = lines.map((l) => l.match(/leaf_\d+_of_many/)[0]).find((n) => !drawn.has(n));
  assert.ok(absent, "the SVG has all frames");
  await open(page, "flame");
  for (const wanted of [name, absent, "_of_many$", "branch_7;|branch_(7|8)$"]) {
    const re = new RegExp(wanted);
    const sum = total(lines.filter((l) => l.split(" ")[0].split(";").some((f) => re.test(f))).join("\n"));
    const percent = 100 * sum / total(lines.join("\n"));
    await search(page, wanted);
    const said = number(await page.locator("#flame .found").textContent());
    assert.ok(Math.abs(said - percent) <= Math.max(0.005, 0.06 * percent), `${wanted}: ${said} %, ${percent} expected`);
  }
  await search(page, `^${absent}$`);
  await page.locator("#flame input[type=search]").press("Enter");
  assert.equal(await page.locator(".panel b").first().textContent(), absent);
  assert.equal(await page.locator(".graph .b.at").count(), 1, "a match that is not drawn is zoomed to");
  assert.match(await page.locator(".graph .b.at").getAttribute("aria-label"), new RegExp(`^${absent}, `));
  assert.equal((await downloaded(page, "folded stacks")).trim(), lines.sort().join("\n"));
});

test("what a page of one picture leaves out stands in boxes of its own", async (page) => {
  await open(page, "flame-cut");
  assert.match(await page.locator("#flame").innerText(), /\d+ of 30,151 frames are in this file/);
  assert.equal(total(await downloaded(page, "folded stacks")), total(read("many.folded")));
});

test("a page has its root below, with --icicle above, and keys follow", async (page) => {
  await open(page, "flame");
  const y = async (name) => (await box(page, name).boundingBox()).y;
  assert.ok(await y("all") > await y("main"));
  await page.locator(".sheet").focus();
  await page.keyboard.press("ArrowUp");
  assert.equal(await page.locator(".panel b").first().textContent(), "main");
  await open(page, "flame-module");
  assert.ok(await y("all") < await y("main"));
  await page.locator(".sheet").focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator(".panel b").first().textContent(), "main");
});

test("a page tells share, interval, ms per request and cores, and colours by what was asked", async (page) => {
  await open(page, "flame-module");
  assert.match(await page.locator("#flame .legend").innerText(), /libc\.so [\d.]+ %/);
  const colour = (name) => box(page, name).evaluate((e) => getComputedStyle(e).backgroundColor);
  assert.equal(await colour("writev"), await colour("malloc"));
  assert.notEqual(await colour("writev"), await colour("deflate"));
  await box(page, "writev").hover();
  const lines = read("control.folded").trim().split("\n");
  const sum = total(lines.filter((l) => /;writev/.test(l)).join("\n")), share = (100 * sum / total(lines.join("\n"))).toFixed(2);
  const said = await page.locator(".panel").first().innerText();
  assert.match(said, /inclusive ([\d.]+) % · [\d,]+ ticks · [\d.]+ ms per request · [\d.]+ cores/);
  assert.match(said, new RegExp(`inclusive ${share.replace(".", "\\.")} % · ${sum.toLocaleString("en")} ticks`));
  const [, lo, hi] = said.match(/95 % interval ([\d.]+) to ([\d.]+) %/);
  assert.ok(Number(lo) < share && share < Number(hi), said);
  await open(page, "flame-turned");
  assert.match(await page.locator("main").innerText(), /Stacks are turned/);
  assert.ok((await box(page, "writev").boundingBox()).y < (await box(page, "all").boundingBox()).y);
  await box(page, "writev").hover();
  assert.match(await page.locator(".panel").first().innerText(), new RegExp(`inclusive ${share.replace(".", "\\.")} %`));
});

test("a page of two arms says what the report says", async (page) => {
  const said = {};
  for (const [name, hash] of [["pair", "#step=3"], ["flame-diff", ""]]) {
    await open(page, name, hash);
    await box(page, "encode").hover();
    said[name] = await page.locator(".panel").first().innerText();
  }
  assert.equal(said["flame-diff"], said.pair);
  await page.getByRole("button", { name: "variant", exact: true }).click();
  assert.match(await page.locator("#flame > .note").first().innerText(), /^variant: [\d,]+ ticks; width is the share/);
});

test("a page has the keys of the SVG, and its address keeps what was chosen", async (page) => {
  await open(page, "flame-diff");
  await page.keyboard.press("End"); /* nothing has the focus */
  assert.equal(await page.locator(".panel b").first().textContent(), "writev");
  await page.keyboard.press("p");
  await page.keyboard.press("Control+f");
  await page.keyboard.type("handle|(");
  await page.waitForFunction(() => document.querySelector("#flame .found").getAttribute("data-query") === "handle|(");
  assert.ok(await page.locator("#flame input.bad").count() === 1, "what is no regular expression is marked");
  await page.getByRole("button", { name: "search by regular expression" }).click();
  assert.equal(await page.locator("#flame input.bad").count(), 0);
  assert.match(await page.locator("#flame .found").textContent(), /^matched 0 %/);
  await page.locator("#flame .legend button", { hasText: "inside the noise" }).click();
  const address = page.url();
  assert.match(address, /&s=handle%7C\(&r=0&l=D0&p=\d+$/);
  await page.goto("about:blank");
  await page.goto(address);
  await page.waitForSelector("body[data-ready]");
  assert.equal(await page.locator(".panel.pinned b").textContent(), "writev");
  assert.equal(await page.getByRole("button", { name: "search by regular expression" }).getAttribute("aria-pressed"), "false");
  assert.equal(await page.locator("#flame .legend [aria-pressed=true]").innerText(), "inside the noise");
  await page.locator("#flame input[type=search]").press("Escape");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".panel.pinned:visible").count(), 0);
  assert.equal(new URL(page.url()).hash, "#step=all&mode=difference&r=0");
});

test("hostile names are text in a page of one picture", async (page) => {
  await open(page, "flame-hostile");
  await page.evaluate(() => [...document.querySelectorAll(".graph .b")].forEach((b) =>
    ["pointerover", "click"].forEach((kind) => b.dispatchEvent(new Event(kind, { bubbles: true })))));
  assert.deepEqual(await page.evaluate(() => [window.broken, document.images.length, document.title,
    document.querySelectorAll("script:not([type]), style").length]),
  [undefined, 0, "</title><script>window.broken=1</script>", 2]);
  assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll("*")].filter((e) =>
    [...e.attributes].some((a) => a.name.startsWith("on") || /^javascript:/.test(a.value))).map((e) => e.outerHTML.slice(0, 100))), []);
});

test("the policy of the page lets nothing else run", async (page, context, complaints) => {
  await open(page, "pair");
  const ran = await page.evaluate(async () => {
    const s = document.createElement("script");
    s.textContent = "window.ran = 1";
    document.body.appendChild(s);
    document.body.insertAdjacentHTML("beforeend", "<p onclick='window.ran = 2' id=probe style='color:red'>x</p>");
    document.getElementById("probe").click();
    const fetched = await fetch("https://example.org/").then(() => "fetched", () => "refused");
    return [window.ran, fetched];
  });
  assert.deepEqual(ran, [undefined, "refused"]);
  complaints.length = 0;
});

for (const scheme of ["light", "dark"])
  test(`axe finds no serious fault, ${scheme}`, async (page) => {
    for (const name of ["pairs", "one", "flame-diff", "flame-module"]) {
      await open(page, name);
      await page.evaluate(axe); /* by the debugger: the policy forbids a script */
      const faults = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations
        .filter((v) => v.impact === "serious" || v.impact === "critical")
        .map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`)));
      assert.deepEqual(faults, []);
    }
  }, { colorScheme: scheme });

test("dark pages are dark", async (page) => {
  await open(page, "pair");
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(21, 24, 28)");
}, { colorScheme: "dark" });

test("a narrow window scrolls tables, not the page", async (page) => {
  await page.setViewportSize({ width: 400, height: 700 });
  for (const name of ["pair", "hostile"]) {
    await open(page, name);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${name}: ${over} px too wide`);
  }
});

test("in print every step is there and nothing is cut off", async (page) => {
  await open(page, "pair");
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".step:visible").count(), 4);
  assert.equal(await page.locator("#switch:visible").count(), 0);
});

test("one arm has its own report", async (page) => {
  await open(page, "one");
  assert.match(await page.locator("h1").innerText(), /Profile of control-1\.fbank/);
  assert.match(await page.locator(".verdict").innerText(), /By layer: syscalls [\d.]+/);
  assert.match(await page.locator(".verdict").innerText(), /Knee: .*\n?.*2 of 4 steps would carry no verdict/s);
  assert.equal(await downloaded(page, "folded stacks, this step").then(total) > 1000, true);
});

test("profiles without times and job logs without profiles have what can be had", async (page) => {
  await open(page, "folded");
  assert.match(await page.locator("#time").innerText(), /None of the profiles has times/);
  assert.ok(await page.locator(".graph .b").count() > 2);
  await open(page, "logs");
  assert.equal(await page.locator("#flame, #time").count(), 0);
  assert.match(await page.locator(".verdict").innerText(), /CPU per request rose by 18\.0 %/);
  await page.locator("#switch button").first().click();
  assert.equal(await page.locator(".step.shown").count(), 1);
});

test("two pairs are counted as two, and the sum is in the answer", async (page) => {
  await open(page, "pairs");
  assert.match(await page.locator(".verdict").innerText(), /2 pairs of runs/);
  assert.match(await page.locator(".verdict").innerText(), /serving/);
  const runs = page.locator(".step.shown .tw", { hasText: "control 2" }).first(), row = runs.locator("tr", { hasText: "codec" });
  const cells = (await row.locator("td").allInnerTexts()).map(number), both = (await page.locator(".step.shown .tw").first().locator("tr", { hasText: "codec" })
    .locator("td").allInnerTexts()).map(number);
  assert.equal(cells.length, 8);
  assert.ok(Math.abs((cells[0] + cells[2]) / 2 - both[0]) < 0.3, `${cells[0]}, ${cells[2]}: ${both[0]}`);
});

let failed = 0;
const only = process.argv[3];
for (const { name, run, options } of tests) {
  if (only && !name.includes(only)) continue;
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: "reduce", acceptDownloads: true, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (e) => complaints.push(`error: ${e.message}`));
  page.on("console", (m) => m.type() === "error" && complaints.push(`console: ${m.text()}`));
  page.on("request", (r) => !/^(file|data|about|blob):/.test(r.url()) && complaints.push(`request: ${r.url()}`));
  try {
    await run(page, context, complaints);
    assert.deepEqual(complaints, []);
    console.log(`ok      ${name}`);
  } catch (e) {
    failed++;
    console.log(`FAILED  ${name}\n        ${String(e.message).replace(/\n/g, "\n        ")}\n        ${complaints.join("; ")}`);
  }
  await context.close();
}
await browser.close();
console.log(`${tests.length - failed} of ${tests.length} tests of the report passed`);
process.exit(failed > 0 ? 1 : 0);
