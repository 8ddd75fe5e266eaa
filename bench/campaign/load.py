#!/usr/bin/env python3
"""One step of load on an arm, and its row as a TSV: what `flamebank run` starts for each step.

    load.py FOLDER ARM RATE SECONDS STEP

FOLDER is the pair's, whose ARM.load.json says how the arm is driven (campaign.py writes it).  The
driver is an arm, too: it runs under the sampler, into FOLDER/driver.
"""
import json
import os
import resource
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
STEP = os.path.join(HERE, "..", "..", "fixtures", "demo", "load_step.sh")
HEAD = ("name start end warmup offered secs delivered_count sent_count not_sent_count errors_count "
        "p50_ms p99_ms p999_ms conns").split()
CONNECTIONS = 8


def under_the_sampler(load, folder, arm, step):
    """The words in front of the driver's."""
    bank = os.path.join(folder, "driver", "%s-%s-%d.fbank" % (arm, step.split()[0], time.time()))
    os.makedirs(os.path.dirname(bank), exist_ok=True)
    return load["pin"] + [load["flamebank"], "record", "-f", "-o", bank, "--label", "driver=" + arm, "--"]


def drive(load, folder, arm, rate, seconds, step):
    """What the driver printed: the lines of a TSV with a head."""
    under = under_the_sampler(load, folder, arm, step)
    if load["driver"] == "stream_load":
        words = under + [load["stream_load"], str(load["port"]), load["path"], *load["words"], rate, seconds,
                         str(CONNECTIONS)]
        return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    url = "http://127.0.0.1:%d%s" % (load["port"], load["path"])
    log = os.path.join(folder, arm + ".load.log")
    done = subprocess.run([STEP, step, rate, seconds, url, "0", log, *load["words"]], check=True,
                          stdout=subprocess.PIPE, text=True, env={**os.environ, "LOAD_UNDER": " ".join(under)})
    os.unlink(log)
    return ["\t".join(HEAD), done.stdout.strip("\n")]


def main():
    folder, arm, rate, seconds, step = sys.argv[1:]
    with open(os.path.join(folder, arm + ".load.json"), encoding="utf-8") as file:
        load = json.load(file)
    head, row = drive(load, folder, arm, str(int(float(rate))), str(int(float(seconds))), step)
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(head + "\tclient_cpu_s\tmode")
    print("%s\t%.3f\t%s" % (row, cpu.ru_utime + cpu.ru_stime, load["mode"]))


if __name__ == "__main__":
    main()
