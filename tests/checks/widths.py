#!/usr/bin/env python3
"""Tables in the expected outputs of the command tests fit 100 columns.

Usage: widths.py ROOT.  A table is known by the rule under its headings; its lines, its title and
its notes count, up to the next command.  Messages, data formats and texts of help have no width.
"""
import pathlib
import sys
import unicodedata

MOST = 100


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


def blocks(text):
    """(command, lines of output) of a transcript."""
    command, lines = "", []
    for line in text.split("\n"):
        if line.startswith("$ "):
            yield command, lines
            command, lines = line, []
        else:
            lines.append(line)
    yield command, lines


def main():
    root = pathlib.Path(sys.argv[1])
    tables, bad = 0, 0
    for path in sorted((root / "tests/cli").glob("*.out")):
        for command, lines in blocks(path.read_text(errors="replace")):
            if not any(line.startswith("──") for line in lines):
                continue
            tables += 1
            for line in lines:
                if width(line) > MOST and not line.startswith("flamebank: "):
                    print(f"{path.relative_to(root)}: {width(line)} columns, {MOST} at most: {line}")
                    bad += 1
    if tables < 40:
        print(f"only {tables} tables were found in tests/cli")
        bad += 1
    sys.exit(1 if bad else 0)


main()
