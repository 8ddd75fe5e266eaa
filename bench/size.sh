#!/bin/bash
# The size of the packed bank of a steady run of 60 s: nginx under a constant load, recorded here.
#   size.sh BUILD WORKDIR
set -euo pipefail
build=$1 work=$2
root=$(cd "$(dirname "$0")/.." && pwd)
DEMO_STEPS=3000 DEMO_SECONDS=${SIZE_SECONDS:-60} "$root/fixtures/demo/arm.sh" "$build/bin/flamebank" \
    steady on 18093 "$work" > /dev/null 2> "$work/size.log" || { cat "$work/size.log"; exit 3; }
"$build/bench/bench_size" "$work/steady.fbank"
