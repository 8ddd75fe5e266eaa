/* The run over time: steps, layer shares, throttling and GC, a heat map of seconds by their parts,
 * threads.  A span that is dragged over any of them is what the flamegraph shows. */
function TimeData(model, arm, numbers) {
  var t = arm.time, n, i, last = 0;
  this.arm = arm;
  this.meta = t;
  this.heat = numberList(numbers, t.columns * t.rows);
  this.layers = t.layers.map(function (l) { return { layer: l, v: numberList(numbers, t.columns) }; });
  this.lanes = t.lanes.map(function (l) {
    var weight = new Float64Array(t.columns), layer = new Int32Array(t.columns), c;
    for (c = 0; c < t.columns; c++) { weight[c] = numbers.next(); layer[c] = numbers.next() - 1; }
    return { about: l, weight: weight, layer: layer };
  });
  n = numbers.next();
  this.cell = new Float64Array(n);
  this.box = new Int32Array(n);
  this.weight = new Float64Array(n);
  for (i = 0; i < n; i++) {
    last += numbers.next();
    this.cell[i] = last;
    this.box[i] = numbers.next();
    this.weight[i] = numbers.next();
  }
  this.sums = new Float64Array(t.columns);
  for (i = 0; i < this.layers.length; i++)
    for (n = 0; n < t.columns; n++) this.sums[n] += this.layers[i].v[n];
}
function numberList(numbers, n) {
  var out = new Float64Array(n), i;
  for (i = 0; i < n; i++) out[i] = numbers.next();
  return out;
}
/* Weight by box of [from, to) milliseconds, whole cells. */
TimeData.prototype.window = function (tree, from, to) {
  var out = new Float64Array(tree.count), g = this.meta.grain, i;
  for (i = 0; i < this.cell.length; i++) {
    var at = this.cell[i] * g;
    if (at >= from && at < to) out[this.box[i]] += this.weight[i];
  }
  return out;
};
TimeData.prototype.length = function () { return this.meta.columns * this.meta.columnMs; };

