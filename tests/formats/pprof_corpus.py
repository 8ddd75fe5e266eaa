"""pprof_corpus.py FLAMEBANK: what pprof itself recorded of old profiles (X.string beside X), stack by stack.

Rows of value 0 are a named loss of ours."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pprof_text

CORPUS = os.environ.get("FLAMEBANK_CORPUS", os.path.join(os.path.dirname(__file__), "../../../shared/corpus"))


def main():
    folder = os.path.join(CORPUS, "pprof/profile-testdata")
    if not os.path.isdir(folder):
        print("skipped: no", folder)
        return 77
    wrong = compared = 0
    for name in sorted(os.listdir(folder)):
        if name + ".string" not in os.listdir(folder):
            continue
        with open(os.path.join(folder, name + ".string")) as file:
            recorded = pprof_text.read_text(file)
        for kind, theirs in recorded:
            compared += 1
            wrong += not agrees(os.path.join(folder, name), kind, theirs)
    print(f"{compared} types of profiles compared, {wrong} differ")
    return 1 if wrong or compared == 0 else 0


def agrees(path, kind, theirs):
    name = os.path.basename(path) + ", " + kind
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out.pb.gz")
        run = subprocess.run([sys.argv[1], "convert", "--raw-names", "--type", kind, path, out],
                             capture_output=True, text=True)
        if run.returncode != 0:
            print(name + ": not read:", run.stderr.strip())
            return False
        ours = pprof_text.read_file(out)
    if ours == theirs:
        return True
    print(f"{name}: {len(ours)} stacks, {len(theirs)} were recorded")
    for stack in list((ours - theirs).keys())[:2]:
        print("  only ours:  ", ours[stack], stack)
    for stack in list((theirs - ours).keys())[:2]:
        print("  only theirs:", theirs[stack], stack)
    return False


if __name__ == "__main__":
    sys.exit(main())
