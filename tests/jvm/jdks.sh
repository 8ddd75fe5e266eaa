#!/bin/sh
# jdks.sh FOLDER: the JDKs that other releases of Debian have, without a change to this machine.
#
# Downloads packages by apt, with lists and package databases of its own in FOLDER, and unpacks them, with the C library
# of their own that newer ones need.  FOLDER/jdks/21/bin/java runs one; FB_JDKS=FOLDER/jdks has the tests use them.  Does nothing if
# FOLDER/done is newer than this file.  Exits 77 where there is no apt, or no network; a JDK that is not to be had is
# said and left out.
set -eu
[ $# -eq 1 ] || { echo "usage: jdks.sh FOLDER" >&2; exit 2; }
[ -e "$1/done" ] && [ "$1/done" -nt "$0" ] && exit 0
command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || { echo "no apt"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "for x86_64 alone"; exit 77; }
source=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null |
    sed -n 's/^URIs: *\([^ ]*debian\/*\)$/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*debian\/*\) .*/\2/p' | head -n 1)
[ -n "$source" ] || { echo "no Debian archive is known to apt"; exit 77; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
rm -rf "$folder/jdks" "$folder/done"

# jdk RELEASE SUITE: into jdks/RELEASE.
jdk() {
    own=$folder/$2
    rm -rf "$own"
    mkdir -p "$own/apt/lists/partial" "$own/apt/archives/partial" "$own/debs" "$own/root" "$folder/jdks/$1/bin"
    : > "$own/apt/status"
    echo "deb $source $2 main" > "$own/apt/sources.list"
    options="-qq -o Dir::Etc::SourceList=$own/apt/sources.list -o Dir::Etc::SourceParts=- -o Dir::State=$own/apt
        -o Dir::State::lists=$own/apt/lists -o Dir::State::status=$own/apt/status -o Dir::Cache=$own/apt
        -o APT::Sandbox::User="
    # shellcheck disable=SC2086 # options
    apt-get $options update && (cd "$own/debs" &&
        apt-get $options download libc6 libgcc-s1 libstdc++6 zlib1g "openjdk-$1-jre-headless") || return 1
    for deb in "$own"/debs/*.deb; do
        dpkg-deb -x "$deb" "$own/root"
    done
    home=$own/root/usr/lib/jvm/java-$1-openjdk-amd64
    # Its settings are links to /etc.
    find "$home" -type l -lname '/etc/*' | while read -r link; do
        target=$own/root$(readlink "$link")
        [ ! -e "$target" ] || { rm "$link" && cp -r "$target" "$link"; }
    done
    cp "$home/release" "$folder/jdks/$1/release"
    if "$home/bin/java" -version > /dev/null 2>&1; then
        ln -s "$home/bin/java" "$folder/jdks/$1/bin/java"
    else
        cat > "$folder/jdks/$1/bin/java" << END
#!/bin/sh
exec "$own/root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$own/root/usr/lib/x86_64-linux-gnu" \\
    "$home/bin/java" "\$@"
END
        chmod +x "$folder/jdks/$1/bin/java"
    fi
    rm -rf "$own/debs" "$own/apt"
    "$folder/jdks/$1/bin/java" -version 2>&1 | grep -q "\"$1"
}

had=
for row in 11:bullseye 21:trixie; do
    if jdk "${row%:*}" "${row#*:}"; then
        had=1
    else
        rm -rf "$folder/jdks/${row%:*}"
        echo "JDK ${row%:*} of ${row#*:}: not to be had"
    fi
done
[ -n "$had" ] || exit 77
: > "$folder/done"
