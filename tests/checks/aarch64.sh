#!/bin/sh
# The unwinder on arm64: its objects pass signal_safe.py, and its walks are backtrace()'s.
# Needs aarch64-linux-gnu-gcc and qemu-aarch64; without them it is skipped (77).
# usage: aarch64.sh SOURCE_DIR WORK_DIR
set -eu
source=$1
work=$2
cross=aarch64-linux-gnu-
command -v "${cross}gcc" > /dev/null && command -v qemu-aarch64 > /dev/null || exit 77
rm -rf "$work"
mkdir -p "$work"

compile() { # OUT FLAGS... SOURCE
    out=$1
    shift
    "${cross}gcc" -std=gnu17 -D_GNU_SOURCE -I"$source" -O2 -g -fPIC -fvisibility=hidden -Wall -Wextra \
        -Werror -mno-outline-atomics -c -o "$out" "$@"
}

objects=
for file in "$source"/sampler/signal/*.c; do
    object=$work/$(basename "$file").o
    compile "$object" -fno-jump-tables -fno-stack-protector -fno-omit-frame-pointer -fstack-usage \
        -ftls-model=initial-exec "$file"
    objects="$objects $object"
done
# shellcheck disable=SC2086 # a list
python3 "$source/tests/checks/signal_safe.py" --cross $cross --stack 4096 \
    --allow "$source/tests/checks/signal_allow.txt" $objects

for name in cfi cfi_run image loader_list modules self_read table; do
    compile "$work/$name.o" "$source/sampler/$name.c"
    objects="$objects $work/$name.o"
done
compile "$work/stacks.o" -fomit-frame-pointer "$source/tests/unit/sampler/stacks.c"
compile "$work/main.o" "$source/tests/unit/sampler/aarch64_walk.c"
# shellcheck disable=SC2086
"${cross}gcc" -o "$work/walk" $objects "$work/stacks.o" "$work/main.o"
qemu-aarch64 -L /usr/aarch64-linux-gnu "$work/walk"
