/* What a flamegraph shows: amounts by box, and how they are said.  A view has `width` by box (any
 * unit; a parent is at least as wide as its children together), text for the details, a class for
 * the colour and a suffix for the label. */
var LEVELS = [0.10, 0.25, 0.50], GREY = 0, GONE = 5, NEW = 10, UNTESTED = 11;

/* A weight in its unit: a page of one picture has those that are no whole numbers in parts. */
function weightText(model, side, v) {
  var scale = model.flame ? model.flame.scale[side] : 1;
  return scale === 1 ? count(v) : (v / scale).toPrecision(6).replace(/\.?0+$/, "");
}
function selfWord(model) { return model.flame ? model.flame.self : "self"; }

function Single(tree, self, about) {
  this.tree = tree;
  this.self = self;
  this.total = this.width = tree.totals(self);
  this.about = about; /* { label, ms } */
  this.isDiff = false;
}
Single.prototype.classOf = function (i) {
  var classes = this.tree.model.flame && this.tree.model.flame.classes;
  if (classes) return this.tree.fn[i] < 0 ? "" : "L" + classes[this.tree.fn[i]];
  return this.tree.layer[i] < 0 ? "" : "L" + this.tree.layer[i];
};
Single.prototype.suffix = function () { return ""; };
Single.prototype.weight = function (v) {
  var n = weightText(this.tree.model, this.about.side || 0, v), unit = this.tree.model.unit;
  return n + " " + (n === "1" ? unit.replace(/(.)s$/, "$1") : unit);
};
Single.prototype.amount = function (v) {
  var all = this.total[0], ms = this.about.ms, cores = this.about.cores;
  return percent(v, all) + " · " + this.weight(v) +
    (ms !== null && ms !== undefined && all > 0 ? " · " + (ms * v / all).toPrecision(4) + " ms per request" : "") +
    (cores !== null && cores !== undefined && all > 0 ? " · " + (cores * v / all).toPrecision(3) + " cores" : "");
};
Single.prototype.details = function (i, zoom) {
  var lines = ["inclusive " + this.amount(this.total[i]) +
    (zoom > 0 ? " · " + percent(this.total[i], this.total[zoom]) + " of the zoom" : "")];
  if (this.about.intervals && this.about.intervals[i]) lines.push("95 % interval " + this.about.intervals[i] + " %");
  if (!(this.tree.other[i] > 0)) lines.push(selfWord(this.tree.model) + " " + this.amount(this.self[i]));
  return lines;
};
Single.prototype.short = function (i) { return percent(this.total[i], this.total[0]); };
/* Topmost matches only: a stack counts once however often the name recurs on it. */
function matchedSum(tree, hit, total, from, to) {
  var sum = 0, i = from;
  while (i < to) {
    if (hit[i]) { sum += total[i]; i = tree.end[i]; } else i++;
  }
  return sum;
}
function inside(tree, hit, i) {
  for (; i > 0; i = tree.parent[i]) if (hit[i]) return true;
  return false;
}
Single.prototype.matched = function (hit, zoom) {
  var t = this.total, z = inside(this.tree, hit, zoom) ? t[zoom] : matchedSum(this.tree, hit, t, zoom, this.tree.end[zoom]);
  return percent(matchedSum(this.tree, hit, t, 0, this.tree.count), t[0]) +
    (zoom > 0 ? ", of the zoom " + percent(z, t[zoom]) : "");
};

