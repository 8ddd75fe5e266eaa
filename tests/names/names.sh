#!/bin/bash
# Two runs that do the same have no frame that is on one side only because of its name:
#   names.sh FLAMEBANK FIXTURES CASE        CASE: java, clojure, cxx
# Each pair must have such frames by raw names: else the test would say nothing.
set -euo pipefail
flamebank=$(realpath "$1") sources=$(realpath "$2")/names case=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

record() { # NAME COMMAND...
    local name=$1
    shift
    "$flamebank" record --hz 250 -o "$name.fbank" -- "$@" > "$name.out" 2>&1 || { cat "$name.out" >&2; exit 1; }
}

# A B UNDER RAW...: none by canonical names; by raw names one for each of RAW at least.
same_names() {
    local a=$1 b=$2 under=$3 found raw
    shift 3
    found=$(python3 "$here/one_sided.py" "$flamebank" "$a.fbank" "$b.fbank" "$under")
    if [ -n "$found" ]; then
        printf 'in one of %s and %s alone:\n%s\n' "$a" "$b" "$found" >&2
        failed=1
    fi
    found=$(python3 "$here/one_sided.py" "$flamebank" "$a.fbank" "$b.fbank" "$under" --raw-names)
    for raw in "$@"; do
        grep -qF -- "$raw" <<< "$found" || { echo "raw names of $a and $b agree on '$raw': $found" >&2; failed=1; }
    done
}

run_java() {
    command -v javac > /dev/null || exit 77
    javac -d classes "$sources/Names.java"
    # inlined into its callers the hot method would hide them
    local flags=(-XX:+UseSerialGC '-XX:CompileCommand=dontinline,Names$Target::price')
    record few java "${flags[@]}" -cp classes Names 400 0
    record more java "${flags[@]}" -cp classes Names 400 3
    same_names few more Names.spin 'Names$$Lambda' '$Proxy' 'GeneratedMethodAccessor' 'LambdaForm$'
}

run_clojure() {
    local folder=/usr/share/java jars
    jars=$(ls $folder/clojure-1.*.jar 2> /dev/null | sort | tail -1)
    { command -v java > /dev/null && [ -n "$jars" ]; } || exit 77
    jars=$jars:$folder/spec.alpha.jar:$folder/core.specs.alpha.jar
    record few java -XX:+UseSerialGC -cp "$jars" clojure.main "$sources/names.clj" 500 0
    record more java -XX:+UseSerialGC -cp "$jars" clojure.main "$sources/names.clj" 500 7
    same_names few more spin 'fn__'
}

# build NAME COMPILER FLAG...: built in a folder of its own, since paths must not matter
build() {
    local name=$1 compiler=$2
    shift 2
    mkdir -p "build-$name"
    cp "$sources/names.cc" "build-$name/names.cc"
    (cd "build-$name" && "$compiler" -g "$@" -c names.cc -o names.o && "$compiler" -g "$@" names.o -o names)
    record "$name" "./build-$name/names" 200
}

run_cxx() {
    build plain g++ -O1 -fno-inline -fno-optimize-sibling-calls
    build again g++ -O1 -fno-inline -fno-optimize-sibling-calls
    build clones g++ -O2 -fno-inline -fno-optimize-sibling-calls
    build first g++ -O2 -fno-inline -fno-optimize-sibling-calls -DFIRST
    build lto g++ -O2 -fno-inline -fno-optimize-sibling-calls -flto
    same_names plain again main
    same_names plain clones main '.constprop.0'
    same_names clones first main '#1}'
    same_names clones lto main
    command -v clang++ > /dev/null || return 0
    build clang clang++ -O1 -fno-inline -fno-optimize-sibling-calls
    same_names plain clang main '$_'
}

"run_$case"
exit $failed
