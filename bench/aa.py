#!/usr/bin/env python3
"""Judges what aa.sh recorded: aa.py FOLDER equal NAME RULES [--jvm] | FOLDER pairs NAME RULES [LAYER].

Answers of `flamebank diff` stand in FOLDER/NAME.*.json."""
import glob
import itertools
import json
import math
import os
import statistics
import subprocess
import sys

folder, what, name, rules = sys.argv[1:5]
rest = sys.argv[5:]
JUDGED = ("DIFF", "SAME", "UNRESOLVED", "BURSTY")
# Shares from, to, and the design effect that is assumed where there are no times (docs/statistics.md, 1).
ASSUMED = ((0.2, 1, 7), (0.05, 0.2, 3), (0, 0.05, 1.5))


def runs(arm):
    """The ramps of an arm, in order: 'BANK,TABLE'."""
    found = []
    for k in itertools.count(1):
        bank = f"{folder}/{name}/{arm}-{k}.fbank"
        if not os.path.exists(bank):
            return found
        found.append(f"{bank},{bank[:-5]}tsv")


def diff(label, *words):
    out = f"{folder}/{name}.{label}.json"
    with open(out, "w") as f:
        subprocess.run(["flamebank", "diff", *words, "--rules", rules, "--format", "json"], stdout=f,
                       stderr=subprocess.DEVNULL, check=True)
    with open(out) as f:
        return json.load(f)["tables"]


def rows_of(tables, kind):
    """(step, row) of the tables whose title begins so; the total is no row of its own."""
    for t in tables:
        if t["title"].startswith(kind):
            step = t["title"].split("step ")[1].split(":")[0]
            for row in t["rows"]:
                if row.get("layer", "") != "total":
                    yield step, row


def verdict(row):
    return row["verdict"].split(" ")[0].rstrip(":*")


def at_most(n, p=0.05, tail=0.01):
    """The least count that a binomial of n and p exceeds in at most `tail` of the cases."""
    below, c = 0.0, 0
    while True:
        below += math.comb(n, c) * p ** c * (1 - p) ** (n - c)
        if 1 - below <= tail:
            return c
        c += 1


def number(value):
    try:
        return float(str(value).replace("*", ""))
    except ValueError:
        return math.nan


def count(label, pairs):
    judged = differ = unjudged = 0
    for c, v in pairs:
        words = [c, v] + [w for w in rest if w == "--jvm"]
        tables = diff(f"{label}-{os.path.basename(c).split('.')[0]}-{os.path.basename(v).split('.')[0]}", *words)
        for step, row in rows_of(tables, "Layers by self time"):
            if verdict(row) in JUDGED:
                judged += 1
                differ += verdict(row) == "DIFF"
                if verdict(row) == "DIFF":
                    print(f"  {os.path.basename(c)} {os.path.basename(v)} step {step}: {row['layer']} "
                          f"{row['change_percent']} %")
            else:
                unjudged += 1
        effects(tables)
    return judged, differ, unjudged


seen = {low: [] for low, _, _ in ASSUMED}


def effects(tables):
    for _, row in rows_of(tables, "Layers by self time"):
        for side in ("control", "variant"):
            share, deff = number(row[f"{side}_share_percent"]) / 100, number(row[f"{side}_deff"])
            if not math.isnan(deff) and str(row[f"{side}_deff_assumed"]) in ("0", "0.0", "", "no", "False"):
                seen[next(low for low, high, _ in ASSUMED if share >= low)].append(deff)


def equal():
    all_runs = runs("a")
    if len(all_runs) < 2:
        sys.exit(f"aa.py: {folder}/{name} has {len(all_runs)} runs, 2 at least are needed")
    apart = [(all_runs[i], all_runs[i + 1]) for i in range(0, len(all_runs) - 1, 2)]
    judged, differ, unjudged = count("apart", apart)
    print(f"{name}: {len(apart)} pairs of equal runs, each run in one: {differ} DIFF of {judged} rows of layers "
          f"(99 % bound of 5 %: {at_most(judged)}); {unjudged} without a verdict: "
          + ("within the bound" if differ <= at_most(judged) else "TOO MANY"))
    for low in seen:
        seen[low].clear()
    judged, differ, _ = count("all", list(itertools.combinations(all_runs, 2)))
    print(f"{name}: all pairs of {len(all_runs)} runs (each run in several): {differ} DIFF of {judged} rows, "
          f"{100 * differ / max(1, judged):.1f} %")
    for low, high, assumed in ASSUMED:
        if seen[low]:
            values = sorted(seen[low])
            print(f"{name}: design effect of shares from {100 * low:.0f} to {100 * high:.0f} %: median "
                  f"{statistics.median(values):.1f}, nine of ten under {values[int(0.9 * (len(values) - 1))]:.1f} "
                  f"(assumed without times: {assumed})")
    print(f"{name}: the floor between these runs (assumed: CPU 1.5 %, layers {'7' if '--jvm' in rest else '5'} %)",
          flush=True)
    subprocess.run(["flamebank", "floor", *all_runs, "--rules", rules, "-o", f"{folder}/{name}.floor.json"]
                   + [w for w in rest if w == "--jvm"], check=True)


def pairs():
    tables = diff("pairs", *runs("c"), "--vs", *runs("v"))
    good, found = True, set()
    for step, row in itertools.chain(rows_of(tables, "Layers by self time"), rows_of(tables, "Frames by self time")):
        if verdict(row) not in JUDGED and verdict(row) not in ("absent", "not"):
            continue
        is_frame = "frame" in row
        label = row["frame"] if is_frame else row["layer"]
        planted = bool(rest) and label == ("planted_" + rest[0] if is_frame else rest[0])
        if not is_frame or verdict(row) == "DIFF" or planted:
            print(f"  step {step} {'frame' if is_frame else 'layer'} {label:24} {number(row['change_percent']):>+7.1f} % "
                  f"{row['verdict']}{'  <- planted' if planted else ''}")
        if planted and verdict(row) == "DIFF":
            found.add(is_frame)
        if rest and (planted != (verdict(row) == "DIFF")):
            good = False
    good = good and len(found) == 2
    if rest:
        print(f"{name}: " + ("the planted layer and frame are a DIFF, and nothing else is" if good
                             else "NOT as planted"))


for old in glob.glob(f"{folder}/{name}.*.json"):
    os.unlink(old)
equal() if what == "equal" else pairs()
