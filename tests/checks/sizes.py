#!/usr/bin/env python3
"""Files of at most 800 lines, functions of at most 60, lines of at most 100 columns; and every
public header starts with what it is for.

usage: sizes.py ROOT"""
import pathlib
import re
import sys

FOLDERS = ["base", "profile", "sampler", "symbolize", "layers", "steps", "diff", "render", "cli", "tests", "bench",
           "fixtures"]
FILE_MAX, FUNCTION_MAX, COLUMNS_MAX = 800, 60, 100
root = pathlib.Path(sys.argv[1])
bad = checked = 0

for folder in FOLDERS:
    for path in sorted((root / folder).rglob("*.[ch]")):
        name, lines = path.relative_to(root), path.read_text().splitlines()
        checked += 1
        if len(lines) > FILE_MAX:
            print(f"{name}: {len(lines)} lines, {FILE_MAX} at most")
            bad += 1
        start = None
        for n, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX:
                print(f"{name}:{n}: {len(line)} columns, {COLUMNS_MAX} at most")
                bad += 1
            if line == "{" and n > 1 and re.search(r"[)\w]$", lines[n - 2]):
                start = n
            elif line == "}" and start:
                if n - start - 1 > FUNCTION_MAX:
                    print(f"{name}:{start}: a function of {n - start - 1} lines, {FUNCTION_MAX} at most")
                    bad += 1
                start = None
        if path.suffix == ".h" and folder not in ("tests", "bench", "fixtures") and not lines[0].startswith("/*"):
            print(f"{name}: the first line says what the header is for")
            bad += 1
if checked < 50:
    print(f"only {checked} files were found: is {root} the root of the tree?")
    bad += 1
sys.exit(1 if bad else 0)
