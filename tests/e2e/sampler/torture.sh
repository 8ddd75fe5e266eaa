#!/bin/bash
# torture.sh LIBRARY HOSTS CASE: everything at once at the highest rate, and an exact account.
# FB_TORTURE_SECONDS: how long each of the four clocks is used (5; the gate: 75).
source "${BASH_SOURCE[0]%/*}/lib.sh"

# Every signal is in the bank, passed on, or lost by name; every tick is in the bank or lost by name.
account() { # BANK CLOCK
    local signals handled foreign strays overrun kept ticks weight lost cause
    signals=$(fact "$1" counter.sampler.signals)
    handled=$(fact "$1" counter.sampler.handler_count)
    foreign=$(fact "$1" counter.sampler.foreign)
    strays=$(fact "$1" counter.sampler.strays)
    overrun=$(fact "$1" counter.sampler.overrun)
    kept=$(fact "$1" counter.sampler.kept)
    ticks=$(fact "$1" counter.sampler.weight)
    weight=$(fact "$1" weight)
    lost=0
    for cause in 0 2 3 9; do # segments, small stacks, writing, tables
        lost=$((lost + $(fact "$1" loss.$cause)))
    done
    echo "${1##*/}: $signals signals = $handled handled + $foreign foreign + $strays strays;" \
        "$weight ticks + $lost lost = $ticks = $handled + $overrun overruns + $kept kept"
    [ "$signals" = $((handled + foreign + strays)) ] || fail "signals do not add up"
    [ $((weight + lost)) = "$ticks" ] || fail "$ticks ticks are not all in the bank or lost"
    # A signal of the other clocks stands for the time since the last one, not for a tick.
    [ "$2" = perf ] || [ "$2" = wall ] || [ "$ticks" = $((handled + overrun + kept)) ] || fail "ticks do not add up"
}

torture() { # CLOCK
    local bank host root='' children=0
    FLAMEBANK_CLOCK=$1 FLAMEBANK_GUARD=1 FLAMEBANK_HZ=10000 profiled "$hosts/torture" \
        "${FB_TORTURE_SECONDS:-5}" "$hosts/throws.so" > out 2> err || fail "$1: status $?: $(cat out err)"
    if [ "$1" = perf ] && grep -q '^flamebank: .*perf' err; then
        cat err # not permitted here
        rm -f banks/*
        return 0
    fi
    # Over a minute at this rate the sampler may find itself above its budget: that it says.
    ! grep -v '^flamebank: .* over 1 % of the program.s CPU time; it takes fewer samples from now on$' err ||
        fail "$1: messages"
    cat out
    for bank in banks/*; do
        if [ "$(fact "$bank" manifest.run_root)" = 1 ]; then
            root=$bank
            account "$bank" "$1"
        elif [ $((children += 1)) -gt 5 ]; then
            continue # alike; dozens of them take minutes
        elif [ "$(fact "$bank" ended)" = 1 ]; then
            (account "$bank" "$1") > child 2>&1 || { cat child; exit 1; }
        fi
        whole "$bank"
    done
    [ -n "$root" ] || fail "$1: no bank of the first process"
    host=$(sed 's/.*foreign //' out)
    [ "$(fact "$root" counter.sampler.foreign)" = "$host" ] || fail "$1: the host counted $host of its own"
    # itimer loses ticks of several threads at once, wall is no clock of CPU time.
    if [ "$1" = cpu ] || [ "$1" = perf ]; then
        near "$(($(fact "$root" weight) / 10))" "$(($(fact "$root" counter.threads.cpu_ns) / 1000000))" 10 ||
            fail "$(fact "$root" weight) ticks, $(fact "$root" counter.threads.cpu_ns) ns"
    fi
    echo "$(banks '*') banks"
    rm -f banks/*
}

all_clocks() {
    torture cpu
    torture itimer
    torture perf
    torture wall
}

"$case" "$@"
