#!/bin/sh
# speedscope.sh FLAMEBANK PROFILES DIR: what 'convert' writes, loaded by speedscope in Chromium, has
# the self and total of every function that 'fold' says.  Exit 77 (skipped) where a browser, node or
# the packages from npm cannot be had.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
flamebank=$1
profiles=$2
dir=$3

skip() {
    echo "SKIPPED: $1"
    exit 77
}

command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
chromium=$(command -v chromium || command -v chromium-browser) || skip "chromium is not installed"
mkdir -p "$dir"
cp "$here/package.json" "$here/speedscope.mjs" "$dir"
if [ ! -d "$dir/node_modules/speedscope" ]; then
    (cd "$dir" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock) \
        >"$dir/npm.log" 2>&1 || skip "speedscope cannot be had from npm, see $dir/npm.log"
fi
for name in control variant; do
    "$flamebank" fold "$profiles/$name.folded" >"$dir/$name.folded"
    "$flamebank" convert "$profiles/$name.folded" "$dir/$name.speedscope.json"
done
# Two threads, each a profile of its own.
"$flamebank" convert "$profiles/../formats/evented.speedscope.json" "$dir/threads.speedscope.json"
cd "$dir"
CHROMIUM=$chromium exec node speedscope.mjs "$dir" control variant
