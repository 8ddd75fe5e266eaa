#!/bin/sh
# packages.sh FOLDER: an arm64 Debian to test in, without a change to this machine.
#
# Downloads Debian's arm64 packages by apt, with lists and a package database of its own in FOLDER
# (no foreign architecture is added to this machine's), and unpacks them:
#     FOLDER/root       C and C++ libraries, libunwind, and the programs that are sampled
#     FOLDER/vmlinuz    a kernel
#     FOLDER/jdk        JDK 17 and the libraries that it needs
# Does nothing if FOLDER/done is newer than this file.  Exits 77 where there is no apt, or no network.
set -eu
[ $# -eq 1 ] || { echo "usage: packages.sh FOLDER" >&2; exit 2; }
[ -e "$1/done" ] && [ "$1/done" -nt "$0" ] && exit 0
command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || { echo "no apt"; exit 77; }

LIBRARIES="libc6 libgcc-s1 libstdc++6 libunwind8 libunwind-dev liblzma5 zlib1g libcrypt1 libexpat1
    libssl3 libsqlite3-0 libreadline8 libtinfo6 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1"
PROGRAMS="busybox perl-base python3.11-minimal libpython3.11-minimal gzip xz-utils openssl sqlite3
    cpp-12"
JAVA="libc6 libgcc-s1 libstdc++6 zlib1g openjdk-17-jre-headless"

mkdir -p "$1"
folder=$(cd "$1" && pwd)
rm -rf "$folder/root" "$folder/jdk" "$folder/kernel" "$folder/debs" "$folder/done"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/debs" "$folder/root"
: > "$folder/apt/status"

apt() { # apt-get or apt-cache, for arm64
    command=$1
    shift
    "$command" -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$folder/apt" \
        -o Dir::State::lists="$folder/apt/lists" -o Dir::State::status="$folder/apt/status" \
        -o Dir::Cache="$folder/apt" -o APT::Sandbox::User= "$@"
}

apt apt-get update || { echo "no package lists"; exit 77; }
kernel=$(apt apt-cache depends linux-image-cloud-arm64 |
    sed -n 's/.*Depends: *\(linux-image-[0-9].*\)/\1/p' | head -1)
# shellcheck disable=SC2086 # lists
(cd "$folder/debs" && apt apt-get download $LIBRARIES $PROGRAMS $kernel $JAVA) ||
    { echo "no packages"; exit 77; }
for deb in "$folder"/debs/*.deb; do
    case $deb in
    */linux-image-*) dpkg-deb -x "$deb" "$folder/kernel" ;;
    */openjdk-*) ;;
    *) dpkg-deb -x "$deb" "$folder/root" ;;
    esac
done
for package in $JAVA; do
    dpkg-deb -x "$folder/debs/$package"_*.deb "$folder/jdk"
done
mv "$folder"/kernel/boot/vmlinuz-* "$folder/vmlinuz"
rm -rf "$folder/kernel" "$folder/debs" "$folder/apt" "$folder/root/usr/share"
: > "$folder/done"
