/* A flamegraph as boxes of the page: what is wide enough is drawn, the rest of a row is one box.
 * Keys: arrows walk, Enter zooms, Backspace goes up, Escape resets, / searches, n and N go through
 * the matches, p pins. */
var ROW = 18, DRAWN_MOST = 5000, serial = 0;

function Graph(parent, tree) {
  this.tree = tree;
  this.id = "g" + (++serial);
  this.below = !!(tree.model.flame && tree.model.flame.rootBelow); /* rows go up from the root */
  this.zoom = 0;
  this.at = -1;
  this.pinned = -1;
  this.hit = null;
  this.filter = new Set();
  this.plain = false; /* what is searched is no regular expression */
  this.boxes = new Map();
  this.parts(parent);
  this.listen();
}
Graph.prototype.parts = function (parent) {
  var self = this, bar = make("div", { class: "tools" }, parent);
  this.bar = bar;
  this.input = make("input", { type: "search", placeholder: "search  /", spellcheck: "false",
    "aria-label": "search frames" });
  this.regexp = make("button", { type: "button", "aria-pressed": "true", title: "regular expressions",
    "aria-label": "search by regular expression" }, null, ".*");
  this.found = make("span", { class: "found", role: "status" });
  this.previous = make("button", { type: "button", "aria-label": "previous match", hidden: "" }, null, "‹");
  this.next = make("button", { type: "button", "aria-label": "next match", hidden: "" }, null, "›");
  this.reset = make("button", { type: "button" }, null, "reset");
  this.heading = make("p", { class: "note" }, parent);
  this.legend = make("div", { class: "legend", role: "group", "aria-label": "legend: a click keeps one colour" }, parent);
  this.crumbs = make("nav", { class: "crumbs", "aria-label": "zoom path" }, parent);
  this.graph = make("div", { class: "graph" }, parent);
  this.sheet = make("div", { class: "sheet", role: "tree", tabindex: "0", "aria-label": "frames" }, this.graph);
  this.panels = make("div", { class: "panels" }, parent);
  this.panel = make("div", { class: "panel", role: "status" }, this.panels);
  this.pin = make("div", { class: "panel pinned", hidden: "" }, this.panels);
  [this.input, this.regexp, this.found, this.previous, this.next, this.reset].forEach(function (e) { bar.appendChild(e); });
  this.reset.addEventListener("click", function () { self.clear(); });
  this.regexp.addEventListener("click", function () { self.setPlain(!self.plain); self.search(self.input.value); self.changed(); });
  this.previous.addEventListener("click", function () { self.walkMatches(-1); });
  this.next.addEventListener("click", function () { self.walkMatches(1); });
};

Graph.prototype.changed = function () { if (this.onChange) this.onChange(); };
Graph.prototype.setPlain = function (plain) {
  this.plain = plain;
  this.regexp.setAttribute("aria-pressed", String(!plain));
};

/* ---- what is shown ---- */
Graph.prototype.show = function (view) {
  this.view = view;
  if (!(view.width[this.zoom] > 0)) this.zoom = 0;
  this.drawLegend();
  this.search(this.input.value);
  this.draw();
  this.details();
};
Graph.prototype.classes = function () {
  var model = this.tree.model, seen = new Map(), v = this.view, i;
  for (i = 1; i < this.tree.count; i++) {
    if (!(v.width[i] > 0)) continue;
    var k = v.classOf(i);
    if (k) seen.set(k, (seen.get(k) || 0) + 1);
  }
  if (v.isDiff)
    return [[5, "gone"], [4, "−50 % and below"], [3, "−25 %"], [2, "−10 %"], [1, "less"],
      [0, v.meta.judged ? "inside the noise" : "not judged"], [6, "more"], [7, "+10 %"], [8, "+25 %"],
      [9, "+50 % and above"], [10, "new"], [11, "several frames, not tested"]]
      .filter(function (c) { return c[0] !== 11 || seen.has("D11"); })
      .map(function (c) { return ["D" + c[0], c[1]]; });
  if (model.flame && model.flame.legend)
    return model.flame.legend.map(function (c) { return [c[0] < 0 ? "" : "L" + c[0], visible(c[1], 60)]; });
  return model.layers.map(function (l, n) { return ["L" + n, visible(l.name, 60)]; })
    .filter(function (c) { return seen.has(c[0]); });
};
Graph.prototype.drawLegend = function () {
  var self = this, classes = this.classes(), known = new Set(classes.map(function (c) { return c[0]; }));
  this.legend.textContent = "";
  this.filter.forEach(function (k) { if (!known.has(k)) self.filter.delete(k); });
  classes.forEach(function (c) {
    if (!c[0]) { make("span", { class: "k" }, self.legend, c[1]); return; }
    var b = make("button", { type: "button", "aria-pressed": String(self.filter.has(c[0])) }, self.legend);
    make("i", { class: "sw " + c[0] }, b);
    b.appendChild(document.createTextNode(c[1]));
    b.addEventListener("click", function () {
      if (!self.filter.delete(c[0])) self.filter.add(c[0]);
      b.setAttribute("aria-pressed", String(self.filter.has(c[0])));
      self.paint();
      self.changed();
    });
  });
};

