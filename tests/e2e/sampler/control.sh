#!/bin/bash
# control.sh LIBRARY HOSTS FLAMEBANK CASE: what is asked of the sampler through its bank; as cases.sh.
library=$1 hosts=$2 flamebank=$3
shift 3
set -- "$library" "$hosts" "$@"
source "${BASH_SOURCE[0]%/*}/lib.sh"

# The host has said WORD.
heard() {
    for _ in $(seq 200); do
        grep -qx "$1" out && return
        sleep 0.1
    done
    fail "'$1' was not said: $(cat out err)"
}

# Ticks of 4 ms: 0.4 s are 100.  Sampled are the first and the third phase of the main thread and
# the third of the other: 300.
paused() { # by file or process
    local bank weight
    FLAMEBANK_HZ=250 start "$hosts/pausable" > out 2> err
    heard first
    bank=$(echo banks/*)
    if [ "$(fact "$bank" manifest.clock_got)" != "${FLAMEBANK_CLOCK:-cpu}" ]; then
        echo "no $FLAMEBANK_CLOCK clock here"
        kill "$pid"
        exit 77
    fi
    case $1 in file) set -- "$bank" ;; process) set -- "$pid" ;; esac
    "$flamebank" mark "$1" --pause > said 2>&1 || fail "pause: $(cat said)"
    kill -USR1 "$pid"
    heard second
    "$flamebank" mark "$1" --pause > said 2>&1 || fail "paused already: $(cat said)"
    "$flamebank" mark "$1" --resume > said 2>&1 || fail "resume: $(cat said)"
    "$flamebank" mark "$1" third > said 2>&1 || fail "mark: $(cat said)"
    kill -USR1 "$pid"
    heard third
    wait "$pid" || fail "status $?: $(cat err)"
    [ ! -s err ] || fail "it said $(cat err)"
    whole "$bank"
    weight=$(fact "$bank" weight)
    near "$weight" 300 8 || fail "weight $weight of 300 ticks outside the pause"
    [ "$(fact "$bank" paused_ms)" -ge 1700 ] || fail "$(fact "$bank" paused_ms) ms paused"
    [ "$(fact "$bank" marks)" = 1 ] || fail "$(fact "$bank" marks) marks"
    "$flamebank" info "$bank" > info || fail "info: $(cat info)"
    awk '/yield/ { y = $NF } END { exit !(y > 0.9 && y < 1.1) }' info || fail "$(grep yield info)"
    grep -q "was paused for" info || fail "no word of the pause"
    rm "$bank"
    bank=$(echo banks/*)
    whole "$bank"
    [ "$(fact "$bank" weight)" = 0 ] || fail "the child has weight $(fact "$bank" weight)"
    [ "$(fact "$bank" paused_ms)" -ge 300 ] || fail "the child's bank says $(fact "$bank" paused_ms) ms paused"
}
paused_by_file() { paused file; }
paused_by_process() { paused process; }
paused_off_the_tick() { FLAMEBANK_CLOCK=perf paused process; }

# Whatever is appended: the arm goes on, its own chunks are all there, a question behind it is heard.
rubbish_is_passed_over() {
    local bank
    FLAMEBANK_HZ=250 start "$hosts/pausable" > out 2> err
    heard first
    bank=$(echo banks/*)
    head -c 3001 /dev/urandom >> "$bank"
    # A question with a wrong checksum, and the head of a chunk that claims 16 MiB.
    { printf '\373\307\r\247\016\0\002\0'; tail -c +17 "$bank" | head -c 8
        printf '\0\0\0\0\5\0\0\0\5\0\0\0abcd\1\0\0\1\0\0\0\0'; } >> "$bank"
    { printf '\373\307\r\247\016\0\002\0'; tail -c +17 "$bank" | head -c 8
        printf '\0\0\0\0\0\0\0\1\0\0\0\1abcd'; } >> "$bank"
    sleep 1.2
    [ "$(fact "$bank" events)" = 0 ] || fail "it believed a wrong checksum"
    "$flamebank" mark "$bank" --pause > said 2>&1 || fail "pause: $(cat said)"
    "$flamebank" mark "$bank" --resume > said 2>&1 || fail "resume: $(cat said)"
    kill -USR1 "$pid"
    heard second
    kill -USR1 "$pid"
    heard third
    wait "$pid" || fail "status $?"
    [ ! -s err ] || fail "it said $(cat err)"
    [ "$(fact "$bank" ended)" = 1 ] || fail "no end"
    [ "$(fact "$bank" orphans)" = 0 ] || fail "samples without their stacks"
    near "$(fact "$bank" weight)" "$((5 * 100))" 10 || fail "weight $(fact "$bank" weight) of 500"
}

# At 10,000 samples a second it costs several per cent: the rate falls, once said, and the weights add
# up to the CPU time all the same.
keeps_to_its_budget() {
    local bank interval
    FLAMEBANK_HZ=10000 FLAMEBANK_CLOCK=perf profiled "$hosts/burn" 1 11.5 > out 2> err ||
        fail "burn failed: $(cat err)"
    bank=$(echo banks/*)
    [ "$(fact "$bank" manifest.clock_got)" = perf ] || { echo "no perf clock here"; exit 77; }
    [ "$(wc -l < err)" = 1 ] && grep -q 'took over 1 %' err || fail "it said $(cat err)"
    interval=$(fact "$bank" counter.sampler.interval_ns)
    [ "$interval" -gt 100000 ] && [ $((interval % 100000)) = 0 ] || fail "interval $interval ns"
    [ "$(fact "$bank" events)" -ge 1 ] || fail "no event"
    near "$(fact "$bank" weight)" "$(awk '{ print $2 / 1e5 }' out)" 3 ||
        fail "weight $(fact "$bank" weight), $(cat out)"
    "$flamebank" info "$bank" | grep -q 'lowered its rate' || fail "info does not say it"
}

"$case" "$@"
