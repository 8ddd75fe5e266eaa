#!/bin/bash
# prove.sh PLACES WORK templates|variants|system: our answers against llvm-symbolizer's.
#   templates  a templated C++ program, 1,500 addresses
#   variants   the same built in every way that changes the debug data: versions of DWARF, compilers,
#              optimisation at link time, split, packaged, compressed, shared (dwz), reduced
#   system     5,000 addresses each of large libraries of the system; their debug files where they
#              are installed
set -u
here=$(cd "$(dirname "$0")" && pwd)
places=$1 work=$2 what=$3
rm -rf "$work" && mkdir -p "$work" && cd "$work" || exit 3
fail=0
base="-O2 -std=c++17"

prove() { # FILE COUNT [LEAST]
    timeout 120 python3 "$here/prove.py" "$places" "$1" "$2" "${3:-99.5}" || { echo "prove.sh: $1 differs"; fail=1; }
}

# build NAME COMPILER FLAG...
build() {
    local name=$1
    shift
    "$@" $base "$here/templates.cc" -o "$name" || { echo "prove.sh: $name cannot be built"; fail=1; return; }
    prove "$name" 1000
}

have() {
    command -v "$1" > /dev/null && return
    echo "prove.sh: skipped what needs $1"
    return 1
}

case $what in
templates)
    # addr2line calls a function without a linkage name by the one before it: half a per cent.
    least=99.5
    command -v llvm-symbolizer > /dev/null || least=98
    g++ $base -g "$here/templates.cc" -o templates || exit 3
    prove templates 1500 $least
    ;;
variants)
    have llvm-symbolizer || exit 77
    for version in 2 3 4 5; do build "gcc-$version" g++ -gdwarf-$version; done
    build no-pie g++ -g -no-pie
    build plain g++ -g -O0
    build g1 g++ -g1
    build lto g++ -g -flto
    build 64 g++ -g -gdwarf64
    build z g++ -g -gz
    build zgnu g++ -g -gz=zlib-gnu
    build types g++ -gdwarf-4 -fdebug-types-section
    build split-5 g++ -g -gsplit-dwarf
    build split-4 g++ -gdwarf-4 -gsplit-dwarf
    # A package of the split data: the same answers from it as from the .dwo file.
    timeout 60 dwp -e split-4 -o split-4.dwp && rm -f split-4*.dwo && prove split-4 1000
    if have clang++; then
        build clang-4 clang++ -gdwarf-4
        build clang-5 clang++ -g
        build clang-64 clang++ -gdwarf-4 -gdwarf64
        build clang-lines clang++ -gline-tables-only
        build clang-split clang++ -g -gsplit-dwarf
        have ld.lld && build clang-lto clang++ -g -flto -fuse-ld=lld
        have ld.lld && build clang-thin clang++ -g -flto=thin -fuse-ld=lld
        have ld.lld && build clang-gc clang++ -g -ffunction-sections -Wl,--gc-sections -fuse-ld=lld
    fi
    if have dwz; then
        cp gcc-5 dwz-1 && cp gcc-4 dwz-2 && dwz dwz-1 && prove dwz-1 1000
        cp gcc-5 dwz-3 && cp plain dwz-4 && dwz -m dwz.debug dwz-3 dwz-4 && prove dwz-3 1000
    fi
    ;;
system)
    have llvm-symbolizer || exit 77
    libraries=$(ldconfig -p | awk '/lib(c|stdc\+\+)\.so\.6 .*x86-64|libLLVM-[0-9]+\.so\.1 /{print $NF}')
    for file in $libraries /usr/lib/jvm/*/lib/server/libjvm.so "$(command -v node)"; do
        [ -r "$file" ] && prove "$(readlink -f "$file")" 5500
    done
    ;;
esac
exit $fail