/* ---- layout: from the zoomed box on, rows down ---- */
Graph.prototype.plan = function (least) {
  var t = this.tree, v = this.view, px = this.sheet.clientWidth || 1000, out = [], self = this;
  var top = t.depth[this.zoom], i, k, scale = v.width[this.zoom] > 0 ? px / v.width[this.zoom] : 0;
  for (i = this.zoom, k = []; i > 0; i = t.parent[i]) k.unshift(t.parent[i]);
  k.forEach(function (p) { out.push({ i: p, x: 0, w: px, d: t.depth[p], past: true }); });
  var open = [{ i: this.zoom, x: 0, next: 0 }];
  out.push({ i: this.zoom, x: 0, w: px, d: top });
  open[0].child = this.zoom + 1;
  while (open.length) {
    var o = open[open.length - 1], c = o.child;
    if (c >= t.end[o.i]) {
      if (o.thin > 0) out.push(self.thin(o, scale));
      open.pop();
      continue;
    }
    o.child = t.end[c];
    var w = v.width[c] * scale;
    if (!(w > 0)) continue;
    if (w < least) { /* too narrow: gathered until the next that is wide enough */
      if (!o.thin) { o.thin = 0; o.thinX = o.x; o.thinN = 0; o.thinI = c; }
      o.thin += w;
      o.thinN++;
      o.x += w;
      continue;
    }
    if (o.thin > 0) { out.push(self.thin(o, scale)); o.thin = 0; }
    out.push({ i: c, x: o.x, w: w, d: t.depth[c] });
    open.push({ i: c, x: o.x, child: c + 1 });
    o.x += w;
  }
  return out;
};
Graph.prototype.thin = function (o) {
  return { i: o.thinI, x: o.thinX, w: o.thin, d: this.tree.depth[o.i] + 1, thin: o.thinN };
};
Graph.prototype.draw = function () {
  var least = 0.7, plan = this.plan(least), self = this, old = this.boxes, depth = 0, fresh = [];
  while (plan.length > DRAWN_MOST) plan = this.plan(least *= 1.6);
  this.planned = plan;
  this.boxes = new Map();
  plan.forEach(function (p) { if (p.d > depth) depth = p.d; });
  this.depth = depth;
  plan.forEach(function (p) {
    var key = p.thin ? "t" + p.i : p.i, e = old.get(key);
    if (!(p.w > 0.3)) return;
    if (e) old.delete(key);
    else {
      e = make("div", { role: "treeitem", id: self.id + "-" + key });
      make("span", { class: "n" }, e);
      make("span", { class: "s" }, e);
      e.boxIndex = p.i;
      e.thinCount = p.thin || 0;
      fresh.push(e);
    }
    self.place(e, p);
    self.boxes.set(key, e);
  });
  old.forEach(function (e) { e.remove(); });
  var all = document.createDocumentFragment();
  fresh.forEach(function (e) { all.appendChild(e); });
  this.sheet.appendChild(all);
  this.sheet.style.height = (depth + 1) * ROW + 4 + "px";
  if (this.below && this.tallest !== depth) this.graph.scrollTop = this.graph.scrollHeight;
  this.tallest = depth;
  this.paint();
  this.drawCrumbs();
};
Graph.prototype.place = function (e, p) {
  var v = this.view, gap = p.w > 4 ? 0.8 : p.w * 0.2, name = e.firstChild, suffix = e.lastChild;
  e.style.left = p.x.toFixed(2) + "px";
  e.style.width = (p.w - gap).toFixed(2) + "px";
  e.style.top = (this.below ? this.depth - p.d : p.d) * ROW + "px";
  e.setAttribute("aria-level", p.d + 1);
  e.thinCount = p.thin || 0;
  e.past = !!p.past;
  e.narrow = p.w < 22;
  if (p.thin) {
    name.textContent = e.narrow ? "" : p.thin + " narrow frames";
    suffix.textContent = "";
    e.setAttribute("aria-label", p.thin + " frames too narrow to be drawn");
    return;
  }
  name.textContent = e.narrow ? "" : this.tree.name(p.i);
  suffix.textContent = p.w > 60 ? v.suffix(p.i) : "";
  e.setAttribute("aria-label", this.tree.name(p.i) + ", " + v.short(p.i) + (v.suffix(p.i) ? ", " + v.suffix(p.i) : ""));
};
/* Classes alone: nothing moves. */
Graph.prototype.paint = function () {
  var self = this, t = this.tree, v = this.view, f = this.filter, hit = this.hit;
  var same = this.at > 0 && t.fn[this.at] >= 0 ? t.fn[this.at] : -2;
  this.sheet.classList.toggle("searching", !!hit);
  this.boxes.forEach(function (e) {
    var i = e.boxIndex, k = e.thinCount ? "" : v.classOf(i), list = "b";
    if (k) list += " " + k;
    if (e.thinCount || t.other[i] > 0) list += " o";
    if (e.narrow) list += " thin";
    if (e.past) list += " past";
    if (hit && !e.thinCount && hit[i]) list += " hit";
    if (f.size && !f.has(k)) list += " out";
    if (!e.thinCount && t.fn[i] === same) list += " same";
    if (!e.thinCount && i === self.at) list += " at";
    if (!e.thinCount && i === self.pinned) list += " pin";
    if (e.className !== list) e.className = list;
  });
};
Graph.prototype.drawCrumbs = function () {
  var chain = [], i = this.zoom, self = this;
  this.crumbs.textContent = "";
  for (; i > 0; i = this.tree.parent[i]) chain.unshift(i);
  chain.unshift(0);
  if (chain.length > 9) chain = chain.slice(0, 2).concat(-1, chain.slice(-6));
  chain.forEach(function (k, n) {
    if (n > 0) make("span", { "aria-hidden": "true" }, self.crumbs, "›");
    if (k < 0) { make("span", {}, self.crumbs, "…"); return; }
    var b = make("button", { type: "button" }, self.crumbs, self.tree.name(k));
    if (k === self.zoom) b.setAttribute("aria-current", "location");
    b.addEventListener("click", function () { self.zoomTo(k); });
  });
};

