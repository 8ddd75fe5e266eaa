#!/bin/bash
# faults.sh LIBRARY HOSTS CASE [ARGUMENT...]: our front of SIGSEGV and SIGBUS in a real process.
# Exits 0, 1 with a sentence, or 77 where the machine cannot show it.
source "${BASH_SOURCE[0]%/*}/lib.sh"

# Same status, output and messages as without us, with the front from the start and without it.
guarded() { # PROGRAM CASE
    local status guard
    "$hosts/$1" "$2" > plain.out 2> plain.err
    status=$?
    for guard in 0 1; do
        FLAMEBANK_GUARD=$guard FLAMEBANK_HZ=1000 profiled "$hosts/$1" "$2" > out 2> err
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

"$case" "$@"
