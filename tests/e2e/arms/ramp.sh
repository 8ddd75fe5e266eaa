#!/bin/bash
# Two arms through a whole ramp in the order C V V C: what `run` leaves behind is what `diff` takes.  One arm spends
# its time in one function, the other in a shell's loop: the arms differ for certain, whatever the machine does.
#   ramp.sh BUILD
set -eu
build=$1
PATH=$build/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "ramp.sh: $1"; cat run.log; exit 1; }
# A generator that waits as long as it is told and states what it would have sent.
printf '#!/bin/sh\nsleep $2\necho "Running ${2}s test @ http://x/"\necho "  $(($1 * $2)) requests in ${2}.00s, 1MB read"\necho "Requests/sec: $1"\n' > gen
chmod +x gen
flamebank run -o out --arm control="$build/tests/hosts/burn 1 600" \
    --arm variant="bash -c 'while :; do i=\$((i + 1)); done'" --pairs 2 --rates 10,20 --hold 2 --warmup 1@5 \
    --settle 0 -- ./gen '{rate}' '{seconds}' > table 2> run.log || fail "run: $?"
order=$(sed 1d out/run.tsv | cut -f1 | uniq | tr '\n' ' ')
[ "$order" = "control-1 variant-1 variant-2 control-2 " ] || fail "the order is $order"
for ramp in control-1 control-2 variant-1 variant-2; do
    [ "$(cut -f5 "out/$ramp.tsv" | tr '\n' ' ')" = "offered 5 10 20 " ] || fail "$ramp.tsv: $(cat "out/$ramp.tsv")"
    flamebank check "out/$ramp.fbank" > check.log || fail "$ramp.fbank: $(cat check.log)"
    # The marks in the bank are those steps, too.
    [ "$(flamebank steps "out/$ramp.fbank" --format csv 2> /dev/null | sed 1d | cut -d, -f1 | tr '\n' ' ')" = \
        "$(flamebank steps "out/$ramp.tsv" --format csv 2> /dev/null | sed 1d | cut -d, -f1 | tr '\n' ' ')" ] ||
        fail "$ramp: the marks: $(flamebank steps "out/$ramp.fbank" --format csv)"
done
flamebank diff out/control-1.fbank,out/control-1.tsv out/control-2.fbank,out/control-2.tsv \
    --vs out/variant-1.fbank,out/variant-1.tsv out/variant-2.fbank,out/variant-2.tsv --by frame > diff.out ||
    fail "diff: $?"
grep -q '2 pairs' diff.out || fail "no two pairs: $(cat diff.out)"
grep -q 'order of the runs C V V C' diff.out || fail "no order: $(cat diff.out)"
grep -E '^spin .*gone' diff.out > row || fail "spin is not gone: $(cat diff.out)"
grep -q '^20 ' diff.out || fail "no step 20: $(cat diff.out)"
cat row
