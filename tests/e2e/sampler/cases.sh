#!/bin/bash
# cases.sh LIBRARY HOSTS CASE [ARGUMENT...]: one test of the sampler in a real process.
# Exits 0, 1 with a sentence, or 77 where the machine cannot show it.
source "${BASH_SOURCE[0]%/*}/lib.sh"

weight_test() { # THREADS SECONDS
    profiled env FLAMEBANK_HZ=100 "$hosts/burn" "$1" "$2" > out || fail "burn failed"
    local cpu weight
    cpu=$(awk '{ print $2 / 1e7 }' out)
    weight=$(fact banks/burn.* weight)
    near "$weight" "$cpu" 6 || fail "weight $weight, CPU time $cpu ticks"
    echo "weight $weight of $cpu ticks"
}

weight_of_one_thread() { weight_test 1 2.5; }
weight_of_four_threads() { weight_test 4 1; }

# 32 threads of 30 ms, 3 ticks each: what the kernel's tick swallows at their end is kept.
weight_of_short_threads() {
    FLAMEBANK_HZ=100 profiled "$hosts/habits" thread-ends > out
    near "$(fact banks/habits.* weight)" 96 20 || fail "$(fact banks/habits.* weight) of 96 ticks"
    grep -q . out
}

killed_at_random() {
    local bank pids='' delay
    for _ in 1 2 3 4 5; do
        FLAMEBANK_HZ=1000 start "$hosts/burn" 2 20 > out
        pids="$pids $pid"
    done
    for delay in 0.3 0.75 0.35 0.62 1.18; do # 0.3 1.05 1.4 2.02 3.2
        sleep $delay
        set -- $pids
        kill -KILL "$1"
        wait "$1" 2> /dev/null
        shift
        pids="$*"
    done
    for bank in banks/*; do
        whole "$bank"
        [ "$(fact "$bank" ended)" = 0 ] || fail "a killed process has an end"
        # All but the last second is there: the samples of a flush and its counters agree.
        [ "$(fact "$bank" weight)" -le 300 ] ||
            near "$(fact "$bank" weight)" "$(($(fact "$bank" counter.threads.cpu_ns) / 1000000))" 25 ||
            fail "$(fact "$bank" weight) ticks, $(fact "$bank" counter.threads.cpu_ns) ns"
    done
}

# However soon a process is killed, what has a name is a bank.
killed_early() {
    local bank delay
    for delay in 0.002 0.004 0.006 0.008 0.01 0.012 0.014 0.016 0.018 0.02 0.022 0.024 0.026 0.028; do
        FLAMEBANK_HZ=1000 start "$hosts/burn" 1 5 > out
        sleep $delay
        kill -KILL "$pid"
        wait "$pid" 2> /dev/null
    done
    for bank in banks/*; do
        [ -e "$bank" ] && whole "$bank"
    done
    return 0
}

# A full disk, and a size limit whose signal the host must not get.
no_room() {
    local bank
    profiled sh -c 'ulimit -f 4; exec "$0" burn' "$hosts/habits" > out 2> err || fail "limit: $?"
    [ "$(cat out)" = burnt ] || fail "output under a limit"
    grep -q "is not written for now (File too large)$" err || fail "messages: $(cat err)"
    for bank in banks/*; do
        whole "$bank"
    done
    FLAMEBANK_OUT=/dev/full/%e.fbank TMPDIR=$folder profiled "$hosts/habits" burn > out 2> err ||
        fail "no folder: $?"
    [ "$(wc -l < err)" = 1 ] || fail "messages: $(cat err)"
}

# What the kernel's tick swallows at the end of a process is kept: 2 of 50 ticks a child before.
weight_of_children() {
    local bank weight=0
    FLAMEBANK_HZ=1000 profiled "$hosts/trials" children > out || fail status
    for bank in banks/*; do
        whole "$bank"
        weight=$((weight + $(fact "$bank" weight)))
    done
    [ $weight -ge 985 ] || fail "$weight of 1000 ticks"
}

# A child that uses CPU time has a row of counters from near its beginning, also where its first tick
# is late: without one there is nothing to compare its samples with.
children_have_a_first_row() {
    local bank i
    for i in 1 2 3 4; do
        FLAMEBANK_HZ=10 profiled sh -c "'$hosts/burn' 1 0.5; :" > out || fail status
    done
    [ "$(banks 'burn.*')" = 4 ] || fail "$(banks 'burn.*') banks of 4 children"
    for bank in banks/burn.*; do
        whole "$bank"
        [ "$(fact "$bank" counter_rows)" -ge 2 ] || fail "$bank: one row of counters"
    done
}

# The start of the first thread takes long, as on a machine with more to do: what follows is sampled.
slow_start() {
    command -v gcc > /dev/null || exit 77
    gcc -shared -fPIC -x c -o late.so - << 'END' || exit 77
#include <dlfcn.h>
#include <time.h>
#define RTLD_NEXT_ ((void *)-1l)
int __register_atfork(void (*a)(void), void (*b)(void), void (*c)(void), void *d)
{
    int (*next)(void (*)(void), void (*)(void), void (*)(void), void *) =
        (int (*)(void (*)(void), void (*)(void), void (*)(void), void *))dlsym(RTLD_NEXT_, "__register_atfork");
    struct timespec t = {0, 300000000};
    nanosleep(&t, 0);
    return next(a, b, c, d);
}
END
    LD_PRELOAD="$library:$folder/late.so" FLAMEBANK_HZ=100 FLAMEBANK_OUT=$folder/banks/a.fbank \
        "$hosts/burn" 1 0.5 > out || fail status
    whole banks/a.fbank
    near "$(fact banks/a.fbank weight)" 50 10 || fail "$(fact banks/a.fbank weight) of 50 ticks"
}

# C11's threads are there from their first moment.
weight_of_c11_threads() {
    FLAMEBANK_HZ=100 profiled "$hosts/trials" c11-threads > out || fail status
    near "$(fact banks/trials.* weight)" 30 15 || fail "$(fact banks/trials.* weight) of 30 ticks"
}

status_and_output() {
    profiled true || fail "true"
    profiled false && fail "false"
    [ "$(profiled echo hello)" = hello ] || fail "echo"
    profiled sh -c 'exit 37'
    [ $? = 37 ] || fail "sh -c 'exit 37'"
    ( profiled sh -c 'kill -9 $$' ) 2> /dev/null
    [ $? = 137 ] || fail "killed by 9"
    [ "$(profiled sh -c 'echo a | cat; ls /nonexistent 2>&1 | wc -l')" = "$(printf 'a\n1')" ] ||
        fail "a pipeline"
}

forks_have_their_own_bank() {
    FLAMEBANK_HZ=1000 profiled "$hosts/habits" fork-work > out
    [ "$(banks '*')" = 2 ] || fail "$(banks '*') banks instead of 2"
    local runs
    runs=$(for bank in banks/*; do fact "$bank" run_id; done | sort -u | wc -l)
    [ "$runs" = 1 ] || fail "$runs runs"
    [ "$(for bank in banks/*; do fact "$bank" writer_id; done | sort -u | wc -l)" = 2 ] || fail "writers"
    for bank in banks/*; do
        whole "$bank"
        [ "$(fact "$bank" ended)" = 1 ] || fail "$bank has no end"
        case $(fact "$bank" manifest.run_root) in
        1) near "$(fact "$bank" weight)" 200 10 || fail "parent: $(fact "$bank" weight) of 200" ;;
        0) near "$(fact "$bank" weight)" 400 10 || fail "child: $(fact "$bank" weight) of 400" ;;
        *) fail "no root" ;;
        esac
    done
}

exec_only_leaves_no_bank() {
    FLAMEBANK_HZ=10 profiled sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; :' || fail sh
    [ "$(banks 'true.*')" = 0 ] || fail "$(banks 'true.*') banks of true"
    [ "$(banks '*')" = 1 ] || fail "the first process has no bank of its own"
    rm -f banks/*
    profiled sh -c 'exec /bin/true' || fail exec
    [ "$(banks 'true.*')" = 1 ] || fail "exec lost the bank of the run's first process"
}

follow_none() {
    FLAMEBANK_FOLLOW=none FLAMEBANK_HZ=1000 profiled "$hosts/habits" fork-work > out
    [ "$(banks '*')" = 1 ] || fail "fork was followed"
    rm -f banks/*
    FLAMEBANK_FOLLOW=fork profiled sh -c "'$hosts/habits' burn; :" > out
    [ "$(banks 'habits.*')" = 0 ] || fail "exec was followed"
    [ "$(FLAMEBANK_FOLLOW=none profiled sh -c 'echo $LD_PRELOAD')" = "" ] || fail "LD_PRELOAD is left"
}

read_only_folder() {
    FLAMEBANK_OUT=/proc/nothing/%e.fbank TMPDIR=$folder/banks profiled "$hosts/habits" burn \
        > out 2> err || fail "status"
    [ "$(cat out)" = burnt ] || fail "output"
    [ "$(wc -l < err)" = 1 ] && grep -q '^flamebank: ' err || fail "messages: $(cat err)"
    whole banks/habits.fbank
    # A daemon that gives its rights up keeps its folder.
    if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
        rm -f banks/*
        chmod 755 "$folder" banks
        mkdir -m 777 other
        TMPDIR=$folder/other profiled setpriv --reuid 65534 --clear-groups "$hosts/habits" burn > out 2> err
        [ "$(cat out)" = burnt ] || fail "output without rights"
        grep -c flamebank err | grep -q '^[01]$' || fail "said more than once: $(cat err)"
    fi
}

wrong_values() {
    for pair in HZ=abc HZ=0 CLOCK=sundial MODE=9 RUN=0 LABELS=x FOLLOW=me OUT=%q; do
        rm -f banks/*
        [ "$(env "FLAMEBANK_${pair%%=*}=${pair#*=}" LD_PRELOAD="$library" echo hello 2> err)" = hello ] ||
            fail "$pair changed the program"
        [ "$(wc -l < err)" = 1 ] || fail "$pair: $(cat err)"
        grep -q "^flamebank: FLAMEBANK_${pair%%=*}='${pair#*=}' is wrong, expected .*unprofiled$" err ||
            fail "$pair: $(cat err)"
        [ "$(find . -name '*.fbank' | wc -l)" = 0 ] || fail "$pair: a bank"
    done
}

off() {
    FLAMEBANK_OFF=1 FLAMEBANK_HZ=abc profiled "$hosts/habits" burn > out 2> err || fail status
    [ ! -s err ] && [ "$(banks '*')" = 0 ] || fail "it is not off"
}

second_copy() {
    cp "$library" copy.so
    FLAMEBANK_OUT=$folder/banks/%e.%p.fbank FLAMEBANK_HZ=1000 LD_PRELOAD="$library $folder/copy.so" \
        "$hosts/habits" fork-work > out || fail status
    [ "$(banks '*')" = 2 ] || fail "$(banks '*') banks instead of 2"
    for bank in banks/*; do
        whole "$bank"
    done
}

few_descriptors() {
    profiled prlimit --nofile=16:16 "$hosts/habits" burn > out 2> err || fail "status: $(cat err)"
    [ ! -s err ] || fail "messages: $(cat err)"
    whole banks/habits.*
    [ "$(fact banks/habits.* weight)" -ge 30 ] || fail "weight"
}

few_pending_signals() {
    ( ulimit -i 0; FLAMEBANK_HZ=1000 profiled "$hosts/habits" thread-ends > out 2> err ) || fail status
    [ "$(cat out)" = "exited 16 cancelled 16" ] || fail "output"
    [ ! -s err ] || fail "messages: $(cat err)"
    [ "$(fact banks/habits.* loss.1)" -ge 1 ] || fail "threads without a timer are not named"
}

truncated_stacks() {
    FLAMEBANK_HZ=1000 profiled "$hosts/habits" recursion-5000 > out || fail status
    local bank
    bank=$(echo banks/habits.*)
    whole "$bank"
    [ "$(fact "$bank" loss.6)" -ge 100 ] || fail "loss $(fact "$bank" loss.6)"
    [ "$(fact "$bank" truncated)" = "$(fact "$bank" loss.6)" ] || fail "marks and loss disagree"
    [ "$(fact "$bank" deepest)" = 513 ] || fail "deepest is $(fact "$bank" deepest)"
}

deep_recursion() {
    FLAMEBANK_HZ=1000 profiled "$hosts/habits" recursion-400 > out || fail status
    [ "$(fact banks/habits.* truncated)" = 0 ] || fail truncated
    [ "$(fact banks/habits.* deepest)" -ge 400 ] || fail "deepest is $(fact banks/habits.* deepest)"
}

names_and_labels() {
    FLAMEBANK_LABELS=arm=control,image=sha256:1 FLAMEBANK_ENV=SHOWN FLAMEBANK_MODE=640 SHOWN=yes \
        HIDDEN=secret profiled "$hosts/habits" burn > out
    local bank
    bank=$(echo banks/habits.*)
    [ "$(fact "$bank" manifest.label.arm)" = control ] || fail label
    [ "$(fact "$bank" manifest.label.image)" = sha256:1 ] || fail label
    [ "$(fact "$bank" manifest.env.SHOWN)" = yes ] || fail "env that is permitted"
    case $(fact "$bank" manifest.env.HIDDEN) in
    crc32:????????) ;;
    *) fail "env that is not permitted" ;;
    esac
    grep -q secret "$bank" && fail "a hidden value is in the bank"
    [ "$(stat -c %a "$bank")" = 640 ] || fail "mode $(stat -c %a "$bank")"
    [ "$(fact "$bank" manifest.command)" = "$hosts/habits burn" ] || fail "command"
    [ "$(fact "$bank" manifest.exe)" = "$(realpath "$hosts/habits")" ] || fail "exe"
    [ "$(fact "$bank" manifest.clock_got)" = cpu ] || fail clock
}

blocked_signal_is_named() {
    profiled "$hosts/habits" block-profiling > out
    [ "$(fact banks/habits.* loss.5)" = 1 ] || fail "loss is $(fact banks/habits.* loss.5)"
}

two_thousand_threads() {
    FLAMEBANK_HZ=100 profiled "$hosts/habits" two-thousand-threads > out || fail status
    local bank cpu writer
    bank=$(echo banks/habits.*)
    whole "$bank"
    [ "$(fact "$bank" loss.0)" = 0 ] || fail "segments were short"
    cpu=$(fact "$bank" counter.process.cpu_ns)
    writer=$(fact "$bank" counter.sampler.writer_ns)
    echo "helper $((writer / 1000000)) ms of $((cpu / 1000000)) ms"
}

nginx_workers() {
    command -v nginx > /dev/null || exit 77
    local port=$((20000 + $$ % 12000))
    mkdir site logs
    echo '{"hello": "world"}' > site/index.json
    cat > nginx.conf << END
worker_processes 2;
daemon off;
master_process on;
pid $folder/nginx.pid;
error_log $folder/logs/error.log;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path $folder/t1;
    proxy_temp_path $folder/t2;
    fastcgi_temp_path $folder/t3;
    uwsgi_temp_path $folder/t4;
    scgi_temp_path $folder/t5;
    server { listen 127.0.0.1:$port; root $folder/site; }
}
END
    chmod 755 "$folder"
    FLAMEBANK_HZ=1000 start nginx -c "$folder/nginx.conf" -p "$folder" 2> err
    for _ in $(seq 50); do
        (exec 3<> /dev/tcp/127.0.0.1/$port) 2> /dev/null && break
        sleep 0.1
    done
    for _ in $(seq 300); do
        exec 3<> /dev/tcp/127.0.0.1/$port || fail "nginx does not listen: $(cat err logs/error.log)"
        printf 'GET /index.json HTTP/1.0\r\n\r\n' >&3
        grep -q world <&3 || fail "no answer"
        exec 3>&-
    done
    sleep 1.2
    kill -QUIT "$pid"
    wait "$pid" || fail "nginx ended with $?"
    [ "$(banks 'nginx.*')" -ge 3 ] || fail "$(banks 'nginx.*') banks: $(cat err) $(ls banks)"
    local weight=0
    for bank in banks/nginx.*; do
        whole "$bank"
        [ "$(fact "$bank" ended)" = 1 ] || fail "$bank has no end"
        weight=$((weight + $(fact "$bank" weight)))
    done
    [ $weight -ge 10 ] || fail "weight $weight"
    grep flamebank err logs/error.log && fail "it spoke"
    return 0
}

"$case" "$@"
