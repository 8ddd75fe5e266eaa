#!/bin/bash
# facts.sh LIBRARY HOSTS CASE RELEASE: what a bank of a JVM says beside its stacks: names, lines, tiers, threads,
# the manifest and the JVM's own counters.
source "${BASH_SOURCE[0]%/*}/lib.sh"
release=$1
java_home=$(jdk "$release") || skip "no JDK $release"
javac=$(ls "$java_home/bin/javac" "${FB_JDKS:-/usr/lib/jvm}"/*/bin/javac /usr/lib/jvm/*/bin/javac 2> /dev/null |
    head -1) || true
[ -n "$javac" ] || skip "no javac"
oldest=$((release < 17 ? release : 17))
"$javac" --release $oldest -encoding UTF-8 -d classes "$source_tree"/fixtures/jvm/Named.java || fail javac
"$javac" --release $oldest -d passing "$source_tree"/fixtures/jvm/Passing.java || fail javac

# named SECONDS OPTIONS...: the program under the sampler; its result is its own, and nothing else is said.
named() {
    local seconds
    seconds=$(longer "$1")
    shift
    rm -f banks/*
    FLAMEBANK_HZ=${FLAMEBANK_HZ:-500} timed 120 "$java_home/bin/java" -Xmx256m "$@" -cp classes Named "$seconds" \
        ${loaded:-} > out 2> err || fail "$*: $?: $(cat out err)"
    [ "$(cat out)" = "Named: right" ] || fail "$*: $(cat out)"
    only_the_budget err || fail "$*: $(cat err)"
    whole banks/*
    bank=$(java_bank)
}

# manifest KEY: its value.
manifest() {
    fact "$bank" "manifest.$1"
}

# counter NAME: its last value.
counter() {
    fact "$bank" "counter.$1"
}

expect() { # WHAT VALUE PATTERN
    [[ $2 =~ $3 ]] || fail "$1: '$2' where '$3' was expected"
}

# share_of TIER: percent.
share_of() {
    "$flamebank" layers --rules jvm --by tier --format csv "$bank" 2> log | sed -n "s/^\"\{0,1\}$1\"\{0,1\},\([0-9.]*\).*/\1/p" | head -1
}

most() { # OPTION TIER
    local share
    named 1.5 "$1"
    share=$(share_of "$2")
    awk -v share="${share:-0}" 'BEGIN { exit !(share > 40) }' || scarce "$1: $2 has '$share' %: $(cat log)"
    echo "$1: $2 $share %"
}

tiers() {
    most -Xint interpreted
    most -XX:TieredStopAtLevel=1 c1
    most -XX:-Inline c2
}

# Overloads are one function in a view and two in raw names; each has its line.
names() {
    local line
    named 2 -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Named.overloaded
    "$flamebank" top --raw-names "$bank" > raw
    "$flamebank" top "$bank" > top
    grep -q 'Named\.overloaded(I)J' raw && grep -q 'Named\.overloaded(J)J' raw || scarce "overloads: $(cat raw)"
    [ "$(grep -c 'Named\.overloaded' top)" = 1 ] || fail "two rows of one name: $(cat top)"
    "$flamebank" convert "$bank" out.json --to speedscope 2> log || fail "convert: $(cat log)"
    for line in int long; do
        expected=$(grep -n "the line of overloaded($line)" "$source_tree/fixtures/jvm/Named.java" | cut -d: -f1)
        grep -o "\"name\":\"Named.overloaded\",\"file\":\"Named.java\",\"line\":$expected\b" out.json ||
            scarce "no frame of overloaded($line) at line $expected: $(grep -o '"name":"Named.[^}]*' out.json | head)"
    done
}

# Classes that are unloaded keep their names, and nothing has none.
unloading() {
    loaded=passing
    named 4 -Xlog:class+unload=info:file=unloads
    grep -q 'unloading class Passing' unloads || scarce "nothing was unloaded"
    "$flamebank" fold "$bank" > folded
    grep -q 'Passing\.burn' folded || scarce "no frame of Passing.burn"
    ! grep 'java method table full' folded || fail "a table is full"
    # Some of the JVM's own start is seen before its code can be walked.
    awk '{ all += $NF } /\[unknown jit\]/ { nameless += $NF } END { exit !(nameless < all / 100) }' folded ||
        fail "frames without a name: $(grep '\[unknown jit\]' folded)"
}

