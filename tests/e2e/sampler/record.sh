#!/bin/bash
# record.sh LIBRARY HOSTS CASE [ARGUMENT...]: `flamebank record` as a parent; as cases.sh.
source "${BASH_SOURCE[0]%/*}/lib.sh"
build=${hosts%/tests/hosts}
PATH=$build/bin:$PATH

# What kill(1) sends to record reaches the arm, whose status is record's.
signals_are_handed_on() {
    local signal status
    for signal in TERM INT HUP QUIT USR1 USR2; do
        # A shell's background job ignores INT and QUIT: they are set right again.
        env --default-signal=INT,QUIT flamebank record -f -o run.fbank -- \
            bash -c "trap 'exit 41' $signal; : > ready; while :; do sleep 0.05; done" > out 2> err &
        for _ in $(seq 200); do
            [ -e ready ] && break
            sleep 0.05
        done
        rm ready || fail "$signal: it does not start: $(cat err)"
        kill -$signal $!
        wait $!
        status=$?
        [ $status = 41 ] || fail "$signal: status $status, $(cat err)"
    done
}

statuses() {
    local status
    for status in 0 1 41 125 126 127 255; do
        flamebank record -f -o run.fbank -- sh -c "exit $status" 2> err
        [ $? = $status ] || fail "exit $status"
    done
    for status in 2 6 9 15; do
        flamebank record -f -o run.fbank -- sh -c "kill -$status \$\$" 2> err
        [ $? = $((128 + status)) ] || fail "signal $status"
    done
    # A parent that ignores its children.
    python3 -c 'import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execvp("flamebank", ["flamebank", "record", "-f", "-o", "run.fbank", "--", "sh", "-c", "exit 7"])' 2> err
    [ $? = 7 ] || fail "with SIGCHLD ignored: $(cat err)"
}

standard_streams() {
    [ "$(printf 'a\nb\n' | flamebank record -o run.fbank -- sort -r 2> err)" = "$(printf 'b\na')" ] ||
        fail "stdin and stdout"
    [ "$(flamebank record -f -o run.fbank -- sh -c 'echo out; echo err >&2' 2>&1 > /dev/null | grep -c '^err$')" = 1 ] ||
        fail stderr
    flamebank record -f -o run.fbank -- sh -c 'ls -l /proc/self/fd | wc -l' > out 2> err
    [ "$(cat out)" = "$(sh -c 'ls -l /proc/self/fd | wc -l')" ] || fail "the arm has more descriptors"
}

# ^Z and fg at a terminal: record and the arm stop and go on together.
job_control() {
    python3 - << 'END' > out || fail "$(cat out)"
import os, pty, signal, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp("flamebank", ["flamebank", "record", "-o", "run.fbank", "--", "sh", "-c", "echo go; read x; echo got $x; exit 5"])
text = b""
def until(word):
    global text
    end = time.time() + 20
    while word not in text and time.time() < end:
        text += os.read(fd, 1000)
    if word not in text:
        sys.exit("no %s in %s" % (word, text))
until(b"go\r\n")
os.write(fd, b"\x1a")
# The session's leader has no shell to stop it: an orphaned group ignores ^Z and lives on.
time.sleep(0.3)
os.write(fd, b"line\n")
until(b"got line\r\n")
_, status = os.waitpid(pid, 0)
if os.WEXITSTATUS(status) != 5:
    sys.exit("status %x" % status)
END
    # ^C is for both: the arm dies of it, record says so.
    python3 - << 'END' > out || fail "^C: $(cat out)"
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp("flamebank", ["flamebank", "record", "-o", "int.fbank", "--", "sh", "-c", "echo go; exec sleep 30"])
text = b""
end = time.time() + 20
while b"go\r\n" not in text and time.time() < end:
    text += os.read(fd, 1000)
time.sleep(0.3)
os.write(fd, b"\x03")
try:
    while os.read(fd, 1000):
        pass
except OSError:
    pass
_, status = os.waitpid(pid, 0)
if os.WEXITSTATUS(status) != 130:
    sys.exit("status %x" % status)
END
}

# What cannot be entered is refused before it starts, with a reason; what can, is.
targets() {
    echo 'int main(void) { return 0; }' > main.c
    command -v gcc > /dev/null || exit 77
    gcc -o musl main.c -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 || fail gcc
    flamebank record -o a.fbank -- ./musl 2> err
    [ $? = 125 ] && grep -q 'is built for musl' err || fail "musl: $(cat err)"
    gcc -o usual main.c
    printf '\001' | dd of=usual bs=1 seek=4 conv=notrunc 2> /dev/null # ELFCLASS32
    flamebank record -o b.fbank -- ./usual 2> err
    [ $? = 125 ] && grep -q 'is no 64-bit program' err || fail "32-bit: $(cat err)"
    printf '#!/bin/sh\nexit 9\n' > script
    chmod +x script
    flamebank record -o c.fbank -- ./script 2> err
    [ $? = 9 ] && [ -s c.fbank ] || fail "script: $(cat err)"
    printf '#!%s\n' "$folder/musl" > script
    flamebank record -o d.fbank -- ./script 2> err
    [ $? = 125 ] && grep -q "script: .*musl" err || fail "script for musl: $(cat err)"
    [ "$(find . -name '[abd].fbank' | wc -l)" = 0 ] || fail "a bank of what was refused"
}

# LD_PRELOAD knows no escape.
paths() {
    local odd
    for odd in "a b" a:b; do
        mkdir -p "$odd/bin" "$odd/lib/flamebank"
        cp "$build/bin/flamebank" "$odd/bin/"
        cp "$library" "$odd/lib/flamebank/"
        "$odd/bin/flamebank" record -o run.fbank -- true 2> err
        [ $? = 125 ] && grep -q 'cannot carry a path with a space or a colon' err || fail "$odd: $(cat err)"
    done
    # The bank's own name may be odd.
    flamebank record -o "a b:%p.fbank" -- true 2> err || fail "status: $(cat err)"
    [ -s "a b:%p.fbank" ] || fail "$(ls)"
}

"$case" "$@"
