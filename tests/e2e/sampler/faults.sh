#!/bin/bash
# faults.sh LIBRARY HOSTS CASE [ARGUMENT...]: our front of SIGSEGV and SIGBUS in a real process.
# Exits 0, 1 with a sentence, or 77 where the machine cannot show it.
source "${BASH_SOURCE[0]%/*}/lib.sh"

# Same status, output and messages as without us: without the front, with it from the start, and with
# one that comes while the program is at work.
guarded() { # PROGRAM CASE
    local status guard late
    "$hosts/$1" "$2" > plain.out 2> plain.err
    status=$?
    cp "$hosts/throws.so" libjvm.so
    for guard in 0 1 late; do
        late=
        [ $guard = late ] && late=:$folder/libjvm.so
        FLAMEBANK_GUARD=${guard#late} FLAMEBANK_HZ=1000 FLAMEBANK_OUT=$folder/banks/%e.%p.fbank \
            LD_PRELOAD=$library$late "$hosts/$1" "$2" > out 2> err
        [ $? = $status ] || fail "$2, guard $guard: another status than $status"
        cmp -s plain.out out || fail "$2, guard $guard: output $(diff plain.out out)"
        cmp -s plain.err err || fail "$2, guard $guard: messages $(diff plain.err err)"
    done
    for bank in banks/*; do
        [ -e "$bank" ] && whole "$bank"
    done
    return 0
}

# Stacks of coroutines: to the end of a page, and whole with the front.
whole_stacks() {
    local name weight
    for name in mapped-stack heap-stack hand-made-stack; do
        rm -f banks/*
        FLAMEBANK_GUARD=0 FLAMEBANK_HZ=1000 profiled "$hosts/routines" $name > out || fail "$name: $?"
        [ "$(fact banks/* loss.7)" -ge 250 ] || fail "$name: whole without the front"
        [ "$(fact banks/* deepest)" -lt 50 ] || fail "$name: deep without the front"
        rm -f banks/*
        FLAMEBANK_GUARD=1 FLAMEBANK_HZ=1000 profiled "$hosts/routines" $name > out || fail "$name: $?"
        weight=$(fact banks/* weight)
        echo "$name: $(fact banks/* loss.7) of $weight ticks are partial, depth $(fact banks/* deepest)"
        # Until the tables are made, which a busy machine may take a while for.
        [ "$(fact banks/* loss.7)" -le $((weight / 3)) ] || fail "$name: not whole with the front"
        [ "$(fact banks/* deepest)" -gt 150 ] || fail "$name: not deep with the front"
    done
}

# The front comes by itself where a libjvm.so is loaded, and for no other library.
front_beside_a_jvm() {
    cp "$hosts/throws.so" libjvm.so
    cp "$hosts/throws.so" libother.so
    FLAMEBANK_HZ=1000 profiled "$hosts/routines" beside-a-library "$folder/libother.so" > out || fail "other: $?"
    [ "$(fact banks/* deepest)" -lt 50 ] || fail "the front stands beside any library"
    rm -f banks/*
    FLAMEBANK_HZ=1000 profiled "$hosts/routines" beside-a-library "$folder/libjvm.so" > out || fail "jvm: $?"
    [ "$(fact banks/* deepest)" -gt 150 ] || fail "no front beside a JVM"
}

# A real JVM, whose null checks and stack overflows are faults, and which looks after its handlers.
jvm() {
    local java guard program
    command -v java > /dev/null && command -v javac > /dev/null || exit 77
    javac -d . "${BASH_SOURCE[0]%/*}/../../../fixtures/hosts/Faults.java" || fail javac
    for java in $(command -v java) /usr/lib/jvm/*25*/bin/java; do
        [ -x "$java" ] && "$java" -cp . Faults 0 > /dev/null 2>&1 || continue
        for program in -version "-Xcheck:jni -cp . Faults 1"; do
            $java $program > plain.out 2> plain.err || fail "$java $program without us: $?"
            for guard in 0 1; do
                FLAMEBANK_GUARD=$guard FLAMEBANK_HZ=1000 profiled $java $program > out 2> err ||
                    fail "$java $program, guard $guard: $?: $(cat out err)"
                cmp -s plain.out out || fail "$java $program, guard $guard: $(diff plain.out out)"
                cmp -s plain.err err || fail "$java $program, guard $guard: $(diff plain.err err)"
            done
        done
        echo "$java: the same with us"
    done
    for bank in banks/*; do
        whole "$bank"
    done
}

"$case" "$@"
