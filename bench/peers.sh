#!/bin/bash
# What one sample costs under our sampler and under others, in one run: bench/peers.sh BUILD WORK
#
# Each is preloaded into the same program (bench_raise.c), which sends itself the signal of ITIMER_PROF; the least
# of three rounds that take the profilers in turn.  gperftools is Debian's package libgoogle-perftools4;
# async-profiler is not in Debian: FB_ASYNC_PROFILER names a libasyncProfiler.so, which is measured in its native
# DWARF mode.  What is not there is skipped, and the line says so.
set -euo pipefail
build=$1
work=$2
count=5000
google=$(ls /usr/lib/*/libprofiler.so.0 2> /dev/null | head -n 1 || true)
async=${FB_ASYNC_PROFILER:-}

raise_empty() { bench_raise "$1" $count empty; }
raise_ours() {
    env FLAMEBANK_OUT="$work/raise.%p.fbank" FLAMEBANK_CLOCK=itimer FLAMEBANK_HZ=1 \
        LD_PRELOAD="$build/lib/flamebank/libflamebank.so" bench_raise "$1" $count
}
raise_google() {
    env CPUPROFILE="$work/google.prof" CPUPROFILE_FREQUENCY=1 LD_PRELOAD="$google" bench_raise "$1" $count 2> /dev/null
}
raise_async() {
    env ASPROF_COMMAND="start,event=itimer,interval=1s,cstack=dwarf,jstackdepth=512,file=$work/async.collapsed" \
        LD_PRELOAD="$async" bench_raise "$1" $count 2> /dev/null | tail -n 1
}

least() { sort -n | head -n 1; }
row() { # NAME DEPTH NS EMPTY OURS
    awk -v name="$1" -v depth="$2" -v ns="$3" -v empty="$4" -v ours="$5" 'BEGIN {
        printf "%-26s %5d %10.2f %12.2f %16.1f\n", name, depth, ns / 1000, ns / empty, ns / ours }'
}

names="empty ours"
[ -n "$google" ] && names="$names google" || echo "gperftools: skipped, no libprofiler.so.0 (package libgoogle-perftools4)"
[ -n "$async" ] && names="$names async" || echo "async-profiler: skipped, FB_ASYNC_PROFILER names no libasyncProfiler.so"
printf '%-26s %5s %10s %12s %16s\n' profiler depth "us/sample" "x empty" "x ours"
for depth in 10 50 200; do
    rm -f "$work"/raise.*.ns
    for _ in 1 2 3; do
        for name in $names; do
            "raise_$name" "$depth" >> "$work/raise.$name.ns"
            rm -f "$work"/raise.*.fbank
        done
    done
    empty=$(least < "$work/raise.empty.ns")
    ours=$(least < "$work/raise.ours.ns")
    for name in $names; do
        row "$name" "$depth" "$(least < "$work/raise.$name.ns")" "$empty" "$ours"
    done
done