/* ---- details ---- */
Graph.prototype.fill = function (panel, i, isPinned) {
  var t = this.tree, model = t.model, f = t.fn[i], self = this, place = [], raw;
  panel.textContent = "";
  make("b", {}, panel, visible(t.rawName(i), 2000));
  this.view.details(i, this.zoom).forEach(function (line) { make("p", { class: "note" }, panel, line); });
  if (f >= 0) {
    if (t.layer[i] >= 0 && model.layers[t.layer[i]]) place.push("layer " + visible(model.layers[t.layer[i]].name, 100));
    if (model.functions.module[f]) place.push("module " + visible(model.functions.module[f], 200));
    if (model.functions.file[f])
      place.push(visible(model.functions.file[f], 200) + (model.functions.line[f] ? ":" + model.functions.line[f] : ""));
    place.push(model.functions.kinds[model.functions.kind[f]]);
    make("p", { class: "note" }, panel, place.join(" · "));
    raw = model.functions.raw[f];
    if (raw && raw !== model.functions.name[f]) make("p", { class: "note" }, panel, "also " + visible(raw, 300));
  }
  var tools = make("div", { class: "tools" }, panel);
  if (isPinned) {
    make("button", { type: "button" }, tools, "unpin").addEventListener("click", function () { self.pinTo(-1); });
  }
  if (f >= 0)
    make("button", { type: "button" }, tools, "copy name").addEventListener("click", function () {
      self.copy(i);
    });
};
Graph.prototype.copy = function (i) {
  if (this.tree.fn[i] >= 0 && navigator.clipboard) navigator.clipboard.writeText(this.tree.rawName(i)).catch(function () {});
};
Graph.prototype.details = function () {
  this.fill(this.panel, this.at >= 0 ? this.at : this.zoom, false);
  this.pin.hidden = this.pinned < 0;
  if (this.pinned >= 0) this.fill(this.pin, this.pinned, true);
};
Graph.prototype.pinTo = function (i) {
  this.pinned = i === this.pinned ? -1 : i;
  this.details();
  this.paint();
  this.changed();
};
Graph.prototype.focusBox = function (i) {
  this.at = i;
  this.paint();
  this.fill(this.panel, i >= 0 ? i : this.zoom, false);
  var e = this.boxes.get(i);
  if (e) {
    this.sheet.setAttribute("aria-activedescendant", e.id);
    var y = e.offsetTop, g = this.graph;
    if (y < g.scrollTop) g.scrollTop = y;
    else if (y + ROW > g.scrollTop + g.clientHeight) g.scrollTop = y + ROW - g.clientHeight;
  } else this.sheet.removeAttribute("aria-activedescendant");
};
Graph.prototype.zoomTo = function (i) {
  if (!(i >= 0 && i < this.tree.count) || !(this.view.width[i] > 0)) i = 0;
  this.zoom = i;
  this.at = i;
  this.draw();
  this.focusBox(i);
  this.report();
  this.changed();
};
Graph.prototype.clear = function () {
  this.input.value = "";
  this.search("");
  this.filter.clear();
  this.pinned = -1;
  this.drawLegend();
  this.zoomTo(0);
  this.details();
};

