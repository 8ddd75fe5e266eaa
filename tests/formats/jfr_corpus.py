"""jfr_corpus.py FLAMEBANK: async-profiler's recordings against the pprof files that Pyroscope made of them.

A file X has X.TYPE.HASH.pb.gz, one for each set of labels that its threads had; the sums are compared.  cpu
counts samples here and nanoseconds (10 ms each) there.  Recordings with several sets of labels are left out:
there a sample is in each file whose labels it had for a part of its time."""
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pprof_text

CORPUS = os.environ.get("FLAMEBANK_CORPUS", os.path.join(os.path.dirname(__file__), "../../../shared/corpus"))
TYPES = {"process_cpu_cpu_nanoseconds_cpu_nanoseconds": ("cpu", 10000000),
         "memory_alloc_in_new_tlab_bytes_bytes_space_bytes": ("alloc", 1)}


def sum_of(flamebank, path, kind):
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out.pb.gz")
        subprocess.run([flamebank, "convert", "--type", kind, path, out], check=True, capture_output=True)
        return sum(pprof_text.read_file(out).values())


def main():
    folder = os.path.join(CORPUS, "pyroscope/jfr")
    if not os.path.isdir(folder):
        print("skipped: no", folder)
        return 77
    wrong = compared = 0
    for path in sorted(glob.glob(os.path.join(folder, "*.jfr.gz"))):
        for name, (kind, scale) in TYPES.items():
            theirs = glob.glob(f"{path}.{name}.*.pb.gz")
            if len(theirs) != 1:
                continue
            compared += 1
            ours = sum_of(sys.argv[1], path, kind) * scale
            recorded = sum(pprof_text.read_file(theirs[0]).values())
            print(f"{os.path.basename(path)}, {kind}: {ours}")
            if ours != recorded:
                wrong += 1
                print(f"  {recorded} was recorded")
    print(f"{compared} sums compared, {wrong} differ")
    return 1 if wrong or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
