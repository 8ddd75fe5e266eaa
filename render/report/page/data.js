/* The embedded data: base64 of gzip; numbers are LEB128, as tree.h and time.h say. */
function block(id) {
  var e = document.getElementById(id), text = e ? e.textContent : "";
  var raw = atob(text), bytes = new Uint8Array(raw.length), i;
  for (i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer().then(function (b) { return new Uint8Array(b); });
}
function Reader(bytes) { this.bytes = bytes; this.at = 0; }
Reader.prototype.next = function () {
  var v = 0, scale = 1, b;
  do {
    if (this.at >= this.bytes.length) throw new Error("the embedded data ends early");
    b = this.bytes[this.at++];
    v += (b & 127) * scale;
    scale *= 128;
  } while (b & 128);
  return v;
};

/* What would deceive the eye becomes its picture or U+FFFD; as render/width.c has it. */
function visible(text, most) {
  var out = "", n = 0, c, code, it = text[Symbol.iterator](), r;
  while (!(r = it.next()).done) {
    if (most && n++ >= most) { out += "…"; break; }
    c = r.value;
    code = c.codePointAt(0);
    if (code < 32) c = String.fromCharCode(0x2400 + code);
    else if (code === 127) c = "\u2421";
    else if ((code >= 0x80 && code < 0xa0) || code === 0x61c || code === 0x200e || code === 0x200f ||
      (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || (code >= 0xfff9 && code <= 0xfffb) ||
      (code >= 0xd800 && code < 0xe000) || (code & 0xfffe) === 0xfffe) c = "\ufffd";
    out += c;
  }
  return out;
}

/* The tree and the pictures of it; `model` is the JSON, `numbers` a Reader. */
function Tree(model, numbers) {
  var n = model.pictures && model.pictures.length ? numbers.next() : 0, i, up, f;
  this.model = model;
  this.count = n;
  this.parent = new Int32Array(n);
  this.depth = new Int32Array(n);
  this.fn = new Int32Array(n);     /* index of functions, -1 none */
  this.other = new Int32Array(n);  /* frames of an "other"        */
  this.layer = new Int32Array(n);  /* -1 none                     */
  this.end = new Int32Array(n);    /* behind the last box on it   */
  var chain = [0];
  if (n) { this.fn[0] = -1; this.layer[0] = -1; }
  for (i = 1; i < n; i++) {
    up = numbers.next();
    chain.length -= up;
    this.parent[i] = chain[chain.length - 1];
    this.depth[i] = chain.length;
    f = numbers.next();
    this.fn[i] = f - 1;
    if (f === 0) this.other[i] = numbers.next();
    this.layer[i] = numbers.next() - 1;
    chain.push(i);
  }
  for (i = n - 1; i >= 0; i--) {
    if (this.end[i] === 0) this.end[i] = i + 1;
    if (i > 0 && this.end[this.parent[i]] < this.end[i]) this.end[this.parent[i]] = this.end[i];
  }
  this.pictures = (model.pictures || []).map(function (p) { return this.picture(p, numbers); }, this);
}
Tree.prototype.sparse = function (numbers, hasWeight) {
  var n = numbers.next(), at = 0, box = new Int32Array(n), weight = hasWeight ? new Float64Array(n) : null, i;
  for (i = 0; i < n; i++) {
    at += numbers.next();
    box[i] = at;
    if (weight) weight[i] = numbers.next();
  }
  return { box: box, weight: weight };
};
Tree.prototype.picture = function (p, numbers) {
  var sides = [], k;
  for (k = 0; k < p.sides; k++) sides.push(this.sparse(numbers, true));
  if (p.sides < 2) return { meta: p, sides: sides };
  return { meta: p, sides: sides, total: this.sparse(numbers, false), self: this.sparse(numbers, false),
    changes: { total: this.changes(numbers), self: this.changes(numbers) } };
};
/* By box: both ends of the interval of its change, in tenths of a per cent. */
Tree.prototype.changes = function (numbers) {
  var n = numbers.next(), at = 0, out = new Map(), lo;
  while (n-- > 0) {
    at += numbers.next();
    lo = numbers.next() - 1000;
    out.set(at, [lo, numbers.next() - 1000]);
  }
  return out;
};
Tree.prototype.selfOf = function (side) {
  var out = new Float64Array(this.count), i;
  for (i = 0; i < side.box.length; i++) out[side.box[i]] += side.weight[i];
  return out;
};
Tree.prototype.totals = function (self) {
  var out = Float64Array.from(self), i;
  for (i = this.count - 1; i > 0; i--) out[this.parent[i]] += out[i];
  return out;
};
Tree.prototype.flags = function (list) {
  var out = new Uint8Array(this.count), i;
  for (i = 0; list && i < list.box.length; i++) out[list.box[i]] = 1;
  return out;
};
Tree.prototype.rawName = function (i) {
  if (i === 0) return "all";
  return this.fn[i] < 0 ? "other (" + this.other[i] + (this.other[i] === 1 ? " frame)" : " frames)")
    : this.model.functions.name[this.fn[i]];
};
Tree.prototype.name = function (i) {
  if (!this.shown) this.shown = new Map();
  var s = this.shown.get(i);
  if (s === undefined) this.shown.set(i, s = visible(this.rawName(i), 400));
  return s;
};
/* A frame as `flamebank fold` writes it: a ';' would split it, and what it is follows. */
Tree.prototype.foldedName = function (i) {
  var fs = this.model.functions, f = this.fn[i], name, kind, tier, suffix;
  if (f < 0) return this.rawName(i);
  kind = fs.kinds[fs.kind[f]];
  tier = fs.tier[f];
  suffix = tier === 1 ? "_[0]" : tier === 2 ? "_[1]" : tier === 3 && kind === "java" ? "_[j]" :
    kind === "kernel" ? "_[k]" : kind === "jit" ? "_[j]" : kind === "inlined" ? "_[i]" : "";
  name = fs.name[f].replace(/;/g, ":").replace(/[\u0000-\u001f\u007f]/g, "?");
  return suffix && (kind === "native" || name.slice(-4) !== suffix) ? name + suffix : name;
};
Tree.prototype.folded = function (self) {
  var lines = [], i, k, path;
  for (i = 1; i < this.count; i++) {
    if (!(self[i] > 0)) continue;
    path = [];
    for (k = i; k > 0; k = this.parent[k])
      path.unshift(this.foldedName(k));
    lines.push(path.join(";") + " " + Math.round(self[i]));
  }
  return lines.sort().join("\n") + "\n";
};

/* ---- small things ---- */
function make(tag, attrs, parent, text) {
  var e = document.createElement(tag), k;
  for (k in attrs || {}) if (attrs[k] !== null) e.setAttribute(k, attrs[k]);
  if (text !== undefined) e.textContent = text;
  if (parent) parent.appendChild(e);
  return e;
}
function percent(part, whole) {
  var p = whole > 0 ? 100 * part / whole : 0;
  return !(whole > 0) ? "n/a" : p === 0 ? "0 %" : p < 0.01 ? p.toPrecision(1) + " %" : p.toFixed(2) + " %";
}
function signed(v, digits, unit) {
  return (v < 0 ? "−" : "+") + Math.abs(v).toFixed(digits) + unit;
}
function count(n) { return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ","); }
function download(name, type, content) {
  var url = URL.createObjectURL(new Blob([content], { type: type }));
  var a = make("a", { href: url, download: name });
  a.click();
  setTimeout(function () { URL.revokeObjectURL(url); }, 10000);
}
function matcher(text, onBad, plain) {
  try {
    if (plain) throw new Error("plain text");
    var re = new RegExp(text, /[A-Z]/.test(text) ? "" : "i");
    onBad(false);
    return function (name) { return re.test(name); };
  } catch (e) { /* not a regular expression: the text itself */
    var low = text.toLowerCase();
    onBad(!plain);
    return function (name) { return name.toLowerCase().indexOf(low) >= 0; };
  }
}
