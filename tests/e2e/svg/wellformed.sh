#!/bin/sh
# wellformed.sh DRAW DIR: what DRAW draws, twice the same, is XML to xmllint and a picture to
# rsvg-convert.  Exit 77 (skipped) where both programs are missing.
set -eu
draw=$1
dir=$2

rm -rf "$dir"
mkdir -p "$dir/again"
"$draw" "$dir"
"$draw" "$dir/again"
checked=0
for svg in "$dir"/*.svg; do
    cmp "$svg" "$dir/again/$(basename "$svg")"
    if command -v xmllint >/dev/null; then
        xmllint --noout --nonet "$svg"
        checked=$((checked + 1))
    fi
    if command -v rsvg-convert >/dev/null; then
        rsvg-convert "$svg" -o "${svg%.svg}.png"
        [ -s "${svg%.svg}.png" ]
        checked=$((checked + 1))
    fi
done
if [ "$checked" -eq 0 ]; then
    echo "SKIPPED: neither xmllint nor rsvg-convert is installed"
    exit 77
fi
echo "$checked checks of $(ls "$dir"/*.svg | wc -l) pictures"
