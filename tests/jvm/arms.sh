#!/bin/bash
# arms.sh LIBRARY HOSTS CASE RELEASE: the real arms under load, each stack asked of AsyncGetCallTrace in the same signal
# (agct.c), and the bank that comes of it.  FB_JVM_SECONDS: how long the load goes (20).
#
# Of the stacks of which both have Java frames 99.5 % must be the same, but for those that the oracle is known to get
# wrong (agct.c says how), which must be under 3 %; of the stacks that hold Java under 2 % may be cut; every Java frame
# has a name; under 0.5 % of the samples end in a frame that is unknown.
source "${BASH_SOURCE[0]%/*}/lib.sh"
release=$1
seconds=${FB_JVM_SECONDS:-20}
arms=$source_tree/fixtures/arms
agct=$built/agct.so
port=$((21000 + $$ % 9000))
home=$(jdk "$release") || skip "no JDK $release"
[ -e "$agct" ] || skip "there was no jvmti.h when the tests were built"
command -v h2load > /dev/null || skip "no h2load"

# The java that the arm's script is given.
cat > java << END
#!/bin/sh
exec env AGCT_OUT="$folder/report" FLAMEBANK_OUT="$folder/banks/%e.%p.fbank" FLAMEBANK_HZ=${FB_JVM_HZ:-199} \\
    LD_PRELOAD="$agct" "$home/bin/java" "-agentpath:$agct" "\$@"
END
chmod +x java

serve() { # SCRIPT ARGUMENT...
    JAVA=$folder/java "$@" > server.out 2>&1 &
    server=$!
    for _ in $(seq 300); do
        grep -q 'ready on port' server.out && return 0
        if ! kill -0 $server 2> /dev/null; then
            ! grep -q 'install the packages' server.out || skip "$(grep -m 1 'install the packages' server.out)"
            break
        fi
        sleep 0.2
    done
    fail "no server: $(tail -5 server.out)"
}

load() { # H2LOAD-OPTION...
    h2load -c 8 -t 1 -D "$seconds" "$@" > load.out 2>&1 || fail "h2load: $(tail -3 load.out)"
    grep -q ' 0 failed, 0 errored, 0 timeout' load.out || fail "$(grep '^requests' load.out)"
    kill -TERM $server
    wait $server
    [ $? = 143 ] || fail "the server ended otherwise than by SIGTERM: $(tail -20 server.out)"
}

value() { awk -v n="$1" '$1 == n { print $2; exit }' report; }

# judge LIMIT-OF-DIFFERENCES: the report and the bank.
judge() {
    local both good theirs bank ended
    cp report "${FB_JVM_REPORTS:-$folder}/report.$case.$release" 2> /dev/null
    [ -s report ] || fail "there is no report: $(tail -5 server.out)"
    sed '/^--/,$d' report | tr '\n' ' '
    echo
    grep '^--' report | awk '{ print $2 }' | sort | uniq -c
    both=$(value both)
    good=$(($(value same) + $(value no_id) + $(value continues)))
    theirs=$(($(value entering) + $(value epilogue) + $(value leaf_call) + $(value they_stop)))
    awk -v b="$both" -v g="$good" -v t="$theirs" 'BEGIN {
        printf "%d stacks of both: %.3f %% the same, %.3f %% differ by a known fault of the oracle, %.3f %% by none\n",
            b, 100 * g / b, 100 * t / b, 100 * (b - g - t) / b }'
    [ "$both" -gt 500 ] || fail "only $both stacks to compare"
    awk -v b="$both" -v g="$good" -v t="$theirs" 'BEGIN { exit !(g >= 0.995 * (b - t) && t < 0.03 * b) }' ||
        fail "$(grep -A 30 '^--' report | head -60)"
    [ "$(value unnamed)" = 0 ] || fail "$(value unnamed) Java frames have no name"
    awk -v c="$(value ours_cut)" -v j="$(value ours_java)" 'BEGIN { exit !(c < 0.02 * j) }' ||
        fail "$(value ours_cut) of $(value ours_java) stacks with Java frames are cut"
    bank=$(java_bank)
    whole "$bank"
    "$flamebank" symbolize "$bank" > symbolized 2>&1 || fail "$(cat symbolized)"
    "$flamebank" fold "$bank" > folded
    cp folded "${FB_JVM_REPORTS:-$folder}/folded.$case.$release" 2> /dev/null
    ended=$(awk '{ n = $NF; sub(/ [0-9]+$/, ""); leaf = $0; sub(/.*;/, "", leaf); all += n
        if (leaf ~ /^\[unknown\]$|^\[unknown jit\]|^\[java/) bad += n }
        END { printf "%d %d %.3f", bad, all, all ? 100 * bad / all : 100 }' folded)
    echo "unknown leaves: $ended %"
    awk -v e="${ended##* }" 'BEGIN { exit !(e < 0.5) }' || fail "$ended % of the samples end in an unknown frame"
}

rest() {
    serve "$arms/rest/run.sh" $port
    load --h1 -d "$arms/rest/request.json" -H 'content-type: application/json' "http://127.0.0.1:$port/orders"
    judge
}

grpc() { # EXECUTOR
    "$arms/grpc/build.sh" "$folder/grpc" > build.out 2>&1 || skip "$(tail -1 build.out)"
    serve "$arms/grpc/run.sh" "$folder/grpc" $port "$1"
    load -m 10 -d "$folder/grpc/request.bin" -H 'content-type: application/grpc' -H 'te: trailers' \
        "http://127.0.0.1:$port/arms.orders.Orders/Price"
    judge
}

case $case in
rest) rest ;;
*) grpc "${case#grpc_}" ;;
esac
