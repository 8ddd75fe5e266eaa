#!/bin/bash
# others.sh LIBRARY HOSTS CASE [ARGUMENT...]: beside other tools, and in calls that block.
# Exits 0, 1 with a sentence, or 77 where the machine cannot show it.
source "${BASH_SOURCE[0]%/*}/lib.sh"

# same NAME: the files NAME.out and NAME.err are those of the plain run.
same() {
    cmp -s plain.out "$1.out" || fail "$1: output $(diff plain.out "$1.out")"
    cmp -s plain.err "$1.err" || fail "$1: messages $(diff plain.err "$1.err")"
}

# Another allocator preloaded as well, before us and behind.
allocator() { # NAME
    local other name program plain before bank
    other=$(ldconfig -p | sed -n "s|.*$1.* => ||p" | head -1)
    [ -n "$other" ] || { echo "$1 is not installed"; exit 77; }
    while read -r program name; do
        "$hosts/$program" "$name" > plain.out 2> plain.err &
        plain=$!
        FLAMEBANK_OUT=$folder/banks/%e.%p.fbank FLAMEBANK_HZ=1000 LD_PRELOAD="$library:$other" \
            "$hosts/$program" "$name" > before.out 2> before.err &
        before=$!
        FLAMEBANK_OUT=$folder/banks/%e.%p.fbank FLAMEBANK_HZ=1000 LD_PRELOAD="$other:$library" \
            "$hosts/$program" "$name" > behind.out 2> behind.err &
        wait $! || fail "$name behind $1: $?"
        wait $before || fail "$name before $1: $?"
        wait $plain || fail "$name without us: $?"
        same before
        same behind
    done << END
habits storm
trials cancels
routines exceptions
END
    for bank in banks/*; do
        whole "$bank"
    done
}

# A program that perf looks at while we do: both see all of it.
under_perf() {
    command -v perf > /dev/null || { echo "perf is not installed"; exit 77; }
    perf record -q -e cpu-clock -F 199 -o probe.data true > /dev/null 2>&1 ||
        { echo "perf may not record here"; exit 77; }
    local cpu samples
    FLAMEBANK_HZ=100 profiled perf record -q -g -e cpu-clock -F 199 -o perf.data "$hosts/burn" 2 1 > out 2> err ||
        fail "perf record: $? $(cat err)"
    cpu=$(awk '{ print $2 / 1e7 }' out)
    near "$(fact banks/burn.* weight)" "$cpu" 10 || fail "$(fact banks/burn.* weight) of $cpu ticks"
    samples=$(env -u LD_PRELOAD perf script -F comm -i perf.data 2> /dev/null | grep -c burn)
    near "$samples" "$(awk -v c="$cpu" 'BEGIN { print c * 1.99 }')" 30 || fail "perf took $samples samples"
    whole "$(echo banks/burn.*)"
    echo "$(fact banks/burn.* weight) of $cpu ticks, perf took $samples samples at 199 Hz"
}

# Calls that block are not interrupted by clocks of CPU time; errno is nobody's but the host's.
interrupted_calls() { # CLOCK MOST
    local name count bank root=none
    FLAMEBANK_CLOCK=$1 FLAMEBANK_HZ=1000 profiled "$hosts/blocked" 2 > out 2> err || fail "$1: $? $(cat out)"
    grep -q "is wrong, expected" err && exit 77
    cat out
    while IFS=: read -r name count; do
        [ "$count" -le "$2" ] || fail "$1: $name was interrupted $count times"
    done < out
    for bank in banks/*; do
        [ "$(fact "$bank" manifest.run_root)" != 1 ] || root=$bank
    done
    [ "$(fact "$root" weight)" -ge 20 ] || fail "$1: it did not tick"
}

"$case" "$@"
