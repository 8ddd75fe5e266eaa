#!/bin/bash
# overhead.sh BUILD WORK [RUNS]: whole runs of a busy program with the sampler and without, in turn.
#
# CPU time of the program (user and system, ours included) for a fixed amount of work, pairs in
# random order, the mean of ln(with / without) with its 95 % interval.  Start and end are in it.
set -euo pipefail
build=$1
work=$2/overhead
pairs=$((${3:-20} / 2))
mkdir -p "$work"
program=(/usr/bin/python3 -c 'import json
x = {"a": list(range(200)), "b": "text" * 50}
for i in range(9000): json.loads(json.dumps(x))')
TIMEFORMAT='%U %S'
once() { # with or without
    local preload=
    [ "$1" = without ] || preload=$build/lib/flamebank/libflamebank.so
    { time FLAMEBANK_OUT=$work/%p.fbank LD_PRELOAD=$preload "${program[@]}" > /dev/null 2>&1; } 2>&1 |
        awk -v what="$1" '{ print what, $1 + $2 }'
}
for _ in $(seq $pairs); do
    if [ $((RANDOM % 2)) = 0 ]; then once with; once without; else once without; once with; fi
done > "$work/runs"
awk '{ x[$1] = log($2); sum[$1] += $2 }
     NR % 2 == 0 { d = x["with"] - x["without"]; s += d; ss += d * d; k++ }
     END { m = s / k; sd = sqrt((ss - k * m * m) / (k - 1)); f = k - 1; z = 1.96
           t = z + (z ^ 3 + z) / (4 * f) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * f * f)
           printf "with %.3f s, without %.3f s of CPU; with / without %+.2f %% +- %.2f %% (%d pairs)\n",
               sum["with"] / k, sum["without"] / k, 100 * m, 100 * t * sd / sqrt(k), k }' "$work/runs"
for bank in "$work"/*.fbank; do "$build/bin/flamebank" info "$bank"; done |
    awk '/account of the sampler/ { sub(/.*Sampler: /, ""); print "account of one run: " $0; exit }'
