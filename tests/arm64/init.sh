#!/bin/sh
# init.sh - the first process of the emulated machine: runs what test.sh put into /t, and halts it.
PATH=/bin:/usr/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
cd /t || exit
. ./settings
echo "kernel $(uname -r) on $(uname -m)"

for clock in $clocks; do
    for threads in 1 4; do
        # The sampler holds a program's end back for 200 ms at most, in which an emulated machine on
        # a busy one may not come to write: such a run says nothing about arm64, and is done again.
        for try in 1 2 3; do
            FLAMEBANK_OUT=/t/$clock.$threads.fbank FLAMEBANK_HZ=250 FLAMEBANK_CLOCK=$clock \
                LD_PRELOAD=/t/libflamebank.so ./arm64_burn $threads 0.6 > out 2>&1 ||
                echo "failed: burn, $clock, $threads threads: $(cat out)"
            [ -s $clock.$threads.fbank ] && break
        done
        cat out
        uuencode -m $clock.$threads.fbank $clock.$threads.fbank
    done
done
echo "clocks: $clocks"

for chain in $chains; do
    echo "chain $(LD_BIND_NOW=1 timeout 60 ./arm64_chain_$chain 0.5 $chain || echo "failed: $chain")" > out
    cat out
    ! grep -q '^chain failed\|^failed' out || echo "failed: chain $chain"
done
LD_BIND_NOT=1 timeout 60 ./arm64_chain_O2 0.5 O2 lazy > out || echo "failed: chain O2_lazy"
echo "chain $(cat out)"

while read -r name command; do
    rm -f out
    set -f
    LD_BIND_NOW=1 ORACLE_OUT=/t/out LD_PRELOAD=/t/oracle.so timeout 60 $command > /dev/null 2>&1 < /dev/null
    echo "oracle: $name $(cat out)"
done < programs
read -r up rest < /proc/uptime
echo "done: $up s"
poweroff -f
