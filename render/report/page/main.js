/* Puts the parts together: one step at a time, its pictures, the window of time, the downloads.
 * The address keeps step, mode, zoom and search. */
var body = document.body, sections = Array.prototype.slice.call(document.querySelectorAll(".step"));
var state = { step: "", mode: "", arm: 0, window: null };
body.classList.add("live");
document.querySelectorAll(".tw table").forEach(sortable);
document.querySelectorAll(".tw.frames").forEach(filterable);

function failed(e) {
  var place = document.getElementById("flame") || body;
  make("p", { class: "note", role: "alert" }, place, "The pictures could not be drawn: " + e.message);
  sections.forEach(function (s) { s.classList.add("shown"); });
}

function readHash() {
  var out = {};
  location.hash.slice(1).split("&").forEach(function (part) {
    var k = part.split("=");
    try { if (/^(step|mode|z|s|r|l|p)$/.test(k[0])) out[k[0]] = decodeURIComponent(k.slice(1).join("=")); } catch (e) { /* not ours */ }
  });
  return out;
}
function saveHash(graph) {
  var h = "step=" + encodeURIComponent(state.step) + "&mode=" + encodeURIComponent(state.mode);
  if (graph && graph.zoom > 0) h += "&z=" + graph.zoom;
  if (graph && graph.input.value) h += "&s=" + encodeURIComponent(graph.input.value);
  if (graph && graph.plain) h += "&r=0";
  if (graph && graph.filter.size) h += "&l=" + Array.from(graph.filter).join(",");
  if (graph && graph.pinned >= 0) h += "&p=" + graph.pinned;
  try { history.replaceState(null, "", "#" + h); } catch (e) { /* a sandbox has no history */ }
}

/* ---- the step switch ---- */
function stepKeys(model) {
  var keys = sections.map(function (s) { return s.getAttribute("data-step"); });
  if ((model.pictures || []).some(function (p) { return p.step === undefined; }) && keys.indexOf("all") < 0) keys.push("all");
  return keys;
}
function stepName(model, key) {
  var p;
  if (key !== "all") return model.steps[key] ? visible(model.steps[key].name, 60) : key;
  p = (model.pictures || []).filter(function (x) { return x.step === undefined; })[0];
  return p ? p.name : "the whole run";
}
function buildSwitch(model, pick) {
  var nav = document.getElementById("switch"), keys = stepKeys(model), buttons = {};
  if (keys.length > 1) {
    make("span", {}, nav, "step");
    keys.forEach(function (key) {
      var s = key === "all" ? null : model.steps[key];
      var b = make("button", { type: "button" }, nav, stepName(model, key));
      if (s && model.diff && !s.judged) { b.classList.add("sick"); b.title = s.health + ": no verdict"; }
      b.addEventListener("click", function () { pick(key); });
      buttons[key] = b;
    });
  }
  return buttons;
}

