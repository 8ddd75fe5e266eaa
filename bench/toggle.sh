#!/bin/bash
# toggle.sh BUILD WORK [BLOCKS]: the sampler on and off within one nginx process under constant load.
#
# Two runs of one arm differ by more than a sampler costs (docs/statistics.md); one process whose
# sampler is paused and resumed by marks does not.  Pairs of blocks of 2 s, on and off in random
# order within a pair; CPU time of the worker's threads (ours among them) and the requests that it
# answered in each block; the mean of ln(on / off) with its 95 % interval over pairs.  While it is
# paused the sampler's counters go on: what they cost is in the account, not in the difference.
set -euo pipefail
build=$1
work=$2/toggle
pairs=$((${3:-24} / 2))
port=8391
rate=${FB_BENCH_RATE:-3000}
mkdir -p "$work/www"
chmod 755 "$2" "$work" "$work/www"
head -c 4096 /dev/zero | tr '\0' x > "$work/www/page"
cat > "$work/nginx.conf" << END
daemon off; worker_processes 1; pid $work/nginx.pid; error_log $work/error.log;
events { worker_connections 512; }
http { access_log off; gzip on; gzip_min_length 1; gzip_types *; keepalive_requests 1000000000;
    client_body_temp_path $work; proxy_temp_path $work; fastcgi_temp_path $work;
    uwsgi_temp_path $work; scgi_temp_path $work;
    server { listen 127.0.0.1:$port; root $work/www;
        location = /status { stub_status; } location / { default_type text/plain; } } }
END
FLAMEBANK_OUT=$work/%p.fbank LD_PRELOAD=$build/lib/flamebank/libflamebank.so \
    nginx -c "$work/nginx.conf" -p "$work" &
master=$!
load=
trap 'kill $load $master 2> /dev/null || true; wait' EXIT
for _ in $(seq 100); do
    worker=$(pgrep -P $master -x nginx || true)
    [ -n "$worker" ] && (exec 3<> /dev/tcp/127.0.0.1/$port) 2> /dev/null && break
    sleep 0.1
done
h2load --h1 -H 'accept-encoding: gzip' -c 8 -t 1 --rps $((rate / 8)) -D $((pairs * 8 + 30)) \
    "http://127.0.0.1:$port/page" > "$work/load.txt" 2>&1 &
load=$!
sleep 3

# "CPU ns, requests" of the worker since its start.
now() {
    local cpu requests
    cpu=$(cat /proc/"$worker"/task/*/schedstat | awk '{ s += $1 } END { printf "%.0f", s }')
    exec 3<> /dev/tcp/127.0.0.1/$port
    printf 'GET /status HTTP/1.0\r\n\r\n' >&3
    requests=$(awk 'NF == 3 && $1 ~ /^[0-9]+$/ { print $3 }' <&3)
    exec 3>&-
    echo "$cpu $requests"
}
block() { # pause or resume
    local before
    "$build/bin/flamebank" mark "$worker" --"$1"
    before=$(now)
    sleep 2
    echo "$1 $before $(now)"
}
for _ in $(seq $pairs); do
    if [ $((RANDOM % 2)) = 0 ]; then block pause; block resume; else block resume; block pause; fi
done > "$work/blocks"
kill $load
kill -QUIT $master
wait || true
trap - EXIT

# Student's t at 97.5 % by Cornish and Fisher, good to 1 % from 5 degrees on.
awk '{ c = ($4 - $2) / ($5 - $3); x[$1] = log(c); sum[$1] += c; n[$1]++ }
     NR % 2 == 0 { d = x["resume"] - x["pause"]; s += d; ss += d * d; k++ }
     END { m = s / k; sd = sqrt((ss - k * m * m) / (k - 1)); f = k - 1; z = 1.96
           t = z + (z ^ 3 + z) / (4 * f) + (5 * z ^ 5 + 16 * z ^ 3 + 3 * z) / (96 * f * f)
           printf "on %.1f us of CPU a request, off %.1f; on / off %+.2f %% +- %.2f %% (%d pairs of 2 s)\n",
               sum["resume"] / n["resume"] / 1e3, sum["pause"] / n["pause"] / 1e3,
               100 * m, 100 * t * sd / sqrt(k), k }' "$work/blocks"
# The account counts CPU time of paused blocks too: half of it here.
"$build/bin/flamebank" info "$work/$worker.fbank" | grep -E 'account of the sampler|handler per sample|was paused'
