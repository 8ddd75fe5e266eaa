#!/bin/bash
# test.sh STAGE SOURCE WORK FLAMEBANK: one stage of the tests of the sampler on an emulated arm64.
#     build     the preload library and the programs of programs/, cross-compiled
#     symbols   what the library needs and exports; what its handler can reach
#     walk      stacks in hard places against backtrace()
#     guard     hosts that catch SIGSEGV, with our front of it and without us
#     preload   a known split, 1 and 4 threads, each clock: the banks, read by this machine's flamebank
#     chain     known stacks: SVE, signed return addresses, signal frames, exceptions
#     oracle    Debian's programs against libunwind (needs packages.sh)
#     jvm       Debian's JDK 17, interpreted, C1 and tiered, against AsyncGetCallTrace (needs packages.sh, javac)
#     kernel    preload, chain and oracle on a real arm64 kernel (needs packages.sh, qemu-system-aarch64)
# oracle, jvm and kernel run with FB_SLOW=1 only, and chain then has every build of it.  FB_ARM64_FOLDER: what
# packages.sh filled, if not SOURCE/build/arm64.  Exits 0, 1 with a sentence, or 77 and why where something is not there.
set -u
stage=$1 source=$2 work=$3 flamebank=$4
here=$source/tests/arm64
programs=$work/tests/arm64/programs
library=$work/lib/flamebank/libflamebank.so
folder=${FB_ARM64_FOLDER:-$source/build/arm64}
sysroot=/usr/aarch64-linux-gnu
# Signed return addresses; their real algorithm is slow to emulate.
cpu=max,pauth-impdef=on
clocks='cpu itimer'

skip() {
    echo "$stage: skipped: $*"
    exit 77
}
fail() {
    echo "$stage: $*"
    exit 1
}
needs() {
    for command in "$@"; do
        command -v "$command" > /dev/null || skip "no $command"
    done
}
slow() {
    [ "${FB_SLOW:-0}" = 1 ] || skip "a slow test: FB_SLOW=1 runs it"
}
built() {
    [ -e "$work/built" ] || skip "nothing was built"
}
fetched() {
    [ -e "$folder/done" ] || skip "no arm64 Debian: run tests/arm64/packages.sh build/arm64"
}
user() { # COMMAND...: emulated, on the cross compiler's C library
    qemu-aarch64 -cpu $cpu -L $sysroot "$@"
}
temporary() {
    scratch=$(mktemp -d /tmp/fb-arm64-XXXXXX)
    trap 'rm -rf "$scratch"' EXIT
}

# --- what all machines run ----------------------------------------------------

# The builds of the chain: all of them are quick on hardware, none is under emulation.
chains() {
    if [ "${FB_SLOW:-0}" = 1 ]; then
        echo O0 O0_pac O1 O1_pac O2 O2_pac O3 O3_pac O2_fp O2_bkey O2_sve
    else
        echo O2 O2_pac O2_sve
    fi
}

# bank_check BANK CLOCK: it is whole, of this machine, and has the split that burn made.
bank_check() {
    "$flamebank" check "$1" > /dev/null || fail "$1 is not whole"
    "$flamebank" info "$1" > "$1.info" || fail "$1: info failed"
    grep -q '^machine  *aarch64$' "$1.info" || fail "$1 does not know its machine"
    grep -q "^clock_got  *$2\$" "$1.info" || fail "$1: $(grep clock_got "$1.info"), $2 expected"
    grep -q '^end  *in order$' "$1.info" || fail "$1 does not end in order"
    "$flamebank" fold --no-inlines "$1" > "$1.folded" 2> /dev/null || fail "$1: fold failed"
    awk -v bank="${1##*/} $2" '
        { weight = $NF; sub(/ [0-9]+$/, ""); all += weight }
        /^\[partial\]/ { partial += weight }
        /;burn_sixty$/ { part[60] += weight; if ($0 !~ /;burn;burn_sixty$/) odd += weight }
        /;burn_thirty$/ { part[30] += weight; if ($0 !~ /;burn;burn_thirty$/) odd += weight }
        /;burn_ten$/ { part[10] += weight; if ($0 !~ /;burn;burn_ten$/) odd += weight }
        END {
            sum = part[60] + part[30] + part[10]
            if (sum == 0) { print bank ": no sample has the names of the program"; exit 1 }
            printf "%s: weight %d, split %.0f %.0f %.0f, %.1f %% without their whole stack\n", bank, all,
                100 * part[60] / sum, 100 * part[30] / sum, 100 * part[10] / sum, 100 * odd / sum
            for (p in part) {
                d = 100 * part[p] / sum - p
                if (d > 15 || d < -15) { print "the split is 60, 30, 10"; exit 1 }
            }
            if (sum < 50 || sum < 0.8 * all || odd > 0.1 * sum) exit 1
        }' "$1.folded" || fail "$1: $(head -20 "$1.folded")"
}