# Whole names, and both of one that was renamed.
threads() {
    local option options="-XX:+UseSerialGC -XX:-UseCompressedOops"
    [ "$release" -lt 25 ] || options="-XX:+UseSerialGC -XX:+UseCompactObjectHeaders"
    [ "${FB_SLOW:-}" != 1 ] || options+=" -XX:-UseCompressedOops -XX:+UseG1GC"
    [ "${FB_SLOW:-}" != 1 ] || [ "$release" -ge 25 ] || options+=" -XX:-UseCompressedClassPointers"
    for option in $options; do
        named 4 -Xshare:off $option # a name is looked at within two seconds
        "$flamebank" threads --rules jvm "$bank" > list
        grep -q '^worker-with-a-name-that-the-kernel-cuts ' list || scarce "$option: $(cat list)"
        grep -q '^churner-of-many-small-objects ' list || scarce "$option: $(cat list)"
        grep -q '^second-of-two-names-€ ' list || scarce "$option: $(cat list)"
        # The name before is there as well: the bank keeps them over time.
        grep -aq 'first-of-two-names-of-a-thread' "$bank" || scarce "$option: the first name is lost"
        [ $option != -XX:+UseSerialGC ] || grep -q '^VM Thread\|^C2 CompilerThread#' list || scarce "$(cat list)"
    done
}

# What a virtual thread does is a row of its own, not its carrier's, and the carrier's own work is there too.
virtual() {
    [ -d "$built/classes21" ] || skip "no classes of release 21"
    FLAMEBANK_HZ=500 timed 120 "$java_home/bin/java" -cp "$built/classes21" Virtual pairs $((2 * patience)) > out 2> err ||
        fail "$(cat out err)"
    bank=$(java_bank)
    whole "$bank"
    "$flamebank" threads --rules jvm "$bank" > list
    grep -q '^ForkJoinPool-#-worker-# (virtual) ' list || scarce "no virtual threads: $(cat list)"
    grep -q '^ForkJoinPool-#-worker-# *[0-9]' list || scarce "no carriers: $(cat list)"
    "$flamebank" fold "$bank" > folded
    "$flamebank" threads --rules jvm --format csv "$bank" 2> log | sed -n 's/^"\{0,1\}ForkJoinPool-#-worker-#[^,]*,//p'
}

