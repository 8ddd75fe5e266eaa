"""pprof_text.py - a profile as a multiset of (stack, values), from our pprof files or from the text that
pprof prints (X.string of its test data, `go tool pprof -raw`)."""
import collections
import gzip
import re


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        yield tag >> 3, value


def message(data):
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def packed(found, number):
    values = []
    for item in found[number]:
        at = 0
        while not isinstance(item, int) and at < len(item):
            value, at = varint(item, at)
            values.append(value)
        if isinstance(item, int):
            values.append(item)
    return values


def one(found, number):
    return found[number][0] if found[number] else 0


def read_file(path):
    """{stack: values}; a stack is a tuple of (address, ((function, file, line), ...)), leaf first."""
    with open(path, "rb") as file:
        data = file.read()
    top = message(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    strings = [s.decode() for s in top[6]]
    functions = {}
    for data in top[5]:
        f = message(data)
        functions[one(f, 1)] = (strings[one(f, 2)], strings[one(f, 4)])
    locations = {}
    for data in top[4]:
        location = message(data)
        lines = []
        for line in location[4]:
            found = message(line)
            lines.append(functions[one(found, 1)] + (one(found, 2),))
        locations[one(location, 1)] = (one(location, 3), tuple(lines))
    rows = collections.Counter()
    for data in top[2]:
        sample = message(data)
        stack = tuple(locations[i] for i in packed(sample, 1))
        rows[stack] += packed(sample, 2)[0]
    return rows


def read_text(lines):
    """[(type, {stack: value}), ...] of printed text; a type is "NAME/UNIT"."""
    samples, locations, part, last, types = [], {}, "", 0, []
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith(("Samples:", "Locations", "Mappings")):
            part = line[:7]
        elif part == "Samples" and not types:
            types = [word.replace("[dflt]", "") for word in line.split()]
        elif part == "Samples" and (match := re.match(r"((?:\s*-?\d+)+):((?: \d+)*)\s*$", line)):
            samples.append(([int(v) for v in match[1].split()], [int(i) for i in match[2].split()]))
        elif part == "Locatio" and (match := re.match(r"\s*(\d+): 0x([0-9a-f]+)(?: M=\d+)?(.*)$", line)):
            last = int(match[1])
            locations[last] = [int(match[2], 16), []]
            add_line(locations[last], match[3])
        elif part == "Locatio" and line.startswith("      "):
            add_line(locations[last], line)
    answers = []
    for column, kind in enumerate(types):
        rows = collections.Counter()
        for values, ids in samples:
            rows[tuple((locations[i][0], tuple(locations[i][1])) for i in ids)] += values[column]
        answers.append((kind, +rows))
    return answers


def add_line(location, text):
    match = re.match(r"\s*(.*?) (\S*?):(-?\d+)(?::\d+)? s=\d+", text)
    if match:
        location[1].append((match[1], match[2], max(int(match[3]), 0)))
