#!/bin/bash
# oracle.sh AGREE_LIBRARY SOURCES SCALE GROUP: live stacks of real programs, our walk against
# libunwind's.  SCALE stretches the load; each program is one row of what is printed.
# 99.9 % of the samples must agree: be the same to the last pc, or to the first frame of code that
# has no call frame information (generated, or hand-written assembly).  Left out of that are samples
# where libunwind itself stops early, which must be few, and those that waited for rows under a frame
# larger than what is kept (rustc has one of half a megabyte).
set -u
library=$1
sources=$2
scale=$3
group=$4
work=$(mktemp -d /tmp/fb-oracle-XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C
bad=0
ran=0

# agree NAME LEAST COMMAND...: runs it, adds up its processes and judges.
agree() {
    local name=$1 least=$2
    shift 2
    rm -f out
    timeout 300 env AGREE_OUT="$work/out" LD_PRELOAD="$library" "$@" > stdout 2> stderr < /dev/null ||
        { echo "$name: status $?"; tail -3 stderr; bad=1; return; }
    judge "$name" "$least"
}

judge() {
    touch out
    awk -v name="$1" -v least="$2" '
        { s += $2; same += $3; jit += $4; res += $5; stop += $6; cut += $7; differ += $8 }
        END {
            rest = s - stop - cut
            share = rest > 0 ? 100 * (same + jit) / rest : 0
            printf "%-22s %6d samples %8.3f %% agree; up to unknown code %d, resolver %d, libunwind stopped %d, more stack than is kept %d, differ %d\n",
                name, s, share, jit, res, stop, cut, differ
            exit !(s >= least && share >= 99.9 - (rest < 1000 ? 100 / (rest + 1) : 0) && stop * 20 <= s)
        }' out || { bad=1; grep '^oracle:' stderr | head -12; }
    grep -h '^oracle:' stderr 2> /dev/null | sort | uniq -c | sort -rn | head -3 | sed 's/^/    /'
    ran=$((ran + 1))
}

seconds() { awk -v a="$1" -v s="$scale" 'BEGIN { print a * s }'; }
count() { awk -v a="$1" -v s="$scale" 'BEGIN { printf "%d", a * s }'; }
have() { command -v "$1" > /dev/null || { echo "$1: not here, not checked"; return 1; }; }

interpreters() {
    agree python3 20 python3 -c "
import json, re
d = {str(i): [i, {'a': i * 2}] for i in range(3000)}
for k in range($(count 60)):
    s = json.dumps(d); e = json.loads(s); sorted(e.items(), key=lambda t: t[1][0])
    re.sub(r'(\d+)', lambda m: m.group(1)[::-1], s[:20000])"
    agree perl 20 perl -e "my %h; for my \$i (1..$(count 800000)) { \$h{'k'.(\$i % 5000)} .= \"x\$i\";
        my @s = sort { \$a cmp \$b } map { \"\$_\$i\" } 1..5 if \$i % 10 == 0;
        \$h{\$i % 100} =~ s/x(\d)/y\$1/g if \$i % 7 == 0; }"
    have sqlite3 && agree sqlite3 20 sqlite3 :memory: "
        create table t(a integer, b text);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < $(count 150000))
            insert into t select i, hex(randomblob(8)) from n;
        create index x on t(b);
        select count(*), max(b) from t where b like '%A%' group by a % 17 order by 2;"
    have node && agree node 20 node -e "
        let m = new Map();
        for (let i = 0; i < $(count 150000); i++) { m.set('k' + i % 999, JSON.stringify({i, a: [i]}));
            if (i % 50 == 0) [...m.values()].sort().join().replace(/1/g, 'x'); }"
}

compilers() {
    printf '#include <map>\n#include <regex>\n#include <string>\nint main() { std::map<std::string, std::regex> m; m.emplace("a", "b"); return (int)m.size(); }\n' > a.cc
    g++ -E a.cc -o a.ii
    agree cc1plus 20 "$(g++ -print-prog-name=cc1plus)" -fpreprocessed -O2 -quiet a.ii -o a.s
    have clang && agree clang 5 clang -w -O2 -c "$sources/tests/e2e/oracle/shapes.c" -o a.o
    echo 'fn main() { let mut v: Vec<u32> = (0..99).collect(); v.sort_by_key(|x| x % 7); println!("{:?}", v); }' > a.rs
    if have rustc && rustc --version > /dev/null 2>&1; then
        agree rustc 5 "$(rustc --print sysroot)/bin/rustc" -O a.rs -o a.out
    fi
}

server() {
    have nginx && have h2load || return
    mkdir -p html logs
    head -c 3000 /dev/zero | tr '\0' x > html/a.txt
    cat > nginx.conf <<CONF
daemon off; worker_processes 2; pid $work/pid; error_log $work/logs/error.log;
events { worker_connections 256; }
http { access_log off; gzip on; gzip_types text/plain; gzip_min_length 1; client_body_temp_path $work;
    proxy_temp_path $work; fastcgi_temp_path $work; uwsgi_temp_path $work; scgi_temp_path $work;
    server { listen unix:$work/s; root $work/html; } }
CONF
    [ "$(id -u)" != 0 ] || { echo "user root;" | cat - nginx.conf > n && mv n nginx.conf; }
    rm -f out
    AGREE_OUT="$work/out" LD_PRELOAD="$library" nginx -p "$work" -c "$work/nginx.conf" 2> stderr &
    local pid=$!
    for _ in $(seq 100); do [ -S s ] && break; sleep 0.1; done
    h2load --h1 -n "$(count 6000)" -c 8 -H 'accept-encoding: gzip' --base-uri "unix:$work/s" http://x/a.txt > load.log 2>&1
    kill -QUIT $pid
    wait $pid
    judge nginx 5
}

fixtures() {
    for level in 0 1 2 3; do
        for fp in -fomit-frame-pointer -fno-omit-frame-pointer; do
            gcc -O$level $fp "$sources/tests/e2e/oracle/shapes.c" -o shapes
            agree "shapes -O$level ${fp#-f}" 20 ./shapes "$(seconds 0.5)"
        done
    done
    g++ -O2 "$sources/tests/e2e/oracle/throws.cc" -o throws
    agree "C++ exceptions" 20 ./throws "$(seconds 1)"
}

"$group"
[ $ran -gt 0 ] || exit 77
exit $bad
