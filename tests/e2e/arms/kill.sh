#!/bin/bash
# SIGKILL at any moment leaves a bank that `check` accepts, but for a torn tail or the missing end.
#   kill.sh BUILD
set -eu
build=$1
PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
samples=0
for delay in 0.05 0.3 0.7 1.01 1.4 2.03 2.6; do
    FLAMEBANK_OUT="$work/$delay.fbank" LD_PRELOAD="$build/lib/flamebank/libflamebank.so" \
        "$build/tests/hosts/burn" 2 60 > /dev/null &
    pid=$!
    sleep "$delay"
    kill -KILL "$pid"
    wait "$pid" 2> /dev/null && { echo "kill.sh: the arm ended by itself"; exit 1; }
    [ -e "$delay.fbank" ] || continue # killed before its first byte
    out=$(flamebank check "$delay.fbank") || { echo "kill.sh: after $delay s: $out"; exit 1; }
    echo "$out" | grep -q "no end mark" || { echo "kill.sh: after $delay s an end mark: $out"; exit 1; }
    n=$(echo "$out" | sed -n 's/.*whole: \([0-9]*\) samples.*/\1/p')
    samples=$((samples + n))
    echo "killed after $delay s: $n samples banked"
done
# A flush a second: the later kills must have left something.
[ "$samples" -gt 20 ] || { echo "kill.sh: only $samples samples in all"; exit 1; }
