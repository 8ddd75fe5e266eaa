#!/usr/bin/env python3
"""Laws 1-3 of the layout: what a folder may include, which file wraps which library, who prints.

usage: folders.py ROOT"""
import pathlib
import re
import sys

ORDER = ["base", "profile", "symbolize", "layers", "steps", "diff", "render", "cli"]
# What the preload library may take from elsewhere: header-only, libc alone.
SAMPLER_MAY = {"base/wire.h", "base/crc32.h", "base/symbol_rank.h", "base/perf_map.h",
             "base/jitdump.h", "profile/raw_format.h"}
# A third-party header and the only files that may include it.
WRAPPERS = {
    r"jansson\.h": r"base/json\.c",
    r"pcre2\.h": r"base/regex\.c",
    r"(zstd|zlib)\.h": r"base/compress\.c",
    r"(elfutils/.*|dwarf|gelf|libelf|libiberty/.*|demangle)\.?h?": r"symbolize/.*",
    r"libunwind.*": r"tests/.*|bench/.*",
}
# Only cli ends the process or talks to people; the sampler has its own say.c, and a library that
# runs out of memory has one place to say so.
PRINTS = re.compile(r"\b(printf|puts|putchar|perror|exit|_exit|getenv|fputs|fprintf|vprintf|abort)\s*\(")
MAY_PRINT = {"base/vec.c": {"_exit"}, "base/compress.c": {"abort"}}

root = pathlib.Path(sys.argv[1])
bad = 0


def fail(path, line, text):
    global bad
    bad += 1
    print(f"{path}:{line}: {text}")


def may_include(here, there, header, path):
    if there == here:
        return True
    if here == "sampler":
        return header in SAMPLER_MAY
    if there not in ORDER or ORDER.index(there) >= ORDER.index(here):
        return False
    return there == "base" or header == f"{there}/{there}.h" or header == "profile/raw_format.h"


checked = 0
for folder in ORDER + ["sampler"]:
    for path in sorted((root / folder).rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        checked += 1
        comment = False
        for n, line in enumerate(path.read_text().splitlines(), 1):
            ours = re.match(r'\s*#\s*include\s+"(([a-z0-9_]+)/[^"]+)"', line)
            if ours and not may_include(folder, ours[2], ours[1], name):
                fail(name, n, f"{folder}/ may not include {ours[1]}")
            if re.match(r'\s*#\s*include\s+"[^/"]+"', line):
                fail(name, n, "an include names its folder")
            theirs = re.match(r"\s*#\s*include\s+<([^>]+)>", line)
            for header, files in WRAPPERS.items():
                if theirs and re.fullmatch(header, theirs[1]) and not re.fullmatch(files, name):
                    fail(name, n, f"<{theirs[1]}> has one wrapper, {files}")
            code = re.sub(r'"(\\.|[^"\\])*"', '""', line)
            code = re.sub(r"/\*.*?\*/|//.*", "", code)
            if comment:
                if "*/" not in code:
                    continue
                code = code.split("*/", 1)[1]
                comment = False
            if "/*" in code:
                code, comment = code.split("/*", 1)[0], True
            if folder not in ("cli", "sampler"):
                for call in PRINTS.findall(code):
                    if call not in MAY_PRINT.get(name, set()):
                        fail(name, n, f"only cli/ may call {call}()")
if checked < 50:
    fail(root, 0, f"only {checked} files were found: is this the root of the tree?")
sys.exit(1 if bad else 0)
