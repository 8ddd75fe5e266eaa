#!/bin/bash
# A/A: six runs of one nginx arm, compared in three pairs.  The verdicts DIFF over all layers and
# steps must be no more than a 99 % binomial bound allows at the stated error rate of 5 %.
#   same_arm.sh BUILD
set -eu
build=$1
root=$(cd "$(dirname "$0")/../../.." && pwd)
PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DEMO_STEPS="1000 2000 3000" DEMO_SECONDS=${SAME_ARM_SECONDS:-6}
for i in 1 2 3 4 5 6; do
    "$root/fixtures/demo/arm.sh" "$build/bin/flamebank" "run$i" on 18091 "$work" \
        2> "$work/run$i.log" || { cat "$work/run$i.log"; exit 1; }
done
cd "$work"
for i in 1 3 5; do
    k=$((i + 1))
    flamebank diff "run$i.fbank,run$i.tsv" "run$k.fbank,run$k.tsv" --by layer --format csv
done > all.csv
# A judged row is a layer of a step, or its total (the CPU per request); the other tables repeat them.
rows() { grep -a '^"Layers by self time' all.csv | grep -cE "$1" || true; }
judged=$(rows ',(DIFF|SAME|UNRESOLVED)(,|$)')
differ=$(rows ',DIFF(,|$)')
# The largest count that a binomial of `judged` trials at 5 % passes with probability 99 %.
bound=$(awk -v n="$judged" 'BEGIN {
    p = 0.05; q = (1 - p) ^ n; sum = q
    for (k = 0; sum < 0.99 && k < n; k++) { q *= (n - k) / (k + 1) * p / (1 - p); sum += q }
    print k }')
echo "A/A: $differ DIFF of $judged judged rows; at most $bound are to be expected (5 %, 99 % bound)"
if [ "$judged" -lt 8 ] && grep -q NODE all.csv; then
    echo "SKIPPED: the machine was too busy with other work (NODE) for the steps to be judged"
    exit 77
fi
[ "$judged" -ge 8 ] || { echo "same_arm.sh: too few rows were judged"; cat all.csv; exit 1; }
[ "$differ" -le "$bound" ]