# The programs that libunwind is compared on, one a line: name, then the command as words.
oracle_programs() {
    local root=$1
    cat << END
perl	$root/usr/bin/perl -e my(%h);for(my\$i=1;\$i<40000;\$i++){\$h{"k".(\$i%5000)}.="x\$i";@s=sort(map({"\$_\$i"}(1..5)))if(\$i%10==0);}
python	$root/usr/bin/python3.11 -S -c d={str(i):sorted([i,3,2])for(i)in(range(9000))};x=[repr(d)[:99]for(i)in(range(9))];n=sum(map(len,x))
sqlite	$root/usr/bin/sqlite3 :memory: with/**/recursive/**/c(x)as(select/**/1/**/union/**/all/**/select/**/x+1/**/from/**/c/**/where/**/x<30000)select/**/sum(x*2),max(printf('%d',x))from/**/c;
gzip	$root/bin/gzip -9 -c $root/usr/bin/perl
xz	$root/usr/bin/xz -9 -k -c $root/usr/bin/sqlite3
cc1	$root/usr/lib/gcc/aarch64-linux-gnu/12/cc1 -O2 -quiet -o /dev/null $2
openssl	$root/usr/bin/openssl speed -elapsed -seconds 1 rsa2048
END
    for level in O0 O1 O2 O3 O2_fp; do
        echo "chain_$level	$3/arm64_chain_$level 0.5 $level plain"
    done
}

# Counts of oracle.c, "NAME samples same longer shorter differ pending crashed" a line, judged.
oracle_check() {
    awk '
        NF != 8 { print "not counts: " $0; bad = 1; next }
        { for (i = 2; i <= 8; i++) sum[i] += $i; programs++ }
        { printf "%s: %d of %d the same%s\n", $1, $3, $2, ($8 > 0 ? ", then libunwind crashed" : "") }
        END {
            printf "%d programs, %d samples, %.2f %% the same\n", programs, sum[2],
                (sum[2] > 0 ? 100 * sum[3] / sum[2] : 0)
            exit bad || programs < 8 || sum[2] < 1000 || sum[3] < 0.999 * sum[2]
        }' "$1" || fail "the two unwinders differ"
}

# --- the stages ------------------------------------------------------------------

