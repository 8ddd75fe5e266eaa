/* Makes the picture move: zoom, search, legend filters, keyboard, details.
 *
 * What it reads (written by svg.c and the two pictures): on the root data-kind, data-total,
 * data-top, data-row, data-margin, data-icicle, and of a single profile data-unit, data-scale,
 * data-self, data-ms, data-cores; on every box (g.b, in pre-order) data-w, its width in integer
 * units; of a single profile data-f its self width, data-n the number of its function, data-l of
 * its layer (else its class says it), data-i its interval; in a diff data-c, data-v the amounts of
 * both arms and data-t, data-s label suffixes.  A box stands behind the boxes before it on their
 * common parent, so x needs no attribute; its depth is that of its row.  The first line of a box's
 * <title> is the name, the others are details; <metadata> has the layers and the functions, a line
 * each; a legend chip (g.k) has data-c, the number of its class.  Names come in only as text and go
 * out only as textContent. */
(function () {
"use strict";
var SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
var here = document.currentScript, svg = here ? here.parentNode : document.documentElement;
if (!svg.querySelector) return;
var alone = svg === document.documentElement;
var graph = svg.querySelector(".graph");
var num = function (e, k) { return Number(e.getAttribute("data-" + k)); };
var isDiff = svg.getAttribute("data-kind") === "diff";
var total = num(svg, "total"), top = num(svg, "top"), row = num(svg, "row");
var margin = num(svg, "margin"), icicle = num(svg, "icicle") === 1;
var room = 112; /* px for the details, under what the picture has without a script */
var height = svg.viewBox.baseVal.height + room, leastWidth = svg.viewBox.baseVal.width;
var width = leastWidth, scale = 1;
var boxes = [], byName = new Map(), zoom = 0, at = -1, view = [0, total];
var filter = new Set(), query = "", selfMode = false, plain = false, widthOfArm = "w", pinned = -1, shown = 0;

function make(tag, attrs, parent) {
  var e = document.createElementNS(SVG, tag);
  for (var k in attrs) e.setAttribute(k, attrs[k]);
  if (parent) parent.appendChild(e);
  return e;
}

/* ---- the boxes, and whose child each is ---- */
(function () {
  var open = [], all = graph.children, rows = 0, y0;
  for (var i = 0; i < all.length; i++) {
    var g = all[i], rect = g.children[1], y = Number(rect.getAttribute("y"));
    if (i === 0) y0 = y;
    var b = { i: i, g: g, rect: rect, text: g.children[2] || null, y: y, x: 0, w: num(g, "w"),
      d: Math.round(Math.abs(y - y0) / row), other: g.classList.contains("o"), end: 0, parent: -1,
      off: false, hit: false, name: null, used: 0 };
    while (open.length && boxes[open[open.length - 1]].d >= b.d) boxes[open.pop()].end = i;
    if (open.length) b.parent = open[open.length - 1];
    open.push(i);
    if (isDiff) { b.c = num(g, "c"); b.v = num(g, "v"); b.both = b.w; }
    g.fbIndex = i;
    boxes.push(b);
  }
  open.forEach(function (i) { boxes[i].end = boxes.length; });
})();
if (!boxes.length) return;
/* Where each box begins: behind its elder siblings, on the left of its parent. */
function stack() {
  boxes.forEach(function (b) {
    var p = b.parent < 0 ? null : boxes[b.parent];
    b.x = p ? p.x + p.used : 0;
    b.used = 0;
    if (p) p.used += b.w;
  });
  total = boxes[0].w;
}
stack();
function nameOf(b) {
  if (b.name === null) b.name = b.g.firstChild.textContent.split("\n", 1)[0];
  return b.name;
}
function sameAs(b) {
  if (!byName.size) boxes.forEach(function (k) {
    var name = nameOf(k), list = byName.get(name);
    if (list) list.push(k); else byName.set(name, [k]);
  });
  return byName.get(nameOf(b));
}

/* ---- labels ---- */
var pen = document.createElementNS(HTML, "canvas").getContext("2d"), advance = new Map();
function widthOf(text) {
  var sum = 0, i, c, w, most = Math.min(text.length, 4000);
  for (i = 0; i < most; i++) {
    c = text[i];
    w = advance.get(c);
    if (w === undefined) advance.set(c, w = pen ? pen.measureText(c).width : 9);
    sum += w;
  }
  return sum;
}
function cut(text, px) {
  if (widthOf(text) <= px) return text;
  var used = widthOf("…"), i, w;
  for (i = 0; i < text.length; i++) {
    w = widthOf(text[i]);
    if (used + w > px) break;
    used += w;
  }
  if (i > 0 && /[\ud800-\udbff]/.test(text[i - 1])) i--;
  return i > 0 ? text.slice(0, i) + "…" : "";
}
function label(b, px) {
  var suffix = isDiff ? b.g.getAttribute(selfMode ? "data-s" : "data-t") || "" : "";
  var s = widthOf(suffix), name = nameOf(b);
  if (s > 0 && widthOf(name) + s > px && px - s < 40) { s = 0; suffix = ""; }
  if (widthOf(name) + s <= px) return name + suffix;
  return cut(name.replace(/^[^(< ]*\/(?=.)/, ""), px - s) + suffix;
}

/* ---- layout of the range view[0] .. view[1] ---- */
function layout() {
  var inner = width - 2 * margin, perUnit = inner / (view[1] - view[0] || 1);
  boxes.forEach(function (b) {
    var from = Math.max(b.x, view[0]), to = Math.min(b.x + b.w, view[1]);
    var w = (to - from) * perUnit, off = !(w > 0.15), gap = w > 4 ? 0.8 : w * 0.2, x;
    if (off !== b.off) { b.g.classList.toggle("off", off); b.off = off; }
    if (off) return;
    x = margin + (from - view[0]) * perUnit;
    b.rect.setAttribute("x", x.toFixed(2));
    b.rect.setAttribute("width", (w - gap).toFixed(2));
    if (w > 8) b.rect.setAttribute("rx", 2); else b.rect.removeAttribute("rx");
    b.g.classList.toggle("past", b.i !== zoom && b.x <= boxes[zoom].x && b.d < boxes[zoom].d);
    if (w < 22 || row <= 12) { if (b.text) b.text.textContent = ""; return; }
    if (!b.text) b.text = make("text", { y: (b.y + 12.7).toFixed(2) }, b.g);
    b.text.setAttribute("x", (x + 4).toFixed(2));
    b.text.textContent = label(b, w - gap - 7);
  });
}

/* ---- zoom: the laid-out graph is stretched until the new layout stands ---- */
var motion = 0, calm = window.matchMedia && matchMedia("(prefers-reduced-motion: reduce)").matches;
function stretch(laid, seen) { /* shows the range `seen` of a graph laid out for `laid` */
  var inner = width - 2 * margin, k = (laid[1] - laid[0]) / (seen[1] - seen[0]);
  var shift = margin - k * (margin + (seen[0] - laid[0]) / (laid[1] - laid[0]) * inner);
  graph.setAttribute("transform", "matrix(" + k + " 0 0 1 " + shift + " 0)");
}
function move(to) {
  var from = view, grows = to[1] - to[0] > from[1] - from[0], laid, began = null;
  cancelAnimationFrame(motion);
  var finish = function () {
    view = to;
    graph.removeAttribute("transform");
    graph.classList.remove("moving");
    layout();
  };
  if (calm || total === 0 || (from[0] === to[0] && from[1] === to[1])) { finish(); return; }
  if (grows) { view = to; layout(); }
  view = to;
  laid = grows ? to : from;
  graph.classList.add("moving");
  var step = function (now) {
    if (began === null) began = now;
    var t = Math.min(1, (now - began) / 240), e = 1 - Math.pow(1 - t, 3);
    var w = (from[1] - from[0]) * Math.pow((to[1] - to[0]) / (from[1] - from[0]), e);
    var r = to[1] - to[0] === from[1] - from[0] ? e
      : (w - (from[1] - from[0])) / ((to[1] - to[0]) - (from[1] - from[0]));
    var x = from[0] + (to[0] - from[0]) * r;
    if (t >= 1) { finish(); return; }
    stretch(laid, [x, x + w]);
    motion = requestAnimationFrame(step);
  };
  motion = requestAnimationFrame(step);
}
function zoomTo(i, quiet, still) {
  if (!(i >= 0 && i < boxes.length) || boxes[i].w <= 0) i = 0;
  zoom = i;
  if (still) view = [boxes[i].x, boxes[i].x + boxes[i].w];
  move([boxes[i].x, boxes[i].x + boxes[i].w]);
  report();
  crumbs();
  show(at >= 0 ? at : zoom);
  if (!quiet) save(true);
}

/* ---- the bar over the graph: path, search, buttons; it stays in sight ---- */
svg.classList.add("live");
svg.removeAttribute("role");
pen && (pen.font = "12px " + getComputedStyle(svg).fontFamily);
var tools = make("g", { class: "tools" }, svg), toolsTop = top - 31;
var under = make("rect", { class: "under", x: 0, y: toolsTop - 2, height: 32 }, tools);
var path = make("g", { role: "navigation", "aria-label": "zoom path" }, tools);
var found = make("text", { class: "found", y: toolsTop + 17, "text-anchor": "end", "aria-live": "polite" }, tools);
var holder = make("foreignObject", { y: toolsTop - 4, height: 36 }, tools), controls, input, modes = [];
function html(tag, attrs, parent) {
  var e = document.createElementNS(HTML, tag);
  for (var k in attrs) e.setAttribute(k, attrs[k]);
  parent.appendChild(e);
  return e;
}
controls = html("div", { class: "row" }, holder);
function button(text, act) {
  var b = html("button", { type: "button" }, controls);
  b.textContent = text;
  b.addEventListener("click", act);
  return b;
}
if (isDiff) ["inclusive", "self"].forEach(function (word, i) {
  modes.push(button(word, function () { setMode(i === 1); layout(); save(false); }));
});
var widths = null;
if (isDiff) {
  widths = html("select", { "aria-label": "width of the boxes", title: "what is as wide as a box" }, controls);
  ["both arms", "control", "variant"].forEach(function (word, i) {
    html("option", { value: ["w", "c", "v"][i] }, widths).textContent = word;
  });
  widths.addEventListener("change", function () { setWidths(widths.value); save(false); });
}
input = html("input", { type: "search", placeholder: "search  /", "aria-label": "search frames", spellcheck: "false" }, controls);
var regexp = button(".*", function () { setPlain(!plain); search(input.value); save(false); });
regexp.setAttribute("title", "regular expressions");
regexp.setAttribute("aria-label", "search by regular expression");
button("‹", function () { step(-1); }).setAttribute("aria-label", "previous match");
button("›", function () { step(1); }).setAttribute("aria-label", "next match");
button("reset", reset);
var toolsWidth = isDiff ? 590 : 340;

function setPlain(on) {
  plain = on;
  regexp.setAttribute("aria-pressed", String(!plain));
}
/* Boxes as wide as both arms' mean, or as one arm's amount: what an arm lacks is not there. */
function setWidths(which) {
  widthOfArm = which === "c" || which === "v" ? which : "w";
  if (!isDiff) return;
  widths.value = widthOfArm;
  boxes.forEach(function (b) { b.w = widthOfArm === "w" ? b.both : b[widthOfArm]; });
  stack();
  if (!(boxes[zoom].w > 0)) zoom = 0;
  zoomTo(zoom, true, true);
}
function setMode(self) {
  selfMode = self;
  svg.classList.toggle("self", self);
  modes.forEach(function (b, i) { b.setAttribute("aria-pressed", String((i === 1) === self)); });
  applyFilter();
}
function reset() {
  input.value = "";
  filter.clear();
  applyFilter();
  search("");
  pin(-1);
  focusBox(-1);
  if (isDiff && widthOfArm !== "w") setWidths("w");
  zoomTo(0);
}
function crumbs() {
  var chain = [], x = margin, i, space;
  for (i = zoom; i >= 0; i = boxes[i].parent) chain.unshift(i);
  path.textContent = "";
  space = width - 2 * margin - toolsWidth - widthOf(found.textContent) - 24;
  var sep = 16, texts = chain.map(function (k) { return cut(nameOf(boxes[k]), 180); });
  var used = texts.reduce(function (s, t) { return s + widthOf(t) + sep; }, 0), skip = 0;
  while (used > space && skip < chain.length - 2) { skip++; used -= widthOf(texts[skip]) + sep; }
  chain.forEach(function (k, n) {
    if (n > 0 && n <= skip && n !== 1) return;
    if (n > 0) x = crumb("›", x + 5, -1) + 5;
    if (n === 1 && skip > 0) { x = crumb("…", x, -1); return; }
    x = crumb(texts[n], x, k);
  });
}
function crumb(text, x, k) {
  var t = make("text", { class: k < 0 ? "crumb sep" : "crumb", x: x, y: toolsTop + 17 }, path);
  t.textContent = text;
  if (k >= 0) {
    t.setAttribute("tabindex", 0);
    t.setAttribute("role", "button");
    t.addEventListener("click", function () { zoomTo(k); });
    t.addEventListener("keydown", function (e) { if (e.key === "Enter") { e.stopPropagation(); zoomTo(k); } });
  }
  return x + widthOf(text);
}

/* ---- details of a box, at the lower edge of the window; those of a pinned box over them ---- */
function lineList(selector) {
  var e = svg.querySelector("metadata." + selector);
  return e ? e.textContent.split("\n") : [];
}
var layers = null, functions = null;
function percent(part, whole) { return whole > 0 ? (100 * part / whole).toFixed(2) + " %" : "n/a"; }
function share(part, whole) {
  var p = whole > 0 ? 100 * part / whole : 0;
  return (p === 0 ? "0" : p < 0.01 ? p.toPrecision(1) : p.toFixed(2)) + " %";
}
function short(v, digits) { return String(Number(v.toPrecision(digits))); }
function amount(w) {
  var unit = svg.getAttribute("data-unit"), one = num(svg, "scale"), s = total > 0 ? w / total : 0;
  var text = one === 1 ? String(w).replace(/\B(?=(\d{3})+$)/g, ",") : short(w / one, 6);
  text += " " + (w === 1 && one === 1 && unit.length > 1 ? unit.replace(/s$/, "") : unit) + ", " + share(w, total);
  if (svg.hasAttribute("data-ms")) text += ", " + short(s * num(svg, "ms"), 4) + " ms per request";
  if (svg.hasAttribute("data-cores")) text += ", " + short(s * num(svg, "cores"), 3) + " cores";
  return text;
}
/* [name, total, self, where, raw name]: the lines that the box has without a script, and more. */
function details(b) {
  var lines = b.g.firstChild.textContent.split("\n"), inside, first, f, l;
  inside = zoom > 0 && b.i >= zoom && b.i < boxes[zoom].end ? ", " + percent(b.w, boxes[zoom].w) + " of the zoom" : "";
  if (isDiff || b.other) {
    if (lines.length > 1) lines[1] += inside;
    return lines;
  }
  first = "total " + amount(b.w);
  if (b.g.hasAttribute("data-i")) first += " (95 % interval " + b.g.getAttribute("data-i") + " %)";
  lines = [lines[0], first + inside, (svg.getAttribute("data-self") || "self") + " " + amount(num(b.g, "f"))];
  if (!b.g.hasAttribute("data-n")) return lines;
  if (!functions) { functions = lineList("functions"); layers = lineList("layers"); }
  f = (functions[num(b.g, "n")] || "").split("\t");
  l = b.g.hasAttribute("data-l") ? num(b.g, "l") : Number((/\bl(\d+)/.exec(b.g.getAttribute("class")) || [0, 0])[1]);
  lines.push("layer " + (layers[l] || "") + " · " + f[0] + (f[1] ? " · module " + f[1] : "") + (f[2] ? " · " + f[2] : ""));
  if (f[3]) lines.push("raw name " + f[3]);
  return lines;
}
function barOf(name, role) {
  var g = make("g", role ? { class: name, role: role, "aria-live": "polite" } : { class: name }, svg);
  return { g: g, rect: make("rect", { rx: 4 }, g), lines: [], height: 0 };
}
function fill(bar, lines) {
  var w = width - 2 * margin;
  while (bar.lines.length < lines.length) bar.lines.push(make("text", { x: margin + 10 }, bar.g));
  bar.lines.forEach(function (t, n) {
    t.setAttribute("class", n === 0 ? "name" : "");
    t.setAttribute("y", 17 + n * 16);
    t.textContent = n < lines.length ? cut(lines[n], n === 0 ? w - 190 : w - 20) : "";
  });
  bar.height = 10 + lines.length * 16;
  bar.rect.setAttribute("x", margin - 4);
  bar.rect.setAttribute("width", w + 8);
  bar.rect.setAttribute("height", bar.height);
}
var pinBar = barOf("bar pinned", null), bar = barOf("bar", "status");
var acts = make("foreignObject", { y: 2, width: 160, height: 30 }, svg), actsRow = html("div", { class: "row acts" }, acts);
function act(text, title, run) {
  var b = html("button", { type: "button", title: title }, actsRow);
  b.textContent = text;
  b.addEventListener("click", run);
  return b;
}
act("copy name", "copy the name (c)", function () { copy(shown); });
var pinButton = act("pin", "keep these details in sight (p)", function () { pin(pinned === shown ? -1 : shown); save(false); });
function show(i) {
  shown = i;
  fill(bar, details(boxes[i]));
  if (pinned >= 0) fill(pinBar, details(boxes[pinned]));
  pinButton.textContent = pinned === i ? "unpin" : "pin";
  follow();
}
/* Details of the box stay in sight, beside those of the box under the pointer. */
function pin(i) {
  if (pinned >= 0) boxes[pinned].g.classList.remove("pin");
  pinned = i >= 0 && i < boxes.length ? i : -1;
  if (pinned >= 0) boxes[pinned].g.classList.add("pin");
  svg.classList.toggle("pinning", pinned >= 0);
  show(shown);
}
function copy(i) {
  var name = nameOf(boxes[i]), told = function (how) { found.textContent = how; crumbs(); };
  var old = function () {
    var area = html("textarea", { "aria-hidden": "true" }, controls), done = false;
    area.value = name;
    area.select();
    try { done = document.execCommand("copy"); } catch (e) { done = false; }
    area.remove();
    told(done ? "copied" : "this browser does not let a file copy");
  };
  if (navigator.clipboard && navigator.clipboard.writeText)
    navigator.clipboard.writeText(name).then(function () { told("copied"); }, old);
  else old();
}
function follow() {
  var low = window.innerHeight / scale, y = (window.scrollY || 0) / scale;
  var place = alone ? Math.min(height, y + low) : height;
  bar.g.setAttribute("transform", "translate(0," + (place - bar.height - 4) + ")");
  acts.setAttribute("x", width - margin - 164);
  acts.setAttribute("transform", "translate(0," + (place - bar.height - 4) + ")");
  pinBar.g.setAttribute("transform", "translate(0," + (place - bar.height - pinBar.height - 10) + ")");
  tools.setAttribute("transform", "translate(0," + (alone ? Math.max(0, Math.min(y - toolsTop + 4, height - toolsTop - 60)) : 0) + ")");
}

/* ---- search ---- */
function matcher(text) {
  var cased = /[A-Z]/.test(text), low = cased ? text : text.toLowerCase();
  input.classList.remove("bad");
  if (!plain) try {
    var re = new RegExp(text, cased ? "" : "i");
    return function (name) { return re.test(name); };
  } catch (e) { input.classList.add("bad"); } /* not a regular expression: the text itself */
  return function (name) { return (cased ? name : name.toLowerCase()).indexOf(low) >= 0; };
}
function search(text) {
  query = text;
  input.classList.remove("bad");
  var test = text ? matcher(text) : null, known = new Map();
  svg.classList.toggle("searching", !!text);
  svg.setAttribute("data-query", text); /* what is shown now */
  boxes.forEach(function (b) {
    var hit = false, name;
    if (test && !b.other && b.d > 0) {
      name = nameOf(b);
      hit = known.get(name);
      if (hit === undefined) known.set(name, hit = test(name));
    }
    if (b.hit !== hit) { b.hit = hit; b.g.classList.toggle("hit", hit); }
  });
  report();
  crumbs();
}
/* To the next box that matches and is in sight, round and round. */
function step(dir) {
  var n = boxes.length, k = at >= 0 ? at : dir > 0 ? zoom : 0;
  for (var turn = 0; turn < n; turn++) {
    k = (k + dir + n) % n;
    if (boxes[k].hit && !boxes[k].off) { focusBox(k); return; }
  }
}
/* Topmost matches only: a stack counts once however often the name recurs on it. */
function matched(field) {
  var z = boxes[zoom], all = 0, inside = 0, i = 0, b;
  while (i < boxes.length) {
    b = boxes[i];
    if (!b.hit) { i++; continue; }
    all += b[field];
    if (b.i >= zoom && b.i < z.end) inside += b[field];
    else if (b.i < zoom && b.end > zoom) inside = z[field];
    i = b.end;
  }
  return { all: percent(all, boxes[0][field]), zoom: percent(inside, z[field]) };
}
function report() {
  var hidden = 0, a, b, say;
  if (!query) { found.textContent = ""; return; }
  a = matched(isDiff ? "c" : "w");
  b = isDiff ? matched("v") : null;
  say = function (k) { return a[k] + (b ? " → " + b[k] : ""); };
  boxes.forEach(function (x) { if (x.other) hidden += x.w; });
  found.textContent = "matched " + say("all") + (zoom > 0 ? ", of the zoom " + say("zoom") : "") +
    (hidden > 0 ? "; " + percent(hidden, total) + " is not drawn" : "");
}
var typing = 0;
input.addEventListener("input", function () { /* once the typing pauses */
  clearTimeout(typing);
  typing = setTimeout(function () { search(input.value); save(false); }, 90);
});
input.addEventListener("keydown", function (e) {
  if (e.key === "Escape") { input.value = ""; search(""); save(false); input.blur(); }
  if (e.key === "Enter") {
    clearTimeout(typing);
    if (input.value !== query) { search(input.value); save(false); }
    input.blur();
    step(e.shiftKey ? -1 : 1);
  }
  e.stopPropagation();
});

/* ---- legend ---- */
var chips = Array.prototype.slice.call(svg.querySelectorAll(".k"));
function applyFilter() {
  var prefix = isDiff ? (selfMode ? "s" : "t") : "l";
  svg.classList.toggle("filtered", filter.size > 0);
  chips.forEach(function (k) {
    var on = filter.has(num(k, "c"));
    k.classList.toggle("on", on);
    k.setAttribute("aria-pressed", String(on));
  });
  boxes.forEach(function (b) {
    var keep = filter.size === 0;
    filter.forEach(function (c) { keep = keep || b.g.classList.contains(prefix + c); });
    b.g.classList.toggle("out", !keep);
  });
}
chips.forEach(function (k) {
  var flip = function () {
    var c = num(k, "c");
    if (!filter.delete(c)) filter.add(c);
    applyFilter();
    save(false);
  };
  k.setAttribute("role", "button");
  k.setAttribute("tabindex", 0);
  k.setAttribute("aria-label", "only " + k.textContent);
  k.addEventListener("click", flip);
  k.addEventListener("keydown", function (e) {
    if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); flip(); }
  });
});

/* ---- pointer and keyboard ---- */
graph.setAttribute("role", "tree");
graph.setAttribute("aria-label", "frames");
boxes.forEach(function (b) { /* the <title> of each is its name to a screen reader */
  b.g.setAttribute("role", "treeitem");
  b.g.setAttribute("aria-level", b.d + 1);
});
boxes[0].g.setAttribute("tabindex", 0);
function boxOf(e) {
  var g = e.target.closest ? e.target.closest("g.b") : null;
  return g && g.parentNode === graph ? g.fbIndex : -1;
}
var same = [];
function markSame(i) {
  same.forEach(function (b) { b.g.classList.remove("same"); });
  same = i >= 0 && !boxes[i].other ? sameAs(boxes[i]) : [];
  same.forEach(function (b) { b.g.classList.add("same"); });
}
function focusBox(i) {
  if (at >= 0) { boxes[at].g.classList.remove("at"); boxes[at].g.setAttribute("tabindex", -1); }
  at = i;
  if (i < 0) { boxes[0].g.setAttribute("tabindex", 0); return; }
  boxes[i].g.classList.add("at");
  boxes[i].g.setAttribute("tabindex", 0);
  boxes[i].g.focus({ preventScroll: true });
  if (alone) {
    var r = boxes[i].rect.getBoundingClientRect();
    if (r.top < 44 || r.bottom > window.innerHeight - 90) window.scrollBy(0, r.top - window.innerHeight / 2);
  }
  show(i);
}
graph.addEventListener("mouseover", function (e) { var i = boxOf(e); if (i >= 0) { show(i); markSame(i); } });
graph.addEventListener("mouseleave", function () { markSame(-1); show(at >= 0 ? at : zoom); });
graph.addEventListener("click", function (e) {
  var i = boxOf(e);
  if (i < 0) return;
  if (e.shiftKey) { pin(pinned === i ? -1 : i); save(false); return; }
  focusBox(-1);
  zoomTo(i);
});
graph.addEventListener("focusin", function (e) { var i = boxOf(e); if (i >= 0 && i !== at) focusBox(i); });
function near(i, dir) { /* the box beside it on its row that can be seen */
  for (var k = i + dir; k >= 0 && k < boxes.length; k += dir)
    if (boxes[k].d === boxes[i].d && !boxes[k].off) return k;
  return i;
}
function lastInSight() {
  for (var k = boxes.length - 1; k > 0; k--) if (!boxes[k].off) return k;
  return 0;
}
function widestChild(i) {
  var best = i, w = -1;
  for (var k = i + 1; k < boxes[i].end; k = boxes[k].end)
    if (!boxes[k].off && boxes[k].w > w) { best = k; w = boxes[k].w; }
  return best;
}
var home = alone ? document : svg;
home.addEventListener("keydown", function (e) {
  var from = at >= 0 ? at : zoom, key = e.key;
  if (key === "/" || (key === "f" && (e.ctrlKey || e.metaKey))) {
    e.preventDefault();
    input.focus();
    input.select();
    return;
  }
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (key === "Escape") { reset(); return; }
  if (e.target.closest && e.target.closest("button, select, textarea")) return; /* theirs */
  if (key === "Enter") { if (at >= 0) zoomTo(at); return; }
  if (key === "Backspace" && zoom > 0) { zoomTo(boxes[zoom].parent); return; }
  if (key === "n" || key === "N") { step(e.shiftKey ? -1 : 1); return; }
  if (key === "p") { pin(pinned === shown ? -1 : shown); save(false); return; }
  if (key === "c") { copy(shown); return; }
  if (key === "Home" || key === "End") { e.preventDefault(); focusBox(key === "Home" ? 0 : lastInSight()); return; }
  var go = { ArrowLeft: function () { return near(from, -1); }, ArrowRight: function () { return near(from, 1); },
    ArrowUp: function () { return icicle ? boxes[from].parent : widestChild(from); },
    ArrowDown: function () { return icicle ? widestChild(from) : boxes[from].parent; } }[key];
  if (!go) return;
  e.preventDefault();
  focusBox(at < 0 ? from : Math.max(0, go()));
});

/* ---- state in the address ---- */
var saved = "";
function save(isStep) {
  var parts = [];
  if (!alone) return;
  if (zoom > 0) parts.push("z=" + zoom);
  if (query) parts.push("s=" + encodeURIComponent(query));
  if (filter.size) parts.push("l=" + Array.from(filter).sort().join("."));
  if (selfMode) parts.push("m=self");
  if (plain) parts.push("r=0");
  if (widthOfArm !== "w") parts.push("w=" + widthOfArm);
  if (pinned >= 0) parts.push("p=" + pinned);
  saved = parts.length ? "#" + parts.join("&") : "#";
  try {
    if (isStep) history.pushState(null, "", saved); else history.replaceState(null, "", saved);
  } catch (e) { location.replace(saved); }
}
function load() {
  var want = {};
  if (!alone || (saved && (location.hash || "#") === saved)) return;
  saved = location.hash || "#";
  saved.slice(1).split("&").forEach(function (p) {
    var k = p.indexOf("=");
    if (k > 0) try { want[p.slice(0, k)] = decodeURIComponent(p.slice(k + 1)); } catch (e) { return; }
  });
  filter = new Set((want.l || "").split(".").filter(Boolean).map(Number));
  setMode(isDiff && want.m === "self");
  setPlain(want.r === "0");
  if (isDiff) setWidths(want.w);
  pin(/^\d+$/.test(want.p || "") ? Number(want.p) : -1);
  input.value = want.s || "";
  search(input.value);
  zoomTo(parseInt(want.z || "0", 10), true);
}
/* As wide as the window, but never too narrow for legend and notes: then all of it is scaled. */
function size() {
  var have = alone ? document.documentElement.clientWidth || window.innerWidth : leastWidth;
  width = Math.max(leastWidth, have);
  scale = Math.max(0.5, have / width);
  svg.setAttribute("viewBox", "0 0 " + width + " " + height);
  if (alone) {
    svg.setAttribute("width", width * scale);
    svg.setAttribute("height", height * scale);
  } else { /* inside a page: the page says how wide */
    svg.setAttribute("width", "100%");
    svg.removeAttribute("height");
  }
  under.setAttribute("width", width);
  holder.setAttribute("x", width - margin - toolsWidth);
  holder.setAttribute("width", toolsWidth);
  found.setAttribute("x", width - margin - toolsWidth - 8);
  layout();
  crumbs();
  show(at >= 0 ? at : zoom);
}
window.addEventListener("resize", size);
window.addEventListener("scroll", follow, { passive: true });
window.addEventListener("popstate", load);
window.addEventListener("hashchange", load);
setMode(false);
setPlain(false);
size();
if (location.hash) load();
/* Deep stacks: the wide boxes are at the foot, and the head of the page may be all but empty. */
else if (alone && !icicle) window.scrollTo(0, document.documentElement.scrollHeight);
})();
