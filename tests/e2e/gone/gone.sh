#!/bin/bash
# gone.sh LIBRARY BUILD COMPILER_CXX COMPILER_C: two arms under the preload alone, each with a root
# of its own for its program, its library and its bank, which is deleted before anybody looks at the
# banks.  A diff has names all the same.
set -u
library=$1
build=$2
cxx=$3
cc=$4
here=${BASH_SOURCE[0]%/*}
folder=$(mktemp -d /tmp/fb-gone-XXXXXX)
trap 'rm -rf "$folder"' EXIT
PATH=$build/bin:$PATH
unset FLAMEBANK_RUN FLAMEBANK_OUT FLAMEBANK_HZ FLAMEBANK_CLOCK LD_PRELOAD

fail() {
    echo "$*"
    exit 1
}

# arm NAME OWN LIBRARY: its root, the run, and the end of its root.
arm() {
    local root=$folder/$1
    mkdir -p "$root/srv/shop-$$/bin" "$root/banks"
    local home=$root/srv/shop-$$
    "$cc" -O2 -fPIC -shared -o "$home/bin/libwork.so" "$here/library.c" &&
        "$cxx" -O2 -o "$home/bin/arm" "$here/arm.cc" -L"$home/bin" -lwork -Wl,-rpath,'$ORIGIN' ||
        fail "the arm cannot be built"
    cp "$library" "$root/libflamebank.so"
    FLAMEBANK_OUT=$root/banks/run.fbank LD_PRELOAD=$root/libflamebank.so "$home/bin/arm" "$2" "$3"
    mv "$root/banks/run.fbank" "$folder/$1.fbank" || fail "$1: there is no bank"
    rm -rf "$root"
}

# How many rounds take that long: the arm's own time, doubled until it is enough.
calibrated() {
    local n=$((1 << 24))
    "$cc" -O2 -fPIC -shared -o "$folder/libwork.so" "$here/library.c" &&
        "$cxx" -O2 -o "$folder/arm" "$here/arm.cc" -L"$folder" -lwork -Wl,-rpath,"$folder" ||
        return 1
    local took TIMEFORMAT=%U
    while [ $n -lt $((1 << 36)) ]; do
        took=$({ time "$folder/arm" "$n" 1; } 2>&1)
        awk -v t="$took" 'BEGIN { exit !(t >= 0.4) }' && echo "$n" && return
        n=$((2 * n))
    done
    return 1
}

# Rounds that take some 0.5 s of CPU time here.
rounds=$(calibrated) || fail "the arm cannot be timed"
arm control "$rounds" "$((rounds / 8))"
arm variant "$rounds" "$rounds"
for name in control variant; do
    flamebank check "$folder/$name.fbank" > "$folder/out" 2>&1 || fail "$name: $(cat "$folder/out")"
    flamebank top "$folder/$name.fbank" --raw-names > "$folder/$name.top" 2>&1 ||
        fail "$name: $(cat "$folder/$name.top")"
    grep -q 'shop::Cart<unsigned long>::total(unsigned long)' "$folder/$name.top" ||
        fail "$name: the program's function has no name: $(cat "$folder/$name.top")"
    grep -q 'hidden_work' "$folder/$name.top" ||
        fail "$name: the library's function has no name: $(cat "$folder/$name.top")"
    grep -q '\[unknown\] *\(arm\|libwork\)' "$folder/$name.top" &&
        fail "$name: $(cat "$folder/$name.top")"
done
flamebank diff "$folder/control.fbank" "$folder/variant.fbank" --by frame --format csv \
    > "$folder/diff" 2> "$folder/err" || fail "diff: $(cat "$folder/err")"
grep -q 'hidden_work' "$folder/diff" && grep -q 'shop::Cart' "$folder/diff" ||
    fail "the diff has no names: $(cat "$folder/diff")"
grep -qE '^[^,]*\[unknown\] (arm|libwork)' "$folder/diff" && fail "$(cat "$folder/diff")"
flamebank symbolize "$folder/control.fbank" -o "$folder/again.fbank" > "$folder/out" 2>&1 ||
    fail "symbolize: $(cat "$folder/out")"
grep -q 'taken while the arm ran' "$folder/out" || fail "symbolize says: $(cat "$folder/out")"
flamebank top "$folder/again.fbank" 2>&1 | grep -q hidden_work || fail "symbolize lost names"
