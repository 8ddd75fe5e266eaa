#!/bin/sh
# preload_symbols.sh LIBRARY EXPORTS: what libflamebank.so needs and what it exports.
#   NEEDED: the C library and the loader alone
#   exports: exactly the names of the list
#   glibc: no symbol newer than 2.34
#   flags: bound at once, never unloaded, no SONAME, no text relocations, no executable stack
set -u
library=$1
exports=$2
bad=0

complain() {
    echo "$library: $*"
    bad=1
}

dynamic=$(readelf -dW "$library")
for needed in $(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $needed in
    libc.so.6 | ld-linux-x86-64.so.2 | ld-linux-aarch64.so.1) ;;
    *) complain "needs $needed" ;;
    esac
done
echo "$dynamic" | grep -q '(SONAME)' && complain "has a SONAME"
echo "$dynamic" | grep -q 'TEXTREL' && complain "has text relocations"
echo "$dynamic" | grep -q 'FLAGS_1.*NOW' || complain "is not bound at once"
echo "$dynamic" | grep -q 'FLAGS_1.*NODELETE' || complain "can be unloaded"
readelf -lW "$library" | grep -q 'GNU_STACK.*RWE' && complain "wants an executable stack"
# Linkers mark it on x86_64; on arm64 it shows in the relocations.
echo "$dynamic" | grep -q 'STATIC_TLS' || readelf -rW "$library" | grep -q 'R_AARCH64_TLS_TPREL' ||
    complain "has no initial-exec thread data"
readelf -rW "$library" | grep -qE 'TLSDESC|DTPMOD' && complain "has thread data that may allocate"

actual=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort)
wanted=$(grep -v '^#' "$exports" | sort)
if [ "$actual" != "$wanted" ]; then
    complain "exports differ from the list:"
    printf '%s\n' "$actual" > "${TMPDIR:-/tmp}/fb-exports.$$"
    grep -v '^#' "$exports" | sort | diff - "${TMPDIR:-/tmp}/fb-exports.$$"
    rm -f "${TMPDIR:-/tmp}/fb-exports.$$"
fi

nm "$library" 2> /dev/null | grep -q guard_inject && complain "has the faults of tests in it"

newest=$(readelf -VW "$library" | grep -o 'GLIBC_2\.[0-9]*' | sort -u -t. -k2n | tail -1)
[ "${newest#GLIBC_2.}" -le 34 ] || complain "needs $newest, more than GLIBC_2.34"
[ $bad = 0 ] && echo "needs the C library alone, newest symbol $newest, $(echo "$actual" | wc -l) exports"
exit $bad
