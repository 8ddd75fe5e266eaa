#!/bin/bash
# Pictures of large profiles, beside what others make of the same bytes: bench/pictures.sh BUILD WORK
#
# CPU time, the least of three runs, memory, and the size of the file; the time in a browser is that of
# Chromium where there are node, Chromium and playwright-core (the e2e tests of BUILD have it).  FB_INFERNO and
# FB_FLAMEGRAPH_PL name an inferno-flamegraph and a flamegraph.pl to be measured in the same run; both are skipped
# where they are not named, and the floor then is `flamebank fold` of the same file.
set -euo pipefail
build=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)

# measure RUNS COMMAND...: CPU seconds and peak MB.
measure() {
    python3 - "$@" <<'PY'
import os, sys
best, peak = None, 0
for _ in range(int(sys.argv[1])):
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        out = os.open(os.environ["OUT"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(out, 1)
        os.execvp(sys.argv[2], sys.argv[2:])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit("%s failed" % sys.argv[2])
    cpu = usage.ru_utime + usage.ru_stime
    best = cpu if best is None else min(best, cpu)
    peak = max(peak, usage.ru_maxrss / 1024)
print("%.3f %.0f" % (best, peak))
PY
}
row() { # NAME CPU MB BASE
    local bytes
    bytes=$(stat -c %s "$OUT")
    awk -v name="$1" -v cpu="$2" -v mb="$3" -v base="$4" -v bytes="$bytes" 'BEGIN {
        printf "%-34s %8.3f s CPU %6.1f x flame %5d MB resident %7.2f MB written\n", name, cpu, cpu / base, mb, bytes / 1e6 }'
}
export OUT=$work/picture.out

bench_text folded 200000000 > "$work/picture.200"
bench_text folded 20000000 > "$work/picture.20"
for size in 200 20; do
    echo "-- $size MB of folded stacks, nearly every stack once, 60 frames deep"
    read -r flame mb < <(measure 3 flamebank flame "$work/picture.$size" -o -)
    row "flamebank flame" "$flame" "$mb" "$flame"
    read -r cpu mb < <(measure 3 flamebank fold "$work/picture.$size")
    row "flamebank fold (the floor)" "$cpu" "$mb" "$flame"
    if [ -n "${FB_INFERNO:-}" ]; then
        read -r cpu mb < <(measure 3 "$FB_INFERNO" "$work/picture.$size")
        row "inferno-flamegraph" "$cpu" "$mb" "$flame"
    fi
    if [ -n "${FB_FLAMEGRAPH_PL:-}" ]; then
        read -r cpu mb < <(measure 1 perl "$FB_FLAMEGRAPH_PL" "$work/picture.$size")
        row "flamegraph.pl" "$cpu" "$mb" "$flame"
    fi
done
rm "$work/picture.200" "$work/picture.20"

echo "-- a tree of 1,000,000 nodes in Chromium (target: open in 2 s, zoom in 100 ms)"
modules=$build/tests/e2e/svg/browser/node_modules
chromium=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$chromium" ] || ! command -v node > /dev/null || [ ! -d "$modules/playwright-core" ]; then
    echo "skipped: needs Chromium, node, and the driver that ctest -R e2e/svg/browser fetches"
    exit 0
fi
mkdir -p "$work/browser"
ln -sfn "$modules" "$work/browser/node_modules"
cp "$here/pictures.mjs" "$work/browser/"
flamebank flame "$work/wide.folded" -o "$work/wide.svg"
(cd "$work/browser" && CHROMIUM=$chromium node pictures.mjs "$work/wide.svg")
cp "$here/page.mjs" "$work/browser/"
flamebank flame "$work/wide.folded" -o "$work/wide.html"
(cd "$work/browser" && CHROMIUM=$chromium node page.mjs "$work/wide.html")
