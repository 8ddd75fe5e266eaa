# lib.sh - what the tests in JVMs share; sourced with LIBRARY HOSTS CASE..., as those of e2e/sampler are.
#
# BUILT is what build.sh left: classes, agent, and programs beside them.  A JDK that is not there is a skip
# that is seen.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_tree=$(cd "$here/../.." && pwd)
source "$here/../e2e/sampler/lib.sh"
unset JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS CLASSPATH
built=${FB_JVM_BUILT:?the folder that tests/jvm/build.sh made}
flamebank=${FB_JVM_FLAMEBANK:?the program}

skip() {
    echo "$case: skipped: $*"
    exit 77
}

# jdk RELEASE: the folder of a JDK of that release, or a skip.
jdk() {
    local folder
    for folder in ${FB_JDKS:-/usr/lib/jvm}/*; do
        [ -x "$folder/bin/java" ] && [ ! -L "$folder" ] || continue
        grep -qs "^JAVA_VERSION=\"$1[.\"]" "$folder/release" || continue
        echo "$folder"
        return 0
    done
    return 1
}

# patiently COMMAND...: to its end.  A machine that is busy gives a program less CPU than its seconds: where what was to
# be seen was scarce, and nothing else was wrong, again with five times the seconds.
patience=1
patiently() {
    local status
    for patience in 1 5; do
        status=0
        ("$@") || status=$?
        [ $status = 76 ] || exit $status
    done
    exit 1
}
scarce() {
    echo "$case: in $patience x the time: $*"
    exit 76
}
longer() { # SECONDS
    awk -v s="$1" -v p=$patience 'BEGIN { print s * p }'
}

# java_bank: that of the JVM.  One beside it is of the shell that starts a JDK with a C library of its own.
java_bank() {
    ls -S banks/*.fbank | head -1
}

# clock_for_storms: the fastest clock that this machine permits, with its rate.
clock_for_storms() {
    if FLAMEBANK_CLOCK=perf timed 10 true 2>&1 | grep -q perf; then
        echo cpu 1000
    else
        echo perf 10000
    fi
    rm -f banks/*
}

# timed SECONDS COMMAND...: under the sampler, ended if it hangs.  FLAMEBANK_... variables in front of it count.
timed() {
    local most=$1
    shift
    timeout -s ABRT "$most" env FLAMEBANK_OUT="$folder/banks/%e.%p.fbank" LD_PRELOAD="$library" "$@"
}

# What may be said of a run at the highest rate: that it is above its budget.
only_the_budget() { # FILE
    ! grep -v '^flamebank: .* over 1 % of the program.s CPU time; it takes fewer samples from now on$' "$1"
}
