#!/bin/bash
# SIGKILL at any moment leaves a bank that `check` accepts, but for a torn tail or the missing end, and
# loses what came since the last flush: the amount is printed.
#   kill.sh BUILD [COUNT [slow]]        slow: only where FB_SLOW is set (./dev check)
set -eu
build=$1
count=${2:-20}
[ "${3:-}" != slow ] || [ "${FB_SLOW:-}" = 1 ] || exit 77
PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
RANDOM=${SEED:=$$}
echo "seed $SEED"
fail() {
    echo "kill.sh: $* (SEED=$SEED)"
    exit 1
}

# Milliseconds of CPU time that a process used.
cpu_of() {
    awk '{ print ($14 + $15) * 10 }' "/proc/$1/stat"
}

killed=0 early=0 ticks=0 lost_sum=0 lost_most=0
one() { # NUMBER MILLISECONDS PID
    local bank=$work/$1.fbank cpu out n lost
    sleep "$(awk -v ms="$2" 'BEGIN { print ms / 1000 }')"
    kill -STOP "$3"
    cpu=$(cpu_of "$3")
    kill -KILL "$3"
    wait "$3" 2> /dev/null && fail "the arm ended by itself"
    killed=$((killed + 1))
    if [ ! -e "$bank" ]; then # killed before its first byte
        early=$((early + 1))
        return
    fi
    out=$(flamebank check "$bank") || fail "after $2 ms: $out"
    echo "$out" | grep -q "no end mark" || fail "after $2 ms an end mark: $out"
    n=$("$build/tests/hosts/bank_facts" "$bank" weight)
    lost=$((cpu - n > 0 ? cpu - n : 0))
    ticks=$((ticks + n))
    lost_sum=$((lost_sum + lost))
    [ $lost -le $lost_most ] || lost_most=$lost
    echo "killed at $cpu ms of CPU time: $n ms banked, $lost ms lost"
}

# Four at a time, each by itself a moment of 2.4 s at random; the next begins as one is killed.
for ((i = 0; i < count; i++)); do
    FLAMEBANK_HZ=1000 FLAMEBANK_OUT="$work/$i.fbank" LD_PRELOAD="$build/lib/flamebank/libflamebank.so" \
        "$build/tests/hosts/burn" 1 60 > /dev/null &
    pids[i]=$!
    [ $i -lt 3 ] || one $((i - 3)) $((RANDOM % 800)) "${pids[i - 3]}"
done
for ((i = count - 3; i < count; i++)); do
    one $i $((RANDOM % 800)) "${pids[i]}"
done
echo "$killed killed, $early of them before their first byte; $ticks ticks banked, $lost_sum ms lost, $lost_most at most"
[ $killed = "$count" ] || fail "$killed of $count"
# A flush a second: half of one is lost on the mean, more only where the helper starved.
[ $lost_sum -le $((count * 1000)) ] || fail "$lost_sum ms lost"
[ $ticks -gt $((count * 20)) ] || fail "only $ticks ticks in all"
