#!/bin/bash
# torture.sh LIBRARY HOSTS ROW: a JVM at its worst under the highest rate of signals.  Its own result is the same,
# nothing is said, it ends in time, and the bank is whole.
#
# FB_JVM_RELEASES: other JDKs than the row's.  FB_JVM_SECONDS: how long a row runs (2; the gate: 60, in runs of 10).  Rows are "jdk | options | program".
source "${BASH_SOURCE[0]%/*}/lib.sh"
seconds=${FB_JVM_SECONDS:-2}
everything='mixed stubs reflection allocation collections recursion overflows exceptions faults threads locks unloading'

rows() {
    cat << 'END'
serial              | 17 25 | -XX:+UseSerialGC -Xmx128m                                     | ALL
parallel            | 17 25 | -XX:+UseParallelGC -Xmx128m                                   | ALL
g1                  | 17 25 | -XX:+UseG1GC -Xmx128m                                         | ALL
zgc                 | 17 25 | -XX:+UseZGC -Xmx256m                                          | ALL
shenandoah          | 17 25 | -XX:+UseShenandoahGC -Xmx256m                                 | ALL
interpreter         | 17 25 | -Xint -XX:+UseSerialGC                                        | ALL
c1                  | 17 25 | -XX:TieredStopAtLevel=1 -XX:+UseSerialGC                      | ALL
c2                  | 17 25 | -XX:-TieredCompilation -XX:+UseSerialGC                       | ALL
wide_oops           | 17 25 | -XX:-UseCompressedOops -XX:+UseSerialGC -Xmx128m              | ALL
compact_headers     | 25    | -XX:+UseCompactObjectHeaders -Xmx128m                         | ALL
no_sharing          | 17 25 | -Xshare:off -XX:+UseSerialGC                                  | ALL
small_code_cache    | 17 25 | -XX:ReservedCodeCacheSize=5m -XX:-SegmentedCodeCache          | mixed stubs reflection unloading exceptions
unloading           | 17 25 | -XX:+UseSerialGC -Xmx64m                                      | unloading collections reflection
redefinition        | 17 25 | -XX:+UseSerialGC -Xmx64m -javaagent:BUILT/redefined.jar       | redefinition unloading mixed
recursion           | 17 25 | -XX:+UseSerialGC -Xss4m                                       | recursion overflows
overflows           | 17 25 | -XX:+UseSerialGC -Xss512k                                     | overflows
exceptions          | 17 25 | -XX:+UseSerialGC                                              | exceptions faults
collections         | 17 25 | -XX:+UseG1GC -Xmx64m                                          | collections allocation mixed
threads             | 17 25 | -XX:+UseSerialGC                                              | threads locks
deoptimisation      | 17 25 | -XX:+UseZGC -Xmx256m -XX:+UnlockDiagnosticVMOptions -XX:+DeoptimizeNMethodBarriersALot -XX:PerMethodTrapLimit=20000 -XX:PerBytecodeTrapLimit=20000 -XX:PerMethodRecompilationCutoff=-1 -XX:-OmitStackTraceInFastThrow | faults unloading exceptions
checked_jni         | 17 25 | -Xcheck:jni -XX:+UseSerialGC                                  | mixed stubs threads reflection exceptions
virtual_crowd       | 25    | -XX:+UseSerialGC -Xmx512m                                     | CROWD
virtual_pairs       | 25    | -XX:+UseG1GC                                                  | PAIRS
END
}

# run JAVA CLOCK HZ SECONDS ARGUMENT...: once under the sampler; out, err and the status are judged.
run() {
    local java=$1 clock=$2 hz=$3 time=$4 status=0
    shift 4
    rm -f banks/*
    FLAMEBANK_CLOCK=$clock FLAMEBANK_HZ=$hz timed $((time * 3 + 60)) "$java" "$@" > out 2> err ||
        status=$?
    [ $status = 0 ] || fail "$clock: $java $*: status $status: $(tail -40 out) $(tail -20 err)"
    only_the_budget err || fail "$clock: $java $*: something is said"
    cmp -s expected out || fail "$clock: $java $*: $(diff expected out | head -20)"
    for bank in banks/*; do
        whole "$bank"
        "$flamebank" check "$bank" > check.out 2>&1 || fail "$clock: $java $*: $(cat check.out)"
    done
    samples=$(fact "$(java_bank)" samples)
    [ "$samples" -gt 50 ] || [ "$samples" -ge $(($(fact "$(java_bank)" counter.process.cpu_ns) / 10000000)) ] ||
        fail "$clock: $java $*: $samples samples"
}

# What the program prints; -Xcheck:jni prints what it finds to the same place.
expect() {
    local name
    for name in $1; do
        echo "$name: right"
    done > expected
}

# torture RELEASE OPTIONS PROGRAM
torture() {
    local home java program arguments left=$seconds part clock hz options=${2//BUILT/$built}
    home=$(jdk "$1") || { echo "JDK $1: not here, not tested"; return; }
    java=$home/bin/java
    # shellcheck disable=SC2086 # options
    "$java" $options -version > version 2>&1 || { echo "JDK $1 does not have $options"; return; }
    case $3 in
    CROWD | PAIRS) program="-cp $built/classes21 Virtual $(echo "$3" | tr A-Z a-z)" ;;
    ALL) program="-cp $built/classes Torture $everything" ;;
    *) program="-cp $built/classes Torture $3" ;;
    esac
    arguments=${program#* * * }
    expect "$arguments"
    read -r clock hz < <(clock_for_storms)
    while [ "$left" -gt 0 ]; do
        part=$((left < 10 ? left : 10))
        # shellcheck disable=SC2086 # lists
        run "$java" "$clock" "$hz" $part $options $program $part
        left=$((left - part))
        [ "$clock" = cpu ] && read -r clock hz < <(clock_for_storms) || { clock=cpu hz=1000; }
    done
    echo "JDK $1: $samples samples in the last run"
    ran=1
}

row() {
    local name releases options program release ran=
    while IFS='|' read -r name releases options program; do
        [ "$(echo $name)" = "$1" ] || continue
        for release in ${FB_JVM_RELEASES:-$releases}; do
            torture "$release" "$(echo $options)" "$(echo $program)"
        done
        [ -n "$ran" ] || skip "no JDK of $releases here has it"
        exit 0
    done < <(rows)
    fail "no row '$1'"
}

attach() {
    local release home ran=
    echo "attached: right" > expected
    for release in 17 25; do
        home=$(jdk $release) || continue
        [ -x "$built/attach" ] || skip "there was no jni.h when the tests were built"
        rm -f banks/*
        FLAMEBANK_CLOCK=cpu FLAMEBANK_HZ=1000 timed $((seconds * patience * 3 + 60)) "$built/attach" \
            "$home/lib/server/libjvm.so" "$built/classes" $((seconds * patience)) > out 2> err ||
            fail "status $?: $(cat out err)"
        only_the_budget err || fail "something is said"
        cmp -s expected out || fail "$(cat out)"
        whole banks/attach.*.fbank
        "$flamebank" fold banks/attach.*.fbank > folded
        grep -q 'Torture.fibonacci' folded || scarce "JDK $release: no frame of Torture.fibonacci"
        rm -f banks/*
        ran=1
    done
    [ -n "$ran" ] || skip "no JDK 17 or 25"
}

case $case in
attach) patiently attach ;;
*) row "$case" ;;
esac