/* ---- search: in the whole tree, drawn or not ---- */
Graph.prototype.search = function (text) {
  var t = this.tree, i, test, known, hits = 0, input = this.input;
  this.hit = null;
  input.classList.remove("bad");
  if (text) {
    test = matcher(text, function (bad) { input.classList.toggle("bad", bad); }, this.plain);
    known = new Map();
    this.hit = new Uint8Array(t.count);
    for (i = 1; i < t.count; i++) {
      if (t.fn[i] < 0 || !(this.view.width[i] > 0)) continue;
      var h = known.get(t.fn[i]);
      if (h === undefined) known.set(t.fn[i], h = test(t.model.functions.name[t.fn[i]]) ? 1 : 0);
      this.hit[i] = h;
      hits += h;
    }
  }
  this.hits = hits;
  this.found.setAttribute("data-query", text);
  this.previous.hidden = this.next.hidden = !hits;
  if (this.view) { this.report(); this.paint(); }
};
Graph.prototype.report = function () {
  this.found.textContent = this.hit ? "matched " + this.view.matched(this.hit, this.zoom) : "";
};
Graph.prototype.walkMatches = function (by) {
  var t = this.tree, i = this.at, n;
  if (!this.hits) return;
  for (n = 0; n < t.count; n++) {
    i = (i + by + t.count) % t.count;
    if (this.hit[i]) break;
  }
  if (!this.boxes.has(i)) this.zoomTo(t.parent[i]); /* not drawn: zoom to where it is wide enough */
  if (!this.boxes.has(i)) this.zoomTo(i);
  this.focusBox(i);
};

