#!/bin/bash
# jfr_jdk.sh FLAMEBANK: recordings that JDKs make now, whole and of a JVM that was killed.  Counts are those of
# `jfr summary`.
set -euo pipefail
flamebank=$1
command -v javac > /dev/null || { echo "skipped: no JDK"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
cat > Work.java <<'JAVA'
public class Work {
    static volatile Object sink;
    static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    public static void main(String[] args) {
        long end = System.currentTimeMillis() + Long.parseLong(args[0]) * 1000;
        while (System.currentTimeMillis() < end) {
            fib(24);
            for (int i = 0; i < 100; i++) sink = new byte[4096];
        }
    }
}
JAVA
javac Work.java
jdks=("$(dirname "$(readlink -f "$(command -v javac)")")")
for home in /usr/lib/jvm/*/; do
    [ -x "$home/bin/jfr" ] && [ "$(readlink -f "$home")/bin" != "${jdks[0]}" ] && [ ! -L "${home%/}" ] &&
        jdks+=("${home%/}/bin")
done
for bin in "${jdks[@]}"; do
    version=$("$bin/java" -version 2>&1 | head -1)
    "$bin/java" -XX:StartFlightRecording=filename=run.jfr,settings=profile -cp . Work 2 > /dev/null 2>&1 || {
        echo "skipped: $version makes no recording"; continue; }
    "$bin/jfr" summary run.jfr > summary
    for pair in cpu:jdk.ExecutionSample alloc-sample:jdk.ObjectAllocationSample; do
        theirs=$(awk -v event="${pair#*:}" '$1 == event { print $2 }' summary)
        ours=$("$flamebank" convert --type "${pair%%:*}" run.jfr out.folded 2>&1 |
            sed -n 's/.*: \([0-9]*\) samples of weight .*/\1/p')
        [ "$ours" = "$theirs" ] || { echo "$version: ${pair%%:*}: $ours samples, jfr summary says $theirs"; exit 1; }
        echo "$version: ${pair%%:*}: $ours samples"
    done
    "$flamebank" convert --type cpu run.jfr out.folded 2> /dev/null
    grep -q 'Work\.main.*Work\.fib' out.folded || { echo "$version: no Work.fib below Work.main"; exit 1; }
    status=0
    "$flamebank" top run.jfr > said 2>&1 || status=$?
    [ $status = 3 ] && grep -q 'cpu/samples' said || { echo "$version: its types were not listed"; exit 1; }

    rm -rf repository
    "$bin/java" -XX:StartFlightRecording=settings=profile -XX:FlightRecorderOptions=repository="$PWD/repository" \
        -cp . Work 30 > /dev/null 2>&1 &
    java=$!
    for _ in $(seq 60); do # two flushes, one a second
        sleep 0.25
        chunk=$(find repository -name '*.jfr' -size +150k 2> /dev/null | head -1)
        [ -n "$chunk" ] && [ "$(stat -c %Y "$chunk")" -gt $(($(stat -c %W "$chunk") + 2)) ] && break
    done
    kill -9 $java
    wait $java 2> /dev/null || true
    "$flamebank" convert --type cpu "$chunk" out.folded 2> said || { cat said; exit 1; }
    grep -q 'killed or is still going on\|torn tail' said || { echo "$version: a killed JVM was not told"; cat said; exit 1; }
    grep -q 'Work\.fib' out.folded || { echo "$version: nothing was read of a killed JVM"; exit 1; }
    echo "$version: killed: $(sed -n 's/.*: \([0-9]* samples\) of weight .*/\1/p' said)"
done
