#!/bin/bash
# shapes.sh BUILD WORK: programs in the shapes of containers and runtimes are recorded, and named from
# every place where their files can be.  Each case says what the bank shows and what is said.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1 work=$2
PATH=$build/bin:$PATH
export LC_ALL=C NO_COLOR=1
unset LD_PRELOAD DEBUGINFOD_URLS
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 3
work=$PWD
fail=0
flags="-O2 -g -fPIC -shared -fno-lto -Wl,--build-id -fno-omit-frame-pointer"

cc -O1 -g -D_GNU_SOURCE "$here/host.c" -o host -ldl || exit 3
library() { # FILE NAME FLAG...
    local file=$1 name=$2
    shift 2
    cc $flags "-DBURN=$name" "$here/burn.c" -o "$file" "$@" || exit 3
}
id_of() { readelf -nW "$1" | sed -n 's/.*Build ID: //p'; }

record() { # NAME HOW LIBRARY...: NAME.fbank, what was said in NAME.said
    local name=$1
    shift
    rm -f "$name".fbank
    flamebank record -o "$name".fbank --hz 100 -- "$work/host" "$@" > /dev/null 2> "$name".said
    stacks "$name"
}
stacks() { flamebank fold --raw-names "$1".fbank > "$1".folded 2> /dev/null; }
symbolize() { # NAME OPTION...
    local name=$1
    shift
    flamebank symbolize "$name".fbank "$@" 2> "$name".said
    stacks "$name"
}

# The weight of the stacks that match, in per cent of all.
share() { awk -v re="$2" '{ all += $NF } $0 ~ re { some += $NF } END { print int(100 * some / all) }' "$1".folded; }
shows() { # NAME REGEX LEAST
    local got
    got=$(share "$1" "$2")
    [ "$got" -ge "$3" ] && return
    echo "FAILED $1: $got % of the samples match '$2', at least $3 were expected"
    head -5 "$1".folded
    fail=1
}
lacks() {
    grep -qE "$2" "$1".folded || return 0
    echo "FAILED $1: '$2' is in the stacks"
    fail=1
}
says() {
    grep -qE "$2" "$1".said && return
    echo "FAILED $1: '$2' is not said:"
    cat "$1".said
    fail=1
}

# Two libraries of one name, and one whose segments start at an address of its own.
mkdir -p one two
library one/libburn.so burn_one
library two/libburn.so burn_two
library based.so burn_based -Wl,-Ttext-segment=0x7000000
record plain plain "$work/one/libburn.so" "$work/two/libburn.so" "$work/based.so"
for name in burn_one burn_two burn_based; do shows plain "$name;spin_inlined_\[i\]" 20; done
flamebank fold --raw-names --no-inlines plain.fbank > bare.folded 2> /dev/null
lacks bare spin_inlined
for name in burn_one burn_two burn_based; do shows bare "$name" 20; done

# One arm with debug data and one without: it is said, and --no-inlines makes them alike.
flamebank symbolize plain.fbank --no-inlines -o flat.fbank 2> /dev/null
flamebank diff plain.fbank flat.fbank > /dev/null 2> unlike.said
says unlike 'plain.fbank has inlined functions and flat.fbank has none'
flamebank diff --no-inlines plain.fbank flat.fbank > unlike.table 2> unlike.said
if grep -q 'has none' unlike.said || grep -qw spin_inlined unlike.table; then
    echo "FAILED unlike: --no-inlines leaves inlined functions"
    fail=1
fi

# No inlined functions in the bank, and again.
symbolize plain --no-inlines
lacks plain spin_inlined
says plain ' inlined functions were known and 0 are'
symbolize plain
shows plain 'burn_one;spin_inlined_\[i\]' 20
flamebank check plain.fbank > /dev/null || { echo "FAILED plain: the bank is damaged"; fail=1; }

# Deleted after the start: named from a folder of build IDs.
mkdir -p gone ids
cp one/libburn.so gone/libgone.so
id=$(id_of one/libburn.so)
mkdir -p "ids/.build-id/${id:0:2}"
cp one/libburn.so "ids/.build-id/${id:0:2}/${id:2}"
record gone delete "$work/gone/libgone.so"
symbolize gone --debug-dir "$work/ids"
shows gone 'burn_one;spin_inlined_\[i\]' 60

