#!/bin/bash
# pprof_judges.sh FLAMEBANK MAKE_BANK: our pprof files, read by decoders that are not ours: protoc, and pprof
# where Go is installed.  Their samples are those of the bank.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
flamebank=$1 make_bank=$2
command -v protoc > /dev/null || { echo "skipped: no protoc"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

same() { # WHAT OURS THEIRS
    [ "$2" = "$3" ] || { echo "$1: '$2' was written, '$3' was read"; exit 1; }
    echo "$1: $2"
}

"$make_bank" run.fbank samples=3000 steps=2 > /dev/null
# A name with ';', a newline, quotes and bytes that are no UTF-8.
printf 'main;ns::f<int>;a "q" <b>\xff 7\nmain;ns::f<int> 5\n' > odd.folded
for input in run.fbank odd.folded; do
    "$flamebank" convert $input out.pb.gz 2> said
    weight=$(sed -n 's/.* samples of weight \([0-9]*\) written as pprof/\1/p' said)
    zcat out.pb.gz | protoc -I "$here" --decode judge.Profile profile.proto > decoded
    theirs=$(awk '/^sample {/ { first = 1 } first && /^  value:/ { sum += $2; first = 0 } END { print sum }' decoded)
    same "$input by protoc" "$weight" "$theirs"
done
if command -v go > /dev/null && go tool pprof -h > help 2>&1; [ -s help ]; then
    "$flamebank" convert run.fbank run.pb.gz 2> said
    weight=$(sed -n 's/.* samples of weight \([0-9]*\) written as pprof/\1/p' said)
    theirs=$(go tool pprof -raw run.pb.gz 2> /dev/null |
        awk '/^Samples:/ { on = 1; next } /^Locations/ { on = 0 } on && /^ +[0-9]+ +[0-9]+:/ { sum += $1 } END { print sum }')
    same "run.fbank by go tool pprof" "$weight" "$theirs"
    leaf=$("$flamebank" top run.fbank -n 1 --format csv 2> /dev/null | sed -n 2p)
    top=$(go tool pprof -top -nodecount 1 run.pb.gz 2> /dev/null | tail -1)
    name=${top##* }
    case $leaf in *"$name"*) echo "the largest function by both: $name" ;; *)
        echo "the largest function: '$leaf' by us, '$top' by pprof"; exit 1 ;;
    esac
fi
