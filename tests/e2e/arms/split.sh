#!/bin/bash
# A program that spends 60 / 30 / 10 % of its CPU in three functions is measured within the
# intervals that `top` prints.
#   split.sh BUILD
set -eu
build=$1
PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
flamebank record -o split.fbank --hz 99 -- "$build/tests/hosts/burn" 1 12 > /dev/null 2>&1
flamebank top split.fbank --no-inlines
flamebank top split.fbank --no-inlines --format csv | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["frame"] == "burn_sixty" { want = 60 }
    $at["frame"] == "burn_thirty" { want = 30 }
    $at["frame"] == "burn_ten" { want = 10 }
    want {
        lo = $at["self_low_percent"]; hi = $at["self_high_percent"]
        if (lo > want || hi < want) { print "split.sh: " $at["frame"] " should be " want ": " $0; bad = 1 }
        if (hi - lo > 15) { print "split.sh: an interval that says nothing: " $0; bad = 1 }
        seen++; want = 0
    }
    END { if (seen != 3) { print "split.sh: " seen + 0 " of 3 functions were found"; bad = 1 } exit bad }'
# Threads: their stacks are the host's own, without our start routine.
flamebank record -o threads.fbank -- "$build/tests/hosts/burn" 2 1 > /dev/null 2>&1
flamebank fold --no-inlines threads.fbank > threads.folded
# (libc's own start routine has a name only where its debug symbols are.)
grep -v '^_start' threads.folded | grep -q ';burn;burn_sixty ' || { echo "split.sh: no thread's stack"; cat threads.folded; exit 1; }
! grep -q thread_main threads.folded
