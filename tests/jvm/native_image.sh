#!/bin/bash
# native_image.sh LIBRARY HOSTS CASE: a GraalVM native image that is dynamically linked, a server from npm's
# registry: it is entered, answers as it does without us, says nothing, and its CPU time is in the bank.  Native images
# use SIGPROF themselves when they record: no signal of ours may be missing or passed on.
# (The image has call frame information for its C parts alone, so that most stacks are their innermost frame.)
source "${BASH_SOURCE[0]%/*}/lib.sh"
package=@jongodb/memory-server-bin-linux-x64-gnu
version=0.1.6
image=${FB_NATIVE_IMAGE:-}
port=$((22000 + $$ % 9000))

if [ -z "$image" ]; then
    command -v npm > /dev/null || skip "no npm"
    npm pack --silent "$package@$version" > npm.out 2>&1 || skip "no $package: $(tail -1 npm.out)"
    tar xzf ./*.tgz && image=$folder/package/bin/jongodb
fi
[ -x "$image" ] && readelf -lW "$image" | grep -q INTERP || skip "$image is no dynamically linked program"

serve() { # COMMAND...
    "$@" "$image" --port=$port > server.out 2> server.err &
    server=$!
    for _ in $(seq 50); do
        grep -q "$port" server.out && break
        sleep 0.1
    done
    python3 "$source_tree/fixtures/jvm/documents.py" $port "${FB_JVM_SECONDS:-4}" > client.out 2>&1
    status=$?
    kill -TERM $server
    wait $server
    [ $status = 0 ] || fail "$(cat client.out server.out server.err)"
}

serve env
cp server.err plain.err
serve env FLAMEBANK_HZ=1000 FLAMEBANK_CLOCK=cpu FLAMEBANK_OUT="$folder/banks/%e.%p.fbank" LD_PRELOAD="$library"
grep -v '^flamebank: .* over 1 %' server.err | cmp -s - plain.err || fail "something is said: $(cat server.err)"
bank=$(ls banks/*)
whole "$bank"
[ "$(fact "$bank" counter.sampler.foreign)" = 0 ] || fail "signals were passed on"
near "$(($(fact "$bank" weight) * 1000))" "$(($(fact "$bank" counter.threads.cpu_ns) / 1000))" 10 ||
    fail "$(fact "$bank" weight) ms of samples, $(fact "$bank" counter.threads.cpu_ns) ns of CPU time"
"$flamebank" symbolize "$bank" > symbolized 2>&1 || fail "$(cat symbolized)"
"$flamebank" fold "$bank" | awk '{ n += $NF; if (/^\[partial\]/) p += $NF } END { print n " ticks, " p " of them cut" }'
