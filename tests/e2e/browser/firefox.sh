#!/bin/sh
# firefox.sh DRAW DIR: the pictures of DRAW in Firefox.  Exit 77 (skipped) where the browser, node or
# the driver from npm cannot be had.
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
firefox=$(command -v firefox-esr || command -v firefox) || skip "firefox is not installed"
mkdir -p "$dir"
cp "$here/firefox.package.json" "$dir/package.json"
cp "$here/firefox.mjs" "$dir"
if [ ! -d "$dir/node_modules/puppeteer-core" ]; then
    (cd "$dir" && npm install --ignore-scripts --no-audit --no-fund --no-package-lock) \
        >"$dir/npm.log" 2>&1 || skip "puppeteer-core cannot be had from npm, see $dir/npm.log"
fi
"$draw" "$dir"
cd "$dir"
FIREFOX=$firefox exec node firefox.mjs "$dir"
