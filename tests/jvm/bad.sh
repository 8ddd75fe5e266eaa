#!/bin/bash
# bad.sh LIBRARY HOSTS CASE: what calls itself a JVM and is none, or a damaged one.  It runs on with the same result,
# is profiled natively, and one sentence at most is said.
source "${BASH_SOURCE[0]%/*}/lib.sh"

# natively EXPECTED SENTENCES FRAME COMMAND...: "SECONDS" in the command is their number, 2.
natively() {
    local expected=$1 most=$2 frame=$3 status=0 seconds=$((2 * patience))
    shift 3
    set -- "${@/#SECONDS/$seconds}"
    rm -f banks/*
    FLAMEBANK_HZ=500 timed 60 "$@" > out 2> err || status=$?
    [ $status = 0 ] || fail "$*: status $status: $(cat out err)"
    [ "$(cat out)" = "$expected" ] || fail "$*: $(cat out)"
    # On a busy machine it may be above its budget, and say so.
    [ "$(grep -vc 'it takes fewer samples from now on$' err)" -le "$most" ] || fail "$*: more than $most sentences: $(cat err)"
    ! grep -v '^flamebank: ' err || fail "$*: not ours"
    whole banks/*
    "$flamebank" symbolize banks/* > symbolized 2>&1 || fail "$*: $(cat symbolized)"
    "$flamebank" fold banks/* > folded
    grep -q "$frame" folded || scarce "$*: no frame of $frame: $(head -5 folded)"
}

fake() {
    local fake
    for fake in 0 1 2 3 4 5 6 7; do
        natively "pretend: right" 1 fibonacci "$built/java" "$built/fake$fake/libjvm.so" SECONDS
        [ -s err ] || fail "fake $fake: nothing is said"
        cat err
    done
}

no_java() {
    natively "pretend: right" 0 fibonacci "$built/java" - SECONDS
}

# A copy of the JDK, of symbolic links but for what decides where it is; its libjvm.so is given to "$@".
copy_of_jdk() {
    local home=$1
    shift
    rm -rf jdk
    cp -rs "$home" jdk
    rm -f jdk/bin/java jdk/lib/libjli.so jdk/lib/server/libjvm.so
    cp "$home/bin/java" jdk/bin/java
    cp "$home/lib/libjli.so" jdk/lib/libjli.so
    cp "$home/lib/server/libjvm.so" jdk/lib/server/libjvm.so
    "$@" jdk/lib/server/libjvm.so
}

# Where the file ends behind what is mapped: no section headers, no symbol table.
without_sections() {
    local end
    local end=0 offset size
    while read -r _ offset _ _ size _; do
        [ $((offset + size)) -le $end ] || end=$((offset + size))
    done < <(readelf -lW "$1" | grep LOAD)
    truncate -s $end "$1"
}

# One field that the walker needs has another name.
without_heaps() {
    python3 - "$1" << 'END'
import sys
data = open(sys.argv[1], 'rb').read()
assert data.count(b'\0_heaps\0') == 1
open(sys.argv[1], 'wb').write(data.replace(b'\0_heaps\0', b'\0_piles\0'))
END
}

# A program that looks into libraries before it takes one: what it took is walked, and the others are forgotten.
looked_into() {
    local home
    home=$(jdk 25) || home=$(jdk 17) || skip "no JDK 17 or 25"
    [ -x "$built/attach" ] || skip "there was no jni.h when the tests were built"
    natively "attached: right" 1 'native_work' "$built/attach" "$home/lib/server/libjvm.so" "$built/classes" SECONDS \
        "$built/fake1/libjvm.so" "$home/lib/server/libjvm.so"
    [ "$(fact "$(ls banks/*)" manifest.jvm.walk)" = yes ] || fail "$(cat err)"
}

# A program that ends while its JVM makes itself.
never_ready() {
    local home status=0
    home=$(jdk 25) || home=$(jdk 17) || skip "no JDK 17 or 25"
    FLAMEBANK_LIBRARY=$library "$flamebank" record -o banks/java.fbank -- "$home/bin/java" -XX:+NoFlagOfThisName \
        > out 2> err || status=$?
    [ $status = 1 ] && grep -q NoFlagOfThisName out err || fail "status $status: $(cat out err)"
    [ "$(fact banks/java.fbank manifest.jvm.walk)" = "was not ready before the program ended" ] ||
        fail "jvm.walk: $(fact banks/java.fbank manifest.jvm.walk)"
}

damaged() { # HOW SENTENCES FRAME
    local release home
    for release in 17 25; do
        home=$(jdk $release) || continue
        copy_of_jdk "$home" "$1"
        [ "$("$PWD/jdk/bin/java" -cp "$built/classes" Torture mixed 0.2 2>&1)" = "mixed: right" ] ||
            { echo "JDK $release does not run $1 itself"; continue; }
        natively "mixed: right" "$2" "$3" "$PWD/jdk/bin/java" -XX:+UseSerialGC -cp "$built/classes" Torture mixed SECONDS
        cat err
        ran=1
    done
    [ -n "${ran:-}" ] || skip "no JDK 17 or 25"
}

case $case in
truncated) patiently damaged without_sections 1 'Torture.fibonacci' ;;
field_gone) patiently damaged without_heaps 1 'start_thread' ;;
*) patiently $case ;;
esac