# parked whole|marked OPTION: a virtual thread 40 calls deep that is parked again and again and works at its leaf.  Its
# stack has each of its frames once, from the thread's beginning to the leaf, or the mark.
parked() {
    local whole_ones marks
    rm -f banks/*
    FLAMEBANK_HZ=200 timed 120 "$java_home/bin/java" "$2" -cp "$built/classes21" Parked "$(longer 1.5)" 40 > out 2> err ||
        fail "$2: $(cat out err)"
    grep -qx 'Parked: right' out || fail "$2: $(cat out)"
    bank=$(java_bank)
    whole "$bank"
    "$flamebank" fold "$bank" | grep 'Parked[.]leaf_' > folded || scarce "$2: no leaf"
    marks=$(awk '/frames of the virtual thread/ {n += $NF} END {print n + 0}' folded)
    whole_ones=$(awk '/VirtualThread[.]run_.*;Parked[.]first_/ && gsub(/Parked[.](even|odd)_/, "") == 41 {n += $NF} END {print n + 0}' folded)
    echo "$2: $whole_ones whole, $marks with the mark"
    [ $((marks + whole_ones)) -gt 20 ] || scarce "$2: $(cat folded)"
    if [ "$1" = marked ]; then # until it parks for the first time, all of it is on the stack
        [ "$whole_ones" -lt "$marks" ] || fail "$2: $(cat folded)"
    else
        [ "$whole_ones" -ge $((19 * marks)) ] || fail "$2: $(cat folded)"
    fi
    ! grep -v 'frames of the virtual thread' folded | awk 'gsub(/Parked[.](even|odd)_/, "") != 41 {exit 1}' || return 0
    fail "$2: stacks that are neither whole nor marked: $(cat folded)"
}

# Frames that are on the heap while the leaf works are in the stack.  Collectors that move objects under running threads
# have the mark.
heap_frames() {
    local option
    [ -d "$built/classes21" ] || skip "no classes of release 21"
    for option in -XX:+UseSerialGC -XX:+UseG1GC -XX:+UseParallelGC -XX:-UseCompressedOops \
        -XX:-UseCompressedClassPointers -Xint -XX:TieredStopAtLevel=1; do
        parked whole $option
    done
    parked marked -XX:+UseZGC
}

# A libjvm without symbols: what its tables do not say of continuations is not to be had, and the mark says so.
stripped() {
    local home
    [ -d "$built/classes21" ] || skip "no classes of release 21"
    command -v strip > /dev/null || skip "no strip"
    home=$("$java_home/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p')
    cp -rs "$home" home || fail "a copy of '$home'"
    rm home/lib/server/libjvm.so
    strip --strip-all -o home/lib/server/libjvm.so "$home/lib/server/libjvm.so" || fail strip
    parked marked "-XXaltjvm=$folder/home/lib/server"
}

manifest_of_a_jvm() {
    FLAMEBANK_ENV= named 2 -XX:+UseSerialGC -Xms64m -XX:TieredStopAtLevel=1 -agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0,quiet=y
    expect walk "$(manifest jvm.walk)" '^yes$'
    expect version "$(manifest jvm.version)" "^$release\."
    expect vm "$(manifest jvm.vm)" 'VM'
    expect vendor "$(manifest jvm.vendor)" "^$(sed -n 's/^IMPLEMENTOR="\(.*\)"/\1/p' "$java_home/release")$"
    expect collector "$(manifest jvm.collector)" '^Serial$'
    expect heap "$(manifest jvm.heap_initial_bytes)" '^67108864$'
    expect heap "$(manifest jvm.heap_max_bytes)" '^268435456$'
    expect flag "$(manifest jvm.flag.TieredStopAtLevel)" '^1 \(command line\)$'
    expect jars "$(manifest jvm.jars)" '^0$' # a folder is none
    expect agents "$(manifest jvm.agents)" '^1$'
    expect agent "$(manifest jvm.agent.1)" '^-agentlib:jdwp=crc32:[0-9a-f]{8}$'
    expect command "$(manifest jvm.command)" '^Named 2'
    expect nonsafepoints "$(manifest jvm.nonsafepoints)" '^set by the sampler$'
    expect counters "$(manifest jvm.counters)" '^yes$'
    # Off by a variable, by the user's word, and where a flag came from; a jar by its bytes.
    python3 -c 'import sys, zipfile; zipfile.ZipFile("named.jar", "w").write(sys.argv[1], "Named.class")' \
        classes/Named.class
    JAVA_TOOL_OPTIONS=-XX:-UsePerfData FLAMEBANK_JVM_NONSAFEPOINTS=0 timed 60 "$java_home/bin/java" -cp classes:named.jar \
        Named 1.2 > out 2> err || fail "$(cat err)"
    bank=$(ls -t banks/* | head -1)
    expect nonsafepoints "$(manifest jvm.nonsafepoints)" 'FLAMEBANK_JVM_NONSAFEPOINTS=0'
    expect flag "$(manifest jvm.flag.UsePerfData)" '^false \(environment\)$'
    expect counters "$(manifest jvm.counters)" '^no \(-XX:-UsePerfData\)$'
    expect agents "$(manifest jvm.agents)" '^0$'
    expect jars "$(manifest jvm.jars)" '^1$'
    expect jar "$(manifest jvm.jar.1)" "^/.*/named\.jar $(stat -c %s named.jar) crc32:[0-9a-f]{8}$"
    named 1.2 -XX:+UnlockDiagnosticVMOptions -XX:-DebugNonSafepoints
    expect nonsafepoints "$(manifest jvm.nonsafepoints)" 'the user has set it'
}

between() { # WHAT LOW HIGH VALUE
    [ "$4" != none ] && [ "$2" -le "$4" ] && [ "$4" -le "$3" ] || fail "$1: $4, where $2 to $3 was expected"
}

# The JVM's numbers against its own log.  The last row is read while the JVM goes: a collection may come behind it.
counters() {
    local young old
    named 3 -XX:+UseSerialGC -Xmn16m -Xlog:gc:file=gc.log
    young=$(grep -c 'Pause Young' gc.log) old=$(grep -c 'Pause Full' gc.log)
    between 'young collections' $((young - 3)) "$young" "$(counter jvm.gc_young_count)"
    between 'full collections' $((old - 1)) "$old" "$(counter jvm.gc_old_count)"
    between 'time of young ones' 1000 3000000000 "$(counter jvm.gc_young_ns)"
    between 'pauses of cycles' 0 0 "$(counter jvm.gc_cycle_count | sed 's/none/0/')"
    between 'heap' 1 $((256 << 20)) "$(counter jvm.heap_at_gc_bytes)"
    between 'committed' "$(counter jvm.heap_at_gc_bytes)" $((256 << 20)) "$(counter jvm.heap_committed_bytes)"
    between 'classes' 400 10000 "$(counter jvm.classes_loaded)"
    between 'compilation' 1000000 20000000000 "$(counter jvm.compile_ns)"
    between 'safepoints' 1000 5000000000 "$(counter jvm.safepoint_ns)"
    [ "$(counter heap_used_bytes)" = none ] || fail "a counter has the name of another"
}

patiently $case
