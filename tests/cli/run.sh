#!/bin/bash
# Command tests: each NAME.test is a list of command lines, each NAME.out what they print.
#   run.sh BUILD [NAME...]              run all or some, say what differs
#   run.sh BUILD --golden NAME          rewrite NAME.out from what is printed now
# The lines run in an empty folder with `flamebank`, `make_bank` and the fixtures' programs on the PATH and
# $fixtures and $build set.  Standard error is shown as it comes; a status other than 0 follows as "[status]".
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd) && [ -x "$build/bin/flamebank" ] || { echo "run.sh: $1 is no build" >&2; exit 2; }
shift
export fixtures=$here/../../fixtures build LC_ALL=C TZ=UTC NO_COLOR=1
PATH=$build/bin:$build/fixtures:$PATH
unset LD_PRELOAD

# stdin: command lines; stdout: their transcript.
transcript() {
    local dir status
    dir=$(mktemp -d)
    (
        cd "$dir" || exit 3
        while IFS= read -r line; do
            case $line in '' | '#'*) continue ;; esac
            printf '$ %s\n' "$line"
            bash -c "$line" < /dev/null 2>&1
            status=$?
            [ $status -eq 0 ] || echo "[$status]"
        done
    ) | sed -e "s|$dir|DIR|g; s|$here/../../fixtures|FIXTURES|g; s|$build|BUILD|g"
    rm -rf "$dir"
}

if [ "${1:-}" = --golden ]; then
    transcript < "$here/$2.test" > "$here/$2.out"
    cat "$here/$2.out"
    exit 0
fi
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.test | sed 's|^\./||; s|\.test$||')
passed=0 failed=0
for name in "$@"; do
    if transcript < "$here/$name.test" | diff -u "$here/$name.out" -; then
        passed=$((passed + 1))
    else
        echo "cli/$name: differs (./dev golden $name rewrites it, if this is right)"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
