#!/usr/bin/env python3
"""prove.py PLACES FILE [COUNT [LEAST]]: our functions, inline chains and lines against
llvm-symbolizer's (addr2line's where that is not installed), for COUNT addresses spread over the code of FILE.  Fails where under LEAST per
cent agree, in functions and chains or in lines.  The classes of difference are counted, each with
its reason; what is wrong is shown with an example."""
import collections
import os
import random
import re
import shutil
import subprocess
import sys


def code_sections(path):
    out = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        fields = line.replace("[ ", "[").split()
        if len(fields) > 7 and fields[0].startswith("[") and "X" in fields[7] and fields[1] in (
                ".text", ".text.unlikely", ".text.hot", ".init", ".fini"):
            start, size = int(fields[3], 16), int(fields[5], 16)
            if size:
                yield start, size


def addresses(path, count):
    sections = list(code_sections(path))
    total = sum(size for _, size in sections)
    rng = random.Random(1)
    picked = set()
    for _ in range(count):
        at = rng.randrange(total)
        for start, size in sections:
            if at < size:
                picked.add(start + at)
                break
            at -= size
    return sorted(picked)


def answers(command, wanted):
    text = "".join(f"{a:#x}\n" for a in wanted)
    out = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    blocks = out.split("\n\n")
    assert len(blocks) >= len(wanted), (command[0], len(blocks), len(wanted))
    result = []
    for block in blocks[:len(wanted)]:
        lines = block.strip("\n").split("\n")
        result.append([(lines[i], lines[i + 1]) for i in range(0, len(lines) - 1, 2)])
    return result


def oracle(path, wanted):
    """llvm-symbolizer's answers, or addr2line's where that is not installed."""
    if shutil.which("llvm-symbolizer"):
        return answers(["llvm-symbolizer", "--no-demangle", "--output-style=LLVM", "-e", path], wanted)
    out = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", path],
                         input="".join(f"{a:#x}\n" for a in wanted), capture_output=True, text=True,
                         check=True).stdout
    result = []
    for line in out.splitlines():
        if line.startswith("0x"):
            result.append([])
            lines = result[-1]
        else:
            lines.append(re.sub(r" \(discriminator \d+\)$", "", line))
    return [[(l[i], l[i + 1]) for i in range(0, len(l) - 1, 2)] for l in result]


def place_of(text):
    """Base name and line of file:line or file:line:column: folders are written in several ways."""
    fields = text.split(":")
    numbers = [f for f in fields[1:] if f.isdigit()]
    if fields[0] == "??" or not numbers or numbers[0] == "0":
        return ("??", "0")
    return (os.path.basename(fields[0]), numbers[0])


SAME, LINE, EXPLAINED, WRONG = range(4)

# The classes of difference, each with its reason.
CLASSES = {
    "same": (SAME, ""),
    "line": (LINE, "functions are the same, a line is not"),
    "alias": (SAME, "another name of the same address, by our rule (docs/symbols.md)"),
    "part": (SAME, "ours names the part (.cold, .isra) that DWARF, or a stripped file's symbols, do not"),
    "no name there": (EXPLAINED, "llvm-symbolizer has no name"),
    "data": (EXPLAINED, "a data object in a section of code, which llvm-symbolizer names as if it ran"),
    "label": (EXPLAINED, "a label without size within or behind a function that has one"),
    "shared part": (EXPLAINED, "llvm-symbolizer reads no names from the file that dwz made"),
    "gap": (EXPLAINED, "between functions, where addr2line names the one before"),
    "function": (WRONG, "another function"),
    "inline chain": (WRONG, "another chain"),
}


def classify(ours, theirs, symbols):
    mine, other = [f for f, _ in ours], [f for f, _ in theirs]
    if mine == other:
        same = all(place_of(a) == place_of(b) for (_, a), (_, b) in zip(ours, theirs))
        return "same" if same else "line"
    if all(f == "??" for f in other):
        return "no name there"
    if len(mine) == len(other) and "??" in other and all(
            b in (a, "??") or symbols.are_aliases(a, b) for a, b in zip(mine, other)):
        return "shared part"
    if mine == ["??"] and all(place_of(b) == ("??", "0") for _, b in theirs):
        return "gap"
    if mine[:-1] != other[:-1]:
        return "inline chain"
    if symbols.are_aliases(mine[-1], other[-1]):
        return "alias"
    if re.sub(r"(\.(cold|part|constprop|isra|lto_priv)|\.\d+)+$", "", mine[-1]) == other[-1]:
        return "part"
    if symbols.kinds.get(other[-1]) == "OBJECT":
        return "data"
    if symbols.sizes.get(other[-1]) == 0:
        return "label"
    return "function"


class Symbols:
    def __init__(self, path):
        self.kinds, self.sizes, self.places = {}, {}, collections.defaultdict(set)
        files = [path]
        notes = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True).stdout
        found = re.search(r"Build ID: ([0-9a-f]+)", notes)
        if found:
            build_id = found.group(1)
            debug = f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
            files += [debug] if os.path.exists(debug) else []
        out = subprocess.run(["readelf", "-sW", *files], capture_output=True, text=True).stdout
        for line in out.splitlines():
            fields = line.split()
            if len(fields) < 8 or not fields[0].rstrip(":").isdigit() or fields[6] == "UND":
                continue
            name = fields[7].split("@")[0]
            self.kinds[name] = fields[3]
            self.sizes[name] = int(fields[2], 0)
            self.places[name].add(fields[1])

    def are_aliases(self, a, b):
        return bool(self.places[a] & self.places[b])


def main():
    places, path = sys.argv[1], os.path.realpath(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 5000
    least = float(sys.argv[4]) if len(sys.argv) > 4 else 99.5
    wanted = addresses(path, count)
    ours = answers([places, path], wanted)
    theirs = oracle(path, wanted)
    symbols = Symbols(path)
    counts, examples = collections.Counter(), {}
    for at, a, b in zip(wanted, ours, theirs):
        kind = classify(a, b, symbols)
        counts[kind] += 1
        examples.setdefault(kind, (at, a, b))
    of = collections.Counter()
    for kind, n in counts.items():
        of[CLASSES[kind][0]] += n
    judged = of[SAME] + of[LINE] + of[WRONG]
    share = 100 * (of[SAME] + of[LINE]) / judged if judged else 0
    lines = 100 * of[SAME] / judged if judged else 0
    print(f"{os.path.basename(path)}: {len(wanted)} addresses, {judged} judged: functions and chains "
          f"agree for {share:.2f} %, lines too for {lines:.2f} %")
    for kind, n in counts.most_common():
        print(f"  {n:6d} {kind}{': ' if CLASSES[kind][1] else ''}{CLASSES[kind][1]}")
        if CLASSES[kind][0] in (LINE, WRONG):
            at, a, b = examples[kind]
            print(f"         {at:#x}\n           ours  {a}\n           llvm  {b}")
    return 0 if share >= least and lines >= least and judged else 1


if __name__ == "__main__":
    sys.exit(main())
