#!/bin/bash
# The full gate: what CI runs, and what takes longer.  From the root of the tree.
set -uo pipefail
failed=()
stage() {
    local name=$1
    shift
    echo "== $name"
    "$@" || failed+=("$name")
}

format() {
    git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror
}
tests_of() {
    cmake --preset "$1" -Wno-dev > /dev/null && cmake --build --preset "$1" -j "$(nproc)" > /dev/null &&
        ctest --test-dir "build/$1" --output-on-failure -j "$(nproc)" "${@:2}"
}
# Everything but the programs that hold their own threads or need the preload: valgrind runs them.
valgrind_units() {
    local bad=0
    cmake --preset release -Wno-dev > /dev/null && cmake --build --preset release -j "$(nproc)" > /dev/null
    for test in build/release/tests/unit_{base,profile,layers,steps,render,symbolize}_*; do
        [ -x "$test" ] || continue
        valgrind -q --error-exitcode=9 --leak-check=full "$test" > /dev/null 2> /tmp/gate-valgrind.$$ ||
            { echo "$test"; cat /tmp/gate-valgrind.$$; bad=1; }
    done
    rm -f /tmp/gate-valgrind.$$
    return $bad
}
# One target of libFuzzer for FUZZ_SECONDS, from its seeds and what earlier runs found.
fuzz_one() {
    local name=${1##*fuzz_} corpus log=/tmp/gate-fuzz.$$.${1##*fuzz_}
    corpus=build/fuzz/corpus/$name
    mkdir -p "$corpus"
    grep . "build/fuzz/tests/fuzz/$name.seeds" | while read -r seed; do
        find "$seed" -type f -exec cp -n {} "$corpus/" \;
    done
    "$1" -max_total_time="${FUZZ_SECONDS:-600}" -rss_limit_mb=2048 -timeout=20 \
        -artifact_prefix=build/fuzz/ "$corpus" > "$log" 2>&1 || { tail -30 "$log"; rm -f "$log"; return 1; }
    echo "${1##*/}: $(grep '^Done' "$log")"
    rm -f "$log"
}
# Ten minutes a target; FUZZ_SECONDS for less.
fuzz_all() {
    local targets=() bad=0
    cmake --preset fuzz -Wno-dev > /dev/null && cmake --build --preset fuzz -j "$(nproc)" > /dev/null || return 1
    for target in build/fuzz/tests/fuzz/fuzz_*; do
        [ -x "$target" ] && targets+=("$target")
    done
    export -f fuzz_one
    printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'fuzz_one {}' || bad=1
    return $bad
}
# Without the network its tests are skipped, and say so.
arm64_packages() {
    tests/arm64/packages.sh build/arm64 || [ $? = 77 ]
}
jdk_packages() {
    tests/jvm/jdks.sh build/jdks || [ $? = 77 ]
}
torture_long() {
    FB_TORTURE_SECONDS=75 ctest --test-dir build/release --output-on-failure -R '^e2e/sampler/torture$'
}

stage "format" format
stage "tests under ASan and UBSan" tests_of dev
stage "tests of the shipped build" tests_of release -L 'cli|e2e|check'
stage "an arm64 Debian to test in" arm64_packages
stage "other JDKs to test in" jdk_packages
stage "long runs of the shipped build" env FB_SLOW=1 ctest --test-dir build/release --output-on-failure -L slow
stage "five minutes of torture" torture_long
stage "unit tests under TSan" tests_of tsan -L unit
stage "unit tests under valgrind" valgrind_units
stage "fuzzing" fuzz_all
if [ ${#failed[@]} -gt 0 ]; then
    echo "gate: failed: ${failed[*]}"
    exit 1
fi
echo "gate: all stages passed"
