#!/bin/bash
# Compiles the Java programs of the tests: build.sh SOURCES FOLDER.  Skipped (77) without a javac.
# The classes are of release 11, those of virtual threads of 21 where a javac knows it.
set -eu
sources=$1/fixtures/jvm
mkdir -p "$2"
cd "$2"
javac=
for candidate in ${FB_JDKS:-/usr/lib/jvm}/*/bin/javac; do
    [ -x "$candidate" ] || continue
    : "${javac:=$candidate}"
    version=$("$candidate" -version 2>&1 | sed 's/^javac \([0-9]*\).*/\1/')
    [ "$version" -lt 21 ] || newer=$candidate
done
[ -n "$javac" ] || { echo "build.sh: skipped: no javac in ${FB_JDKS:-/usr/lib/jvm}"; exit 77; }
rm -rf classes classes21
"$javac" --release 11 -d classes "$sources"/{Torture,Redefined}.java
(cd classes && "${javac%javac}jar" cfm ../redefined.jar "$sources/Redefined.mf" Redefined*.class)
[ -z "${newer:-}" ] || "$newer" --release 21 -d classes21 "$sources/Virtual.java" "$sources/Parked.java"
