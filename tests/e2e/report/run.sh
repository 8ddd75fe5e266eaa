#!/bin/sh
# run.sh BUILD BANKS DIR: makes arms and their reports, looks at the files, then at the pages in
# Chromium.  Exit 77 (skipped) where a browser, node or the packages from npm cannot be had.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1 banks=$2 dir=$3
PATH=$build/bin:$PATH
unset LD_PRELOAD 2>/dev/null || true

fail() {
    echo "FAILED  $1"
    exit 1
}

mkdir -p "$dir"
cd "$dir"
rm -f ./*.html ./*.md ./*.svg ./*.json ./*.csv ./*.folded
"$banks" .
c="control-1.fbank,steps.tsv" v="variant-1.fbank,steps.tsv"
pairs="control-1.fbank,steps.tsv control-2.fbank,steps.tsv --vs variant-1.fbank,steps.tsv variant-2.fbank,steps.tsv"
flamebank report $c $v -o pair.html
flamebank report $pairs --sum transport+codec=serving -o pairs.html
flamebank report control-1.fbank,steps.tsv -o one.html
flamebank report hostile-a.fbank,hostile.tsv hostile-b.fbank,hostile.tsv --title '</title><script>window.broken=1</script>' -o hostile.html
flamebank report control-1.fbank variant-1.fbank --nodes 10 -o cut.html
flamebank report "$here/../../../fixtures/profiles/control.folded" "$here/../../../fixtures/profiles/variant.folded" -o folded.html
flamebank report "$here/../../../fixtures/joblog/traps/T19-plain.log" "$here/../../../fixtures/joblog/traps/T19-agent.log" -o logs.html
flamebank report $c $v --format md -o pair.md
flamebank diff $c $v --format json > pair.json
flamebank diff $c $v --format csv > pair.csv
flamebank fold control-1.fbank,steps.tsv --step 3000 > control.folded
flamebank fold variant-1.fbank,steps.tsv --step 3000 > variant.folded
flamebank fold control-1.fbank --from +20 --to +24 > window.folded

# One picture as a page: of a tree with more frames than an SVG has boxes, of hostile names, of two arms.
awk 'BEGIN { for (i = 0; i < 30000; i++) printf "main;branch_%d;leaf_%d_of_many %d\n", i % 150, i, 1 + (i % 3) }' > many.folded
flamebank flame many.folded -o flame.html
flamebank flame many.folded -o flame.svg
flamebank flame many.folded --nodes 100 -o flame-cut.html
flamebank flame control-1.fbank,steps.tsv --step 3000 --icicle --color-by module -o flame-module.html
flamebank flame control-1.fbank,steps.tsv --step 3000 --reverse -o flame-turned.html
flamebank flame $c $v --step 3000 -o flame-diff.html
flamebank flame $c $v --step 3000 -o flame-diff.svg
flamebank flame hostile-a.fbank,hostile.tsv hostile-b.fbank,hostile.tsv --title '</title><script>window.broken=1</script>' -o flame-hostile.html
flamebank flame $c $v --step 3000 -o again.html
cmp flame-diff.html again.html || fail "two pages of the same picture differ"

# The same input gives the same bytes; a page is one file of less than 3 MB; nothing of it is remote.
flamebank report $c $v -o again.html
cmp pair.html again.html || fail "two reports of the same arms differ"
for page in pair pairs one hostile cut flame flame-module flame-diff flame-hostile; do
    [ "$(wc -c < $page.html)" -lt 3000000 ] || fail "$page.html is larger than 3 MB"
    grep -q "default-src 'none'; script-src 'sha256-[A-Za-z0-9+/=]*'; style-src 'sha256-" $page.html || fail "$page.html has no policy"
    ! grep -qE '(src|href)="?(https?:)?//' $page.html || fail "$page.html refers to another place"
    [ $page = hostile ] || [ $page = flame-hostile ] || ! grep -qE ' (on[a-z]+|style)=' $page.html || fail "$page.html has an inline handler or style"
done
[ "$(grep -c '<script' hostile.html)" -eq "$(grep -c '<script' pair.html)" ] || fail "a name became a script"
[ "$(grep -c '<script' flame-hostile.html)" -eq "$(grep -c '<script' flame-diff.html)" ] || fail "a name became a script"
for svg in pair.control.svg pair.variant.svg pair.diff.svg; do
    grep -q "src=\"$svg\"" pair.md && [ -s $svg ] || fail "pair.md has no $svg"
done
grep -q '^| codec ' pair.md || fail "pair.md has no table of layers"
! flamebank report control-1.fbank variant-1.fbank 2> /dev/null || fail "a report without -o"

skip() {
    echo "SKIPPED: $1"
    exit 77
}
command -v node > /dev/null || skip "node is not installed"
command -v npm > /dev/null || skip "npm is not installed"
CHROMIUM=$(command -v chromium || command -v chromium-browser) || skip "chromium is not installed"
export CHROMIUM
cp "$here/package.json" "$here/report.mjs" .
if [ ! -d node_modules/axe-core ] || [ ! -d node_modules/playwright-core ]; then
    npm install --ignore-scripts --no-audit --no-fund --no-package-lock > npm.log 2>&1 ||
        skip "the packages cannot be had from npm, see $dir/npm.log"
fi
exec node report.mjs "$dir"
