#!/bin/bash
# clocks.sh LIBRARY HOSTS CASE [ARGUMENT...]: one test of a clock in a real process.
# Exits 0, 1 with a sentence, or 77 where the machine cannot show it.
. "$(dirname "$0")/lib.sh"
flamebank=$(dirname "$library")/../../bin/flamebank

one_bank() {
    bank=$(echo banks/*.fbank)
    [ -f "$bank" ] || fail "not one bank: $(ls banks)"
    whole "$bank"
}

# share PATTERN: % of the weight whose stacks match it.
share() {
    "$flamebank" fold "$bank" 2> /dev/null | awk -v p="$1" '
        { n = $NF; all += n; if ($0 ~ p) some += n }
        END { printf "%.1f", (all > 0 ? 100 * some / all : -1) }'
}

within() { # VALUE TARGET BAND, of one unit
    awk -v v="$1" -v t="$2" -v b="$3" 'BEGIN { d = v - t; exit !(d <= b && -d <= b) }'
}

# The program's output has a line "cpu_ns N".
weight_is_cpu() { # PERCENT
    local cpu
    cpu=$(awk '$1 == "cpu_ns" { print $2 }' out)
    near "$(fact "$bank" weight)" "$((cpu / $(fact "$bank" manifest.interval_ns)))" "$1" ||
        fail "weight $(fact "$bank" weight) of $((cpu / $(fact "$bank" manifest.interval_ns))) ticks"
}

# As a user who may see nothing of the kernel's.
unprivileged() {
    if [ "$(id -u)" = 0 ]; then
        command -v setpriv > /dev/null || exit 77
        chmod 777 "$folder" banks
        setpriv --reuid 65534 --clear-groups env \
            FLAMEBANK_OUT="$folder/banks/%e.%p.fbank" LD_PRELOAD="$library" "$@"
    else
        profiled "$@"
    fi
    status=$?
    [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] || exit 77
    return $status
}

# perf is there, or the case cannot be shown here.
perf_or_skip() {
    [ "$(fact "$bank" manifest.clock_got)" = perf ] || exit 77
}

split_of() { # CLOCK
    FLAMEBANK_CLOCK=$1 FLAMEBANK_HZ=500 profiled "$hosts/burn" 2 1 > out 2> err || fail status
    one_bank
    [ "$(fact "$bank" manifest.clock_asked)" = "$1" ] || fail "clock_asked"
    [ "$(fact "$bank" manifest.clock_got)" = "$1" ] || exit 77
    within "$(share burn_sixty)" 60 7 || fail "sixty: $(share burn_sixty) %"
    within "$(share burn_thirty)" 30 7 || fail "thirty: $(share burn_thirty) %"
    within "$(share burn_ten)" 10 5 || fail "ten: $(share burn_ten) %"
    case $1 in
    cpu | perf) weight_is_cpu 3 ;;
    esac
}

perf_sees_the_kernel() {
    FLAMEBANK_CLOCK=perf profiled "$hosts/clocks" zeros 1.5 > out 2> err || fail status
    one_bank
    perf_or_skip
    [ "$(fact "$bank" manifest.kernel_frames)" = yes ] || exit 77
    weight_is_cpu 4
    awk -v s="$(share '_[[]k]')" 'BEGIN { exit !(s > 60) }' || fail "kernel: $(share '_[[]k]') %"
    awk -v s="$(share 'zeros;.*read.*;.*vfs_read_[[]k]')" 'BEGIN { exit !(s > 50) }' ||
        fail "named below the call: $("$flamebank" fold "$bank" | head -5)"
    [ ! -s err ] || fail "messages: $(cat err)"
}

perf_without_the_kernel() {
    unprivileged env FLAMEBANK_CLOCK=perf "$hosts/clocks" zeros 1 > out 2> err || fail status
    one_bank
    perf_or_skip
    [ "$(cat err)" = "flamebank: the clock 'perf' shows no frames of the kernel (not permitted: kernel.perf_event_paranoid)" ] ||
        fail "messages: $(cat err)"
    [ "$(fact "$bank" manifest.kernel_frames)" = "not permitted: kernel.perf_event_paranoid" ] ||
        fail "kernel_frames"
    weight_is_cpu 15 # a machine under load may cut the end
    awk -v s="$(share '^[[]kernel]')" 'BEGIN { exit !(s > 50) }' || fail "[kernel]: $(share '^[[]kernel]') %"
}

perf_is_refused() { # errno|kill
    FLAMEBANK_CLOCK=perf FLAMEBANK_FOLLOW=exec FLAMEBANK_HZ=500 \
        "$hosts/clocks" deny-perf "$1" env FLAMEBANK_OUT="$folder/banks/%e.%p.fbank" \
        LD_PRELOAD="$library" "$hosts/burn" 1 0.5 > out 2> err
    status=$?
    [ $status = 77 ] && exit 77
    [ $status = 0 ] || fail "status $status: $(cat err)"
    one_bank
    [ "$(fact "$bank" manifest.clock_asked)" = perf ] || fail asked
    [ "$(fact "$bank" manifest.clock_got)" = cpu ] || fail got
    [ "$(fact "$bank" manifest.clock_lack)" != "" ] || fail lack
    grep -q "^flamebank: the clock 'perf' is not to be had (.*); 'cpu' is used$" err &&
        [ "$(wc -l < err)" = 1 ] || fail "messages: $(cat err)"
    weight_is_cpu 6
}

# No locked memory is left for most rings: their threads run on CPU timers.
perf_has_no_memory() {
    [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 0 ] || exit 77
    ( ulimit -l 0 && unprivileged env FLAMEBANK_CLOCK=perf FLAMEBANK_HZ=500 "$hosts/clocks" threads 1000 2 ) \
        > out 2> err || fail status
    one_bank
    perf_or_skip
    [ "$(fact "$bank" manifest.clock_fallbacks)" -ge 1 ] || exit 77 # a machine with many CPUs
    weight_is_cpu 8
}

perf_leaves_nothing_behind() {
    FLAMEBANK_CLOCK=perf FLAMEBANK_HZ=1000 profiled "$hosts/clocks" churn 10000 > out 2> err || fail status
    one_bank
    perf_or_skip
    grep -q '^descriptors +0, events [01]$' out || fail "$(cat out)"
    [ "$(FLAMEBANK_CLOCK=perf profiled sh -c 'exec ls /proc/self/fd' | wc -l)" = \
        "$(sh -c 'exec ls /proc/self/fd' | wc -l)" ] || fail "exec inherits descriptors"
}

children_have_the_clock() { # CLOCK
    FLAMEBANK_CLOCK=$1 FLAMEBANK_HZ=1000 profiled "$hosts/habits" fork-work > out || fail status
    [ "$(banks '*')" = 2 ] || fail "$(banks '*') banks instead of 2"
    for bank in banks/*; do
        whole "$bank"
        [ "$(fact "$bank" ended)" = 1 ] || fail "$bank has no end"
        perf_or_skip
        case $(fact "$bank" manifest.run_root) in
        1) near "$(fact "$bank" weight)" 200 10 || fail "parent: $(fact "$bank" weight) of 200" ;;
        0) near "$(fact "$bank" weight)" 400 10 || fail "child: $(fact "$bank" weight) of 400" ;;
        esac
    done
}

habit_clocks=perf
"$case" "$@"
