#!/bin/bash
# All benchmarks, or those whose names are given: bench/run.sh BUILD [unwind|peers|clock|bank|diff|flame|steps|text|json|binary|size|symbols|names|layers|counters|toggle|overhead|jvm]...
# CPU time, never wall time; each figure beside a peer or a floor of the same run.
set -euo pipefail
build=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C
PATH=$build/bin:$build/fixtures:$build/bench:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'

# CPU seconds of a command, the least of five runs.
cpu() {
    for _ in 1 2 3 4 5; do { time "$@" > /dev/null 2>&1; } 2>&1; done |
        awk '{ s = $1 + $2 } NR == 1 || s < best { best = s } END { printf "%.3f", best }'
}
# MB resident at most, files that are mapped included.
memory() {
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@"
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }
wants() { [ ${#chosen[@]} -eq 0 ] || [[ " ${chosen[*]} " == *" $1 "* ]]; }
chosen=("$@")

big() {
    [ -e "$work/a.fbank" ] && return
    make_bank "$work/a.fbank" samples=1000000 stacks=5000 hz=99 cores=100 steps=3
    make_bank "$work/b.fbank" samples=1000000 stacks=5000 hz=99 cores=100 steps=3 seed=2 codec=1.5
}

if wants unwind; then
    echo "== one sample in the handler (target: depth 50 <= 6 us with delivery, no slower than backtrace())"
    bench_unwind
    echo "== call frame information that is no rule of ours"
    bench_unwind_rules /lib/x86_64-linux-gnu/{libc.so.6,libstdc++.so.6,libLLVM-14.so.1} \
        /usr/lib/jvm/*/lib/server/libjvm.so /usr/bin/node /usr/bin/python3
    echo "== start and end (target: 30 ms of CPU more with libLLVM loaded)"
    echo 'int main(void) { return 0; }' > "$work/nothing.c"
    cc -O2 "$work/nothing.c" -o "$work/nothing"
    bench_start "$build/lib/flamebank/libflamebank.so" 21 "$work/nothing"
    if cc -O2 "$work/nothing.c" -Wl,--no-as-needed -l:libLLVM-14.so.1 -o "$work/libLLVM" 2> /dev/null; then
        bench_start "$build/lib/flamebank/libflamebank.so" 21 "$work/libLLVM"
    else
        echo "libLLVM-14 is not here: not measured"
    fi
fi
if wants peers; then
    echo "== one sample as its host pays for it (target: 1.7 x empty at depth 50; gperftools 20 x ours, async-profiler 1 x)"
    bash "$here/peers.sh" "$build" "$work"
fi
if wants clock; then
    echo "== what the clocks count and what they cost (target: weights of cpu and perf within 3 % of CPU time)"
    "$build/bench/bench_clock"
fi
if wants bank; then
    echo "== reading and folding 1,000,000 samples"
    big
    bench_bank "$work/a.fbank"
    echo "flamebank fold                 $(cpu flamebank fold "$work/a.fbank") s CPU (target: 0.15)"
fi
if wants steps; then
    echo "== reading steps (target: 10 s of CPU and 100 MB a GB)"
    python3 "$here/steps.py" "$build/bin/flamebank" "$work"
fi
if wants text; then
    echo "== text of 200 MB (targets: folded read 600 MB/s in 60 MB; perf script to folded 700 MB/s, captures 400)"
    for kind in folded perf capture; do
        bench_text $kind 200000000 > "$work/text.$kind"
        bench_text "$work/text.$kind"
        fold=$(cpu flamebank fold "$work/text.$kind")
        echo "flamebank fold                 $(ratio 200 "$fold") MB/s of CPU from text to text, $(memory flamebank fold "$work/text.$kind") MB resident"
        flamebank fold "$work/text.$kind" --jobs 2 | cmp -s - <(flamebank fold "$work/text.$kind") &&
            echo "flamebank fold --jobs 2        the same bytes"
        rm "$work/text.$kind"
    done
fi
if wants json; then
    echo "== profiles in JSON, read and written"
    "$build/bench/bench_json"
fi
if wants binary; then
    echo "== profiles in pprof and JFR, read"
    "$build/bench/bench_binary"
fi
if wants diff; then
    echo "== diff of two banks of 1,000,000 samples in 50,000 functions, 10 steps (target: 1.0 s of CPU, 200 MB)"
    for x in a b; do
        make_bank "$work/own-$x.fbank" samples=1000000 stacks=50000 own=1 hz=99 cores=10 steps=10 \
            $([ $x = a ] || echo seed=2 codec=1.5)
    done
    awk 'BEGIN { print "name\tstart\tend\toffered\tdelivered"
        for (i = 0; i < 10; i++) printf "%d\t%.0f\t%.0f\t%d\t%d\n", 1000 * (i + 1), 1700000000 + 101 * i,
            1700000000 + 101 * (i + 1), 1000 * (i + 1), 1000 * (i + 1) }' > "$work/own.tsv"
    fold=$(cpu flamebank fold "$work/own-a.fbank")
    both=("$work/own-a.fbank,$work/own.tsv" "$work/own-b.fbank,$work/own.tsv")
    diff=$(cpu flamebank diff "${both[@]}")
    echo "flamebank diff                 $diff s CPU, $(ratio "$diff" "$fold") x one fold, $(memory flamebank diff "${both[@]}") MB"
    rm "$work"/own-?.fbank
    echo "== 10,000 steps over 900,000 samples (target: steps 0.5 s of CPU; diff 4 x that of 1,000 steps for 10 x the steps)"
    for x in a b; do
        make_bank "$work/long-$x.fbank" samples=900000 stacks=5000 hz=99 cores=1 steps=3 \
            $([ $x = a ] || echo seed=2 codec=1.5)
    done
    for n in 1000 10000; do
        awk -v n=$n 'BEGIN { print "name\tstart\tend\toffered\tdelivered"
            for (i = 0; i < n; i++) printf "%d\t%.3f\t%.3f\t%d\t%d\n", 1000 + i,
                1700000000 + 9090 / n * i, 1700000000 + 9090 / n * (i + 1), 1000 + i, 1000 + i }' > "$work/long.tsv"
        both=("$work/long-a.fbank,$work/long.tsv" "$work/long-b.fbank,$work/long.tsv")
        echo "flamebank steps, diff    $n: $(cpu flamebank steps "$work/long.tsv,$work/long-a.fbank") s CPU, $(cpu flamebank diff "${both[@]}") s CPU, $(memory flamebank diff "${both[@]}") MB"
    done
    rm "$work"/long*
    echo "== diff of two folded files of 200 MB (target: 0.8 s of CPU; inferno-diff-folded 2.3-2.5, without statistics)"
    bench_text folded 200000000 > "$work/a.folded"
    awk 'NR % 7 == 0 { $NF++ } { print }' "$work/a.folded" > "$work/b.folded"
    fold=$(cpu flamebank fold "$work/a.folded")
    diff=$(cpu flamebank diff "$work/a.folded" "$work/b.folded")
    echo "flamebank diff                 $diff s CPU, $(ratio "$diff" "$fold") x one fold"
    rm "$work"/?.folded
fi
if wants flame; then
    echo "== flamegraph of a tree of 1,000,000 nodes (1 s of CPU was asked of the picture alone)"
    awk 'BEGIN { for (i = 0; i < 250000; i++)
        printf "main;a%d;b%d;c%d;d%d %d\n", i % 500, i, i, i, 1 + i % 7 }' > "$work/wide.folded"
    fold=$(cpu flamebank fold "$work/wide.folded")
    flame=$(cpu flamebank flame "$work/wide.folded" -o "$work/wide.svg")
    echo "flamebank flame                $flame s CPU, $(ratio "$flame" "$fold") x reading and folding it ($fold s)"
    bash "$here/pictures.sh" "$build" "$work"
fi
if wants report; then
    echo "== report of two banks of 1,000,000 samples and 10 steps (target: 3 s of CPU, under 3 MB)"
    for arm in "c seed=1" "v seed=2 codec=1.5"; do
        make_bank "$work/report-${arm%% *}.fbank" samples=1000000 stacks=50000 hz=99 cores=100 steps=10 ${arm#* }
    done
    set -- "$work/report-c.fbank" "$work/report-v.fbank"
    diff=$(cpu flamebank diff "$@" --format json)
    report=$(cpu flamebank report "$@" -o "$work/report.html")
    echo "flamebank report               $report s CPU, $(ratio "$report" "$diff") x its diff ($diff s), $(wc -c < "$work/report.html") bytes"
fi
if wants size; then
    echo "== a packed bank of a steady 60 s run (target: 3.5 bytes a sample, 200 bytes a second of counters)"
    bash "$here/size.sh" "$build" "$work"
fi
if wants counters; then
    echo "== a second of the sampler's own thread (target: 0.5 ms of CPU with 2,000 threads and 4,096 connections)"
    "$build/bench/bench_counters"
fi
if wants toggle; then
    echo "== the sampler on and off within one nginx under constant load (target: under 0.3 %, not told from 0)"
    bash "$here/toggle.sh" "$build" "$work"
fi
if wants overhead; then
    echo "== whole runs with the sampler and without (not told from 0)"
    bash "$here/overhead.sh" "$build" "$work"
fi
if wants jvm; then
    echo "== the sampler in JVMs"
    bash "$here/jvm.sh" "$build" "$work"
fi
if wants names; then
    echo "== canonical names (target: 2 million a second on one core)"
    nm -D --defined-only /lib/x86_64-linux-gnu/libLLVM-14.so.1 2> /dev/null | awk '{ print $3 }' |
        sed 's/@.*//' > "$work/libLLVM"
    nm -D --defined-only "$(command -v node)" 2> /dev/null | awk '{ print $3 }' | sed 's/@.*//' > "$work/node"
    nm -D --defined-only /lib/x86_64-linux-gnu/libc.so.6 | awk '{ print $3 }' | sed 's/@.*//' > "$work/libc"
    sed 's/ [0-9]*$//' "$here/../fixtures/profiles/jvm.folded" | tr ';' '\n' | sort -u > "$work/methods"
    bench_names native "$work/libc" "$work/node" "$work/libLLVM" "$work/methods"
    bench_names java "$work/methods"
fi
if wants symbols; then
    echo "== 10,000 addresses of a large library (target: a fifth of llvm-symbolizer's CPU time)"
    bench_symbols
    echo "== the same with inlined functions, of a C++ program of 30 MB and more (target: a third, under 150 MB)"
    mkdir -p "$work/inlines"
    seq 1 40 | xargs -P "$(nproc)" -I{} g++ -O2 -g -std=c++17 -c -Dshop=shop{} -Dmain=main{} \
        "$here/../tests/symbols/templates.cc" -o "$work/inlines/{}.o"
    {
        seq -f 'int main%.0f(int, char **);' 1 40
        echo 'int main(int argc, char **argv) { int all = 0;'
        seq -f 'all += main%.0f(argc, argv);' 1 40
        echo 'return all; }'
    } > "$work/inlines/main.cc"
    g++ -g "$work/inlines/main.cc" "$work"/inlines/*.o -o "$work/inlines/program"
    bench_symbols "$work/inlines/program" 0.34
    echo "== names of 1,000 functions banked in the arm (target: 40 ms of CPU, what a process that ends may pay)"
    "$build/bench/bench_module_names" /usr/lib/jvm/java-17-openjdk-*/lib/server/libjvm.so \
        /usr/lib/*/libLLVM-14.so.1 /usr/lib/*/libstdc++.so.6 /usr/lib/*/libc.so.6
fi
if wants layers; then
    echo "== layers: 100,000 distinct frames x 40 rules, and 1,000,000 samples into layers"
    bench_layers
fi