/* ---- the flamegraph and what chooses its view ---- */
function modesOf(model) {
  return model.diff ? [["control", "control"], ["variant", "variant"], ["difference", "difference"], ["self", "difference, self"]]
    : [["one", "flamegraph"]];
}
function viewOf(tree, model) {
  var picture = pictureOf(tree, state.step), view, side;
  if (state.window) return new Single(tree, state.window.weights, { ms: null });
  if (!picture) return null;
  if (picture.sides.length < 2) return new Single(tree, tree.selfOf(picture.sides[0]),
    { ms: picture.meta.ms[0], cores: model.flame && model.flame.cores, intervals: model.flame && model.flame.intervals });
  if (state.mode === "control" || state.mode === "variant") {
    side = state.mode === "control" ? 0 : 1;
    return new Single(tree, tree.selfOf(picture.sides[side]), { ms: picture.meta.ms[side], side: side });
  }
  view = new Diff(tree, picture, {});
  view.byself = state.mode === "self";
  return view;
}
function pictureOf(tree, key) {
  var found = tree.pictures.filter(function (p) { return key === "all" ? p.meta.step === undefined : p.meta.step === Number(key); });
  return found[0] || null;
}
function headingOf(model, view) {
  var w = state.window, what, all, f = model.flame;
  if (w) return "window " + (w.from / 1000).toFixed(2) + " to " + (w.to / 1000).toFixed(2) + " s of " + visible(w.arm.name, 80) + ", " +
    count(w.sum) + " " + model.unit + "; by layer";
  what = (state.step === "all" ? "" : "step ") + stepName(model, state.step);
  if (f && !view.isDiff)
    return (model.diff ? state.mode + ": " : "") + view.weight(view.total[0]) + "; width is the share of them, colour the " +
      (model.diff ? "layer" : f.color);
  if (!view.isDiff) {
    all = view.total[0];
    return (model.diff ? state.mode + ", " : "") + what + ": " + count(all) + " " + model.unit + "; by layer, inclusive widths";
  }
  return "variant against control" + (f ? "" : ", " + what) + ": width is the mean of both shares, colour the change of " +
    (view.ms && view.meta.onMs ? "ms per request" : "share") + (state.mode === "self" ? ", self" : ", inclusive") + "; grey is " +
    (view.meta.judged ? "inside the noise" : "not judged");
}

function start(model, numbers) {
  var tree = new Tree(model, numbers), place = document.getElementById("flame"), asked = readHash();
  var graph = null, buttons, modeButtons = [], times = [];
  model.arms.forEach(function (arm) { times.push(arm.time ? new TimeData(model, arm, numbers) : null); });

  function update() {
    var view;
    sections.forEach(function (s) { s.classList.toggle("shown", s.getAttribute("data-step") === state.step); });
    Object.keys(buttons).forEach(function (k) {
      if (k === state.step) buttons[k].setAttribute("aria-current", "true"); else buttons[k].removeAttribute("aria-current");
    });
    markRow();
    modeButtons.forEach(function (b) { b.setAttribute("aria-pressed", String(!state.window && b.mode === state.mode)); });
    view = graph && viewOf(tree, model);
    if (!view) return;
    graph.show(view);
    graph.heading.textContent = headingOf(model, view);
    saveHash(graph);
  }
  function markRow() {
    var rows = document.querySelectorAll("#summary tbody tr"), i;
    for (i = 0; i < rows.length; i++) rows[i].classList.toggle("at", String(i) === state.step);
  }
  function pick(key) {
    state.step = key;
    dropWindow();
    update();
  }
  function dropWindow() {
    state.window = null;
    if (timeView && timeView.selected) timeView.clear();
  }
  buttons = buildSwitch(model, pick);
  var keys = stepKeys(model), timeView = null;
  state.step = keys.indexOf(asked.step) >= 0 ? asked.step : model.diff ? String(model.headline) : keys.indexOf("all") >= 0 ? "all" : keys[0] || "";
  if (keys.indexOf(state.step) < 0) state.step = keys[0] || "";
  var modes = modesOf(model).map(function (m) { return m[0]; });
  state.mode = modes.indexOf(asked.mode) >= 0 ? asked.mode : model.diff ? "difference" : "one";
  if (place && tree.count > 0) {
    graph = new Graph(place, tree);
    var seg = make("span", { class: "seg", role: "group", "aria-label": "what is drawn" });
    graph.bar.insertBefore(seg, graph.bar.firstChild);
    if (model.diff) modesOf(model).forEach(function (m) {
      var b = make("button", { type: "button", "aria-pressed": "false" }, seg, m[1]);
      b.mode = m[0];
      b.addEventListener("click", function () { state.mode = m[0]; dropWindow(); update(); });
      modeButtons.push(b);
    });
    make("p", { class: "note" }, place, hiddenText(model) + "Click or Enter zooms, shift-click or p pins, arrows walk, / searches, n goes on, Escape resets.");
    if (asked.z > 0) graph.zoom = Math.floor(Number(asked.z));
    if (!(graph.zoom < tree.count)) graph.zoom = 0;
    if (asked.s) graph.input.value = asked.s;
    if (asked.r === "0") graph.setPlain(true);
    if (asked.p > 0 && asked.p < tree.count) graph.pinned = Math.floor(Number(asked.p));
    (asked.l || "").split(",").forEach(function (k) { if (/^[LD]\d+$/.test(k)) graph.filter.add(k); });
    graph.onChange = function () { saveHash(graph); };
  }
  update();
  timeView = buildTime(tree, model, times, function (w) { state.window = w; update(); if (w && graph) graph.heading.scrollIntoView({ block: "nearest" }); });
  buildData(tree, model, function () { return graph && graph.view; });
}
function hiddenText(model) {
  return model.hidden > 0 ? count(model.frames - model.hidden) + " of " + count(model.frames) +
    " frames are in this file, the lightest are summed up as “other”. " : "";
}
function buildTime(tree, model, times, onWindow) {
  var place = document.getElementById("time"), view = { current: null }, have = [];
  times.forEach(function (t, i) { if (t) have.push(i); });
  if (!place) return null;
  if (!have.length) { make("p", { class: "note" }, place, "None of the profiles has times."); return null; }
  var host = null;
  var open = function (i) {
    if (host) host.remove();
    host = make("div", {}, place);
    view.current = new TimeView(host, tree, times[i], function (arm, weights, from, to, sum) {
      onWindow(weights ? { arm: arm, weights: weights, from: from, to: to, sum: sum } : null);
    });
  };
  if (have.length > 1) {
    var bar = make("div", { class: "tools" }, place), list = [];
    have.forEach(function (i) {
      var arm = model.arms[i], b = make("button", { type: "button", "aria-pressed": "false" }, bar,
        (arm.variant ? "variant: " : "control: ") + visible(arm.name, 60));
      list.push(b);
      b.addEventListener("click", function () {
        if (view.current.selected) view.current.clear();
        list.forEach(function (x) { x.setAttribute("aria-pressed", String(x === b)); });
        open(i);
      });
    });
    list[0].setAttribute("aria-pressed", "true");
  }
  open(have[0]);
  var redraw = function () { view.current.draw(); };
  window.addEventListener("resize", redraw);
  if (window.matchMedia) matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  return { get selected() { return view.current.selected; }, clear: function () { view.current.clear(); } };
}

