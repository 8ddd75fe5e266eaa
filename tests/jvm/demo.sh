#!/bin/bash
# demo.sh LIBRARY HOSTS CASE: the demo of JVM arms, shortened: two servers, load, and the answer that must come out.
source "${BASH_SOURCE[0]%/*}/lib.sh"
export DEMO_STEPS="400 1200" DEMO_SECONDS=8 DEMO_WARM=20 DEMO_PORT=$((23000 + $$ % 9000))
[ -x /usr/lib/jvm/java-17-openjdk-amd64/bin/java ] || skip "no JDK 17 of Debian"
command -v h2load > /dev/null || skip "no h2load"
"$source_tree/fixtures/demo/jvm.sh" "$flamebank" "$folder/out" > out.txt 2> err.txt || {
    ! grep -q 'install the packages' err.txt out/*.log || skip "$(grep -hm 1 'install the packages' err.txt out/*.log)"
    fail "$(cat out.txt err.txt | tail -30)"
}
for arm in rest grpc; do
    "$flamebank" check out/$arm.fbank > check.out || fail "$(cat check.out)"
    "$flamebank" layers out/$arm.fbank --rules jvm --format csv > $arm.csv || fail "no layers"
    xmllint --noout out/$arm.svg || fail "$arm.svg is not well-formed"
done
# Each arm has its own libraries and not the other's; next to nothing is in no layer.
share() { "$flamebank" layers "out/$1.fbank" --rules jvm | awk -v l="$2" '$0 ~ "^" l " " { sub("^" l " *", ""); print $1; exit }'; }
over() { awk -v a="$(share "$1" "$2")" -v b="$3" 'BEGIN { exit !(a + 0 > b) }'; }
over rest jetty 1 || fail "no Jetty in the REST arm: $(cat rest.csv)"
over rest clojure 1 || fail "no Clojure in the REST arm: $(cat rest.csv)"
over grpc netty 2 || fail "no Netty in the gRPC arm: $(cat grpc.csv)"
! over rest netty 0 || fail "Netty in the REST arm: $(cat rest.csv)"
! over grpc jetty 0 || fail "Jetty in the gRPC arm: $(cat grpc.csv)"
for arm in rest grpc; do
    ! over $arm other 1 || fail "over 1 % of $arm is in no layer: $(cat $arm.csv)"
done
grep -q 'jetty  *.*gone\|jetty.*absent in variant\|jetty.*not seen in variant' out/diff.txt || fail "$(grep jetty out/diff.txt)"
