# lib.sh - what the tests of the sampler in real processes share; sourced with LIBRARY HOSTS CASE ....
#
# Each runs in an empty folder of its own, with the functions below; banks go to banks/.
set -u
exec < /dev/null
ulimit -S -c 0
library=$1
hosts=$2
case=$3
shift 3
folder=$(mktemp -d /tmp/fb-sampler-XXXXXX)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir banks
unset FLAMEBANK_RUN FLAMEBANK_OUT FLAMEBANK_HZ FLAMEBANK_CLOCK FLAMEBANK_LABELS FLAMEBANK_ENV \
    FLAMEBANK_OFF FLAMEBANK_FOLLOW FLAMEBANK_GUARD FLAMEBANK_MODE LD_PRELOAD

fail() {
    echo "$case: $*"
    exit 1
}

# profiled COMMAND...: under the sampler, banks into banks/.  Variables in front of it count.
profiled() {
    FLAMEBANK_OUT=${FLAMEBANK_OUT-$folder/banks/%e.%p.fbank} LD_PRELOAD=$library "$@"
}

fact() {
    "$hosts/bank_facts" "$1" "$2" 2> /dev/null || echo none
}

# For tests of minutes: ./dev check sets FB_SLOW.
slow() {
    [ "${FB_SLOW:-}" = 1 ] || exit 77
    "$@"
}

# For processes that a test kills: no shell between.
start() {
    env FLAMEBANK_OUT="$folder/banks/%e.%p.fbank" LD_PRELOAD="$library" "$@" &
    pid=$!
}

banks() {
    find banks -type f -name "$1" | wc -l
}

# whole FILE: no damage, no orphans, no counter that falls, and the writer's own count agrees.
whole() {
    [ "$(fact "$1" damaged)" = 0 ] || fail "$1 is damaged: $("$hosts/bank_facts" "$1" damaged 2>&1)"
    [ "$(fact "$1" orphans)" = 0 ] || fail "$1 has samples without their stacks"
    [ "$(fact "$1" falls)" = 0 ] || fail "$1 has counters that fall"
}

# near A B PERCENT: |A - B| <= PERCENT of B
near() {
    awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a - b; exit !((d < 0 ? -d : d) <= b * p / 100) }'
}

habit_clocks='cpu itimer'

# Plainly and under the clocks of $habit_clocks, all at once, each a child of this shell alone: what the shell says
# about an end by a signal stays out of their messages.
start_three() { # PROGRAM HABIT
    local clock
    "$hosts/$1" "$2" > plain.out 2> plain.err &
    three=$!
    for clock in $habit_clocks; do
        mkdir banks/$clock
        FLAMEBANK_OUT=$folder/banks/$clock/%e.%p.fbank FLAMEBANK_HZ=1000 FLAMEBANK_CLOCK=$clock \
            LD_PRELOAD=$library "$hosts/$1" "$2" > $clock.out 2> $clock.err &
        three="$three $!"
    done
}

# Same status, output and messages as without us, under 1000 Hz and both clocks; the banks are whole.
# Some habits leave a hundred banks of children, all made alike.
BANKS_LOOKED_AT=20

habit() { # PROGRAM HABIT
    local three status='' pid clock bank
    start_three "$1" "$2"
    for pid in $three; do
        wait "$pid" 2> /dev/null
        status="$status$? "
    done
    # shellcheck disable=SC2086 # one word a process
    [ "$(printf '%s\n' $status | sort -u | wc -l)" = 1 ] || fail "$2: status $status"
    for clock in $habit_clocks; do
        cmp -s plain.out $clock.out || fail "$2 $clock: output $(diff plain.out $clock.out)"
        cmp -s plain.err $clock.err || fail "$2 $clock: messages $(diff plain.err $clock.err)"
        find banks/$clock -type f | sort | head -n "$BANKS_LOOKED_AT" > looked_at
        while read -r bank; do
            whole "$bank"
        done < looked_at
        ends_in_order "$2" banks/$clock
    done
}

# What ends in order has written everything: the bank of the run's first process has an END.
ends_in_order() { # HABIT FOLDER
    local bank found=0
    case $1 in
    aborts | killed | storm | block-profiling) return 0 ;;
    esac
    for bank in "$2"/*; do
        [ -e "$bank" ] && [ "$(fact "$bank" manifest.run_root)" = 1 ] || continue
        found=1
        [ "$(fact "$bank" ended)" = 1 ] || fail "$bank has no end"
    done
    [ $found = 1 ] || fail "$2 holds no bank of the first process"
}