/* ---- pointer and keyboard ---- */
Graph.prototype.step = function (key) {
  var t = this.tree, v = this.view, i = this.at >= 0 ? this.at : this.zoom, c, best = -1;
  if (this.below && /^Arrow(Up|Down)$/.test(key)) key = key === "ArrowUp" ? "ArrowDown" : "ArrowUp";
  if (key === "ArrowUp") return i > 0 ? t.parent[i] : 0;
  if (key === "ArrowDown") {
    for (c = i + 1; c < t.end[i]; c = t.end[c])
      if (v.width[c] > 0 && (best < 0 || v.width[c] > v.width[best])) best = c;
    return best < 0 ? i : best;
  }
  if (i === 0) return i;
  if (key === "ArrowRight") {
    for (c = t.end[i]; c < t.end[t.parent[i]]; c = t.end[c]) if (v.width[c] > 0) return c;
    return i;
  }
  for (c = t.parent[i] + 1; c < i; c = t.end[c]) if (v.width[c] > 0) best = c;
  return best < 0 ? i : best;
};
Graph.prototype.lastInSight = function () {
  var last = 0;
  this.boxes.forEach(function (e, key) { if (!e.thinCount && key > last) last = key; });
  return last;
};
Graph.prototype.key = function (e) {
  if ((e.ctrlKey || e.metaKey) && e.key === "f") { e.preventDefault(); this.input.focus(); this.input.select(); return; }
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (/^Arrow/.test(e.key)) this.focusBox(this.step(e.key));
  else if (e.key === "Enter" || e.key === " ") this.zoomTo(this.at >= 0 ? this.at : 0);
  else if (e.key === "Backspace") this.zoomTo(this.tree.parent[this.zoom]);
  else if (e.key === "Home") this.focusBox(0);
  else if (e.key === "End") this.focusBox(this.lastInSight());
  else if (e.key === "c") this.copy(this.at >= 0 ? this.at : this.zoom);
  else if (e.key === "Escape") this.clear();
  else if (e.key === "n" || e.key === "N") this.walkMatches(e.key === "n" ? 1 : -1);
  else if (e.key === "p") this.pinTo(this.at >= 0 ? this.at : this.zoom);
  else if (e.key === "/") { this.input.focus(); this.input.select(); }
  else return;
  e.preventDefault();
};
Graph.prototype.listen = function () {
  var self = this, typing = 0;
  var boxOf = function (e) {
    var b = e.target.closest ? e.target.closest(".b") : null;
    return b && !b.thinCount ? b.boxIndex : -1;
  };
  this.sheet.addEventListener("click", function (e) {
    var i = boxOf(e);
    if (i < 0) return;
    if (e.shiftKey) self.pinTo(i); else self.zoomTo(i);
  });
  this.sheet.addEventListener("pointerover", function (e) {
    var i = boxOf(e), b = e.target.closest ? e.target.closest(".b") : null;
    if (i >= 0) { self.at = i; self.paint(); self.fill(self.panel, i, false); }
    else if (b) self.panel.textContent = b.thinCount + " frames too narrow to be drawn: zoom in to see them.";
  });
  this.sheet.addEventListener("keydown", function (e) { self.key(e); });
  if (this.tree.model.flame) document.addEventListener("keydown", function (e) { /* nothing else is on the page */
    if (!(e.target.closest && e.target.closest(".sheet, input, button, a"))) self.key(e);
  });
  this.input.addEventListener("input", function () {
    clearTimeout(typing);
    typing = setTimeout(function () { self.search(self.input.value); self.changed(); }, 90);
  });
  this.input.addEventListener("keydown", function (e) {
    if (e.key === "Escape") { self.input.value = ""; self.search(""); self.sheet.focus(); }
    if (e.key === "Enter") { clearTimeout(typing); self.search(self.input.value); self.sheet.focus(); self.at = 0; self.walkMatches(1); }
    e.stopPropagation();
  });
  if (window.ResizeObserver) new ResizeObserver(function () {
    if (self.view && self.sheet.clientWidth !== self.lastWidth) { self.lastWidth = self.sheet.clientWidth; self.draw(); }
  }).observe(this.graph);
};