# Overwritten: the other file's names are never used, its build ID is said; the root has the right one.
mkdir -p swapped image/"$work"/swapped
cp one/libburn.so swapped/libburn.so
cp one/libburn.so image/"$work"/swapped/libburn.so
cp two/libburn.so swapped/next.so
record swapped replace "$work/swapped/libburn.so" "$work/swapped/next.so"
lacks swapped burn_two
symbolize swapped
says swapped "another file than in the run: its build ID is $(id_of two/libburn.so | cut -c1-16)"
lacks swapped burn_two
symbolize swapped --root "$work/image"
shows swapped 'burn_one;spin_inlined_\[i\]' 60

# A container that still runs: the library is in its mount namespace alone.
mkdir -p room
if unshare -rm mount -t tmpfs room room 2> /dev/null; then
    mkfifo stay
    FLAMEBANK_OUT=$work/room.fbank LD_PRELOAD=$build/lib/flamebank/libflamebank.so unshare -rm sh -c '
        unset LD_PRELOAD; mount -t tmpfs room room && cp one/libburn.so room/libroom.so || exit 1
        LD_PRELOAD='"$build"'/lib/flamebank/libflamebank.so exec ./host hold "$PWD/room/libroom.so"' < stay &
    arm=$!
    exec 7> stay
    until [ "$(flamebank fold --raw-names room.fbank 2> /dev/null | awk '/libroom|burn_one/ { n += $NF } END { print n + 0 }')" -gt 4 ]; do
        kill -0 $arm || { echo "FAILED room: the arm is gone"; exit 1; }
        sleep 0.1
    done
    flamebank symbolize room.fbank -o rooms.fbank 2> rooms.said
    stacks rooms
    shows rooms 'burn_one;spin_inlined_\[i\]' 50
    exec 7>&-
    wait $arm
fi

# The file is gone for good: what was named stays, and it is not said to be without a name.
symbolize swapped --debug-dir "$work/nothing"
shows swapped 'burn_one;spin_inlined_\[i\]' 60
says swapped 'another file than in the run.* keep the name of before'

# From memory only.
record memfd memfd "$work/one/libburn.so"
symbolize memfd --debug-dir "$work/ids"
shows memfd 'burn_one;spin_inlined_\[i\]' 60

# Code in no file has no name of anything else.
if [ "$(uname -m)" = x86_64 ]; then
    record anonymous anonymous
    shows anonymous '\[unknown jit\]' 60
fi

# Stripped: its debug file is at a server (by file://, as the library can), asked only where wanted.
mkdir -p stripped
library stripped/libstripped.so burn_stripped
id=$(id_of stripped/libstripped.so)
mkdir -p "store/buildid/$id"
objcopy --only-keep-debug stripped/libstripped.so "store/buildid/$id/debuginfo"
strip stripped/libstripped.so
record stripped plain "$work/stripped/libstripped.so"
lacks stripped 'burn_stripped|spin_inlined'
export DEBUGINFOD_CACHE_PATH=$work/cache
if ldconfig -p | grep -q libdebuginfod.so.1; then
    symbolize stripped
    lacks stripped burn_stripped
    symbolize stripped --debuginfod "file://$work/nothing"
    says stripped 'debuginfod had 0 of [0-9]+ files'
    lacks stripped burn_stripped
    # A server that answers nothing: its library would wait for 90 s, the time given is 1 s.
    python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0))
open("port.new", "w").write(str(s.getsockname()[1]))
import os; os.rename("port.new", "port"); time.sleep(300)' &
    silent=$!
    until [ -s port ]; do kill -0 $silent || exit 3; sleep 0.05; done
    rm -rf cache
    timeout 60 flamebank symbolize stripped.fbank --debuginfod "http://127.0.0.1:$(cat port)/" --fetch-seconds 1 \
        2> stripped.said || { echo "FAILED stripped: --fetch-seconds does not end the wait"; fail=1; }
    says stripped 'given up, since the time for fetching was over'
    kill $silent
    rm -rf cache
    DEBUGINFOD_URLS=file://$work/store symbolize stripped
    shows stripped 'burn_stripped;spin_inlined_\[i\]' 60
    says stripped 'debuginfod had 1 of [0-9]+ files'
    says stripped ' 0 inlined functions were known and [1-9]'
else
    mkdir -p "ids/${id:0:2}"
    cp "store/buildid/$id/debuginfo" "ids/${id:0:2}/${id:2}.debug"
    symbolize stripped --debug-dir "$work/ids"
    shows stripped 'burn_stripped;spin_inlined_\[i\]' 60
    symbolize stripped --debuginfod "file://$work/store"
    says stripped 'libdebuginfod.so.1 is not installed'
fi

[ $fail -eq 0 ] && echo "shapes.sh: all is named"
exit $fail
