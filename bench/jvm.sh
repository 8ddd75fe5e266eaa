#!/bin/bash
# The sampler in JVMs: bench/jvm.sh BUILD WORK
#
#   a sample      Depth.java, below 10, 50 and 200 Java frames, as they are after a while and all interpreted: the
#                 floor (a handler that does nothing), ours and async-profiler with cstack=vm (FB_ASYNC_PROFILER names
#                 a libasyncProfiler.so), in turn, the least of five rounds; and what the samples of ours lost
#   the start     CPU time of an empty program, with the sampler and without
#   the REST arm  at 99 Hz under load, by the sampler's own account
#   names         what 50,000 methods take beside 250
#   virtual       CPU time of a round trip between virtual threads: without, with ours, with an agent that does
#                 nothing but make a JVMTI environment; in turn, with the 95 % interval of the ratios
# What is not there is skipped, and the line says so.
set -euo pipefail
build=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
library=$build/lib/flamebank/libflamebank.so
async=${FB_ASYNC_PROFILER:-}
port=$((20000 + $$ % 9000))
count=5000

jdk() { # RELEASE
    grep -l "^JAVA_VERSION=\"$1[.\"]" /usr/lib/jvm/*/release 2> /dev/null | head -n 1 | sed 's|/release$||'
}
value() { flamebank info --all "$1" | awk -v n="$2" '$1 == n { print $3 }'; }
least() { sort -n | head -n 1; }

home=$(jdk 17)
[ -n "$home" ] || home=$(jdk 25)
[ -n "$home" ] && [ -e "$build/bench/jvm_raise.so" ] || {
    echo "jvm: skipped, no JDK 17 or 25 in /usr/lib/jvm, or its headers were not there when this was built"
    exit 0
}
mkdir -p "$work/jvm"
"$home/bin/javac" -d "$work/jvm" "$here/Depth.java" "$here/Methods.java"
echo 'public class Empty { public static void main(String[] a) { } }' > "$work/jvm/Empty.java"
"$home/bin/javac" -d "$work/jvm" "$work/jvm/Empty.java"

depth_java() { # JAVA-OPTION... -- [empty] DEPTH...
    local options=()
    while [ "$1" != -- ]; do options+=("$1") && shift; done
    shift
    "$home/bin/java" -XX:+UseSerialGC $mode "${options[@]}" -cp "$work/jvm" Depth "$build/bench/jvm_raise.so" $count "$@"
}
depth_floor() { depth_java -- empty 10 50 200; }
depth_ours() {
    FLAMEBANK_OUT=$work/jvm/%p.fbank FLAMEBANK_CLOCK=itimer FLAMEBANK_HZ=1 LD_PRELOAD=$library \
        depth_java -- 10 50 200
}
depth_async() {
    local options=start,event=itimer,interval=1s,cstack=vm,jstackdepth=2048,file=$work/jvm/async.collapsed
    depth_java "-agentpath:$async=$options" -- 10 50 200 | grep -v started
}

sample_in() { # the mode's name
    local names="floor ours" name depth ours floor
    [ -n "$async" ] && names="$names async"
    rm -f "$work"/jvm/depth.* "$work"/jvm/*.fbank
    for _ in 1 2 3 4 5; do
        for name in $names; do
            "depth_$name" >> "$work/jvm/depth.$name"
        done
    done
    for depth in 10 50 200; do
        floor=$(awk -v d=$depth '$1 == d { print $2 }' "$work/jvm/depth.floor" | least)
        ours=$(awk -v d=$depth '$1 == d { print $2 }' "$work/jvm/depth.ours" | least)
        for name in $names; do
            awk -v d=$depth '$1 == d { print $2 }' "$work/jvm/depth.$name" | least |
                awk -v n="$name" -v d=$depth -v f="$floor" -v o="$ours" -v m="$1" '{
                    printf "%-12s %-8s %6d %10.2f %14.2f %8.2f\n", m, n, d, $1 / 1000, ($1 - f) / 1000,
                        (o > f ? ($1 - f) / (o - f) : 0) }'
        done
    done
    for bank in "$work"/jvm/*.fbank; do
        flamebank info --all "$bank"
    done | awk -v m="$1" '
        $1 == "samples" && $3 == "of" { kept += $5 }
        $1 == "sampler.weight" { n += $3 }
        $1 ~ /^walk\./ && $1 !~ /finished_later|depth/ { cut += $3 }
        END { printf "%-12s ours: %d samples, %d lost, %d not whole (the first, before a table is read)\n", m, n,
              n - kept, cut }'
}

sample() {
    [ -n "$async" ] || echo "async-profiler: skipped, FB_ASYNC_PROFILER names no library"
    printf '%-12s %-8s %6s %10s %14s %8s\n' code profiler depth "us/sample" "above floor" "x ours"
    mode='' sample_in compiled
    mode=-Xint sample_in interpreted
}

start() {
    FLAMEBANK_HZ=99 bench_start "$library" 21 "$home/bin/java" -XX:+UseSerialGC -cp "$work/jvm" Empty
}

rest() {
    local server
    cat > "$work/jvm/java" << END
#!/bin/sh
exec env FLAMEBANK_OUT="$work/jvm/rest.fbank" FLAMEBANK_HZ=99 LD_PRELOAD="$library" "$home/bin/java" "\$@"
END
    chmod +x "$work/jvm/java"
    JAVA=$work/jvm/java "$here/../fixtures/arms/rest/run.sh" $port > "$work/jvm/rest.log" 2>&1 &
    server=$!
    for _ in $(seq 200); do
        grep -q 'ready on port' "$work/jvm/rest.log" && break
        kill -0 $server 2> /dev/null || { echo "skipped: $(tail -n 1 "$work/jvm/rest.log")"; return; }
        sleep 0.2
    done
    h2load --h1 -c 8 -t 1 -D 30 -d "$here/../fixtures/arms/rest/request.json" -H 'content-type: application/json' \
        "http://127.0.0.1:$port/orders" | grep '^finished'
    kill -TERM $server
    wait $server || true
    flamebank info "$work/jvm/rest.fbank" | grep -E '^account|^handler per sample'
}

names() { # CLASSES
    FLAMEBANK_OUT=$work/jvm/names.$1.fbank FLAMEBANK_CLOCK=perf FLAMEBANK_HZ=10000 LD_PRELOAD=$library \
        "$home/bin/java" -XX:+UseSerialGC -cp "$work/jvm" Methods "$1" 250 8 > "$work/jvm/methods.out"
    echo "$(($1 * 250)) methods: $(value "$work/jvm/names.$1.fbank" sampler.rss_bytes) bytes of the sampler"
}

virtual_program() { "$jdk25/bin/java" -XX:+UseSerialGC -Xmx256m -Djdk.virtualThreadScheduler.parallelism=1 \
    -Djdk.virtualThreadScheduler.maxPoolSize=1 "$@" -cp "$work/jvm" Virtual pairs 4 -v | awk '/round trip/ { print $1 }'; }

# The mean of the ratios to the first column, and its 95 % interval (t of 8 degrees of freedom).
ratios() { # NAME COLUMN
    awk -v name="$1" -v c="$2" '{ r = $c / $1; n++; s += r; q += r * r }
        END { m = s / n; sd = sqrt((q - n * m * m) / (n - 1)); printf "%-8s %.3f x none  (%.3f to %.3f)\n",
              name, m, m - 2.306 * sd / sqrt(n), m + 2.306 * sd / sqrt(n) }' "$work/jvm/virtual"
}

virtual() {
    jdk25=$(jdk 25)
    [ -n "$jdk25" ] || { echo "skipped: no JDK 25"; return; }
    "$jdk25/bin/javac" -d "$work/jvm" "$here/../fixtures/jvm/Virtual.java"
    rm -f "$work/jvm/virtual"
    for _ in 1 2 3 4 5 6 7 8 9; do
        echo "$(virtual_program) $(FLAMEBANK_OUT=$work/jvm/v.%p.fbank FLAMEBANK_HZ=99 LD_PRELOAD=$library virtual_program \
            ) $(virtual_program "-agentpath:$build/bench/jvm_env.so")" >> "$work/jvm/virtual"
        rm -f "$work"/jvm/v.*.fbank
    done
    awk '{ s += $1 } END { printf "none     %.0f ns a round trip\n", s / NR }' "$work/jvm/virtual"
    ratios ours 2
    ratios jvmti 3
}

part=${3:-all}
run() { # NAME TITLE COMMAND...
    [ "$part" = all ] || [ "$part" = "$1" ] || return 0
    echo "-- $2"
    shift 2
    "$@"
}
run sample "one sample below Java frames (target: above the floor no dearer than async-profiler)" sample
run start "start and end (target: 20 ms of CPU)" start
run rest "the REST arm at 99 Hz under load (target: under 0.5 %)" rest
run names "names (target: 12 MB more for 50,000 methods)" names 1
[ "$part" != all ] && [ "$part" != names ] || names 200
run virtual "a round trip between virtual threads (target: within 3 % of none)" virtual
