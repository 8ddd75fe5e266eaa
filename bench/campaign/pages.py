"""The campaign's index, index.html and index.md, from the diff.json of each pair.

Nothing is computed here: figures, intervals, verdicts and reasons are those of `flamebank diff`.
"""
import html
import json
import os
import re

JUDGED = ("DIFF", "SAME", "UNRESOLVED", "BURSTY")
FILES = (("report.html", "report"), ("diff.txt", "tables"), ("diff.md", "md"), ("diff.json", "json"),
         ("steps.txt", "steps"), ("predictions.json", "predictions"))


def tables_of(folder):
    try:
        with open(os.path.join(folder, "diff.json"), encoding="utf-8") as file:
            return json.load(file)["tables"]
    except FileNotFoundError:
        return None


def first(tables, begins):
    return next((table for table in tables if table["title"].startswith(begins)), None)


def judged_row(tables):
    """CPU per request at the last step that was judged; else at the last one."""
    rows = first(tables, "CPU per request by step")["rows"]
    return ([row for row in rows if row["verdict"] in JUDGED] or rows)[-1]


def layers_that_differ(tables, step):
    table = first(tables, "Layers by self time, step %s:" % step)
    rows = [row for row in (table or {"rows": []})["rows"] if row["verdict"] == "DIFF" and row["layer"] != "total"]
    for row in rows:
        row["ms"] = (row["variant_ms"] or 0) - (row["control_ms"] or 0)
    return sorted(rows, key=lambda row: -abs(row["ms"]))


def finding(tables):
    table = first(tables, "What differs")
    return table["notes"][0] if table and table["notes"] else "nothing is known of what differs"


def refusal(pair, tables):
    """Why the pair says nothing of its lever; None where it does."""
    said = finding(tables)
    if "differ" in pair or re.search(r"lever '.*' differs between the arms, and nothing else does", said):
        return None
    return said


def percent(value):
    return "%+.1f %%" % value if value is not None else "n/a"


def cost(value):
    return "%.4g ms" % value if value is not None else "n/a"


def conclusion(pair, tables):
    reason = refusal(pair, tables)
    if reason:
        return "Refused: %s." % reason
    row = judged_row(tables)
    change = "%s -> %s of CPU per request at %s/s, %s (95 %%: %s %%)" % (
        cost(row["control"]), cost(row["variant"]), row["step"], percent(row["change_percent"]), row["interval_text"])
    if row["verdict"] not in JUDGED:
        return "No verdict (%s): %s." % (row["health"] or "see the tables", change)
    words = {"DIFF": "It differs", "SAME": "It is the same", "UNRESOLVED": "Not resolved",
             "BURSTY": "Bursty, not resolved"}[row["verdict"]]
    layers = ", ".join("%s %+.3g ms" % (layer["layer"], layer["ms"]) for layer in layers_that_differ(tables, row["step"])[:4])
    return "%s: %s%s." % (words, change, "; layers that differ: " + layers if layers else "")


def predictions(tables):
    """Of each prediction the answer at the last step that has one."""
    answers = {}
    for row in (first(tables, "Predictions") or {"rows": []})["rows"]:
        if row["prediction"] not in answers or row["state"] != "cannot be answered":
            answers[row["prediction"]] = row["state"]
    return ["%s: %s" % item for item in answers.items()]


def sampler_cost(tables):
    notes = " ".join(note for table in tables for note in table["notes"])
    return re.findall(r"Sampler: ([0-9.]+ %)", notes)


def row_of(pair, folder):
    tables = tables_of(os.path.join(folder, pair["name"]))
    if tables is None:
        return None
    return {
        "name": pair["name"], "title": pair["title"], "question": pair["question"],
        "differs": pair.get("differ") or finding(tables), "conclusion": conclusion(pair, tables),
        "predictions": predictions(tables), "sampler": " / ".join(sampler_cost(tables)[:4]) or "n/a",
        "files": [(name, text) for name, text in FILES if os.path.exists(os.path.join(folder, pair["name"], name))],
        "refused": refusal(pair, tables) is not None, "meant": "refused" in pair,
    }


STYLE = """
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #5c6269; --line: #d9dce0; --ground: #fff; --accent: #1f5fa8 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e6e9; --soft: #a0a6ad; --line: #3a3f45; --ground: #16181b; --accent: #7fb3ee } }
body { margin: 2rem auto; max-width: 68rem; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--ground) }
h1 { font-size: 1.5rem; margin: 0 } p { margin: .3rem 0 } a { color: var(--accent) }
section { border-top: 1px solid var(--line); padding: 1rem 0 } h2 { font-size: 1.1rem; margin: 0 }
.soft { color: var(--soft) } .refused { border-left: 3px solid #b3541e; padding-left: .8rem }
"""


def page(rows, confined):
    out = ["<!doctype html>", '<html lang="en"><head><meta charset="utf-8"><title>flamebank campaign</title>',
           '<meta name="viewport" content="width=device-width"><style>%s</style></head><body><main>' % STYLE,
           "<h1>Campaign</h1>", '<p class="soft">Each arm has one CPU: %s. A change is (variant - control) / control; '
           "figures, intervals and verdicts are those of <code>flamebank diff</code>.</p>" % html.escape(confined)]
    for row in rows:
        out.append('<section class="%s"><h2>%s</h2>' % ("refused" if row["refused"] else "", html.escape(row["title"])))
        out.append('<p class="soft">%s What differs: %s.</p>' % (html.escape(row["question"]), html.escape(row["differs"])))
        out.append("<p>%s</p>" % html.escape(row["conclusion"]))
        if row["predictions"]:
            out.append('<p class="soft">Predictions: %s.</p>' % html.escape("; ".join(row["predictions"])))
        links = " · ".join('<a href="%s/%s">%s</a>' % (row["name"], name, text) for name, text in row["files"])
        out.append('<p class="soft">Sampler: %s of the arms\' CPU. %s</p></section>' % (html.escape(row["sampler"]), links))
    return "\n".join(out + ["</main></body></html>", ""])


def markdown(rows, confined):
    out = ["# Campaign", "", "Each arm has one CPU: %s." % confined, "",
           "| pair | conclusion | predictions | sampler |", "|---|---|---|---|"]
    for row in rows:
        cells = [row["title"], row["conclusion"], "; ".join(row["predictions"]), row["sampler"]]
        out.append("| %s |" % " | ".join(cell.replace("|", "\\|") for cell in cells))
    return "\n".join(out + [""])


def write(folder, pairs, confined):
    """Of all pairs that have a diff.  False: one that should have been refused was not, or the reverse."""
    rows = [row for row in (row_of(pair, folder) for pair in pairs) if row]
    for name, text in (("index.html", page(rows, confined)), ("index.md", markdown(rows, confined))):
        with open(os.path.join(folder, name + ".part"), "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(os.path.join(folder, name + ".part"), os.path.join(folder, name))
    return all(row["refused"] == row["meant"] for row in rows)
