#!/usr/bin/env python3
"""Runs the campaign that campaign.json declares, and leaves one folder with an index.

    campaign.py FLAMEBANK FOLDER [--quick | --full] [--hold S] [--warmup S] [--replicates N] [PAIR...]

Each pair has a folder: run/ (banks, steps, what the drivers printed; `flamebank run` made it, and
goes on with it where it was stopped), driver/ (banks of the drivers), predictions.json (registered
before the run), diff.txt, diff.md, diff.json, steps of each ramp, report.html.  A pair that is
whole is not run again.  A pair whose lever does not differ alone is refused: its tables stay, its
conclusion is the reason.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys

import pages

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ARMS = os.path.join(ROOT, "fixtures", "arms")
ONE_CPU = os.path.join(ROOT, "fixtures", "demo", "one_cpu.sh")
JAVAS = {17: "/usr/lib/jvm/java-17-openjdk-amd64/bin/java", 25: "/usr/lib/jvm/temurin-25-jdk-amd64/bin/java"}
PORT = int(os.environ.get("CAMPAIGN_PORT", "24200"))


def say(text):
    print("campaign: " + text, file=sys.stderr, flush=True)


def run(words, **options):
    return subprocess.run(words, text=True, **options)


class Campaign:
    """The declaration, and where its arms are built and its results go."""

    def __init__(self, flamebank, folder, declaration):
        self.flamebank = os.path.abspath(flamebank)
        self.folder = os.path.abspath(folder)
        self.built = os.path.join(self.folder, "arms")
        self.arms = declaration["arms"]
        self.loads = declaration["loads"]
        self.confined = run([ONE_CPU, "how"], check=True, stdout=subprocess.PIPE).stdout.strip()

    def filled(self, text):
        return text.replace("{arms}", ARMS).replace("{built}", self.built).replace("{port}", str(PORT))

    def build(self, pair):
        os.makedirs(self.built, exist_ok=True)
        run([os.path.join(ARMS, "load", "build.sh"), os.path.join(self.built, "load")], check=True)
        for side in ("control", "variant"):
            arm = self.arms[pair[side]["arm"]]
            if "build" in arm:
                run(shlex.split(self.filled(arm["build"])), check=True)

    def start(self, side):
        """The command of an arm, on one CPU."""
        words = self.filled(self.arms[side["arm"]]["start"]) + " " + side.get("words", "")
        return "%s run %s" % (ONE_CPU, words.strip())

    def ready(self, side):
        """A command that succeeds once the arm answers."""
        return self.filled(self.arms[side["arm"]].get("ready", "bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}'"))

    def load_write(self, folder, name, side):
        """How load.py drives an arm."""
        load = dict(self.loads[side["load"]])
        load["words"] = [self.filled(word) for word in load["words"]]
        load["port"] = PORT
        load["flamebank"] = self.flamebank
        load["stream_load"] = os.path.join(self.built, "load", "stream_load")
        load["pin"] = ["taskset", "-c", "1"] if self.confined.startswith("pinned") else []
        with open(os.path.join(folder, name + ".load.json"), "w", encoding="utf-8") as file:
            json.dump(load, file, indent=1)


def predictions_register(campaign, pair, folder):
    """Before the first step; an earlier registration stays."""
    path = os.path.join(folder, "predictions.json")
    if "predictions" not in pair or os.path.exists(path):
        return
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump({"predictions": pair["predictions"]}, file, indent=1)
    run([campaign.flamebank, "predict", "register", path + ".part"], check=True, stdout=subprocess.DEVNULL)
    os.rename(path + ".part", path)


def record(campaign, pair, size, folder):
    """The ramps of both arms, control and variant in turn.  True: all are there."""
    words = [campaign.flamebank, "run", "-o", os.path.join(folder, "run"), "--pairs", str(size["replicates"]),
             "--rates", ",".join(map(str, pair["rates"])), "--hold", str(size["hold"]),
             "--warmup", "%g@%g" % (size["warmup"], pair["rates"][-1]),
             "--ready", campaign.ready(pair["control"])]
    environment = dict(os.environ, JAVA=JAVAS[pair.get("java", 17)])
    for name in ("control", "variant"):
        campaign.load_write(folder, name, pair[name])
        words += ["--arm", "%s=%s" % (name, campaign.start(pair[name]))]
    words += ["--", sys.executable, os.path.join(HERE, "load.py"), folder, "{arm}", "{rate}", "{seconds}", "{step}"]
    with open(os.path.join(folder, "steps.txt"), "w", encoding="utf-8") as table:
        status = run(words, stdout=table, env=environment).returncode
    if status != 0:
        say("%s: flamebank run ended with %d; the same command goes on with it" % (pair["name"], status))
    return status == 0


def banks(folder, name, replicates):
    at = os.path.join(folder, "run", name)
    return ["%s-%d.fbank,%s-%d.tsv" % (at, k, at, k) for k in range(1, replicates + 1)]


def judge(campaign, pair, size, folder):
    """The tables and the report of a pair whose ramps are there."""
    arms = [*banks(folder, "control", size["replicates"]), "--vs", *banks(folder, "variant", size["replicates"])]
    rules = [campaign.arms[pair[side]["arm"]]["rules"] for side in ("control", "variant")]
    words = ["--rules", "jvm" if "jvm" in rules else "native"]
    if "jvm" in rules:
        words.append("--jvm")
    if "lever_key" in pair:
        words += ["--lever-key", pair["lever_key"]]
    if "predictions" in pair:
        words += ["--predictions", os.path.join(folder, "predictions.json")]
    for name, form in (("diff.txt", "text"), ("diff.md", "md"), ("diff.json", "json")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as out, \
                open(os.path.join(folder, "diff.log"), "w", encoding="utf-8") as log:
            run([campaign.flamebank, "diff", *arms, *words, "--format", form], check=True, stdout=out, stderr=log)
    run([campaign.flamebank, "report", *arms, *words, "-o", os.path.join(folder, "report.html")], check=True)


def size_of(declaration, args):
    size = dict(declaration["sizes"]["full" if args.full else "quick"])
    for name in ("hold", "warmup", "replicates"):
        if getattr(args, name) is not None:
            size[name] = getattr(args, name)
    return size


def chosen(declaration, size, names):
    pairs = {pair["name"]: pair for pair in declaration["pairs"]}
    unknown = [name for name in names if name not in pairs]
    if unknown:
        sys.exit("campaign: no pair '%s'; there are %s" % (unknown[0], ", ".join(pairs)))
    return [pairs[name] for name in names or size.get("pairs", pairs)]


def pair_do(campaign, pair, size):
    folder = os.path.join(campaign.folder, pair["name"])
    if not os.path.exists(JAVAS[pair.get("java", 17)]) and "java" in pair:
        say("%s: skipped: JDK %d is not here" % (pair["name"], pair["java"]))
        return
    os.makedirs(folder, exist_ok=True)
    say("%s: %s" % (pair["name"], pair["title"]))
    campaign.build(pair)
    predictions_register(campaign, pair, folder)
    if record(campaign, pair, size, folder):
        judge(campaign, pair, size, folder)


def main():
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__.split("\n")[0])
    parser.add_argument("flamebank")
    parser.add_argument("folder")
    parser.add_argument("pair", nargs="*")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true", help="one pair, three steps of 10 s, one ramp an arm (default)")
    which.add_argument("--full", action="store_true", help="all pairs, steps of a minute, two ramps an arm")
    parser.add_argument("--hold", type=float, help="seconds of a step")
    parser.add_argument("--warmup", type=float, help="seconds of the warm-up")
    parser.add_argument("--replicates", type=int, help="ramps of each arm")
    args = parser.parse_intermixed_args()
    with open(os.path.join(HERE, "campaign.json"), encoding="utf-8") as file:
        declaration = json.load(file)
    size = size_of(declaration, args)
    campaign = Campaign(args.flamebank, args.folder, declaration)
    say("each arm has one CPU: " + campaign.confined)
    try:
        for pair in chosen(declaration, size, args.pair):
            pair_do(campaign, pair, size)
            pages.write(campaign.folder, declaration["pairs"], campaign.confined)
    finally:
        run([ONE_CPU, "done"])
    print(os.path.join(campaign.folder, "index.html"))


if __name__ == "__main__":
    main()
