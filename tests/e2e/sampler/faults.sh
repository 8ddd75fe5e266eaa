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

"$case" "$@"
