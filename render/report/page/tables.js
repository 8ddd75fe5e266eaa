/* Tables that can be sorted and filtered; they are whole without this. */
function cellValue(cell) {
  var text = cell ? cell.textContent.trim().replace(/−/g, "-") : "";
  var v = parseFloat(text);
  return { text: text, v: text === "n/a" || text === "" ? NaN : v };
}
/* Numbers begin with the largest, words with the first; a second click turns that round. */
function sortTable(table, column, th) {
  var body = table.tBodies[0], was = th.getAttribute("aria-sort"), numbers = 0, down;
  var ruled = function (r) { return r.classList.contains("rule"); };
  var rows = Array.prototype.slice.call(body.rows), fixed = rows.filter(ruled);
  var keyed = rows.filter(function (r) { return !ruled(r); }).map(function (r, i) {
    var k = cellValue(r.cells[column]);
    numbers += isNaN(k.v) ? 0 : 1;
    return { r: r, i: i, k: k };
  });
  down = was ? was !== "descending" : 2 * numbers > keyed.length;
  keyed.sort(function (a, b) {
    var d;
    if (isNaN(a.k.v) !== isNaN(b.k.v)) return isNaN(a.k.v) ? 1 : -1;
    if (!isNaN(a.k.v)) d = a.k.v - b.k.v;
    else d = a.k.text < b.k.text ? -1 : a.k.text > b.k.text ? 1 : 0;
    return (down ? -d : d) || a.i - b.i;
  });
  table.querySelectorAll("th[aria-sort]").forEach(function (h) { h.removeAttribute("aria-sort"); });
  th.setAttribute("aria-sort", down ? "descending" : "ascending");
  keyed.forEach(function (k) { body.appendChild(k.r); });
  fixed.forEach(function (r) { body.appendChild(r); });
}
function sortable(table) {
  var heads = table.tHead ? table.tHead.rows[table.tHead.rows.length - 1].cells : [];
  Array.prototype.forEach.call(heads, function (th, column) {
    var hidden = th.querySelector(".sr"), button;
    if (hidden && hidden.textContent === "picture") return;
    button = make("button", { type: "button" });
    while (th.firstChild) button.appendChild(th.firstChild);
    th.appendChild(button);
    button.addEventListener("click", function () { sortTable(table, column, th); });
  });
}
/* Over a table of frames: text, and the verdicts that are in it. */
function filterable(region) {
  var table = region.querySelector("table"), rows = Array.prototype.slice.call(table.tBodies[0].rows);
  var bar = make("div", { class: "tools" });
  region.parentNode.insertBefore(bar, region);
  var input = make("input", { type: "search", placeholder: "filter (regex)", "aria-label": "filter rows by regular expression" }, bar);
  var select = make("select", { "aria-label": "which rows" }, bar), say = make("span", { class: "found", role: "status" }, bar);
  var kinds = ["all rows", "changed", "absent, new or gone", "moved", "no verdict"];
  kinds.forEach(function (k) { make("option", { value: k }, select, k); });
  var is = function (row, kind) {
    var text = row.textContent, verdict = row.querySelector(".v");
    var word = verdict && verdict.firstChild ? verdict.firstChild.textContent.trim() : "";
    return kind === kinds[0] || (kind === kinds[1] && word === "DIFF") ||
      (kind === kinds[2] && (/^(absent|not seen)/.test(word) || /\b(new|gone)\b/.test(text))) ||
      (kind === kinds[3] && /moved/.test(text)) || (kind === kinds[4] && !/^(DIFF|SAME|absent)/.test(word));
  };
  var apply = function () {
    var test = input.value ? matcher(input.value, function (bad) { input.classList.toggle("bad", bad); }) : null, shown = 0;
    rows.forEach(function (r) {
      var keep = (!test || test(r.textContent)) && is(r, select.value);
      r.hidden = !keep;
      if (keep) shown++;
    });
    say.textContent = shown === rows.length ? "" : shown + " of " + rows.length + " rows";
  };
  input.addEventListener("input", apply);
  select.addEventListener("change", apply);
}
