#!/bin/bash
# processes.sh LIBRARY HOSTS CASE [ARGUMENT...]: threads and processes by every door; as cases.sh.
source "${BASH_SOURCE[0]%/*}/lib.sh"

# Every kind of exec, one after the other: each program has a bank with an end, all are one run.  A
# helper that a full machine lets starve for 200 ms is not waited for.
every_exec() {
    local clock bank runs ended
    [ "$("$hosts/lineages" execs)" = "11 programs in process after process" ] || fail "plain"
    for clock in cpu itimer; do
        rm -f banks/*
        FLAMEBANK_HZ=1000 FLAMEBANK_CLOCK=$clock profiled "$hosts/lineages" execs > out 2> err ||
            fail "$clock: status $? $(cat out err)"
        [ "$(cat out)" = "11 programs in process after process" ] && [ ! -s err ] || fail "$(cat out err)"
        ended=0
        for bank in banks/*; do
            whole "$bank"
            ended=$((ended + $(fact "$bank" ended)))
        done
        [ $ended -ge 9 ] && [ $ended -le 12 ] || fail "$clock: $ended banks with an end, of 12 programs"
        runs=$(for bank in banks/*; do fact "$bank" run_id; done | sort -u | wc -l)
        [ "$runs" = 1 ] || fail "$clock: $runs runs"
    done
}

# A tick of ITIMER_PROF that waits while every thread blocks it does not reach a program that we
# do not follow.
exec_with_a_tick_waiting() {
    [ "$(FLAMEBANK_FOLLOW=fork FLAMEBANK_CLOCK=itimer FLAMEBANK_HZ=1000 \
        profiled "$hosts/lineages" exec-pending)" = alive ] || fail "the next program was killed"
}

# Copies of the process that run no fork hooks: nothing of theirs in the parent's bank, no bank.
raw_forks() {
    habit lineages raw-forks
    local clock
    for clock in cpu itimer; do
        [ "$(banks "$clock/*")" = 0 ] && [ "$(find banks/$clock -type f | wc -l)" = 1 ] ||
            fail "$clock: $(ls banks/$clock)"
    done
    near "$(fact banks/cpu/* weight)" 105 20 || fail "weight $(fact banks/cpu/* weight) of 105 ms"
}

# Timers of the host's in a child that is not followed, when the thread ends that forked it.
child_timers() {
    FLAMEBANK_FOLLOW=none FLAMEBANK_HZ=1000 profiled "$hosts/lineages" child-timers > out 2> err || fail status
    [ "$(grep -c rings out)" = 4 ] && [ ! -s err ] || fail "$(cat out err)"
}

# A thread that the C library does not know: sampled, and errno, which it shares, is its maker's.
raw_threads() {
    local bank cpu clock
    for clock in cpu itimer; do
        rm -f banks/*
        FLAMEBANK_HZ=1000 FLAMEBANK_CLOCK=$clock profiled "$hosts/lineages" raw-threads \
            $([ $clock = cpu ] && echo 14 || echo 4) > out ||
            fail "$clock: status"
        [ "$(cat out)" = "raw thread: 1, errno wrong 0" ] || fail "$clock: $(cat out)"
        bank=$(echo banks/*)
        whole "$bank"
        [ $clock = itimer ] && continue
        [ "$(fact "$bank" threads)" = 2 ] || fail "$(fact "$bank" threads) threads"
        cpu=$(fact "$bank" counter.process.cpu_ns)
        [ $((cpu / 1000000)) -lt $(($(fact "$bank" weight) * 2)) ] ||
            fail "weight $(fact "$bank" weight), CPU time $cpu ns"
    done
}

renamed_threads() {
    profiled "$hosts/lineages" renamed || fail status
    local bank
    bank=$(echo banks/*)
    whole "$bank"
    [ "$("$hosts/bank_facts" "$bank" | grep -c '^thread.* after$')" = 1 ] || fail "no new name"
    grep -aq before "$bank" || fail "no old name"
}

# Thousands that come, rename themselves, and go: all their time is in the bank, or named as lost.
thread_pools() {
    FLAMEBANK_HZ=1000 profiled "$hosts/lineages" pools 700 > out || fail status
    local bank cpu weight
    bank=$(echo banks/*)
    whole "$bank"
    cpu=$(($(fact "$bank" counter.threads.cpu_ns) / 1000000))
    weight=$(fact "$bank" weight)
    near "$weight" "$cpu" 15 || fail "weight $weight, CPU time $cpu ms"
    echo "weight $weight, CPU time $cpu ms"
}

# The copy of a large process takes longer than a tick: it is not begun again for ever.
large_forks() { # MEGABYTES
    local clock
    for clock in cpu itimer; do
        FLAMEBANK_HZ=1000 FLAMEBANK_CLOCK=$clock profiled "$hosts/lineages" large-forks "$1" > out ||
            fail "$clock: status $?"
        [ "$(cat out)" = "forks 20" ] || fail "$clock: $(cat out)"
    done
}

# Children that throw and load libraries at once, of a parent with busy threads.
forks_that_throw() { # FORKS
    [ -x "$hosts/thrower" ] || exit 77
    local bank
    FLAMEBANK_HZ=2000 profiled "$hosts/thrower" "$1" libutil.so.1 > out 2> err || fail "status $?"
    # At this rate the sampler is above its budget, and says so.
    [ "$(cat out)" = "forks $1, hung 0, wrong 0" ] && ! grep -v 'took over 1 %' err || fail "$(cat out err)"
    for bank in $(find banks -type f | head -50); do
        whole "$bank"
    done
    echo "$(banks '*') banks"
}

# Two forks and a session: the daemon's bank is its own, whole, and ended.
daemons() {
    FLAMEBANK_HZ=1000 profiled "$hosts/trials" daemon > out || fail status
    local bank daemons=0
    for _ in $(seq 50); do
        [ "$(for bank in banks/*; do fact "$bank" ended; done | sort -u)" = 1 ] && break
        sleep 0.1
    done
    for bank in banks/*; do
        whole "$bank"
        [ "$(fact "$bank" ended)" = 1 ] || fail "$bank has no end"
        near "$(fact "$bank" weight)" 300 10 && daemons=$((daemons + 1))
    done
    [ $daemons = 1 ] || fail "$daemons daemons of 300 ms"
}

# A name without the process id: the child's is another, the parent's stays as it is.
one_name_for_all() {
    FLAMEBANK_HZ=1000 FLAMEBANK_OUT=$folder/banks/run.fbank profiled "$hosts/habits" fork-work > out
    [ "$(ls banks)" = "$(printf 'run-2.fbank\nrun.fbank')" ] || fail "$(ls banks)"
    for bank in banks/*; do
        whole "$bank"
    done
}

follow_exec_only() {
    FLAMEBANK_FOLLOW=exec FLAMEBANK_HZ=1000 profiled "$hosts/habits" fork-work > out
    [ "$(banks '*')" = 1 ] || fail "fork was followed"
    near "$(fact banks/* weight)" 200 10 || fail "weight $(fact banks/* weight) of the parent's 200"
    rm -f banks/*
    FLAMEBANK_FOLLOW=exec FLAMEBANK_HZ=1000 profiled "$hosts/habits" exec-burn > out
    [ "$(banks '*')" = 2 ] || fail "exec was not followed: $(ls banks)"
}

# ---- the environment ----

# Each pattern of the bank's name.
names_of_banks() {
    local host bank
    host=$(uname -n)
    FLAMEBANK_OUT=$folder/banks/%e-%h-%t-%p-%%.fbank profiled "$hosts/habits" burn > out || fail status
    bank=$(ls banks)
    [[ $bank =~ ^habits-$host-20[0-9]{6}T[0-9]{6}Z-[0-9]+-%\.fbank$ ]] || fail "$bank"
    rm banks/*
    # The default, in the folder that the program was started in.
    (cd banks && env -u FLAMEBANK_OUT LD_PRELOAD="$library" "$hosts/habits" burn > ../out) || fail status
    [[ $(ls banks) =~ ^habits\.$host\.20[0-9]{6}T[0-9]{6}Z\.[0-9]+\.fbank$ ]] || fail "default: $(ls banks)"
    rm banks/*
    for _ in 1 2 3; do
        FLAMEBANK_OUT=$folder/banks/x.y.fbank profiled "$hosts/habits" burn > out || fail status
    done
    [ "$(ls banks | tr '\n' ' ')" = "x.y-2.fbank x.y-3.fbank x.y.fbank " ] || fail "$(ls banks)"
    [ "$(stat -c %a banks/x.y.fbank)" = 600 ] || fail "mode $(stat -c %a banks/x.y.fbank)"
    for bank in banks/*; do
        whole "$bank"
    done
    # A link that somebody put there is not followed, a file not written over.
    echo precious > kept
    ln -s "$folder/kept" banks/link.fbank
    FLAMEBANK_OUT=$folder/banks/link.fbank profiled "$hosts/habits" burn > out || fail status
    [ "$(cat kept)" = precious ] && [ -f banks/link-2.fbank ] || fail "$(ls -l banks)"
}

# A folder that cannot be written: $TMPDIR, else /tmp, said once by the whole run.
fallbacks() {
    local name=fb-fallback-$$.fbank
    trap 'rm -rf "$folder" /tmp/fb-fallback-$$*' EXIT
    mkdir other
    FLAMEBANK_HZ=1000 FLAMEBANK_OUT=/proc/no/$name TMPDIR=$folder/other profiled "$hosts/habits" fork-work \
        > out 2> err || fail status
    [ "$(cat out)" = "child 3" ] && [ "$(wc -l < err)" = 1 ] || fail "$(cat out err)"
    grep -q "^flamebank: '/proc/no/$name' cannot be made, the bank is '$folder/other/$name' (" err ||
        fail "$(cat err)"
    [ "$(ls other | wc -l)" = 2 ] || fail "$(ls other)"
    FLAMEBANK_HZ=1000 FLAMEBANK_OUT=/proc/no/$name TMPDIR=/proc/no profiled "$hosts/habits" burn > out 2> err ||
        fail status
    grep -q "the bank is '/tmp/$name'" err && [ -s /tmp/$name ] || fail "$(cat err)"
    FLAMEBANK_MODE=640 FLAMEBANK_RUN=1234abcd FLAMEBANK_OUT=$folder/other/m.fbank profiled "$hosts/habits" burn > out
    [ "$(stat -c %a other/m.fbank)" = 640 ] || fail "mode $(stat -c %a other/m.fbank)"
    [ "$(fact other/m.fbank run_id)" = $((0x1234abcd)) ] || fail "run $(fact other/m.fbank run_id)"
}

"$case" "$@"