/* ---- downloads ---- */
function buildData(tree, model, view) {
  var place = document.getElementById("data"), bar = make("div", { class: "tools" }, place);
  var button = function (text, act) { make("button", { type: "button" }, bar, text).addEventListener("click", act); };
  if (document.getElementById("d-json")) button("tables as JSON", function () { block("d-json").then(function (b) { download("tables.json", "application/json", b); }, failed); });
  if (document.getElementById("d-csv")) button("tables as CSV", function () { block("d-csv").then(function (b) { download("tables.csv", "text/csv", b); }, failed); });
  if (!tree.count) return;
  ["control", "variant"].slice(0, model.diff ? 2 : 1).forEach(function (word, side) {
    button("folded stacks" + (model.diff ? " of the " + word : "") + (model.flame ? "" : ", this step"), function () {
      var p = pictureOf(tree, state.step);
      if (p) download((model.diff ? word : "profile") + ".folded", "text/plain", tree.folded(tree.selfOf(p.sides[side])));
    });
  });
  if (document.getElementById("time")) button("folded stacks of the chosen window", function () {
    if (state.window) download("window.folded", "text/plain", tree.folded(state.window.weights));
  });
}

if (typeof DecompressionStream === "undefined") {
  failed(new Error("this browser has no DecompressionStream"));
} else {
  Promise.all([block("d-model"), block("d-numbers")]).then(function (b) {
    start(JSON.parse(new TextDecoder().decode(b[0])), new Reader(b[1]));
    body.setAttribute("data-ready", "1");
  }).catch(failed);
}
