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

# share PATTERN [OF]: % of the weight whose stacks match it, of that whose stacks match OF.
share() {
    "$flamebank" fold "$bank" 2> /dev/null | awk -v p="$1" -v of="${2:-.}" '
        $0 ~ of { n = $NF; all += n; if ($0 ~ p) some += n }
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
    within "$(share burn_sixty burn_)" 60 7 || fail "sixty: $(share burn_sixty burn_) %"
    within "$(share burn_thirty burn_)" 30 7 || fail "thirty: $(share burn_thirty burn_) %"
    within "$(share burn_ten burn_)" 10 5 || fail "ten: $(share burn_ten burn_) %"
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

# Not one tick meets the thread outside of the kernel: what is in no sample is banked at the end.
perf_without_a_signal() {
    unprivileged env FLAMEBANK_CLOCK=perf "$hosts/clocks" long-reads 1.6 > out 2> err || fail status
    one_bank
    perf_or_skip
    weight_is_cpu 15
    awk -v s="$(share '^[[]kernel]')" 'BEGIN { exit !(s > 90) }' || fail "[kernel]: $(share '^[[]kernel]') %"
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
        [ "$(fact "$bank" manifest.clock_got)" = "$1" ] || exit 77
        case $(fact "$bank" manifest.run_root) in
        1) near "$(fact "$bank" weight)" 200 10 || fail "parent: $(fact "$bank" weight) of 200" ;;
        0) near "$(fact "$bank" weight)" 400 10 || fail "child: $(fact "$bank" weight) of 400" ;;
        esac
    done
}

# Five threads, of which one runs: the sum is their time, and who waits is not disturbed.
wall_sees_who_waits() {
    FLAMEBANK_CLOCK=wall profiled "$hosts/clocks" waits 3 > out 2> err || fail status
    one_bank
    near "$(fact "$bank" weight)" 1485 10 || fail "weight $(fact "$bank" weight) of 1485 ticks"
    within "$(share 'wait_for_events;.*[[]parked]')" 20 3 || fail "events: $(share wait_for_events)"
    within "$(share 'wait_for_a_condition;.*[[]parked]')" 20 3 || fail "condition: $(share wait_for_a)"
    within "$(share 'run_always')" 20 3 || fail "runs: $(share run_always)"
    within "$(share 'run_always;.*[[]parked]')" 0 0.5 || fail "what runs is parked"
    # One for each place where a thread waits, and one a second for what comes back to it.
    [ "$(awk '{ print $2 }' out)" -le 12 ] || fail "$(cat out)"
    "$flamebank" diff "$bank" "$bank" 2>&1 | tr -s '\n ' ' ' | grep -q 'judged by share' ||
        fail "a diff of wall time speaks of CPU time"
}

wall_of_many_threads() {
    FLAMEBANK_CLOCK=wall profiled "$hosts/habits" two-thousand-threads > out || fail status
    one_bank
    local wall cost
    wall=$("$flamebank" info "$bank" | awk '$1 == "span" { print $2 }')
    cost=$(($(fact "$bank" counter.sampler.writer_ns) + $(fact "$bank" counter.sampler.handler_ns)))
    awk -v w="$wall" -v c="$cost" 'BEGIN { exit !(c / 1e9 < 0.1 * w + 0.3) }' ||
        fail "the sampler used $cost ns in $wall s"
    [ "$(fact "$bank" weight)" -ge 100000 ] || fail "weight $(fact "$bank" weight)"
    echo "$((cost / 1000000)) ms in $wall s"
}

wall_knows_who_blocks_the_signal() {
    FLAMEBANK_CLOCK=wall profiled "$hosts/habits" block-profiling > out || fail status
    one_bank
    [ "$(fact "$bank" loss.5)" -ge 1 ] || fail "loss is $(fact "$bank" loss.5)"
}

habit_clocks=${HABIT_CLOCKS:-perf wall}
"$case" "$@"