stage_build() {
    needs aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64 cmake ninja
    [ -e $sysroot/lib/libc.so.6 ] || skip "no C library for arm64"
    local root=
    [ -e "$folder/done" ] && root=$folder/root
    rm -f "$work/built"
    cmake -S "$source" -B "$work" -G Ninja --toolchain "$source/cmake/aarch64.cmake" -Wno-dev \
        -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFB_PRELOAD_ONLY=ON -DFB_ARM64_ROOT="$root" \
        > "$work.log" 2>&1 || fail "$(tail -20 "$work.log")"
    local targets='flamebank_preload arm64_burn arm64_faults arm64_walk arm64_order'
    for chain in $(chains); do
        targets="$targets arm64_chain_$chain"
    done
    [ -n "$root" ] && targets="$targets arm64_oracle arm64_chains"
    ls /usr/lib/jvm/*/include/jvmti.h > /dev/null 2>&1 && targets="$targets arm64_agct"
    # shellcheck disable=SC2086 # a list
    cmake --build "$work" -j 2 --target $targets > "$work.log" 2>&1 || fail "$(tail -20 "$work.log")"
    : > "$work/built"
}

stage_symbols() {
    built
    "$source/tests/checks/preload_symbols.sh" "$library" "$source/tests/checks/preload_exports.txt" ||
        exit 1
    python3 "$source/tests/checks/signal_safe.py" --cross aarch64-linux-gnu- --stack 4096 \
        --allow "$source/tests/checks/signal_allow.txt" \
        "$work"/sampler/CMakeFiles/flamebank_signal.dir/signal/*.o \
        "$work"/sampler/CMakeFiles/flamebank_signal.dir/jvm/signal/*.o || exit 1
}

stage_walk() {
    built
    user "$programs/arm64_walk" || exit 1
    user "$programs/arm64_order" 2 || exit 1
}

stage_preload() {
    built
    temporary
    for clock in $clocks; do
        for threads in 1 4; do
            local seconds=0.6
            [ $threads = 4 ] && seconds=0.3
            FLAMEBANK_OUT=$scratch/$clock.$threads.fbank FLAMEBANK_HZ=250 FLAMEBANK_CLOCK=$clock \
                user -E LD_PRELOAD="$library" "$programs/arm64_burn" $threads $seconds > "$scratch/out" 2>&1 ||
                fail "$clock: burn: $(cat "$scratch/out")"
            bank_check "$scratch/$clock.$threads.fbank" "$clock"
        done
    done
}

# The same output with the front of SIGSEGV as without us.  Not all cases: the emulator tells flags
# that the kernel clears, and its forked children cannot make threads.
stage_guard() {
    built
    temporary
    for case in jumps-out implicit-checks stack-overflows masks sent-and-bus changes; do
        user "$programs/arm64_faults" $case > "$scratch/plain" 2>&1
        local status=$?
        FLAMEBANK_OUT=$scratch/%p.fbank FLAMEBANK_HZ=250 FLAMEBANK_GUARD=1 \
            user -E LD_PRELOAD="$library" "$programs/arm64_faults" $case > "$scratch/out" 2>&1
        [ $? = $status ] || fail "$case: another status than $status"
        cmp -s "$scratch/plain" "$scratch/out" || fail "$case: $(diff "$scratch/plain" "$scratch/out")"
    done
}

stage_chain() {
    built
    for chain in $(chains); do
        user -E LD_BIND_NOW=1 "$programs/arm64_chain_$chain" 0.4 "$chain" || fail "$chain is wrong"
    done
    # No call is bound for good: most samples are in the resolver of lazy binding.
    user -E LD_BIND_NOT=1 "$programs/arm64_chain_O2" 0.4 O2 lazy || fail "lazy binding is wrong"
}

stage_oracle() {
    slow
    built
    fetched
    [ -e "$programs/oracle.so" ] || skip "it was built without libunwind"
    temporary
    aarch64-linux-gnu-gcc -E -P -I"$source" -D_GNU_SOURCE "$source/sampler/modules.c" > "$scratch/unit.c"
    oracle_programs "$folder/root" "$scratch/unit.c" "$programs" |
        while IFS="$(printf '\t')" read -r name command; do
            # shellcheck disable=SC2086 # words
            set -f -- $command
            timeout 60 qemu-aarch64 -L "$folder/root" -E LD_BIND_NOW=1 -E ORACLE_OUT="$scratch/out" \
                -E LD_PRELOAD="$programs/oracle.so" "$@" > /dev/null 2> "$scratch/err" < /dev/null ||
                echo "$name: $(tail -1 "$scratch/err")" >&2
            echo "$name $(cat "$scratch/out")"
            rm -f "$scratch/out"
        done > "$scratch/counts"
    oracle_check "$scratch/counts"
}

# Of the stacks of which both have Java frames 99 % are the same, but for what the oracle is known to get wrong; the
# program's own result is what it must be.
jvm_check() { # REPORT OPTION
    awk -v option="$2" '
        /^--/ { exit }
        { n[$1] = $2 }
        END {
            theirs = n["entering"] + n["epilogue"] + n["leaf_call"] + n["they_stop"]
            good = n["same"] + n["no_id"] + n["continues"]
            printf "%s: %d stacks of both, %d the same, %d differ by a known fault of the oracle; %d Java frames without a name\n",
                option, n["both"], good, theirs, n["unnamed"]
            exit !(n["both"] > 100 && good >= 0.99 * (n["both"] - theirs) && theirs < n["both"] / 5 && n["unnamed"] == 0)
        }' "$1" || { grep -A 24 '^--' "$1" | head -50; fail "$2: our walk and the oracle differ"; }
}

stage_jvm() {
    slow
    built
    fetched
    needs javac
    local java=$folder/jdk/usr/lib/jvm/java-17-openjdk-arm64/bin/java option name
    [ -e "$java" ] || skip "no arm64 JDK: run tests/arm64/packages.sh build/arm64"
    [ -e "$programs/agct.so" ] || skip "it was built without jvmti.h"
    temporary
    javac --release 17 -d "$scratch/classes" "$source"/fixtures/jvm/Torture.java "$source"/fixtures/jvm/Redefined.java ||
        fail "javac failed"
    for name in mixed stubs exceptions recursion; do echo "$name: right"; done > "$scratch/expected"
    for option in -Xint -XX:TieredStopAtLevel=1 -XX:+TieredCompilation; do
        rm -f "$scratch"/*.fbank "$scratch/report"
        timeout 120 qemu-aarch64 -L "$folder/jdk" -E AGCT_OUT="$scratch/report" -E FLAMEBANK_HZ=250 \
            -E FLAMEBANK_OUT="$scratch/java.fbank" -E LD_PRELOAD="$programs/agct.so" "$java" \
            "-agentpath:$programs/agct.so" $option -XX:+UseSerialGC -Xmx128m -cp "$scratch/classes" Torture \
            mixed stubs exceptions recursion 10 > "$scratch/out" 2> "$scratch/err" ||
            fail "$option: status $?: $(tail -20 "$scratch/out" "$scratch/err")"
        cmp -s "$scratch/expected" "$scratch/out" || fail "$option: $(diff "$scratch/expected" "$scratch/out")"
        jvm_check "$scratch/report" $option
        "$flamebank" check "$scratch/java.fbank" > /dev/null || fail "$option: the bank is not whole"
        "$flamebank" fold "$scratch/java.fbank" > "$scratch/folded"
        grep -q ';Torture\.' "$scratch/folded" || fail "$option: no frame of Torture's"
    done
}

# The initial file system: the arm64 Debian, what was built, and init, which runs all and halts.
kernel_files() {
    local tree=$1 command
    mkdir -p "$tree/t" "$tree/proc" "$tree/sys" "$tree/dev" "$tree/tmp"
    cp -a "$folder/root/." "$tree/"
    rm -rf "$tree/usr/include"
    find "$tree" -name '*.a' -delete
    cp "$library" "$programs/oracle.so" "$programs/arm64_walk" "$tree/t/"
    # At the path that it has here, for the bank's names are looked up here.
    mkdir -p "$tree$programs"
    cp "$programs/arm64_burn" "$tree$programs/"
    ln -s "$programs/arm64_burn" "$tree/t/arm64_burn"
    for chain in $(chains); do
        cp "$programs/arm64_chain_$chain" "$tree/t/"
    done
    aarch64-linux-gnu-gcc -E -P -I"$source" -D_GNU_SOURCE "$source/sampler/modules.c" > "$tree/t/unit.c"
    oracle_programs '' /t/unit.c /t | sed 's/^\([^	]*\)	/\1 /' > "$tree/t/programs"
    for command in sh cat mount poweroff timeout uname uuencode wc; do
        ln -sf busybox "$tree/bin/$command"
    done
    printf '%s\n' "clocks='$clocks'" "chains='$(chains)'" > "$tree/t/settings"
    install -m 755 "$here/init.sh" "$tree/init"
    python3 "$here/cpio.py" "$tree"
}

stage_kernel() {
    slow
    built
    fetched
    needs qemu-system-aarch64 python3
    [ -e "$programs/oracle.so" ] || skip "it was built without libunwind"
    temporary
    kernel_files "$scratch/tree" > "$scratch/initrd" || fail "no initial file system"
    timeout 550 qemu-system-aarch64 -M virt -cpu $cpu -smp 2 -m 1024 -nographic -net none -no-reboot \
        -kernel "$folder/vmlinuz" -initrd "$scratch/initrd" -append "console=ttyAMA0 quiet panic=-1" \
        < /dev/null > "$scratch/raw" 2>&1
    tr -d '\r' < "$scratch/raw" > "$scratch/console"
    grep -q '^done: ' "$scratch/console" || fail "the machine did not come to its end: $(tail -20 "$scratch/console")"
    python3 - "$scratch" << 'END'
import binascii, sys
folder, name, data = sys.argv[1], None, b''
for line in open(folder + '/console', encoding='ascii', errors='replace'):
    words = line.split()
    if words[:1] == ['begin-base64']:
        name, data = words[2], b''
    elif line.startswith('====') and name:
        open(folder + '/' + name, 'wb').write(data)
        name = None
    elif name:
        data += binascii.a2b_base64(line)
END
    grep -E '^(kernel|chain|trampoline|wrong|done)' "$scratch/console" | cut -c1-400
    ! grep -q '^failed: ' "$scratch/console" || fail "$(grep '^failed: ' "$scratch/console")"
    for clock in $(sed -n 's/^clocks: //p' "$scratch/console"); do
        for threads in 1 4; do
            bank_check "$scratch/$clock.$threads.fbank" "$clock"
        done
    done
    sed -n 's/^oracle: //p' "$scratch/console" > "$scratch/counts"
    oracle_check "$scratch/counts"
}

"stage_$stage"