function Diff(tree, picture, about) {
  var i, n = tree.count;
  this.tree = tree;
  this.about = about;
  this.isDiff = true;
  this.byself = false;
  this.selfs = picture.sides.map(function (s) { return tree.selfOf(s); });
  this.totals = this.selfs.map(function (s) { return tree.totals(s); });
  this.real = { total: tree.flags(picture.total), self: tree.flags(picture.self) };
  this.changes = picture.changes;
  this.meta = picture.meta;
  this.ms = picture.meta.ms[0] !== null && picture.meta.ms[1] !== null ? picture.meta.ms : null;
  this.width = new Float64Array(n);
  for (i = 0; i < n; i++) this.width[i] = (this.share(this.totals, 0, i) + this.share(this.totals, 1, i)) / 2;
}
Diff.prototype.share = function (of, side, i) {
  var all = this.totals[side][0];
  return all > 0 ? of[side][i] / all : 0;
};
Diff.prototype.pair = function (self, i) {
  var of = self ? this.selfs : this.totals, a = this.share(of, 0, i), b = this.share(of, 1, i);
  var x = a, y = b;
  if (this.ms && this.meta.onMs) { x *= this.ms[0]; y *= this.ms[1]; }
  return { control: a, variant: b, change: x > 0 ? y / x - 1 : NaN };
};
Diff.prototype.level = function (self, i) {
  var p, k = 1;
  if (this.tree.other[i] > 0) return UNTESTED;
  p = this.pair(self, i);
  if (!(self ? this.real.self : this.real.total)[i] || (p.control <= 0 && p.variant <= 0)) return GREY;
  if (p.control <= 0) return NEW;
  if (p.variant <= 0) return GONE;
  LEVELS.forEach(function (l) { if (Math.abs(p.change) >= l) k++; });
  return p.change < 0 ? k : GONE + k;
};
Diff.prototype.classOf = function (i) { return "D" + this.level(this.byself, i); };
Diff.prototype.suffix = function (i) {
  var l = this.level(this.byself, i), p;
  if (l === GREY || l === UNTESTED) return "";
  if (l === NEW || l === GONE) return l === NEW ? "new" : "gone";
  p = this.pair(this.byself, i);
  return signed(100 * p.change, Math.abs(p.change) < 0.0995 ? 1 : 0, " %");
};
Diff.prototype.side = function (word, share, ms) {
  return word + " " + percent(share, 1) + (this.ms ? " (" + (share * ms).toPrecision(4) + " ms)" : "");
};
Diff.prototype.pairText = function (what, self, i) {
  var p = this.pair(self, i), ms = this.ms || [0, 0], d = p.variant * ms[1] - p.control * ms[0];
  if (p.control <= 0 && p.variant <= 0) return what + ": none in either arm";
  return what + ": " + this.side("control", p.control, ms[0]) + " → " + this.side("variant", p.variant, ms[1]) + ": " +
    (p.control <= 0 ? "new" : p.variant <= 0 ? "gone" : signed(100 * p.change, 1, " %")) + ", " +
    signed(100 * (p.variant - p.control), 2, " points") + (this.ms ? ", " + signed(d, 4, " ms per request") : "");
};
Diff.prototype.changeTexts = function (i) {
  var all = this.changes, model = this.tree.model;
  return ["total", "self"].filter(function (k) { return all[k].has(i); }).map(function (k) {
    var c = all[k].get(i);
    return (k === "total" ? "inclusive" : selfWord(model)) + " " + signed(c[0] / 10, 1, " %") + " to " + signed(c[1] / 10, 1, " %");
  }).join(", ");
};
Diff.prototype.details = function (i) {
  var of = this.selfs, model = this.tree.model, text = function (side, from) { return weightText(model, side, from[side][i]); };
  var lines = [this.pairText(this.tree.other[i] ? "together" : "inclusive", false, i)];
  if (this.tree.other[i]) return lines.concat("Too light to be embedded one by one; not tested against noise.");
  lines.push(this.pairText(selfWord(this.tree.model), true, i));
  if (this.changeTexts(i)) lines.push("95 % interval of the change: " + this.changeTexts(i));
  lines.push(this.meta.judged ? "inclusive " + (this.real.total[i] ? "outside" : "inside") + " the noise, self " +
    (this.real.self[i] ? "outside" : "inside") + " it" : "not judged: the step carries no verdict");
  lines.push(text(0, this.totals) + " → " + text(1, this.totals) + " " + this.tree.model.unit + ", " + selfWord(this.tree.model) + " " +
    text(0, of) + " → " + text(1, of));
  return lines;
};
Diff.prototype.short = function (i) {
  return percent(this.share(this.totals, 0, i), 1) + " → " + percent(this.share(this.totals, 1, i), 1);
};
Diff.prototype.matched = function (hit, zoom) {
  var tree = this.tree, totals = this.totals;
  var say = function (from) {
    return totals.map(function (t) {
      var sum = inside(tree, hit, from) ? t[from] : matchedSum(tree, hit, t, from, tree.end[from]);
      return percent(sum, t[from]);
    }).join(" → ");
  };
  return say(0) + (zoom > 0 ? ", of the zoom " + say(zoom) : "");
};
