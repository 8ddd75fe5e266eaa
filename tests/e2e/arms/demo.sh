#!/bin/bash
# The demo, shortened: real arms, real load, and the answer that must come out.
#   demo.sh BUILD
set -eu
build=$1
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DEMO_STEPS="1000 3000" DEMO_SECONDS=9 DEMO_PORT=18092
"$root/fixtures/demo/demo.sh" "$build/bin/flamebank" "$work" > "$work/out" 2> "$work/err" ||
    { cat "$work/out" "$work/err"; exit 1; }
fail() { echo "demo.sh: $1"; cat "$work/out"; exit 1; }
# The truth, whatever the machine does besides: no deflate in the control, most of the variant's
# weight below it.
"$build/bin/flamebank" fold "$work/control.fbank" | grep -q deflate && fail "the control deflates"
"$build/bin/flamebank" fold "$work/variant.fbank" |
    awk '/deflate/ { below += $NF } { all += $NF } END { exit !(below > all / 2) }' ||
    fail "under half of the variant is below deflate"
# The verdict: denied only where the machine was busy with other work.
if grep -qE '^3000 .*NODE' "$work/out"; then
    grep -q "codec.* new " "$work/out" || fail "the codec layer is not new"
    echo "the machine was busy (NODE): shown without a verdict, as it must be"
else
    python3 - "$work/diff.json" << 'END' || fail "codec and libz's frames are not new at 3000/s"
import json, sys
tables = json.load(open(sys.argv[1], encoding="utf-8"))["tables"]
def verdicts(begins, key, text):
    return [row["verdict"] for table in tables if table["title"].startswith(begins) for row in table["rows"]
            if text in row[key]]
new = ("absent in control", "not seen in control")
layer = verdicts("Layers by self time, step 3000:", "layer", "codec")
frames = verdicts("Frames by self time, step 3000:", "frame", "libz.so")
sys.exit(not (layer and layer[0] in new + ("DIFF",) and any(verdict in new for verdict in frames)))
END
fi
grep -q "one thing differs between the arms: gzip" "$work/out" || fail "more than gzip differs"
for f in control variant diff; do
    xmllint --noout "$work/$f.svg" || fail "$f.svg is not well-formed"
    grep -q "deflate" "$work/$f.svg" || [ $f = control ] || fail "$f.svg does not show deflate"
done
grep -q '<section class="verdict"' "$work/report.html" || fail "report.html has no answer"
for f in control variant; do
    "$build/bin/flamebank" check "$work/$f.fbank" || fail "$f.fbank is not whole"
done
