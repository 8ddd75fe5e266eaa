#!/bin/bash
# limits.sh LIBRARY HOSTS CASE [ARGUMENT...]: limits, sandboxes and odd surroundings; as cases.sh.
source "${BASH_SOURCE[0]%/*}/lib.sh"

SAID='^flamebank: the program installs a system call filter that refuses what sampling needs; it ends here$'

# Output and status as without us under each clock; LINES of ours on stderr; the banks are whole and
# ended.
filtered() { # LINES HABIT [ARGUMENT]
    local clock plain lines=$1 bank
    shift
    "$hosts/limits" "$@" > plain.out 2> plain.err
    plain=$?
    for clock in cpu itimer perf; do
        rm -f banks/*
        FLAMEBANK_HZ=1000 FLAMEBANK_CLOCK=$clock profiled "$hosts/limits" "$@" > out 2> err
        [ $? = $plain ] || fail "$* $clock: status, plain $plain; $(cat err)"
        cmp -s plain.out out || fail "$* $clock: $(diff plain.out out)"
        [ "$(grep -c "$SAID" err)" = "$lines" ] && [ "$(wc -l < err)" = "$lines" ] ||
            fail "$* $clock: messages $(cat err)"
        [ "$(banks '*')" -ge 1 ] || fail "$* $clock: no bank"
        for bank in banks/*; do
            whole "$bank"
            [ "$(fact "$bank" ended)" = 1 ] || fail "$* $clock: $bank has no end"
        done
    done
}

# What a thread spends that began before the filter is there; the three that came after are named.
threads_under_a_filter() {
    filtered 0 threads 0
    rm -f banks/*
    FLAMEBANK_HZ=1000 profiled "$hosts/limits" threads 0 > out
    [ "$(fact banks/* loss.1)" = 3 ] || fail "$(fact banks/* loss.1) threads are named"
    [ "$(fact banks/* weight)" -ge 60 ] || fail "weight $(fact banks/* weight)"
}

# What we map is not taken from a host that has little.
address_space() {
    local limit
    for limit in "v 80000" "d 70000"; do
        rm -f banks/*
        ( ulimit -$limit && profiled "$hosts/limits" address-space 50 > out 2> err ) || fail "$limit: $?"
        [ "$(cat out)" = allocated ] || fail "$limit: $(cat out)"
        grep -q '^flamebank: no room for samples .* unprofiled$' err && [ "$(wc -l < err)" = 1 ] ||
            fail "$limit: $(cat err)"
        [ "$(banks '*')" = 0 ] || fail "$limit: a bank"
    done
    ( ulimit -v 1000000 && profiled "$hosts/limits" address-space 50 > out 2> err ) || fail "large: $?"
    [ ! -s err ] && [ "$(banks '*')" = 1 ] || fail "large: $(cat err)"
}

# Not one byte may be written: no SIGXFSZ, one line, no file.
no_file_size() {
    ( ulimit -f 0 && FLAMEBANK_HZ=1000 TMPDIR=$folder profiled "$hosts/habits" burn 2>&1 ) | cat > out
    [ "${PIPESTATUS[0]}" = 0 ] || fail status
    [ "$(grep -vc '^flamebank: ' out)" = 1 ] && [ "$(grep -c '^flamebank: ' out)" = 1 ] || fail "$(cat out)"
    [ "$(find . -name '*.fbank' | wc -l)" = 0 ] || fail "a bank of no size"
}

# A disk of 64 KB that the host's own file fills meanwhile.
full_disk() {
    [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=64k none small 2> /dev/null || exit 77
    trap 'umount -l "$folder/small"; rm -rf "$folder"' EXIT
    FLAMEBANK_HZ=1000 FLAMEBANK_OUT=$folder/small/%e.fbank profiled "$hosts/burn" 2 2 > out 2> err &
    sleep 0.6
    head -c 100000 /dev/zero > small/filler 2> /dev/null
    wait $! || fail "status $?"
    grep -q '^cpu_ns' out || fail "output: $(cat out)"
    [ "$(grep -c flamebank err)" = 1 ] && grep -q 'No space left on device' err || fail "messages: $(cat err)"
    whole small/burn.fbank
    [ "$(fact small/burn.fbank loss.2)" != none ] || fail "no account"
}

# No more threads for this user: ours neither.
no_threads() {
    [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null || exit 77
    chmod 755 "$folder"
    chmod 777 banks
    # A user that runs nothing else here.
    setpriv --reuid 64123 --clear-groups prlimit --nproc=1:1 "$hosts/limits" thread-limit > plain.out ||
        exit 77
    FLAMEBANK_OUT=$folder/banks/%e.%p.fbank setpriv --reuid 64123 --clear-groups prlimit --nproc=1:1 \
        env LD_PRELOAD="$library" "$hosts/limits" thread-limit > out 2> err || fail "status $?"
    cmp -s plain.out out || fail "$(cat out)"
    [ "$(cat err)" = "flamebank: no thread for the writer; the program runs unprofiled" ] ||
        fail "messages: $(cat err)"
}

errno_is_kept() {
    local clock
    for clock in cpu itimer; do
        FLAMEBANK_HZ=10000 FLAMEBANK_CLOCK=$clock profiled "$hosts/limits" errno-loop 400 > out || fail status
        [ "$(cat out)" = "errno wrong 0" ] || fail "$clock: $(cat out)"
    done
}

# The host's file on all descriptors, all closed again, 12 times: not a byte of ours in it.
all_descriptors() {
    FLAMEBANK_HZ=1000 profiled "$hosts/limits" all-descriptors > out 2> err || fail status
    [ "$(cat out)" = "the host's file has 0 bytes" ] && [ ! -s host ] || fail "$(cat out)"
    [ ! -s err ] || fail "messages: $(cat err)"
    whole banks/*
    [ "$(fact banks/* weight)" -ge 900 ] || fail "weight $(fact banks/* weight)"
}

not_dumpable() {
    FLAMEBANK_HZ=1000 profiled "$hosts/limits" not-dumpable > out 2> err || fail status
    [ "$(cat out)" = "dumpable 0" ] && [ ! -s err ] || fail "$(cat out err)"
    whole banks/*
    near "$(fact banks/* weight)" 1300 10 || fail "weight $(fact banks/* weight) of 1300"
}

new_root() {
    [ "$(id -u)" = 0 ] || exit 77
    FLAMEBANK_HZ=1000 profiled "$hosts/limits" new-root > out 2> err || fail status
    grep -q '^proc -1$' out && [ ! -s err ] || fail "$(cat out err)"
    whole banks/limits.*
    near "$(fact banks/limits.* weight)" 600 10 || fail "weight $(fact banks/limits.* weight) of 600"
    [ "$(fact banks/limits.* ended)" = 1 ] || fail "no end"
}

# One CPU of quota for 64 busy threads: what is due is in the bank, and throttling is counted.
throttled() {
    local v2=0
    group=/sys/fs/cgroup/cpu/fb-test-$$
    if [ -w /sys/fs/cgroup/cpu ] && mkdir $group 2> /dev/null; then
        echo 20000 > $group/cpu.cfs_period_us
        echo 10000 > $group/cpu.cfs_quota_us
    elif group=/sys/fs/cgroup/fb-test-$$ && [ -e /sys/fs/cgroup/cgroup.controllers ] &&
        echo +cpu > /sys/fs/cgroup/cgroup.subtree_control 2> /dev/null && mkdir $group 2> /dev/null; then
        v2=1
        echo "10000 20000" > $group/cpu.max
    else
        exit 77
    fi
    trap 'rmdir "$group" 2> /dev/null; rm -rf "$folder"' EXIT
    ( echo $BASHPID > $group/cgroup.procs && FLAMEBANK_HZ=100 FLAMEBANK_OUT=$folder/banks/%e.fbank \
        exec env LD_PRELOAD="$library" "$hosts/burn" 64 0.06 > out 2> err ) || fail "status $? $(cat err)"
    local bank=banks/burn.fbank cpu weight
    whole $bank
    cpu=$(awk '{ print $2 / 1e7 }' out)
    weight=$(fact $bank weight)
    near "$weight" "$cpu" 15 || fail "weight $weight, CPU time $cpu ticks"
    [ "$(fact $bank loss.0)" = 0 ] || fail "segments were short"
    [ "$(fact $bank counter.cgroup.nr_throttled)" -ge 10 ] || fail "throttled $(fact $bank counter.cgroup.nr_throttled) times"
    [ ! -s err ] || fail "messages: $(cat err)"
    echo "weight $weight of $cpu ticks, throttled $(fact $bank counter.cgroup.nr_throttled) times, v2 $v2"
}

# The whole process is stopped for two seconds, and goes on: counters carry their real time.
stopped() {
    FLAMEBANK_HZ=1000 start "$hosts/burn" 2 1.5 > out
    sleep 0.5
    kill -STOP "$pid"
    sleep 2
    kill -CONT "$pid"
    wait "$pid" || fail "status $?"
    local cpu
    cpu=$(awk '{ print $2 / 1e6 }' out)
    whole banks/*
    near "$(fact banks/* weight)" "$cpu" 6 || fail "weight $(fact banks/* weight) of $cpu"
}

# Another preload before or behind us, with a constructor of its own.
other_preloads() {
    local other
    for other in libjemalloc.so.2 libtcmalloc_minimal.so.4 libSegFault.so; do
        other=$(ldconfig -p | awk -v n=$other '$1 == n { print $NF; exit }')
        [ -n "$other" ] && break
    done
    if [ -z "$other" ]; then
        command -v gcc > /dev/null || exit 77
        echo 'void *malloc(unsigned long); static void *p; __attribute__((constructor)) static void c(void) { p = malloc(9); }' |
            gcc -shared -fPIC -x c -o other.so - || exit 77
        other=$folder/other.so
    fi
    for order in "$library:$other" "$other $library"; do
        rm -f banks/*
        FLAMEBANK_HZ=1000 FLAMEBANK_OUT=$folder/banks/%e.%p.fbank LD_PRELOAD=$order \
            "$hosts/habits" thread-ends > out 2> err || fail "$order: $? $(cat err)"
        [ "$(cat out)" = "exited 16 cancelled 16" ] && [ ! -s err ] || fail "$order: $(cat out err)"
        whole banks/*
    done
}

# No environment at all but ours; a command of 100 KB; addresses that are not random.
odd_starts() {
    env -i FLAMEBANK_HZ=1000 FLAMEBANK_OUT="$folder/banks/a.fbank" LD_PRELOAD="$library" \
        "$hosts/habits" burn > out 2> err || fail "empty: $? $(cat err)"
    whole banks/a.fbank
    FLAMEBANK_OUT=$folder/banks/b.fbank profiled "$hosts/habits" burn "$(head -c 100000 /dev/zero | tr '\0' x)" \
        > out 2> err || fail "long: $? $(cat err)"
    whole banks/b.fbank
    FLAMEBANK_OUT=$folder/banks/c.fbank profiled setarch -R "$hosts/habits" burn > out 2> err ||
        fail "not random: $?"
    whole banks/c.fbank
    [ ! -s err ] || fail "$(cat err)"
}

# A root of namespaces of its own.
namespaces() {
    unshare -rm true 2> /dev/null || exit 77
    FLAMEBANK_HZ=1000 profiled unshare -rmipf "$hosts/habits" fork-work > out 2> err || fail "$? $(cat err)"
    [ "$(cat out)" = "child 3" ] && [ ! -s err ] || fail "$(cat out err)"
    for bank in banks/*; do
        whole "$bank"
    done
    [ "$(banks '*.1.fbank')" -ge 1 ] || fail "the first process of its namespace: $(ls banks)"
}

"$case" "$@"
