#!/bin/bash
# node.sh LIBRARY BUILD CASE: the Node.js arm under load and the preload alone.  What V8 wrote is
# deleted before anybody looks at the bank.  Skipped (77) where there is no node.
set -u
library=$1
build=$2
case=$3
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
arm=$here/../../../fixtures/arms/node
folder=$(mktemp -d /tmp/fb-node-XXXXXX)
pid=
trap '[ -n "$pid" ] && kill $pid 2> /dev/null; rm -rf "$folder"' EXIT
PATH=$build/bin:$PATH
unset FLAMEBANK_RUN FLAMEBANK_OUT FLAMEBANK_HZ FLAMEBANK_CLOCK LD_PRELOAD
command -v node > /dev/null || {
    echo "skipped: there is no node"
    exit 77
}

fail() {
    echo "$case: $*"
    exit 1
}

# run OPTION...: $folder/run.fbank and its raw folded stacks.
run() {
    local port=
    (cd "$folder" && exec env FLAMEBANK_OUT="$folder/run.fbank" FLAMEBANK_HZ=499 \
        LD_PRELOAD="$library" node "$@" "$arm/server.js" 0 > ready 2> err) &
    pid=$!
    for _ in $(seq 600); do
        port=$(sed -n 's/^ready //p' "$folder/ready" 2> /dev/null)
        [ -n "$port" ] && break
        kill -0 $pid 2> /dev/null || fail "the server does not start: $(cat "$folder/err")"
        sleep 0.1
    done
    node "$arm/load.js" "$port" 20000 || fail "the load has failed"
    kill -TERM $pid
    wait $pid || fail "the server ended with $?: $(cat "$folder/err")"
    rm -f "/tmp/perf-$pid.map" "$folder"/perf-*.map "$folder"/jit-*.dump
    pid=
    flamebank check "$folder/run.fbank" > "$folder/out" 2>&1 || fail "$(cat "$folder/out")"
    flamebank fold "$folder/run.fbank" --raw-names > "$folder/folded" 2> "$folder/err" ||
        fail "$(cat "$folder/err")"
}

# share PATTERN: percentage of the weight whose stack matches.
share() {
    awk -v pattern="$1" '{ all += $NF } $0 ~ pattern { some += $NF }
        END { printf "%.1f", all ? 100 * some / all : 0 }' "$folder/folded"
}

# at_least A B WHAT, at_most A B WHAT
at_least() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }' || fail "$3: $1 %, $2 and more was expected"
}
at_most() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a <= b) }' || fail "$3: $1 %, $2 at most was expected"
}

stacks_are_whole() {
    at_most "$(share '^\[(partial|truncated)\]')" 2 "stacks without their root"
    at_least "$(share '^_start;.*node::Start')" 40 "stacks from main() through node::Start"
}

scripts_have_names() {
    at_least "$(share 'JS:[*^~+][^;]*server\.js:')" 5 "stacks with the application's functions"
    at_least "$(share 'JS:[*^~+][^;]* node:_http_')" 5 "stacks with node's own functions"
    at_most "$(share '\[unknown jit\]')" 5 "stacks with generated code that has no name"
}

perf_basic_prof() {
    run --perf-basic-prof
    stacks_are_whole
    scripts_have_names
    flamebank layers "$folder/run.fbank" --rules node --format csv > "$folder/layers" 2>&1 ||
        fail "$(cat "$folder/layers")"
    for layer in json http 'node core' 'v8 runtime'; do
        awk -F, -v layer="$layer" '{ gsub(/"/, "") } $1 == layer && $2 > 0 { found = 1 }
            END { exit !found }' "$folder/layers" || fail "no layer $layer: $(cat "$folder/layers")"
    done
    flamebank flame "$folder/run.fbank" --rules node -o "$folder/run.svg" 2> "$folder/err" ||
        fail "$(cat "$folder/err")"
    grep -q 'server.js' "$folder/run.svg" || fail "the picture has no JavaScript"
}

interpreted_frames() {
    run --perf-basic-prof --interpreted-frames-native-stack
    stacks_are_whole
    scripts_have_names
    at_least "$(share 'JS:~')" 1 "stacks with interpreted functions"
}

perf_prof() {
    run --perf-prof
    stacks_are_whole
    scripts_have_names
}

# Nobody writes names: the stacks are whole all the same, and what is native has names.
no_map() {
    run
    stacks_are_whole
    at_least "$(share 'Builtins_')" 30 "stacks with functions of V8"
    at_most "$(share '\[unknown\]')" 5 "stacks with native code that has no name"
}

case $case in
perf_basic_prof | interpreted_frames | perf_prof | no_map) "$case" ;;
*) fail "no such case" ;;
esac