/* ---- the picture ---- */
function TimeView(parent, tree, data, onWindow) {
  this.tree = tree;
  this.data = data;
  this.onWindow = onWindow;
  this.selected = null;
  this.parent = make("div", { class: "time" }, parent);
  this.build();
}
function seconds(ms) { return (ms / 1000).toFixed(ms % 1000 ? 2 : 0); }
TimeView.prototype.build = function () {
  var d = this.data, p = this.parent;
  this.tools(p);
  if (d.meta.steps.length) this.steps(make("div", { class: "steps" }, p));
  if (d.meta.marks.length) this.marks(make("div", { class: "marks" }, p));
  make("p", { class: "caption" }, p, "Layers, share of the samples of each " + this.columnText());
  this.key(p);
  this.strip = this.canvas(p, 84, "shares of the layers over time", function (x) { return x; });
  this.counters(p);
  this.axis(make("div", { class: "axis" }, p));
  make("p", { class: "caption" }, p, "Samples by " + this.columnText() + " (across) and " +
    (d.meta.columnMs / d.meta.rows) + " ms within it (down); darker is more");
  this.map = this.canvas(p, 150, "heat map of samples, seconds by parts of a second");
  this.lanesCaption(p);
  this.lanes = this.canvas(p, d.lanes.length * 15, "threads over time, in the colour of the layer that has most");
  this.laneNames();
  this.draw();
};
TimeView.prototype.key = function (p) {
  var model = this.tree.model, line = make("div", { class: "legend" }, p);
  this.data.layers.forEach(function (l) {
    if (!model.layers[l.layer]) return;
    var e = make("span", { class: "k" }, line);
    make("i", { class: "sw L" + l.layer }, e);
    e.appendChild(document.createTextNode(visible(model.layers[l.layer].name, 60)));
  });
};
TimeView.prototype.columnText = function () {
  var s = this.data.meta.columnMs / 1000;
  return s === 1 ? "second" : s + " seconds";
};
TimeView.prototype.lanesCaption = function (p) {
  make("p", { class: "caption" }, p, "Threads: height is CPU, colour the layer that has most of it");
};
TimeView.prototype.tools = function (p) {
  var self = this, bar = make("div", { class: "tools" }, p), max = this.data.length() / 1000;
  var field = function (label) {
    var l = make("label", {}, bar, label + " ");
    return make("input", { type: "number", min: "0", max: String(max), step: "any" }, l);
  };
  if (!this.data.cell.length) {
    make("span", { class: "found" }, bar, "Too many samples for a choice of windows in this file: --from and --to do it.");
    return;
  }
  this.from = field("from s");
  this.to = field("to s");
  make("button", { type: "button" }, bar, "show this window").addEventListener("click", function () {
    self.select(1000 * parseFloat(self.from.value || 0), 1000 * parseFloat(self.to.value || max));
  });
  this.off = make("button", { type: "button", hidden: "" }, bar, "whole run");
  this.off.addEventListener("click", function () { self.clear(); });
  this.readout = make("span", { class: "found" }, bar, "drag over the pictures to choose a window");
};
TimeView.prototype.place = function (ms) { return 100 * Math.max(0, Math.min(1, ms / this.data.length())) + "%"; };
TimeView.prototype.steps = function (p) {
  var self = this;
  this.data.meta.steps.forEach(function (s) {
    var text = "step " + visible(s.name, 60) + (s.health === "healthy" ? "" : " · " + s.health);
    var b = make("button", { type: "button", title: text }, p, text);
    b.style.left = self.place(s.from);
    b.style.width = "calc(" + self.place(s.to) + " - " + self.place(s.from) + ")";
    if (s.health !== "healthy") b.classList.add("sick");
    b.addEventListener("click", function () { self.select(s.from, s.to); });
  });
};
TimeView.prototype.marks = function (p) {
  var self = this;
  this.data.meta.marks.forEach(function (m) {
    make("span", {}, p, "▾ " + visible(m.name, 30)).style.left = self.place(m.at);
  });
};
TimeView.prototype.axis = function (p) {
  var all = this.data.length() / 1000, step = Math.pow(10, Math.floor(Math.log10(all || 1))), s;
  while (all / step < 5) step /= 2;
  for (s = 0; s <= all; s += step) make("span", {}, p, (Math.round(s * 100) / 100) + " s").style.left = this.place(1000 * s);
};
TimeView.prototype.canvas = function (p, height, label) {
  var line = make("div", { class: "line" }, p);
  var c = make("canvas", { role: "img", "aria-label": label }, line);
  c.style.height = height + "px";
  c.rows = height;
  this.brush(c);
  return c;
};
TimeView.prototype.counters = function (p) {
  var self = this, m = this.data.meta, list = [["throttled", "throttled"], ["gcYoung", "GC, young"], ["gcOld", "GC, old"], ["compile", "JIT"]];
  this.bars = [];
  list.forEach(function (k) {
    if (!m[k[0]]) return;
    var most = Math.max.apply(null, m[k[0]]);
    make("p", { class: "caption" }, p, k[1] + ", ms a " + self.columnText() + "; at most " + count(most));
    var c = self.canvas(p, 22, k[1] + " over time");
    c.values = m[k[0]];
    c.most = most;
    self.bars.push(c);
  });
};
TimeView.prototype.laneNames = function () {
  var names = make("div", { class: "names" }, this.lanes.parentNode);
  this.data.lanes.forEach(function (l, n) {
    var text = l.about.more ? l.about.more + " more threads" : visible(l.about.name || "thread", 40) + (l.about.tid ? " " + l.about.tid : "");
    make("span", {}, names, text).style.top = n * 15 + "px";
  });
};

