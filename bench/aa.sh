#!/bin/bash
# aa.sh BUILD FOLDER [nginx|jvm|planted|setting]...: what a diff says of runs that are equal, and of a change that was
# planted.  Recorded by `flamebank run`, judged by `flamebank diff` and `floor`; on a quiet machine.
#
#   nginx, jvm   6 ramps of one arm: rows of layers that are a DIFF though nothing differs, the design effects and
#                the floor between runs, each beside what docs/statistics.md assumes
#   planted      3 pairs C V V C C V of a server whose variant does 5 % more work, all of it in planted_encode()
#   setting      3 pairs of nginx without and with gzip
#
# FOLDER keeps banks, tables and answers; a ramp that is whole is not run again.  HOLD seconds a step (32, since shorter
# windows are judged by a floor of their own), WARMUP before them (15; a JVM 60); a step is the first one and not judged.
set -euo pipefail
build=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
here=$(cd "$(dirname "$0")" && pwd)
arms=$here/../fixtures/arms
PATH=$build/bin:$PATH
export LC_ALL=C
hold=${HOLD:-32}
port=${PORT:-24800}
chosen=("${@:-}")
wants() { [ -z "${chosen[0]}" ] || [[ " ${chosen[*]} " == *" $1 "* ]]; }

# ramps NAME WARMUP RATES URL PAIRS ARM... [-- WORD of h2load...]
ramps() {
    local name=$1 warmup=$2 rates=$3 url=$4 pairs=$5 first=${3%%,*} given=()
    shift 5
    while [ $# -gt 0 ] && [ "$1" != -- ]; do given+=(--arm "$1"); shift; done
    [ $# -eq 0 ] || shift
    flamebank run -o "$folder/$name" "${given[@]}" --pairs "$pairs" --rates "$rates" --hold "$hold" \
        --warmup "$warmup@$first" --settle 1 --ready "curl -sf -o /dev/null ${READY:-$url}" \
        -- h2load --h1 -c 1 --rps '{rate}' -D '{seconds}' "$@" "$url" > "$folder/$name.run"
}
judge() { python3 "$here/aa.py" "$folder" "$@"; }

if wants nginx; then
    ramps nginx "${WARMUP:-15}" 1000,1500,2000 http://127.0.0.1:$port/data.json 6 \
        "a=$arms/nginx/run.sh $folder/nginx-a $port on" -- -H 'accept-encoding: gzip'
    judge equal nginx nginx
fi
if wants jvm; then
    READY=http://127.0.0.1:$port/ready ramps jvm "${WARMUP:-60}" 150,200,250 http://127.0.0.1:$port/orders 6 \
        "a=$arms/rest/run.sh $port" -- -d "$arms/rest/request.json" -H 'content-type: application/json'
    judge equal jvm jvm --jvm
fi
if wants planted; then
    # without -g: the loop that is inlined has no frame of its own
    cc -O2 -fno-omit-frame-pointer -pthread "$here/../fixtures/hosts/planted.c" -o "$folder/planted-server"
    cat > "$folder/planted.json" << 'END'
{"layers": [{"name": "parse"}, {"name": "price"}, {"name": "encode"}, {"name": "log"}, {"name": "rest"}],
 "rules": [{"layer": "parse", "leaf": "^planted_parse"}, {"layer": "price", "leaf": "^planted_price"},
           {"layer": "encode", "leaf": "^planted_encode"}, {"layer": "log", "leaf": "^planted_log"},
           {"layer": "rest", "leaf": "."}]}
END
    ramps planted "${WARMUP:-5}" 500,750,1000 http://127.0.0.1:$port/ 3 \
        "c=$folder/planted-server $port 0" "v=$folder/planted-server $port 10"
    judge pairs planted "$folder/planted.json" encode
fi
if wants setting; then
    ramps setting "${WARMUP:-5}" 1000,1500,2000 http://127.0.0.1:$port/data.json 3 \
        "c=$arms/nginx/run.sh $folder/setting-c $port off" "v=$arms/nginx/run.sh $folder/setting-v $port on" \
        -- -H 'accept-encoding: gzip'
    judge pairs setting nginx
fi
