#!/usr/bin/env python3
"""Folds the captures (perf, DTrace) of other projects and compares with what their own tools recorded.

    text_corpus.py FLAMEBANK

The captures are not part of this project: they are looked for below $FB_SHARED/corpus (default:
../shared beside the tree); without them the test is skipped (status 77).  Our names are brought into
the form of the recorded ones by the rules below, each of which is a row of docs/formats.md, and then
every stack and every count must agree.  Nothing else may differ but a last sample without a blank line
behind it, which the recorded files have lost.
"""
import collections
import glob
import os
import re
import subprocess
import sys

SHARED = os.environ.get("FB_SHARED") or os.path.join(os.path.dirname(__file__), "../../../shared")
CORPUS = os.path.join(SHARED, "corpus")
ANNOTATION = re.compile(r"_\[[kji]\]$")


def fold(command, path, *options):
    done = subprocess.run([command, "fold", "--raw-names", path, *options], capture_output=True)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode()


def parse(text):
    counts = collections.Counter()
    for line in text.splitlines():
        if line.strip():
            stack, count = line.rsplit(" ", 1)
            counts[stack] += int(count)
    return counts


def their_name(frame, is_root, kept):
    """One frame of ours as the recorded files have it."""
    found = ANNOTATION.search(frame)
    annotation = found.group(0) if found else ""
    name = frame[: len(frame) - len(annotation)]
    unknown = re.match(r"\[unknown\] (.*)$", name)
    if is_root:
        return name.replace(" ", "_")
    if unknown:
        name = "[%s]" % unknown.group(1)
    elif name == "[unknown jit]":
        name = "[perf.map]"
    elif name != "[unknown]":
        name = name.replace(";", ":")
        if not re.search(r"\.\(.*\)\.", name):
            name = re.sub(r"\((?!anonymous namespace\)).*", "", name)
        name = re.sub("[\"']", "", name)
        if annotation in ("_[j]", "_[i]") and "/" in name:
            name = re.sub(r"^(.*/[^.]*)\.(.*)$", r"\1:::\2", name)
        elif annotation == "_[j]":  # a class without a package keeps its 'L' there
            name = re.sub(r"^(\w+)\.(\w+)$", r"L\1:::\2", name)
        if not kept:  # the younger tool demangles what perf has left of Rust
            name = re.sub(r"::h[0-9a-f]{16}$", "", name)
            for escape, text in (("_$u7b$", "{"), ("$u7b$", "{"), ("$u7d$", "}"), ("$LT$", "<"), ("$GT$", ">")):
                name = name.replace(escape, text)
    return name + (annotation if annotation in kept else "")


def their_form(counts, kept):
    out = collections.Counter()
    for stack, count in counts.items():
        frames = stack.split(";")
        out[";".join(their_name(f, i == 0, kept) for i, f in enumerate(frames))] += count
    return out


def plain(counts, kept):
    """The recorded stacks, without what says nothing: the number of a map, a lost ';'."""
    out = collections.Counter()
    for stack, count in counts.items():
        stack = re.sub(r"\[perf-\d+\.map\]", "[perf.map]", stack)
        stack = re.sub(r"([^;:]/[^;:]*)::([^:;])", r"\1:::\2", stack)
        stack = re.sub(r"::_\{\{", "::{{", stack)
        if "_[i]" not in kept:
            stack = stack.replace("_[i]", "")
        out[stack] += count
    return out


def without_parameters(counts):
    out = collections.Counter()
    for stack, count in counts.items():
        out[";".join(frame.split("(")[0] for frame in stack.split(";"))] += count
    return out


def ends_blank(path):
    with open(path, "rb") as f:
        return f.read().endswith((b"\n\n", b"\n \n"))


def compare(name, path, ours, theirs, failures):
    lost = {s: n - theirs.get(s, 0) for s, n in ours.items() if n != theirs.get(s, 0)}
    more = [s for s in theirs if s not in ours]
    if not lost and not more:
        print("same  %-40s %3d stacks, weight %d" % (name, len(ours), sum(ours.values())))
    elif not more and len(lost) == 1 and min(lost.values()) > 0 and not ends_blank(path):
        print("same  %-40s %3d stacks, and the last sample" % (name, len(ours)))
    else:
        failures.append(name)
        print("DIFFER %s" % name)
        for text in [str(item) for item in list(lost.items())[:3]] + more[:3]:
            print("   " + text[:300])


def main():
    command, failures, seen = sys.argv[1], [], 0
    if not os.path.isdir(CORPUS):
        print("skipped: %s is not here" % CORPUS)
        return 77
    variants = (("all", ["_[k]", "_[j]", "_[i]"]), ("kernel", ["_[k]"]), ("jit", ["_[j]"]))
    jobs = []
    for path in sorted(glob.glob(CORPUS + "/flamegraph-pl/test/*.txt")):
        base = os.path.basename(path)[:-4]
        for variant, kept in variants:
            recorded = "%s/flamegraph-pl/test/results/%s-collapsed-%s.txt" % (CORPUS, base, variant)
            jobs.append((base + " " + variant, path, recorded, kept))
    for path in sorted(glob.glob(CORPUS + "/inferno/collapse-perf/*.txt")):
        base = os.path.basename(path)[:-4]
        recorded = "%s/inferno/collapse-perf/results/%s-collapsed.txt" % (CORPUS, base)
        jobs.append(("inferno " + base, path, recorded, []))
    for name, path, recorded, kept in jobs:
        if not os.path.exists(recorded):
            continue
        status, text, said = fold(command, path)
        with open(recorded, errors="replace") as f:
            theirs = parse(f.read())
        if status == 3 and "holds several types" in said:
            # They keep the first event of the file, or add up what differs in its modifiers.
            events = re.findall(r"([\w:-]+) \(\d+ samples\)", said)
            ours = collections.Counter()
            folds = {e: parse(fold(command, path, "--event", e)[1]) for e in events}
            first = max(events, key=lambda e: sum(folds[e].values()))
            for event in events if "single-line" in name else [first]:
                ours.update(folds[event])
        else:
            ours = parse(text)
        compare(name, path, plain(their_form(ours, kept), kept), plain(theirs, kept), failures)
        seen += 1
    for path in sorted(glob.glob(CORPUS + "/inferno/collapse-dtrace/*.txt")):
        base = os.path.basename(path)
        recorded = "%s/inferno/collapse-dtrace/results/%s" % (CORPUS, base)
        if os.path.exists(recorded):
            with open(recorded) as f:
                theirs = without_parameters(parse(f.read()))
            ours = without_parameters(parse(fold(command, path)[1]))
            compare("inferno dtrace " + base, path, ours, theirs, failures)
            seen += 1
    print("%d recorded results, %d differ" % (seen, len(failures)))
    return 1 if failures or seen < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
