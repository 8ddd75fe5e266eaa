#!/bin/bash
# perf.data read by us and the text of `perf script` of the same recording: the same weight of each event,
# and the same stacks where both name a frame.  perf_real.sh FLAMEBANK; 77 where perf cannot record.
set -euo pipefail
flamebank=$1
command -v perf > /dev/null || { echo "skipped: there is no perf"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
record() { perf record -q "$@" > /dev/null 2> perf.err; }
record -e cpu-clock -F 2000 -g -o a.data -- sh -c 'gzip -c /usr/bin/perl; xz -T1 -c /bin/ls' ||
    { echo "skipped: perf cannot record here ($(head -1 perf.err))"; exit 77; }
record -e cpu-clock,page-faults -g -z -o b.data -- gzip -c /usr/bin/perl || cp a.data b.data
perf record -q -e cpu-clock -F 2000 -g -o - -- gzip -c /usr/bin/perl > c.data 2> /dev/null || cp a.data c.data

weight() { awk '{ s += $NF } END { printf "%d", s }'; }
for data in a b c; do
    perf script -i $data.data > $data.txt 2> /dev/null
    for event in cpu-clock page-faults; do
        grep -q "$event" $data.txt || continue
        ours=$("$flamebank" fold $data.data --event $event | weight)
        theirs=$("$flamebank" fold $data.txt --event $event | weight)
        [ "$ours" = "$theirs" ] || { echo "$data, $event: weight $ours of perf.data, $theirs of its text"; exit 1; }
        echo "$data, $event: weight $ours"
    done
done
# Roots and kernel frames are named alike (names of libraries depend on which alias is taken).
stacks() { "$flamebank" fold --raw-names "$1" --event cpu-clock | grep -o '^[^;]*\|[^;]*_\[k\]' | sort | uniq -c; }
if grep -q '_\[k\]' <("$flamebank" fold a.txt) && [ "$(head -c 16 /proc/kallsyms)" != 0000000000000000 ]; then
    diff <(stacks a.data) <(stacks a.txt) > names.diff || { echo "other names:"; head -20 names.diff; exit 1; }
    echo "kernel frames have the same names"
fi

# With -k the times are those of the wall clock.
if record -k CLOCK_MONOTONIC -e cpu-clock -g -o k.data -- gzip -c /usr/bin/perl; then
    ms=$("$flamebank" convert k.data - --to timed 2> /dev/null | awk -F'[\t.]' 'END { print $1 }')
    age=$(($(date +%s) - ms / 1000))
    [ "$age" -ge 0 ] && [ "$age" -lt 60 ] || { echo "the last sample is $age s old"; exit 1; }
    echo "times are of the wall clock"
fi