/* ---- drawing ---- */
function colorOf(model, l) { return l >= 0 && model.layers[l] ? model.layers[l].color : "#cfd2d6"; }
function ink(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
TimeView.prototype.prepare = function (c) {
  var ratio = window.devicePixelRatio || 1, w = c.clientWidth || 1000, g;
  c.width = Math.round(w * ratio);
  c.height = Math.round(c.rows * ratio);
  g = c.getContext("2d");
  g.scale(ratio, ratio);
  g.clearRect(0, 0, w, c.rows);
  return { g: g, w: w, h: c.rows, x: w / this.data.meta.columns };
};
TimeView.prototype.shade = function (p) { /* what is outside the window */
  var s = this.selected, all = this.data.length();
  if (!s) return;
  p.g.fillStyle = ink("--bg");
  p.g.globalAlpha = 0.65;
  p.g.fillRect(0, 0, p.w * s.from / all, p.h);
  p.g.fillRect(p.w * s.to / all, 0, p.w, p.h);
  p.g.globalAlpha = 1;
};
TimeView.prototype.draw = function () {
  this.drawStrip();
  this.bars.forEach(this.drawBars, this);
  this.drawMap();
  this.drawLanes();
};
TimeView.prototype.drawStrip = function () {
  var p = this.prepare(this.strip), d = this.data, model = this.tree.model, c, y, h;
  for (c = 0; c < d.meta.columns; c++) {
    if (!(d.sums[c] > 0)) continue;
    y = 0;
    d.layers.forEach(function (l) {
      h = p.h * l.v[c] / d.sums[c];
      p.g.fillStyle = colorOf(model, l.layer);
      p.g.fillRect(c * p.x, y, p.x + 0.4, h);
      y += h;
    });
  }
  this.shade(p);
};
TimeView.prototype.drawBars = function (canvas) {
  var p = this.prepare(canvas), c, h;
  p.g.fillStyle = ink("--more");
  for (c = 0; c < canvas.values.length; c++) {
    h = canvas.most > 0 ? p.h * canvas.values[c] / canvas.most : 0;
    p.g.fillRect(c * p.x, p.h - h, Math.max(1, p.x), h);
  }
  this.shade(p);
};
TimeView.prototype.drawMap = function () {
  var p = this.prepare(this.map), d = this.data, rows = d.meta.rows, most = 0, i, y = p.h / rows, s = this.selected;
  var cellMs = d.meta.columnMs / rows, v;
  var sorted = Array.prototype.filter.call(d.heat, function (k) { return k > 0; }).sort(function (a, b) { return a - b; });
  most = sorted.length ? sorted[Math.floor(0.98 * (sorted.length - 1))] : 0; /* one spike must not hide the rest */
  p.g.fillStyle = ink("--more");
  for (i = 0; i < d.heat.length; i++) {
    v = d.heat[i];
    if (!(v > 0)) continue;
    p.g.globalAlpha = (0.12 + 0.88 * Math.min(1, v / most)) * (s && (i * cellMs < s.from || i * cellMs >= s.to) ? 0.25 : 1);
    p.g.fillRect(Math.floor(i / rows) * p.x, (i % rows) * y, p.x + 0.3, y + 0.3);
  }
  p.g.globalAlpha = 1;
};
TimeView.prototype.drawLanes = function () {
  var p = this.prepare(this.lanes), model = this.tree.model, d = this.data;
  d.lanes.forEach(function (l, n) {
    var most = 0, c, h;
    for (c = 0; c < l.weight.length; c++) most = Math.max(most, l.weight[c]);
    for (c = 0; c < l.weight.length; c++) {
      if (!(l.weight[c] > 0)) continue;
      h = Math.max(2, 14 * l.weight[c] / most);
      p.g.fillStyle = colorOf(model, l.layer[c]);
      p.g.fillRect(c * p.x, n * 15 + 14 - h, p.x + 0.4, h);
    }
  });
  this.shade(p);
};

/* ---- the window ---- */
TimeView.prototype.timeAt = function (c, e) {
  var r = c.getBoundingClientRect(), x = Math.max(0, Math.min(0.999999, (e.clientX - r.left) / r.width));
  var m = this.data.meta, column, row;
  if (c !== this.map) return x * this.data.length();
  column = Math.floor(x * m.columns);
  row = Math.max(0, Math.min(m.rows - 1, Math.floor((e.clientY - r.top) / r.height * m.rows)));
  return column * m.columnMs + row * m.columnMs / m.rows;
};
TimeView.prototype.brush = function (c) {
  var self = this, start = null;
  var span = function (e) {
    var now = self.timeAt(c, e), cell = c === self.map ? self.data.meta.columnMs / self.data.meta.rows : 0;
    return start <= now ? [start, now + cell] : [now, start + cell];
  };
  c.addEventListener("pointerdown", function (e) {
    if (!self.data.cell.length) return;
    start = self.timeAt(c, e);
    c.setPointerCapture(e.pointerId);
  });
  c.addEventListener("pointermove", function (e) {
    if (start === null) { self.say(c, e); return; }
    var s = span(e);
    self.selected = { from: s[0], to: s[1] };
    self.draw();
    self.sayWindow();
  });
  c.addEventListener("pointerup", function (e) {
    if (start === null) return;
    var s = span(e), least = c === self.map ? 0 : self.data.length() / 300;
    start = null;
    if (s[1] - s[0] <= least) { s = [Math.floor(s[0] / self.data.meta.columnMs) * self.data.meta.columnMs, 0]; s[1] = s[0] + self.data.meta.columnMs; }
    self.select(s[0], s[1]);
  });
  c.addEventListener("pointercancel", function () { start = null; });
};
TimeView.prototype.say = function (c, e) {
  var d = this.data, t = this.timeAt(c, e), k = Math.floor(t / d.meta.columnMs), parts = [], model = this.tree.model;
  if (this.selected || !this.readout || !(d.sums[k] >= 0)) return;
  d.layers.forEach(function (l) { if (l.v[k] > 0) parts.push({ n: model.layers[l.layer] ? visible(model.layers[l.layer].name, 40) : "", v: l.v[k] }); });
  parts.sort(function (a, b) { return b.v - a.v; });
  this.readout.textContent = seconds(k * d.meta.columnMs) + " s: " + (d.sums[k] > 0 ? parts.slice(0, 4).map(function (p) {
    return p.n + " " + percent(p.v, d.sums[k]);
  }).join(", ") : "no sample");
};
TimeView.prototype.sayWindow = function () {
  var s = this.selected;
  this.from.value = (s.from / 1000).toFixed(2);
  this.to.value = (s.to / 1000).toFixed(2);
  this.readout.textContent = "window " + (s.from / 1000).toFixed(2) + " to " + (s.to / 1000).toFixed(2) + " s";
};
TimeView.prototype.select = function (from, to) {
  var g = this.data.meta.grain, weights, sum = 0, i;
  if (!(to > from) || !isFinite(from) || !isFinite(to)) return;
  from = Math.max(0, Math.floor(from / g + 1e-9) * g);
  to = Math.min(this.data.length(), Math.max(from + g, Math.ceil(to / g - 1e-9) * g));
  this.selected = { from: from, to: to };
  weights = this.data.window(this.tree, from, to);
  for (i = 0; i < weights.length; i++) sum += weights[i];
  this.draw();
  this.sayWindow();
  this.readout.textContent += ", " + count(sum) + " " + this.tree.model.unit + (g > 20 ? ", whole " + seconds(g) + " s" : "");
  this.off.hidden = false;
  this.onWindow(this.data.arm, weights, from, to, sum);
};
TimeView.prototype.clear = function () {
  this.selected = null;
  this.off.hidden = true;
  this.from.value = this.to.value = "";
  this.readout.textContent = "drag over the pictures to choose a window";
  this.draw();
  this.onWindow(this.data.arm, null, 0, 0, 0);
};
