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
fuzz_all() {
    cmake --preset fuzz -Wno-dev > /dev/null && cmake --build --preset fuzz -j "$(nproc)" > /dev/null || return 1
    for target in build/fuzz/tests/fuzz/fuzz_*; do
        [ -x "$target" ] || continue
        mkdir -p "build/fuzz/corpus/${target##*fuzz_}"
        "$target" -max_total_time="${FUZZ_SECONDS:-30}" -rss_limit_mb=2048 -timeout=20 \
            -artifact_prefix=build/fuzz/ "build/fuzz/corpus/${target##*fuzz_}" > /tmp/gate-fuzz.$$ 2>&1 ||
            { tail -30 /tmp/gate-fuzz.$$; return 1; }
        echo "${target##*/}: $(grep '^Done' /tmp/gate-fuzz.$$)"
    done
    rm -f /tmp/gate-fuzz.$$
}
# Without the network its tests are skipped, and say so.
arm64_packages() {
    tests/arm64/packages.sh build/arm64 || [ $? = 77 ]
}
trixie_packages() {
    tests/jvm/trixie.sh build/trixie || [ $? = 77 ]
}
torture_long() {
    FB_TORTURE_SECONDS=75 ctest --test-dir build/release --output-on-failure -R '^e2e/sampler/torture$'
}

stage "format" format
stage "tests under ASan and UBSan" tests_of dev
stage "tests of the shipped build" tests_of release -L 'cli|e2e|check'
stage "an arm64 Debian to test in" arm64_packages
stage "a JDK 21 to test in" trixie_packages
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
