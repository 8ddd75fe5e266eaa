#!/bin/sh
# trixie.sh FOLDER: JDK 21 of the next Debian, without a change to this machine.
#
# Downloads packages by apt, with lists and a package database of its own in FOLDER, and unpacks them with the C
# library that they need.  FOLDER/jdks/21/bin/java runs it; FB_JDKS=FOLDER/jdks has the tests use it.  Does nothing if
# FOLDER/done is newer than this file.  Exits 77 where there is no apt, or no network.
set -eu
[ $# -eq 1 ] || { echo "usage: trixie.sh FOLDER" >&2; exit 2; }
[ -e "$1/done" ] && [ "$1/done" -nt "$0" ] && exit 0
command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || { echo "no apt"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "for x86_64 alone"; exit 77; }
source=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null |
    sed -n 's/^URIs: *\([^ ]*debian\/*\)$/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*debian\/*\) .*/\2/p' | head -n 1)
[ -n "$source" ] || { echo "no Debian archive is known to apt"; exit 77; }

mkdir -p "$1"
folder=$(cd "$1" && pwd)
rm -rf "$folder/root" "$folder/jdks" "$folder/debs" "$folder/done"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/debs" "$folder/root" \
    "$folder/jdks/21/bin"
: > "$folder/apt/status"
echo "deb $source trixie main" > "$folder/apt/sources.list"
apt() {
    apt-get -qq -o Dir::Etc::SourceList="$folder/apt/sources.list" -o Dir::Etc::SourceParts=- \
        -o Dir::State="$folder/apt" -o Dir::State::lists="$folder/apt/lists" \
        -o Dir::State::status="$folder/apt/status" -o Dir::Cache="$folder/apt" -o APT::Sandbox::User= "$@"
}
apt update || { echo "no package lists"; exit 77; }
(cd "$folder/debs" && apt download libc6 libgcc-s1 libstdc++6 zlib1g openjdk-21-jre-headless) ||
    { echo "no packages"; exit 77; }
for deb in "$folder"/debs/*.deb; do
    dpkg-deb -x "$deb" "$folder/root"
done
home=$folder/root/usr/lib/jvm/java-21-openjdk-amd64
# Its settings are links to /etc.
find "$home" -type l -lname '/etc/*' | while read -r link; do
    target=$folder/root$(readlink "$link")
    [ ! -e "$target" ] || { rm "$link" && cp -r "$target" "$link"; }
done
cp "$home/release" "$folder/jdks/21/release"
cat > "$folder/jdks/21/bin/java" << END
#!/bin/sh
exec "$folder/root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$folder/root/usr/lib/x86_64-linux-gnu" \\
    "$home/bin/java" "\$@"
END
chmod +x "$folder/jdks/21/bin/java"
rm -rf "$folder/debs" "$folder/apt"
"$folder/jdks/21/bin/java" -version 2>&1 | grep -q '"21' || { echo "it does not run"; exit 1; }
: > "$folder/done"
