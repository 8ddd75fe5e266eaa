#!/bin/sh
# run.sh DRAW FLAMEBANK DIR: the pictures of DRAW, and one of FLAMEBANK, in Chromium.  Exit 77 (skipped) where a browser, node or the
# driver from npm cannot be had.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
draw=$1
flamebank=$2
dir=$3

skip() {
    echo "SKIPPED: $1"
    exit 77
}

command -v node >/dev/null || skip "node is not installed"
command -v npm >/dev/null || skip "npm is not installed"
chromium=$(command -v chromium || command -v chromium-browser) || skip "chromium is not installed"
mkdir -p "$dir"
cp "$here/package.json" "$here"/*.mjs "$dir"
if [ ! -d "$dir/node_modules/playwright-core" ] || [ ! -d "$dir/node_modules/axe-core" ]; then
    (cd "$dir" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock) \
        >"$dir/npm.log" 2>&1 || skip "playwright-core cannot be had from npm, see $dir/npm.log"
fi
"$draw" "$dir"
profile=$here/../../../fixtures/profiles/control.folded
"$flamebank" flame "$profile" -o "$dir/real.svg"
"$flamebank" top "$profile" --inclusive 'parse|write' --inclusive '^malloc$' --inclusive 'e$' --format json >"$dir/table.json"
cd "$dir"
FB_LOOKS_DIR=$here/looks CHROMIUM=$chromium exec node svg.mjs "$dir"
