#!/usr/bin/env python3
"""Fails if code that may run in a signal handler can reach anything that is not allowed.

usage: signal_safe.py [--cross PREFIX] --allow FILE --stack BYTES OBJECT...

All objects of sampler/signal are joined by `ld -r`, so that a name which is
still undefined is exactly an edge that leaves the folder; each must be in the
allow-list, with its reason.  Calls through pointers and jump tables are
invisible to nm: the disassembly is searched for them.  The deepest chain of
calls is added up from what -fstack-usage wrote beside each object (x.c.o:
x.c.su); recursion and frames without a bound are failures."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

INDIRECT = re.compile(r'\t(?:notrack |bnd )*(?:(?:call|jmp)q? +\*|blra?[ab]?z?\b|bra?[ab]?z?\t)')
RETURN_ADDRESS = 8  # pushed by the call, in no frame
FUNCTION = re.compile(r'^[0-9a-f]+ <(.+)>:$')
BRANCH = re.compile(r'\t(?:callq?|jmpq?|bl?|j[a-z]+)\s+(?:[0-9a-f]+ )?<([^>+]+)>')
RELOCATION = re.compile(r'R_\w+\s+([^\s+-]+)')


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def allowed_names(path):
    names = {}
    for number, line in enumerate(open(path, encoding='utf-8'), 1):
        if not line.strip() or line.startswith('#'):
            continue
        name, _, reason = line.strip().partition(' ')
        if not reason.strip():
            sys.exit(f'signal_safe: {path}:{number}: {name} has no reason')
        names[name] = reason
    return names


def stack_usage(objects):
    usage, problems = {}, []
    for path in objects:
        su = os.path.splitext(path)[0] + '.su'
        if not os.path.exists(su):
            problems.append(f'{path}: no {os.path.basename(su)}: was it compiled with -fstack-usage?')
            continue
        for line in open(su, encoding='utf-8'):
            where, size, kind = line.rstrip('\n').split('\t')
            name = where.split(':')[-1].split('.')[0]
            usage[name] = max(usage.get(name, 0), int(size))
            if kind not in ('static', 'dynamic,bounded'):
                problems.append(f'{name}: its stack frame has no bound ({kind})')
    return usage, problems


def call_graph(disassembly):
    """{function: called functions}, and the indirect branches found."""
    calls, problems, function = {}, [], None
    for line in disassembly.splitlines():
        match = FUNCTION.match(line)
        if match:
            function = match[1].split('.')[0]
            calls.setdefault(function, set())
            continue
        if INDIRECT.search(line):
            problems.append(f'{function}: indirect call or jump: {line.split(chr(9), 1)[1].strip()}')
        for pattern in (BRANCH, RELOCATION):
            match = pattern.search(line)
            if match and function is not None:
                calls[function].add(match[1].split('.')[0])
    return calls, problems


def deepest(calls, usage, function, above=()):
    """(bytes, chain) of the deepest chain of calls from function on."""
    if function in above:
        sys.exit('signal_safe: recursion: ' + ' > '.join((*above, function)))
    best = (0, [])
    for callee in calls.get(function, ()):
        if callee in calls and callee != function:
            best = max(best, deepest(calls, usage, callee, (*above, function)))
    return usage.get(function, 0) + RETURN_ADDRESS + best[0], [function, *best[1]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--cross', default='')
    parser.add_argument('--allow', required=True)
    parser.add_argument('--stack', type=int, required=True)
    parser.add_argument('objects', nargs='+')
    args = parser.parse_args()
    allow = allowed_names(args.allow)
    usage, problems = stack_usage(args.objects)
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, 'whole.o')
        run(args.cross + 'ld', '-r', '-o', whole, *args.objects)
        undefined = {line.split()[-1] for line in run(args.cross + 'nm', '-u', whole).splitlines()}
        calls, indirect = call_graph(
            run(args.cross + 'objdump', '-dr', '--no-show-raw-insn', whole))
    problems += indirect
    problems += [f'reaches outside the folder: {name}' for name in sorted(undefined - set(allow))]
    size, chain = max((deepest(calls, usage, function) for function in calls), default=(0, []))
    if size > args.stack:
        problems.append(f'{size} bytes of stack, {args.stack} allowed: ' + ' > '.join(chain))
    for problem in problems:
        print('signal_safe:', problem)
    print(f'signal_safe: {len(args.objects)} objects, {len(calls)} functions, '
          f'{len(undefined)} outside names, {size} bytes of stack ({" > ".join(chain)})')
    return 1 if problems else 0


sys.exit(main())
