#!/bin/sh
# run.sh DRAW DIR: the pictures of DRAW in Chromium.  Exit 77 (skipped) where a browser, node or the
# driver from npm cannot be had.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
draw=$1
dir=$2

skip() {
    echo "SKIPPED: $1"
    exit 77
}

command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
chromium=$(command -v chromium || command -v chromium-browser) || skip "chromium is not installed"
mkdir -p "$dir"
cp "$here/package.json" "$here/svg.mjs" "$dir"
if [ ! -d "$dir/node_modules/playwright-core" ]; then
    (cd "$dir" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock) \
        >"$dir/npm.log" 2>&1 || skip "playwright-core cannot be had from npm, see $dir/npm.log"
fi
"$draw" "$dir"
cd "$dir"
CHROMIUM=$chromium exec node svg.mjs "$dir"
